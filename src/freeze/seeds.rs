//! Seeds that follow from the protocol's digest, each in a domain of its own.

use super::Seeds;
use crate::model::Digest;

/// The seeds of the protocol with this digest: SHA-256 over domain and digest, each preceded by its length.
#[must_use]
pub(super) fn derive(protocol: Digest) -> Seeds {
    let seed = |domain: &[u8]| *Digest::of_parts([domain, protocol.as_bytes().as_slice()]).as_bytes();
    Seeds {
        bootstrap: seed(b"churngate/seed/bootstrap/1"),
        packets: seed(b"churngate/seed/packets/1"),
        reader: seed(b"churngate/seed/reader/1"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_differ_by_domain_and_by_protocol() {
        let one = derive(Digest::of(b"a"));
        let other = derive(Digest::of(b"b"));
        assert_eq!(one, derive(Digest::of(b"a")));
        let all = [one.bootstrap, one.packets, one.reader, other.bootstrap, other.packets, other.reader];
        let distinct: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
    }
}
