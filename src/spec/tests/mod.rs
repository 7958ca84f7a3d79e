//! Specs as people write them, and what is said about their mistakes.

mod answer;
mod messages;
mod read_back;
mod reading;

use super::{Spec, SpecErrors, parse};

/// A whole spec with every section that must stand.
pub const SMALL: &str = "\
version: 1
name: docs-search
questions: { file: questions.jsonl }
snapshots:
  old: { git: base, path: corpus }
  new: { path: corpus }
retrieve: { bm25: {} }
generate: { reader: {} }
judge: { embedded: {} }
";

fn errors(text: &str) -> SpecErrors {
    parse(text, "churngate.yaml").unwrap_err()
}

fn codes(text: &str) -> Vec<&'static str> {
    errors(text).problems.iter().map(|problem| problem.code.as_str()).collect()
}

fn with(line: &str, instead: &str) -> String {
    assert!(SMALL.contains(line), "{line}");
    SMALL.replace(line, instead)
}

fn small() -> Spec {
    parse(SMALL, "churngate.yaml").unwrap()
}
