//! The channel binding `tls-server-end-point` of RFC 5929: the digest of the server's certificate, by which a password is
//! proved to the very server that the connection is encrypted to.

use sha2::{Digest as _, Sha256, Sha384, Sha512};

/// The digest of a certificate, by the hash of its own signature; by SHA-256 where that is MD5 or SHA-1. None where the
/// signature names no hash, or the certificate cannot be read.
pub(super) fn end_point(certificate: &[u8]) -> Option<Vec<u8>> {
    Some(match hash(signature(certificate)?)? {
        Hash::Sha256 => Sha256::digest(certificate).to_vec(),
        Hash::Sha384 => Sha384::digest(certificate).to_vec(),
        Hash::Sha512 => Sha512::digest(certificate).to_vec(),
    })
}

enum Hash {
    Sha256,
    Sha384,
    Sha512,
}

/// PKCS #1 of RFC 8017, without its last number.
const RSA: [u8; 8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01];
/// ECDSA with the SHA-2 hashes of RFC 5758, without its last number.
const ECDSA: [u8; 7] = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03];
/// ECDSA with SHA-1 of RFC 3279.
const ECDSA_SHA1: [u8; 7] = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x01];

fn hash(signature: &[u8]) -> Option<Hash> {
    if signature == ECDSA_SHA1 {
        return Some(Hash::Sha256);
    }
    let (last, family) = signature.split_last()?;
    match (family == RSA, family == ECDSA, last) {
        (true, _, 4 | 5 | 11) | (_, true, 2) => Some(Hash::Sha256),
        (true, _, 12) | (_, true, 3) => Some(Hash::Sha384),
        (true, _, 13) | (_, true, 4) => Some(Hash::Sha512),
        _ => None,
    }
}

/// The object identifier of a certificate's signature: `SEQUENCE { body, SEQUENCE { identifier, ... }, ... }`.
fn signature(certificate: &[u8]) -> Option<&[u8]> {
    let (inner, _) = element(certificate)?;
    let (_, after_body) = element(inner)?;
    let (algorithm, _) = element(after_body)?;
    Some(element(algorithm)?.0)
}

/// The content of the first element of DER, and what follows the element.
fn element(der: &[u8]) -> Option<(&[u8], &[u8])> {
    let (first, rest) = der.get(1..)?.split_first()?;
    let long = usize::from(first & 0x7f);
    let (length, rest) = match first {
        0..=0x7f => (usize::from(*first), rest),
        0x81..=0x83 => {
            let (digits, rest) = rest.split_at_checked(long)?;
            (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), rest)
        }
        _ => return None,
    };
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::end_point;
    use sha2::{Digest as _, Sha256, Sha384, Sha512};

    /// A certificate as far as its signature, whose body is as long as this.
    fn certificate(identifier: &[u8], body: usize) -> Vec<u8> {
        let element = |content: &[u8]| {
            let length = content.len().to_be_bytes();
            let long = &length[6..];
            let head = if content.len() < 128 { vec![0x30, long[1]] } else { vec![0x30, 0x82, long[0], long[1]] };
            [&head, content].concat()
        };
        let signature = element(&[&[6, u8::try_from(identifier.len()).unwrap()], identifier, &[5, 0]].concat());
        element(&[element(&vec![7; body]), signature, vec![3, 1, 0]].concat())
    }

    #[test]
    fn the_hash_is_that_of_the_signature_and_never_a_weak_one() {
        let rsa = |last| vec![0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, last];
        let ecdsa = |last| vec![0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, last];
        for body in [5, 127, 128, 700] {
            for weak_or_plain in [rsa(4), rsa(5), rsa(11), ecdsa(2), vec![0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 1]] {
                let certificate = certificate(&weak_or_plain, body);
                assert_eq!(end_point(&certificate).unwrap(), Sha256::digest(&certificate).to_vec());
            }
            for (longer, longest) in [(rsa(12), rsa(13)), (ecdsa(3), ecdsa(4))] {
                let (longer, longest) = (certificate(&longer, body), certificate(&longest, body));
                assert_eq!(end_point(&longer).unwrap(), Sha384::digest(&longer).to_vec());
                assert_eq!(end_point(&longest).unwrap(), Sha512::digest(&longest).to_vec());
            }
        }
    }

    #[test]
    fn a_signature_without_a_hash_and_what_is_no_certificate_bind_nothing() {
        let whole = certificate(&[0x2b, 0x65, 0x70], 9);
        assert_eq!(end_point(&whole), None);
        let whole = certificate(&[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2], 200);
        assert!(end_point(&whole).is_some());
        for cut in 0..whole.len() {
            assert_eq!(end_point(&whole[..cut]), None);
        }
        assert_eq!(end_point(&[0x30, 0x84, 0xff, 0xff, 0xff, 0xff]), None);
    }
}
