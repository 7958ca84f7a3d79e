//! Where questions stand in their file, for whoever points a reader there.

use super::Protocol;
use super::questions::{self, Format, Row};
use crate::model::QuestionId;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// The lines, from 1, on which these questions stand. Nothing where the file is not the frozen one, byte for byte.
#[must_use]
pub fn question_lines(
    protocol: &Protocol,
    file: &[u8],
    wanted: &BTreeSet<&QuestionId>,
) -> Option<BTreeMap<QuestionId, u64>> {
    if *file != *protocol.origin.sources.questions {
        return None;
    }
    let text = questions::text(file).ok()?;
    let format = Format::of(protocol.spec.questions.file.as_str())?;
    let mut found = BTreeMap::new();
    questions::each(text, format, &mut |row| {
        let placed = row.ok().as_ref().and_then(place).filter(|(id, _)| wanted.contains(id));
        found.extend(placed);
        ControlFlow::Continue(())
    });
    Some(found)
}

/// Where a question stands: `line 3`, or `line 3, column 5`.
fn place(row: &Row) -> Option<(QuestionId, u64)> {
    let id = questions::id_of(row, &questions::row_text(row).ok()?).ok()?;
    let line = row.at.strip_prefix("line ")?.split(',').next()?;
    Some((id, line.parse().ok()?))
}
