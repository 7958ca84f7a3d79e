//! Document -> GitHub-flavoured Markdown. The only markup is ours; text from outside stands in code spans and fences.

use super::budget::Rendered;
use crate::gate::Verdict;
use crate::report::document::{Block, DiffLine, Document, Line, Part, Section, Table};
use crate::report::escape::{Untrusted, fenced};
use crate::report::picture::picture;

/// Characters before the text of a line of what was and what is.
const LABEL: usize = 11;

/// Verdict, summary and warnings.
pub(super) fn head(document: &Document<'_>) -> String {
    let title = format!("## {} {}\n\n", icon(document.verdict), document.headline);
    format!("{title}{}\n\n{}", line(&document.summary), warnings(&document.warnings))
}

fn warnings(warnings: &[Line<'_>]) -> String {
    if warnings.is_empty() {
        return String::new();
    }
    let quoted: Vec<String> = warnings.iter().map(|warning| format!("> - {}\n", line(warning))).collect();
    format!("> [!WARNING]\n{}\n", quoted.concat())
}

/// The sections, ready to be cut.
pub(super) fn sections(document: &Document<'_>) -> Vec<Rendered> {
    document.sections.iter().map(section).collect()
}

const fn icon(verdict: Option<Verdict>) -> &'static str {
    match verdict {
        Some(Verdict::Compatible) => "✅",
        Some(Verdict::Incompatible) => "❌",
        Some(Verdict::Inconclusive) => "⚠️",
        None => "🔎",
    }
}

fn section(section: &Section<'_>) -> Rendered {
    let title = section.topic.title();
    let (start, end) = if section.topic.is_open() {
        (format!("### {title}\n\n"), "")
    } else {
        (format!("<details>\n<summary>{}</summary>\n\n", summary(title, &section.teaser)), "</details>\n\n")
    };
    Rendered {
        start: format!("{start}{}", blocks(&section.blocks)),
        entries: section.entries.iter().map(|entry| blocks(entry)).collect(),
        open_entries: section.open_entries,
        end: end.to_owned(),
    }
}

/// A summary is HTML: titles and teasers are ours, and escaped all the same.
fn summary(title: &str, teaser: &str) -> String {
    let teaser = teaser.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    if teaser.is_empty() { format!("<b>{title}</b>") } else { format!("<b>{title}</b>: {teaser}") }
}

fn blocks(blocks: &[Block<'_>]) -> String {
    let texts: Vec<String> = blocks.iter().map(|block| self::block(block) + "\n").collect();
    texts.concat()
}

fn block(block: &Block<'_>) -> String {
    match block {
        Block::Paragraph(text) => format!("{}\n", line(text)),
        Block::List(lines) => list(lines),
        Block::Table(table) => self::table(table),
        Block::Picture(bars) => fenced("text", &picture(bars)),
        Block::Diff(lines) => fenced("diff", &lines.iter().map(diff_line).collect::<Vec<_>>()),
        Block::Commands(lines) => fenced("sh", lines),
    }
}

fn line(line: &Line<'_>) -> String {
    line.0.iter().map(|part| self::part(part, Untrusted::code)).collect()
}

fn part<'a>(part: &Part<'a>, literal: fn(Untrusted<'a>, usize) -> String) -> String {
    match part {
        Part::Ours(text) => text.clone(),
        Part::Strong(text) => format!("**{text}**"),
        Part::Code(text) => format!("`{text}`"),
        Part::Theirs(text, limit) => literal(*text, *limit),
        Part::Prose(text, limit) => text.prose(*limit),
    }
}

fn table(table: &Table<'_>) -> String {
    let titles = table.columns.iter().map(|(title, _)| (*title).to_owned()).collect();
    let rules = table.columns.iter().map(|(_, figures)| if *figures { "--:" } else { ":--" }.to_owned()).collect();
    let cell = |text: &Line<'_>| text.0.iter().map(|part| self::part(part, Untrusted::cell)).collect::<String>();
    let rows = table.rows.iter().map(|row| row.iter().map(cell).collect());
    [titles, rules].into_iter().chain(rows).map(row).collect::<Vec<_>>().concat()
}

#[expect(clippy::needless_pass_by_value, reason = "shaped for `map`")]
fn row(cells: Vec<String>) -> String {
    format!("| {} |\n", cells.join(" | "))
}

fn list(lines: &[Line<'_>]) -> String {
    let items: Vec<String> = lines.iter().map(|text| format!("- {}\n", line(text))).collect();
    items.concat()
}

fn diff_line(line: &DiffLine<'_>) -> String {
    let mut parts: Vec<String> = line.texts.iter().map(|(text, limit)| text.visible(*limit)).collect();
    if !line.remark.is_empty() {
        parts.push(line.remark.clone());
    }
    format!("{} {:<LABEL$} {}", line.sign, line.label, parts.join("  ·  "))
}
