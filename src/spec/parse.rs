//! Text to spec: tree, check, validation; every problem at once.

use super::node::{Kind, Node};
use super::preset::{PresetFile, Presets};
use super::problem::{Code, Problem, SpecErrors};
use super::reader::Reader;
use super::surface::ROOT;
use super::{Spec, check, mode, validate, yaml};

/// Reads a spec that needs no preset file. `file` is its name, for messages only.
///
/// # Errors
/// Every problem of the text, each with its place and a remedy.
pub fn parse(text: &str, file: &str) -> Result<Spec, SpecErrors> {
    parse_with(text, file, None)
}

/// Reads a spec, with the preset file that [`super::named_files`] says it needs.
///
/// # Errors
/// Every problem of the text, or of the preset file, each with its place and a remedy.
pub fn parse_with(text: &str, file: &str, preset: Option<PresetFile<'_>>) -> Result<Spec, SpecErrors> {
    let (mut problems, mut presets) = (Vec::new(), Presets::new(preset));
    let spec =
        yaml::read(text, yaml::SPEC, &mut problems).and_then(|root| understand(&root, &mut presets, &mut problems));
    if let Some((name, source, faults)) = presets.faults() {
        return Err(SpecErrors::new(faults, &name, &source));
    }
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
    read_back(value).ok()
}

/// The same, or the first thing that is wrong with it.
///
/// # Errors
/// It is not what [`Spec::canonical`] wrote, or that of a spec which breaks a rule of validation.
pub fn read_back(value: &serde_json::Value) -> Result<Spec, String> {
    let mut problems = Vec::new();
    let spec = understand(&Node::of_json(value), &mut Presets::new(None), &mut problems);
    let unread = || "it could not be read".to_owned();
    match problems.into_iter().next() {
        Some(problem) => Err(problem.message),
        None => spec.ok_or_else(unread),
    }
}

fn understand(root: &Node, presets: &mut Presets<'_>, problems: &mut Vec<Problem>) -> Option<Spec> {
    let mode = mode::of(root);
    check::check(root, &ROOT, mode::unneeded(mode), problems);
    mode::contradictions(root, mode, problems);
    if !matches!(root.kind, Kind::Map(_)) {
        return None;
    }
    validate::spec(Reader::new(root, &ROOT), mode, presets, problems)
}
