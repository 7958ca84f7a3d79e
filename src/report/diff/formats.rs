//! The files that a run of evidence alone is told in.

use super::{EvidenceDiff, diff_json};
use crate::report::{MARKDOWN_BUDGET, html, markdown, view};

/// One format of what changed in the evidence, and the file it is written to.
#[derive(Clone, Copy, Debug)]
pub struct DiffFormat {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its file in the run's folder.
    pub file: &'static str,
    /// Renders it.
    pub render: fn(&EvidenceDiff) -> Vec<u8>,
}

/// Every format that is a file; the first one holds everything.
pub const DIFF_FORMATS: [DiffFormat; 3] = [
    DiffFormat { name: "json", file: "diff.json", render: diff_json },
    DiffFormat {
        name: "markdown",
        file: "report.md",
        render: |diff| diff_markdown_within(diff, MARKDOWN_BUDGET).into_bytes(),
    },
    DiffFormat { name: "html", file: "report.html", render: |diff| diff_html(diff).into_bytes() },
];

/// What changed in one line: never a verdict.
#[must_use]
pub fn diff_line(diff: &EvidenceDiff) -> String {
    view::evidence_line(diff)
}

/// What changed as GitHub-flavoured Markdown of at most `budget` bytes, cut only between whole entries.
#[must_use]
pub fn diff_markdown_within(diff: &EvidenceDiff, budget: usize) -> String {
    markdown::document_within(&view::evidence(diff), budget)
}

/// What changed as a self-contained HTML page.
#[must_use]
pub fn diff_html(diff: &EvidenceDiff) -> String {
    html::page(&view::evidence(diff))
}
