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
        packets_again: seed(b"churngate/seed/packets-again/1"),
        reader: seed(b"churngate/seed/reader/1"),
        reader_replica: seed(b"churngate/seed/reader-replica/1"),
        diagnostics: seed(b"churngate/seed/diagnostics/1"),
        review: seed(b"churngate/seed/review/1"),
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
        let each = |seeds: Seeds| {
            let Seeds { bootstrap, packets, packets_again, reader, reader_replica, diagnostics, review } = seeds;
            [bootstrap, packets, packets_again, reader, reader_replica, diagnostics, review]
        };
        let all = [each(one), each(other)].concat();
        let distinct: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
    }
}
