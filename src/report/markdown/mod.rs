//! Markdown for comments, checks and summaries: complete up to a budget of bytes.

mod budget;
mod render;

use super::document::Document;
use super::result::AuditResult;
use super::unproved::Unproved;
use super::view;

/// Bytes of a report at most: below every reading of GitHub's limit on comments (65,536) and on the texts of checks
/// (65,535 bytes), with room for the marker by which a comment is found again.
pub const MARKDOWN_BUDGET: usize = 65_000;

/// The report as GitHub-flavoured Markdown of at most [`MARKDOWN_BUDGET`] bytes.
#[must_use]
pub fn markdown(result: &AuditResult) -> String {
    markdown_within(result, MARKDOWN_BUDGET)
}

/// The report as GitHub-flavoured Markdown of at most `budget` bytes, cut only between whole entries, with a note of
/// what was left out. Verdict and warnings always stay, whatever the budget.
#[must_use]
pub fn markdown_within(result: &AuditResult, budget: usize) -> String {
    markdown_as(result, Unproved::of(result), budget)
}

/// The same where whoever tells it knows why its verdict proves nothing.
#[must_use]
pub fn markdown_as(result: &AuditResult, unproved: Option<Unproved>, budget: usize) -> String {
    document_within(&view::document_as(result, unproved), budget)
}

/// A document as Markdown of at most `budget` bytes.
pub(super) fn document_within(document: &Document<'_>, budget: usize) -> String {
    budget::fit(&render::head(document), render::sections(document), document.whole, budget)
}
