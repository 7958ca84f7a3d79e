//! Text to spec: tree, check, validation; every problem at once.

use super::node::{Kind, Node};
use super::problem::{Code, Problem, SpecErrors};
use super::reader::Reader;
use super::surface::ROOT;
use super::{Spec, check, validate, yaml};

/// Reads a spec. `file` is its name, for messages only.
///
/// # Errors
/// Every problem of the text, each with its place and a remedy.
pub fn parse(text: &str, file: &str) -> Result<Spec, SpecErrors> {
    let mut problems = Vec::new();
    let spec = yaml::read(text, yaml::SPEC, &mut problems).and_then(|root| understand(&root, &mut problems));
    match spec {
        Some(spec) if problems.is_empty() => Ok(spec),
        _ => {
            if problems.is_empty() {
                problems.push(Problem::new(Code::Unreadable, 0..0, "the spec could not be read"));
            }
            Err(SpecErrors::new(problems, file, text))
        }
    }
}

/// Reads what [`Spec::canonical`] wrote. `None` where it is anything else.
#[must_use]
pub fn from_canonical(value: &serde_json::Value) -> Option<Spec> {
    let mut problems = Vec::new();
    let spec = understand(&Node::of_json(value), &mut problems);
    spec.filter(|_| problems.is_empty())
}

fn understand(root: &Node, problems: &mut Vec<Problem>) -> Option<Spec> {
    check::check(root, &ROOT, problems);
    if !matches!(root.kind, Kind::Map(_)) {
        return None;
    }
    validate::spec(Reader::new(root, &ROOT), problems)
}
