//! Stable flips along the snapshots between, and beside the answers without evidence.

use super::{NAME, first_rows};
use crate::analyze::{Alignment, Analysis, Trajectories};
use crate::report::document::{Block, Line, Section, Table, Topic};
use crate::report::numbers;

pub(super) fn section(analysis: &Analysis) -> Option<Section<'_>> {
    let middles = analysis.trajectories.iter().flat_map(|trajectories| &trajectories.middles);
    let mut rows: Vec<Vec<Line<'_>>> =
        middles.map(|(name, alignment)| row(Line::default().theirs(&name.0, NAME), alignment)).collect();
    rows.extend(analysis.closed_book.as_ref().map(|alignment| row(Line::ours("without evidence"), alignment)));
    if rows.is_empty() {
        return None;
    }
    let columns = vec![
        ("its answers", false),
        ("side with old", true),
        ("side with new", true),
        ("with neither", true),
        ("mixed", true),
        ("repeats disagree", true),
    ];
    let note = "Every stable flip between old and new stands in one place to the answers of a third snapshot. For diagnosis only.";
    let mut blocks =
        vec![Block::Paragraph(Line::ours(note)), Block::Table(Table { columns, rows: first_rows(&rows).0.to_vec() })];
    blocks.extend(analysis.trajectories.as_ref().map(|trajectories| Block::List(steps(trajectories))));
    Some(Section::new(Topic::Trajectories, teaser(analysis), blocks))
}

fn teaser(analysis: &Analysis) -> String {
    match &analysis.trajectories {
        Some(trajectories) => {
            format!("{} at some step; diagnosis only", numbers::counted(trajectories.any_step, "flip"))
        }
        None => "the answers without evidence; diagnosis only".to_owned(),
    }
}

fn steps<'a>(trajectories: &Trajectories) -> Vec<Line<'a>> {
    let facts = [
        format!("{} at one adjacent step or more", numbers::counted(trajectories.any_step, "question")),
        format!("{} at two or more", numbers::counted(trajectories.several_steps, "question")),
        format!("{} left and came back (X → Y → X)", numbers::counted(trajectories.returns, "question")),
    ];
    facts.into_iter().map(Line::ours).collect()
}

fn row<'a>(name: Line<'a>, alignment: &Alignment) -> Vec<Line<'a>> {
    let Alignment { repeats_disagree, old, new, third, mixed } = *alignment;
    let counts = [old, new, third, mixed, repeats_disagree].map(numbers::count);
    [name].into_iter().chain(counts.into_iter().map(Line::ours)).collect()
}
