//! How the audit went: cells, packets, models, retries.

use super::{NAME, conduct, diagnostics, first_rows, served};
use crate::analyze::KernelFigures;
use crate::report::document::{Block, Line, Section, Topic};
use crate::report::numbers;
use crate::report::result::{AuditResult, Validity};

pub(super) fn section(result: &AuditResult) -> Section<'_> {
    let validity = &result.validity;
    let mut facts = vec![cells(result), packets(result)];
    facts.extend(diagnostics::facts(result));
    facts.extend(validity.served_models.iter().filter_map(|(snapshot, models)| served_by(snapshot, models)));
    facts.extend(served::facts(result));
    facts.extend(retries(result));
    facts.extend(not_sent(result));
    facts.extend(conduct::facts(result));
    facts.extend(result.analysis.kernels.iter().filter_map(noise_floor));
    Section::new(Topic::Validity, teaser(validity), vec![Block::List(facts)])
}

fn total(counts: &[(String, u64)]) -> u64 {
    counts.iter().fold(0, |sum, (_, count)| sum.saturating_add(*count))
}

fn teaser(validity: &Validity) -> String {
    let (accepted, invalid) = (total(&validity.accepted), total(&validity.invalid));
    format!("{} accepted, {} without one", numbers::counted(accepted, "answer"), numbers::counted(invalid, "cell"))
}

fn cells(result: &AuditResult) -> Line<'_> {
    let validity = &result.validity;
    let cells = numbers::counted(validity.cells, "cell");
    let mut line = Line::ours(if result.is_from_elsewhere() {
        format!("{cells} in the file")
    } else {
        format!("{cells} to fill")
    });
    for (snapshot, accepted) in first_rows(&validity.accepted).0 {
        let invalid = validity.invalid.iter().find(|(name, _)| name == snapshot).map_or(0, |(_, count)| *count);
        line = line.and("; ").theirs(snapshot, NAME).and(format!(
            " {} accepted, {} without an answer",
            numbers::count(*accepted),
            numbers::count(invalid)
        ));
    }
    line
}

fn packets<'a>(result: &AuditResult) -> Line<'a> {
    let validity = &result.validity;
    let excluded = numbers::counted(validity.excluded_questions, "question");
    // Of answers made elsewhere nobody here knows how they were judged, or what was retrieved how often.
    if result.is_from_elsewhere() {
        return Line::ours(format!(
            "{} with labels; {excluded} excluded",
            numbers::counted(validity.packets, "question")
        ));
    }
    let judged =
        Line::ours(format!("{} judged blindly; {excluded} excluded", numbers::counted(validity.packets, "packet")));
    // A deployed system is not asked twice for what it retrieves.
    if result.machinery.black_box.is_some() {
        return judged;
    }
    judged.and(format!("; two retrievals differed for {}", numbers::counted(validity.mismatched_evidence, "question")))
}

fn served_by<'a>(snapshot: &'a str, models: &'a [String]) -> Option<Line<'a>> {
    let (first, rest) = models.split_first()?;
    let line = Line::default().theirs(snapshot, NAME).and(" served by ").theirs(first, NAME);
    Some(first_rows(rest).0.iter().fold(line, |line, model| line.and(", ").theirs(model, NAME)))
}

/// Agreement of repeats by snapshot: one minus the noise floor.
fn noise_floor<'a>(figures: &KernelFigures) -> Option<Line<'a>> {
    let agreement = figures.agreement.as_ref()?;
    Some(Line::ours(format!(
        "repeats agree under the {} kernel: {} within old, {} within new",
        figures.kernel,
        numbers::percent(agreement.within_old),
        numbers::percent(agreement.within_new)
    )))
}

fn retries(result: &AuditResult) -> Vec<Line<'_>> {
    let (shown, _) = first_rows(&result.record.retries);
    shown
        .iter()
        .map(|(reason, count)| {
            Line::ours(format!("{} not accepted: ", numbers::counted(*count, "attempt"))).theirs(reason, NAME)
        })
        .collect()
}

/// Nothing was asked by these, so that they are neither calls nor retries.
fn not_sent<'a>(result: &AuditResult) -> Option<Line<'a>> {
    let count = result.record.not_sent.filter(|count| *count > 0)?;
    Some(Line::ours(format!(
        "{} that no call followed: the audit ended first",
        numbers::counted(count, "recorded attempt")
    )))
}
