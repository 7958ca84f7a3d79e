//! What a change and a step are called.

use super::EvidenceChange;
use crate::analyze::counterfactual::{Base, Change, Step};
use crate::report::document::Line;

/// Characters of an id that are shown.
pub(super) const NAME: usize = 80;
/// The same in a row of the table.
const SHORT: usize = 30;

/// An id within our own words.
fn quoted<'a>(line: Line<'a>, id: &'a str) -> Line<'a> {
    line.and("`").theirs(id, NAME).and("`")
}

/// What changed, for a list.
pub(super) fn changed(change: &EvidenceChange) -> Line<'_> {
    let id = |before: &str| quoted(Line::ours(before), &change.id);
    match change.change {
        Change::Left { old } => id("left     ").and(format!(" (was rank {})", old + 1)),
        Change::Came { new } => id("came     ").and(format!(" (rank {})", new + 1)),
        Change::Edited { old, new } => {
            let line = change.new_id.iter().fold(id("changed  "), |line, id| quoted(line.and(" is now "), id));
            if old == new {
                line.and(format!(" (rank {})", new + 1))
            } else {
                line.and(format!(" (rank {}, was {})", new + 1, old + 1))
            }
        }
        Change::Reordered => Line::ours("order    the documents that both have stand in another order to one another"),
    }
}

/// The evidence of a step, for a row of the table.
pub(super) fn evidence(step: Step, changes: &[EvidenceChange]) -> Line<'_> {
    let base = match step.base {
        Base::Old => "old",
        Base::New => "new",
    };
    let Some(change) = step.change.and_then(|change| changes.get(change)) else {
        return Line::ours(format!("{base} as it is"));
    };
    let id = |sign: &str| Line::ours(format!("{base}{sign} `")).theirs(&change.id, SHORT).and("`");
    match (change.change, step.base) {
        (Change::Left { .. }, Base::New) | (Change::Came { .. }, Base::Old) => id(" +"),
        (Change::Left { .. }, Base::Old) | (Change::Came { .. }, Base::New) => id(" −"),
        (Change::Edited { .. }, Base::New) => id(",").and(" as before"),
        (Change::Edited { .. }, Base::Old) => id(",").and(" as now"),
        (Change::Reordered, Base::New) => Line::ours("new in the old order"),
        (Change::Reordered, Base::Old) => Line::ours("old in the new order"),
    }
}

/// Undoing a change alone, as the beginning of a sentence.
pub(super) fn undoing(change: &EvidenceChange) -> Line<'_> {
    let id = |before: &str| quoted(Line::ours(before), &change.id);
    match change.change {
        Change::Left { .. } => id("Putting back ").and(" alone"),
        Change::Came { .. } => id("Taking out ").and(" alone"),
        Change::Edited { .. } => id("Showing ").and(" alone as it was"),
        Change::Reordered => Line::ours("Restoring the old order alone"),
    }
}

/// Making it alone, within a sentence.
pub(super) fn making(change: &EvidenceChange) -> Line<'_> {
    let id = |before: &str| quoted(Line::ours(before), &change.id);
    match change.change {
        Change::Left { .. } => id("taking ").and(" alone out of the old evidence"),
        Change::Came { .. } => id("adding ").and(" alone to the old evidence"),
        Change::Edited { .. } => id("showing ").and(" alone as it is now in the old evidence"),
        Change::Reordered => Line::ours("giving the old evidence the new order alone"),
    }
}

/// A change within a list of them.
pub(super) fn named(change: &EvidenceChange) -> Line<'_> {
    match change.change {
        Change::Reordered => Line::ours("the order"),
        _ => quoted(Line::default(), &change.id),
    }
}
