//! How far the evidence itself changed.

use crate::analyze::{Analysis, Overlap, OverlapFigures};
use crate::report::document::{Block, Line, Section, Table, Topic};
use crate::report::numbers;

pub(super) fn section(analysis: &Analysis) -> Option<Section<'static>> {
    let overlap = analysis.overlap.as_ref()?;
    let columns = vec![
        ("compared by", false),
        ("documents shared (mean)", true),
        ("none shared", true),
        ("same set", true),
        ("same list", true),
    ];
    let rows = vec![row("id", &overlap.by_id, overlap), row("content", &overlap.by_content, overlap)];
    let identical = format!(
        "{} of {} have byte-identical evidence in both snapshots ({}).",
        numbers::count(overlap.identical_prompts),
        numbers::counted(overlap.questions, "question"),
        numbers::percent_of(overlap.identical_prompts, overlap.questions)
    );
    let blocks = vec![Block::Table(Table { columns, rows }), Block::Paragraph(Line::ours(identical))];
    Some(Section::new(Topic::Turnover, teaser(overlap), blocks))
}

fn teaser(overlap: &Overlap) -> String {
    let changed = overlap.questions.saturating_sub(overlap.identical_prompts);
    format!("evidence changed for {} of questions", numbers::percent_of(changed, overlap.questions))
}

fn row(by: &'static str, figures: &OverlapFigures, overlap: &Overlap) -> Vec<Line<'static>> {
    let share = |part: u64| format!("{} ({})", numbers::count(part), numbers::percent_of(part, overlap.questions));
    let cells = [
        by.to_owned(),
        numbers::float(figures.mean_shared, 2),
        share(figures.none),
        share(figures.same_set),
        share(figures.same_list),
    ];
    cells.into_iter().map(Line::ours).collect()
}
