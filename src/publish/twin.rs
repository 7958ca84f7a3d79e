//! Two specs of one name: the marks and comments of one would take the place of the other's, and a pass would cover a block.

use crate::model::Digest;

/// By what the marks and comments of a spec are told from those of another one, and the marks of a base branch: digits that its path,
/// or the branch's name, comes to.
pub(super) fn id(path: &str) -> String {
    Digest::of(path.as_bytes()).short()
}

/// Whether these are two specs. One that is not known may be the other.
pub(super) fn are_two(one: Option<&str>, other: Option<&str>) -> bool {
    one.zip(other).is_some_and(|(one, other)| one != other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_are_two_where_both_are_known() {
        assert_ne!(id("a/churngate.yaml"), id("b/churngate.yaml"));
        assert!(are_two(Some("a"), Some("b")) && !are_two(Some("a"), Some("a")) && !are_two(None, Some("a")));
    }
}
