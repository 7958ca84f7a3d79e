//! What of a corpus nobody read: no answer can come from it.

use super::NAME;
use crate::model::PassedOver;
use crate::report::document::Line;
use crate::report::numbers;
use crate::report::result::SnapshotSummary;

/// Characters of an ending that are shown.
const ENDING: usize = 16;

/// One line for all snapshots that pass over the same, in the order of the first of each.
pub(in crate::report) fn lines(snapshots: &[SnapshotSummary]) -> Vec<Line<'_>> {
    let mut groups: Vec<(Vec<&str>, &PassedOver)> = Vec::new();
    for snapshot in snapshots {
        let Some(passed) = &snapshot.passed_over else { continue };
        match groups.iter_mut().find(|(_, other)| *other == passed) {
            Some((names, _)) => names.push(&snapshot.name),
            None => groups.push((vec![&snapshot.name], passed)),
        }
    }
    groups.into_iter().map(|(names, passed)| line(&names, passed)).collect()
}

/// Whether old and new pass over different things, where either passes over any: half a corpus may have become unreadable.
pub(in crate::report) fn difference<'a>(snapshots: &[SnapshotSummary]) -> Option<Line<'a>> {
    let of = |name: &str| snapshots.iter().find(|snapshot| snapshot.name == name).map(|found| &found.passed_over);
    let (old, new) = (of("old")?, of("new")?);
    let total = |passed: &Option<PassedOver>| numbers::count(passed.as_ref().map_or(0, PassedOver::total));
    (old != new).then(|| {
        Line::ours(format!(
            "Old and new pass over other files, {} and {} of them: what is in these is in no answer.",
            total(old),
            total(new)
        ))
    })
}

/// `old, new: 38 files were passed over: .pdf 30, .bin 7, hidden 1`.
fn line<'a>(names: &[&'a str], passed: &'a PassedOver) -> Line<'a> {
    let mut line = Line::default();
    for (place, name) in names.iter().enumerate() {
        line = line.and(if place == 0 { "" } else { ", " }).theirs(name, NAME);
    }
    let total = passed.total();
    line = line.and(format!(
        ": {} {} passed over",
        numbers::counted(total, "file"),
        if total == 1 { "was" } else { "were" }
    ));
    let mut between = ": ";
    for (ending, count) in &passed.endings {
        line = line.and(between).theirs(ending, ENDING).and(format!(" {}", numbers::count(*count)));
        between = ", ";
    }
    let rest = [("others", passed.others), ("hidden", passed.hidden), ("links or submodules", passed.links)];
    for (what, count) in rest.into_iter().filter(|(_, count)| *count > 0) {
        line = line.and(format!("{between}{what} {}", numbers::count(count)));
        between = ", ";
    }
    line
}
