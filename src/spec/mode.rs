//! `mode: evidence`: a spec without anything that answers, judges or decides.

use super::node::Node;
use super::problem::{Code, Problem};
use super::surface::OF_ANSWERS;
use super::types::Mode;

/// The mode of a spec. What is no mode is for the table of keys to say.
pub fn of(root: &Node) -> Mode {
    let named = root.get("mode").and_then(|entry| entry.value.scalar());
    if named.is_some_and(|scalar| scalar.text == "evidence") { Mode::Evidence } else { Mode::Audit }
}

/// Keys of the whole spec that need not stand, although others need them.
pub const fn unneeded(mode: Mode) -> &'static [&'static str] {
    match mode {
        Mode::Audit => &[],
        Mode::Evidence => OF_ANSWERS,
    }
}

/// Reports every key that has no place beside `mode: evidence`.
pub fn contradictions(root: &Node, mode: Mode, problems: &mut Vec<Problem>) {
    let Some(named) = root.get("mode").filter(|_| mode == Mode::Evidence) else { return };
    let closed_book = root.get("snapshots").and_then(|entry| entry.value.get("closed_book"));
    let asked = closed_book.filter(|entry| entry.value.scalar().is_some_and(|scalar| scalar.text == "true"));
    for entry in OF_ANSWERS.iter().filter_map(|key| root.get(key)).chain(asked) {
        let message = format!("`{}` cannot stand beside `mode: evidence`, which answers and judges nothing", entry.key);
        let problem = Problem::new(Code::Conflict, entry.key_span.clone(), message);
        let help = "remove it, or write `mode: audit`";
        problems.push(problem.related(named.key_span.clone(), "here").help(help));
    }
}
