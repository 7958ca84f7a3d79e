//! A result for tests.

use crate::report::AuditResult;

/// An incompatible result with one stable flip.
pub(in crate::publish) fn blocking() -> AuditResult {
    serde_json::from_str(include_str!("../../tests/fixtures/github/incompatible.json")).expect("a result")
}
