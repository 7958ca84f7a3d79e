//! The report for a terminal: short, without colours, and safe to print in a CI log.

use super::document::{Block, DiffLine, Document, Line, Part, Section, Table, Topic};
use super::escape::Untrusted;
use super::result::{AuditResult, SnapshotSummary};
use super::view;
use comfy_table::{CellAlignment, ContentArrangement, LineStyle, presets};

/// Flips that are shown; the others are in the reports.
const FLIPS: usize = 3;
/// Characters of one text that are shown.
const TEXT: usize = 100;
/// Characters of a path that are shown.
const PATH: usize = 4096;
/// Narrower terminals are treated as this wide.
const NARROWEST: u16 = 40;

/// The verdict, warnings, the kernels, the rule and the first flips; lines of at most `width`
/// columns where words allow it.
#[must_use]
pub fn terminal(result: &AuditResult, width: u16) -> String {
    let width = width.max(NARROWEST);
    let document = view::document(result);
    let mut text = head(&document, width);
    for section in &document.sections {
        text.push_str(&match section.topic {
            Topic::Churn | Topic::Rule => tables(section, width),
            Topic::Placebo => placebo(section, width),
            Topic::Flips => flips(section, width),
            _ => String::new(),
        });
    }
    text + &diagnostics(result, width) + &also(&document, width)
}

/// The judge held against itself and against another one, where it was.
fn diagnostics(result: &AuditResult, width: u16) -> String {
    let lines: String = view::diagnostics(result).iter().map(|fact| wrapped(&line(fact), width, "  ")).collect();
    if lines.is_empty() { lines } else { lines + "\n" }
}

/// The diagnoses that only the reports show in full, in a line.
fn also(document: &Document<'_>, width: u16) -> String {
    let diagnoses =
        [Topic::Cited, Topic::Clusters, Topic::Ladder, Topic::Trajectories, Topic::Transitivity, Topic::Soft];
    let told = |section: &Section<'_>| format!("{} ({})", section.topic.title(), section.teaser);
    let known: Vec<String> =
        document.sections.iter().filter(|section| diagnoses.contains(&section.topic)).map(told).collect();
    if known.is_empty() {
        return String::new();
    }
    wrapped(&format!("also in the report: {}", known.join(" · ")), width, "  ") + "\n"
}

fn head(document: &Document<'_>, width: u16) -> String {
    let mut text = wrapped(&document.headline, width, "");
    text.push_str(&wrapped(&line(&document.summary), width, ""));
    for warning in &document.warnings {
        text.push_str(&wrapped(&format!("warning: {}", line(warning)), width, "  "));
    }
    text.push('\n');
    text
}

fn tables(section: &Section<'_>, width: u16) -> String {
    let tables = section.blocks.iter().filter_map(|block| match block {
        Block::Table(table) => Some(self::table(table, width)),
        _ => None,
    });
    tables.map(|table| table + "\n\n").collect()
}

/// The figures and what they mean; the turnover is in the reports.
fn placebo(section: &Section<'_>, width: u16) -> String {
    let told = section.blocks.iter().find_map(|block| match block {
        Block::Paragraph(told) => Some(wrapped(&line(told), width, "")),
        _ => None,
    });
    let figures = section.blocks.iter().find_map(|block| match block {
        Block::Table(table) => Some(self::table(table, width)),
        _ => None,
    });
    [figures, told].into_iter().flatten().map(|part| part.trim_end().to_owned() + "\n").collect::<String>() + "\n"
}

/// A table of at most this width. Limits stand in the table of the rule, so that the kernels fit into 80 columns.
pub(in crate::report) fn table(table: &Table<'_>, width: u16) -> String {
    let kept = |title: &str| title != "limit";
    let columns: Vec<usize> = (0..table.columns.len()).filter(|index| kept(table.columns[*index].0)).collect();
    let mut drawn = comfy_table::Table::new();
    let style = presets::UTF8_HORIZONTAL_ONLY.row_separator(LineStyle::none());
    drawn.load_style(style).set_content_arrangement(ContentArrangement::Dynamic);
    drawn.set_width(width).set_header(columns.iter().map(|index| table.columns[*index].0));
    for row in &table.rows {
        drawn.add_row(columns.iter().filter_map(|index| row.get(*index)).map(line));
    }
    for (position, index) in columns.iter().enumerate() {
        if let Some(column) = drawn.column_mut(position).filter(|_| table.columns[*index].1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    drawn.trim_fmt()
}

fn flips(section: &Section<'_>, width: u16) -> String {
    if section.entries.is_empty() {
        return String::new();
    }
    let mut text = format!("{}\n", section.topic.title());
    for block in section.entries.iter().take(FLIPS).flatten() {
        text.push_str(&match block {
            Block::Paragraph(title) => wrapped(&line(title), width, "   "),
            Block::Diff(lines) => diff(lines),
            _ => String::new(),
        });
    }
    let left_out = section.entries.len().saturating_sub(FLIPS);
    let more = (left_out > 0).then(|| format!("{left_out} more in the report\n"));
    text + &more.unwrap_or_default() + "\n"
}

/// What of the snapshots' corpora was not read, a line each, and whether old and new differ in it.
#[must_use]
pub fn passed_over(snapshots: &[SnapshotSummary]) -> Vec<String> {
    view::passed_over(snapshots).iter().chain(&view::difference(snapshots)).map(line).collect()
}

/// Where the reports are, and how to go on. `folder` is the run's folder as the user can name it.
#[must_use]
pub fn next_steps(folder: &str) -> String {
    let folder = Untrusted::new(folder).terminal(PATH);
    format!("reports: {folder}/report.md, report.html\nverify:  churngate verify {folder}\n")
}

/// The lines of a flip, without the documents: those are in the reports.
fn diff(lines: &[DiffLine<'_>]) -> String {
    let documents = |line: &&DiffLine<'_>| !matches!(line.label, "left" | "came" | "changed" | "");
    lines.iter().filter(documents).map(diff_line).collect()
}

fn diff_line(line: &DiffLine<'_>) -> String {
    let mut parts: Vec<String> = line.texts.iter().map(|(text, limit)| text.terminal(TEXT.min(*limit))).collect();
    parts.extend((!line.remark.is_empty()).then(|| line.remark.clone()));
    format!("   {} {:<11} {}\n", line.sign, line.label, parts.join("  ·  "))
}

/// A line with all that comes from outside in it made harmless.
pub(in crate::report) fn line(line: &Line<'_>) -> String {
    line.0.iter().map(part).collect()
}

fn part(part: &Part<'_>) -> String {
    match part {
        Part::Ours(text) | Part::Strong(text) | Part::Code(text) => text.clone(),
        Part::Theirs(text, limit) if text.is_empty() => text.code(*limit),
        Part::Theirs(text, limit) | Part::Prose(text, limit) => text.terminal(*limit),
    }
}

/// Words on lines of at most `width` characters; every line after the first begins with `indent`.
pub(in crate::report) fn wrapped(text: &str, width: u16, indent: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let used = lines.last().map_or(0, |line| line.chars().count());
        if used > indent.len() && used + 1 + word.chars().count() > usize::from(width) {
            lines.push(format!("{indent}{word}"));
        } else if let Some(line) = lines.last_mut() {
            if used > 0 {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.into_iter().map(|line| line.trim_end().to_owned() + "\n").collect()
}
