//! Bounds where clusters of questions are resampled instead of questions.

use crate::analyze::{Analysis, ClusterBounds, KernelFigures};
use crate::report::document::{Block, Line, Section, Table, Topic};
use crate::report::numbers;

pub(super) fn section(analysis: &Analysis) -> Option<Section<'static>> {
    let of = |figures: &KernelFigures| figures.clusters.clone().map(|clusters| (figures.kernel.to_string(), clusters));
    let known: Vec<(String, ClusterBounds)> = analysis.kernels.iter().filter_map(of).collect();
    let clusters = numbers::counted(known.first()?.1.clusters, "cluster");
    let columns = vec![("kernel", false), ("lower bound", true), ("interval", true), ("upper bound", true)];
    let rows = known.iter().map(|(kernel, bounds)| row(kernel, bounds)).collect();
    let note = "Questions of one source or session may change together. These bounds resample whole clusters; the gate reads \
                the more cautious of them and of the bounds over questions.";
    let mut blocks = vec![Block::Paragraph(Line::ours(note)), Block::Table(Table { columns, rows })];
    if known.iter().any(|(_, bounds)| !bounds.exact) {
        let grid = "Lower bounds and intervals are rounded up to hundredths of a percentage point.";
        blocks.push(Block::Paragraph(Line::ours(grid)));
    }
    Some(Section::new(Topic::Clusters, clusters, blocks))
}

fn row(kernel: &str, bounds: &ClusterBounds) -> Vec<Line<'static>> {
    let (low, high) = bounds.interval;
    let cells = [
        kernel.to_owned(),
        numbers::pp(bounds.lower_bound),
        format!("{} to {}", numbers::pp(low), numbers::pp(high)),
        numbers::pp_float(bounds.upper_bound),
    ];
    cells.into_iter().map(Line::ours).collect()
}
