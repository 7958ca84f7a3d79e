//! Two specs of one name: the marks and comments of one would take the place of the other's, and a pass would cover a block.

use crate::model::Digest;

/// What stands before a spec's id in the address that a status leads to.
const QUERY: &str = "?spec=";

/// By what the marks and comments of a spec are told from those of another one: digits that its path comes to.
pub(super) fn id(path: &str) -> String {
    Digest::of(path.as_bytes()).short()
}

/// Whether these are two specs. One that is not known may be the other.
pub(super) fn are_two(one: Option<&str>, other: Option<&str>) -> bool {
    one.zip(other).is_some_and(|(one, other)| one != other)
}

/// The address of a run, with the spec in it that marks by it.
pub(super) fn address(page: &str, spec: Option<&str>) -> String {
    spec.map_or_else(|| page.to_owned(), |spec| format!("{page}{QUERY}{spec}"))
}

/// The address of the run alone, and the spec.
pub(super) fn parted(address: &str) -> (&str, Option<&str>) {
    address.split_once(QUERY).map_or((address, None), |(page, spec)| (page, Some(spec)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spec_stands_in_the_address_and_comes_back() {
        let page = "https://github.example/a/b/actions/runs/7";
        for spec in [None, Some("12ab")] {
            assert_eq!(parted(&address(page, spec)), (page, spec));
        }
        assert_ne!(id("a/churngate.yaml"), id("b/churngate.yaml"));
        assert!(are_two(Some("a"), Some("b")) && !are_two(Some("a"), Some("a")) && !are_two(None, Some("a")));
    }
}
