//! Labels that are not transitive, and what repairs would make of D̂.

use super::absent;
use super::headline::figures;
use crate::analyze::Analysis;
use crate::model::{Fraction, Kernel};
use crate::report::document::{Block, Line, Section, Table, Topic};
use crate::report::numbers;

/// Absent where every triple of labels is consistent: there is nothing to tell.
pub(super) fn section(analysis: &Analysis) -> Option<Section<'_>> {
    let transitivity = &analysis.transitivity;
    if transitivity.broken == 0 {
        return None;
    }
    let raw = figures(analysis, Kernel::Semantic)?.churn;
    let columns = vec![("labels", false), ("semantic D̂ (pp)", true)];
    let row = |name: &str, churn: Option<Fraction>| {
        vec![Line::ours(name), Line::ours(numbers::or_dash(churn.map(numbers::pp)))]
    };
    let rows = vec![
        row("as judged (these count)", Some(raw)),
        row("answers linked by any chain of `same` count as the same", transitivity.churn_components),
        row("an answer joins a class only if all of it means the same", transitivity.churn_complete_link),
    ];
    let broken = format!(
        "{} of {} ({})",
        numbers::count(transitivity.broken),
        numbers::counted(transitivity.triples, "triple"),
        numbers::percent_of(transitivity.broken, transitivity.triples)
    );
    let note = format!(
        "In {broken} of answers with two pairs judged the same the third pair was judged different. Nothing is repaired; the \
         table shows how far a repair would move D̂."
    );
    let mut blocks = vec![Block::Paragraph(Line::ours(note)), Block::Table(Table { columns, rows })];
    blocks.extend(transitivity.why.as_ref().map(|why| absent("repaired labels", why)));
    Some(Section::new(Topic::Transitivity, broken, blocks))
}
