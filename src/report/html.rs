//! The whole report as one HTML file: no script, nothing loaded from anywhere, light and dark.
//!
//! The template escapes everything; text from outside has passed through `escape` before.

use super::document::{Block, DiffLine, Document, Line, Part, Section, Table};
use super::drawing::drawing;
use super::result::AuditResult;
use super::view;
use crate::gate::Verdict;
use askama::Template;

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    document: &'a Document<'a>,
    tone: &'static str,
}

/// A run of text with one look: `plain`, `strong`, `code` or `theirs`.
struct Span {
    kind: &'static str,
    text: String,
}

/// A cell, and whether a figure stands in it.
struct Cell<'a> {
    line: &'a Line<'a>,
    figures: bool,
}

/// The report as a self-contained HTML page.
#[must_use]
pub fn html(result: &AuditResult) -> String {
    page(&view::document(result))
}

/// A document as a page.
pub(super) fn page(document: &Document<'_>) -> String {
    let page = Page { document, tone: tone(document.verdict) };
    // Writing to a string cannot fail, and no value in the template can.
    page.render().unwrap_or_default()
}

const fn tone(verdict: Option<Verdict>) -> &'static str {
    match verdict {
        Some(Verdict::Compatible) => "green",
        Some(Verdict::Incompatible) => "red",
        Some(Verdict::Inconclusive) => "amber",
        None => "plain",
    }
}

fn spans(line: &Line<'_>) -> Vec<Span> {
    line.0.iter().map(span).collect()
}

fn span(part: &Part<'_>) -> Span {
    let (kind, text) = match part {
        Part::Ours(text) => ("plain", text.clone()),
        Part::Strong(text) => ("strong", text.clone()),
        Part::Code(text) => ("code", text.clone()),
        Part::Theirs(text, limit) if !text.is_empty() => ("theirs", text.visible(*limit)),
        Part::Theirs(..) => ("plain", "(empty)".to_owned()),
        Part::Prose(text, limit) => ("plain", text.visible(*limit)),
    };
    Span { kind, text }
}

fn cells<'a>(table: &'a Table<'a>, row: &'a [Line<'a>]) -> Vec<Cell<'a>> {
    row.iter().zip(&table.columns).map(|(line, (_, figures))| Cell { line, figures: *figures }).collect()
}

const fn side(line: &DiffLine<'_>) -> &'static str {
    match line.sign {
        '-' => "old",
        '+' => "new",
        _ => "both",
    }
}

fn texts(line: &DiffLine<'_>) -> Vec<String> {
    let theirs = line.texts.iter().map(|(text, limit)| text.visible(*limit));
    theirs.chain((!line.remark.is_empty()).then(|| line.remark.clone())).collect()
}

fn open_entries<'a>(section: &'a Section<'a>) -> &'a [Vec<Block<'a>>] {
    &section.entries[..section.entries.len().min(section.open_entries)]
}

fn folded_entries<'a>(section: &'a Section<'a>) -> &'a [Vec<Block<'a>>] {
    &section.entries[section.entries.len().min(section.open_entries)..]
}
