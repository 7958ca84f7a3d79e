//! Stable flips with their texts, in the order of the analysis: worst first.

use super::NAME;
use super::headline::figures;
use crate::analyze::{Analysis, Flip};
use crate::model::Kernel;
use crate::report::document::{Block, DiffLine, Line, Section, Topic};
use crate::report::escape::Untrusted;
use crate::report::excerpt::carries;
use crate::report::numbers;
use crate::report::result::{AuditResult, CitedChange, EvidenceLine, FlipDetail};
use std::collections::BTreeMap;

/// Flips that any report shows; `result.json` has all of them.
const SHOWN: usize = 1000;
/// Flips that stand open.
const OPEN: usize = 3;
/// Characters of a question that are shown.
const QUESTION: usize = 240;
/// Characters of an answer that are shown.
const ANSWER: usize = 240;
/// Characters of a document's text that are shown.
const EXCERPT: usize = 160;
/// Documents that are shown of those that left, and of those that came.
const DOCUMENTS: usize = 3;
/// Accepted answers that are shown.
const GOLD: usize = 3;

pub(super) fn section(result: &AuditResult) -> Section<'_> {
    let blocks = vec![Block::Paragraph(Line::ours(introduction(result)))];
    let mut section = Section::new(Topic::Flips, String::new(), blocks);
    section.entries = entries(result);
    section.open_entries = OPEN;
    section
}

/// One entry a flip, in the order of the analysis, up to the number that is shown.
pub(in crate::report) fn entries(result: &AuditResult) -> Vec<Vec<Block<'_>>> {
    let details: BTreeMap<_, _> = result.flips.iter().map(|detail| (&detail.question, detail)).collect();
    let numbered = (1..).zip(&result.analysis.flips).take(SHOWN);
    let tells = result.analysis.correctness.as_ref().is_some_and(super::correctness::matches_at_all);
    numbered
        .map(|(number, flip)| {
            let told = correctness(flip).filter(|_| tells);
            entry(number, flip, details.get(&flip.question).copied(), told)
        })
        .collect()
}

fn introduction(result: &AuditResult) -> String {
    let flips = result.analysis.flips.len() as u64;
    if flips == 0 {
        return "None: no question has repeats that agree within each snapshot and disagree across the two.".to_owned();
    }
    format!(
        "{}, worst first: repeats of the old snapshot agree in meaning, repeats of the new one agree, and the two \
         disagree.{}{}",
        numbers::counted(flips, "question"),
        expected_by_chance(&result.analysis).unwrap_or_default(),
        if flips > SHOWN as u64 {
            format!(" The first 1,000 are shown; {} has all.", super::whole(result))
        } else {
            String::new()
        }
    )
}

/// The count that is left when flips that noise alone makes are taken off.
fn expected_by_chance(analysis: &Analysis) -> Option<String> {
    let corrected = figures(analysis, Kernel::Semantic)?.corrected_flips?;
    Some(format!(" Corrected for flips that noise alone makes, the count is {}.", numbers::float(corrected, 1)))
}

fn entry<'a>(
    number: usize,
    flip: &'a Flip,
    detail: Option<&'a FlipDetail>,
    correctness: Option<&str>,
) -> Vec<Block<'a>> {
    let title = Line::strong(format!("{number}.")).and(" ");
    let title = match detail.filter(|detail| detail.text != flip.question.0) {
        Some(detail) => title.theirs(&detail.text, QUESTION).and(" · question ").theirs(&flip.question.0, NAME),
        None => title.and("question ").theirs(&flip.question.0, NAME),
    };
    let title = correctness.map_or(title.clone(), |told| title.and(format!(" · {told}")));
    vec![Block::Paragraph(title), Block::Diff(diff(flip, detail))]
}

fn correctness(flip: &Flip) -> Option<&'static str> {
    Some(match (flip.old_correct?, flip.new_correct?) {
        (true, true) => "correct before and after",
        (true, false) => "was correct, is wrong",
        (false, true) => "was wrong, is correct",
        (false, false) => "wrong before and after",
    })
}

fn diff<'a>(flip: &'a Flip, detail: Option<&'a FlipDetail>) -> Vec<DiffLine<'a>> {
    let old = detail.map_or(flip.old.as_str(), |detail| &detail.old_answer);
    let new = detail.map_or(flip.new.as_str(), |detail| &detail.new_answer);
    let [old, new] = Untrusted::apart(old, new, ANSWER);
    let mut lines = vec![text_line('-', "old answer", old), text_line('+', "new answer", new)];
    if let Some(detail) = detail {
        lines.extend(gold(detail));
        lines.extend(evidence(detail));
        lines.extend(detail.cited.iter().flat_map(|cited| as_cited(detail, cited)));
    }
    lines
}

fn text_line<'a>(sign: char, label: &'static str, text: Untrusted<'a>) -> DiffLine<'a> {
    DiffLine { sign, label, texts: vec![(text, ANSWER)], remark: String::new() }
}

fn remark<'a>(sign: char, label: &'static str, remark: String) -> DiffLine<'a> {
    DiffLine { sign, label, texts: Vec::new(), remark }
}

fn gold(detail: &FlipDetail) -> Option<DiffLine<'_>> {
    if detail.gold.is_empty() {
        return None;
    }
    let texts = detail.gold.iter().take(GOLD).map(|alias| (Untrusted::new(alias), NAME)).collect();
    let left_out = detail.gold.len().saturating_sub(GOLD);
    let remark = if left_out > 0 { format!("and {left_out} more") } else { String::new() };
    Some(DiffLine { sign: ' ', label: "accepted", texts, remark })
}

fn evidence(detail: &FlipDetail) -> Vec<DiffLine<'_>> {
    if detail.shared == 0 && detail.left.is_empty() && detail.came.is_empty() {
        return Vec::new();
    }
    let told = turnover(detail.shared, ("left", &detail.left), ("came", &detail.came));
    let mut lines = vec![remark(' ', "evidence", told)];
    lines.extend(documents('-', "left", &detail.left, (&detail.old_answer, &detail.came)));
    lines.extend(documents('+', "came", &detail.came, (&detail.new_answer, &detail.left)));
    lines
}

/// What the system says that its answers rest on, whatever it retrieved.
fn as_cited<'a>(detail: &'a FlipDetail, cited: &'a CitedChange) -> Vec<DiffLine<'a>> {
    let told = turnover(cited.shared, ("lost", &cited.lost), ("gained", &cited.gained));
    let mut lines = vec![remark(' ', "as cited", told)];
    lines.extend(documents('-', "lost", &cited.lost, (&detail.old_answer, &cited.gained)));
    lines.extend(documents('+', "gained", &cited.gained, (&detail.new_answer, &cited.lost)));
    lines
}

/// How many documents stayed, changed under their id, went and came.
pub(super) fn turnover(
    shared: u64,
    (went, gone): (&str, &[EvidenceLine]),
    (came, new): (&str, &[EvidenceLine]),
) -> String {
    let changed = |those: &[EvidenceLine], others| those.iter().filter(|document| is_among(document, others)).count();
    let (before, now) = (changed(gone, new), changed(new, gone));
    format!(
        "{} shared, {before} changed, {} {went}, {} {came}",
        numbers::counted(shared, "document"),
        gone.len() - before,
        new.len() - now
    )
}

fn is_among(document: &EvidenceLine, others: &[EvidenceLine]) -> bool {
    others.iter().any(|other| other.id == document.id)
}

/// The documents of one side that the other does not have byte for byte: first those that carry the answer, where there is one, then
/// those whose id the other side has, too, with another text.
pub(super) fn documents<'a>(
    sign: char,
    label: &'static str,
    documents: &'a [EvidenceLine],
    (answer, others): (&str, &[EvidenceLine]),
) -> Vec<DiffLine<'a>> {
    let changed = |document: &EvidenceLine| is_among(document, others);
    let mut ordered: Vec<&'a EvidenceLine> = documents.iter().collect();
    ordered.sort_by_key(|document| (!carries(&document.excerpt, answer), !changed(document)));
    let line = |document: &'a EvidenceLine| DiffLine {
        sign,
        label: if changed(document) { "changed" } else { label },
        texts: [(&document.id, NAME), (&document.excerpt, EXCERPT)].into_iter().filter_map(shown).collect(),
        remark: String::new(),
    };
    let mut lines: Vec<DiffLine<'a>> = ordered.into_iter().take(DOCUMENTS).map(line).collect();
    let left_out = documents.len().saturating_sub(DOCUMENTS);
    if left_out > 0 {
        lines.push(remark(sign, "", format!("and {left_out} more")));
    }
    lines
}

/// A text that is there. Figures computed elsewhere come without the documents' texts.
fn shown((text, limit): (&String, usize)) -> Option<(Untrusted<'_>, usize)> {
    (!text.is_empty()).then(|| (Untrusted::new(text), limit))
}
