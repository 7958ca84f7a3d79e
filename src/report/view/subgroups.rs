//! Diagnosis that can neither rescue nor sink the gate: snapshots between, and tags.

use super::{NAME, absent, first_rows};
use crate::analyze::{Analysis, Rung, Subgroup};
use crate::report::document::{Block, Line, Section, Table, Topic};
use crate::report::numbers;

/// The churn by tag. What is left out is in `whole`.
pub(super) fn section<'a>(analysis: &'a Analysis, whole: &str) -> Option<Section<'a>> {
    let (shown, left_out) = first_rows(&analysis.subgroups);
    let columns =
        vec![("tag", false), ("questions", true), ("D̂ (pp)", true), ("p (Holm)", true), ("stable flips", true)];
    let table = Table { columns, rows: shown.iter().map(tag_row).collect() };
    diagnosis(Topic::Subgroups, "semantic kernel", table, (left_out, whole))
}

/// The churn between adjacent snapshots. What is left out is in `whole`.
pub(super) fn ladder<'a>(analysis: &'a Analysis, whole: &str) -> Option<Section<'a>> {
    let (shown, left_out) = first_rows(&analysis.ladder);
    let columns =
        vec![("from", false), ("to", false), ("exact D̂ (pp)", true), ("semantic D̂ (pp)", true), ("stable flips", true)];
    let table = Table { columns, rows: shown.iter().map(rung_row).collect() };
    let mut section = diagnosis(Topic::Ladder, "churn between adjacent snapshots", table, (left_out, whole))?;
    let why = analysis.ladder.iter().find_map(|rung| rung.why.as_ref());
    section.blocks.extend(why.map(|why| absent("the snapshots between", why)));
    Some(section)
}

fn diagnosis<'a>(topic: Topic, what: &str, table: Table<'a>, (left_out, whole): (usize, &str)) -> Option<Section<'a>> {
    if table.rows.is_empty() {
        return None;
    }
    let more = if left_out > 0 { format!(" {left_out} more rows are in {whole}.") } else { String::new() };
    let note = format!("For diagnosis only: these can neither rescue nor sink the gate.{more}");
    let blocks = vec![Block::Paragraph(Line::ours(note)), Block::Table(table)];
    Some(Section::new(topic, format!("{what}; diagnosis only"), blocks))
}

fn tag_row(subgroup: &Subgroup) -> Vec<Line<'_>> {
    vec![
        Line::default().theirs(&subgroup.tag, NAME),
        Line::ours(numbers::count(subgroup.questions)),
        Line::ours(numbers::pp(subgroup.churn)),
        Line::ours(numbers::probability(subgroup.adjusted_p)),
        Line::ours(numbers::count(subgroup.stable_flips)),
    ]
}

fn rung_row(rung: &Rung) -> Vec<Line<'_>> {
    vec![
        Line::default().theirs(&rung.from.0, NAME),
        Line::default().theirs(&rung.to.0, NAME),
        Line::ours(numbers::or_dash(rung.exact.map(numbers::pp))),
        Line::ours(numbers::or_dash(rung.semantic.map(numbers::pp))),
        Line::ours(numbers::count(rung.stable_flips)),
    ]
}
