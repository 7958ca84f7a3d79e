//! Churn under a bounded similarity.

use crate::analyze::{Analysis, SoftFigures};
use crate::report::document::{Block, Line, Section, Table, Topic};
use crate::report::numbers;

pub(super) fn section(analysis: &Analysis) -> Option<Section<'static>> {
    let soft = analysis.soft.as_ref()?;
    let columns = vec![
        ("D̂ (pp)", true),
        ("interval", true),
        ("within", true),
        ("cross", true),
        ("lower bound", true),
        ("upper bound", true),
    ];
    let note = "Similarities from 0 to 1 in the place of agreement. For diagnosis only: no rule can name this kernel.";
    let blocks = vec![Block::Paragraph(Line::ours(note)), Block::Table(Table { columns, rows: vec![row(soft)] })];
    Some(Section::new(Topic::Soft, format!("D̂ {} pp; diagnosis only", numbers::pp_float(soft.churn)), blocks))
}

fn row<'a>(soft: &SoftFigures) -> Vec<Line<'a>> {
    let (low, high) = soft.interval;
    let percent = |share: f64| format!("{}%", numbers::float(share * 100.0, 2));
    let cells = [
        numbers::pp_float(soft.churn),
        format!("{} to {}", numbers::pp_float(low), numbers::pp_float(high)),
        percent(soft.within),
        percent(soft.cross),
        numbers::pp_float(soft.lower_bound),
        numbers::pp_float(soft.upper_bound),
    ];
    cells.into_iter().map(Line::ours).collect()
}
