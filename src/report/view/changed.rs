//! What changed: the physical snapshots, and what answered and judged.

use super::{DESCRIPTION, NAME, first_rows, passed, whole};
use crate::report::document::{Block, Line, Section, Table, Topic};
use crate::report::numbers;
use crate::report::result::{AuditResult, SnapshotSummary};

pub(super) fn section(result: &AuditResult) -> Section<'_> {
    of(&result.snapshots, machinery(result), whole(result))
}

/// Snapshots, with further facts about how they were looked at. `whole` says where all snapshots are.
pub(super) fn of<'a>(snapshots: &'a [SnapshotSummary], facts: Vec<Line<'a>>, whole: &str) -> Section<'a> {
    let (shown, left_out) = first_rows(snapshots);
    let columns = vec![("snapshot", false), ("what it is", false), ("documents", true), ("content", false)];
    let table = Table { columns, rows: shown.iter().map(row).collect() };
    let mut blocks = vec![Block::Table(table), Block::List(facts)];
    let passed_over = passed::lines(shown);
    if !passed_over.is_empty() {
        blocks.push(Block::List(passed_over));
    }
    if left_out > 0 {
        blocks.push(Block::Paragraph(Line::ours(format!("{left_out} more snapshots are in {whole}."))));
    }
    Section::new(Topic::Changed, String::new(), blocks)
}

fn row(snapshot: &SnapshotSummary) -> Vec<Line<'_>> {
    let documents = snapshot.documents.map_or_else(|| "–".to_owned(), numbers::count);
    let content = snapshot.fingerprint.map_or_else(|| Line::ours("–"), |digest| Line::default().code(digest.short()));
    vec![
        Line::default().theirs(&snapshot.name, NAME),
        Line::default().theirs(&snapshot.physical, DESCRIPTION),
        Line::ours(documents),
        content,
    ]
}

fn machinery(result: &AuditResult) -> Vec<Line<'_>> {
    let machinery = &result.machinery;
    let answering = match &machinery.black_box {
        Some(system) => vec![Line::ours("retrieved and answered by ").theirs(system, DESCRIPTION)],
        None => vec![
            Line::ours("retrieved by ").theirs(&machinery.retrieve, DESCRIPTION),
            Line::ours("answered by ").theirs(&machinery.generate, DESCRIPTION),
        ],
    };
    let judged = Line::ours("judged by ").theirs(&machinery.judge, DESCRIPTION);
    let spec = Line::ours("spec ").code(result.spec.short()).and(", protocol ").code(result.protocol.short());
    let spec = spec.and(", audited by churngate ").theirs(&machinery.tool_version, NAME);
    answering.into_iter().chain([judged, spec]).collect()
}
