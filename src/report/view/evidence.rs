//! What changed in the evidence alone, as a document without a verdict.

use super::flips::{documents, turnover as turned};
use super::reproduce::the_folder;
use super::{DESCRIPTION, NAME, SENTENCE, changed, passed, placebo, turnover};
use crate::report::diff::{AuditCost, EvidenceDiff, QuestionAtRisk};
use crate::report::document::{Block, DiffLine, Document, Line, Section, Topic};
use crate::report::numbers;

/// Questions that any report shows; the JSON has all of them.
const SHOWN: usize = 1000;
/// Where everything is.
const WHOLE: &str = "diff.json in the run's folder";
/// Questions that stand open.
const OPEN: usize = 3;
/// Characters of a question that are shown.
const QUESTION: usize = 240;

/// Everything that is said about it. Nothing of it is a verdict.
pub(in crate::report) fn evidence(diff: &EvidenceDiff) -> Document<'_> {
    let moved = diff.placebo.iter().map(|overlap| Section::new(Topic::Placebo, "", placebo::evidence(overlap).into()));
    let mut sections = vec![at_risk(diff), turnover::of(&diff.overlap)];
    sections.extend(moved);
    let retrieved = Line::ours("retrieved by ").theirs(&diff.retrieve, DESCRIPTION);
    sections.push(changed::of(
        &diff.snapshots,
        vec![retrieved, Line::ours("protocol ").code(diff.protocol.short())],
        WHOLE,
    ));
    sections.extend([whole(diff.cost), reproduce(diff)]);
    Document {
        verdict: None,
        headline: format!("Evidence alone, no verdict: {}", counted(diff)),
        summary: Line::default()
            .theirs(&diff.name, NAME)
            .and(format!(": {}; nothing was answered or judged.", same_ids(diff))),
        warnings: warnings(diff),
        sections,
        whole: WHOLE,
    }
}

/// `40 of 120 questions changed`.
fn counted(diff: &EvidenceDiff) -> String {
    let questions = numbers::counted(diff.overlap.questions, "question");
    format!("{} of {questions} changed", numbers::count(diff.at_risk.len() as u64))
}

/// An edited document is another one by its content and the same by its id.
fn same_ids(diff: &EvidenceDiff) -> String {
    let same = numbers::percent_of(diff.overlap.by_id.same_list, diff.overlap.questions);
    format!("{same} of questions have the same documents in the same order by id")
}

/// The line for places that have room for no more.
pub(in crate::report) fn line(diff: &EvidenceDiff) -> String {
    format!("evidence: {}; no verdict", counted(diff))
}

fn warnings(diff: &EvidenceDiff) -> Vec<Line<'_>> {
    let mut warnings: Vec<Line<'_>> =
        diff.caveats.iter().map(|caveat| Line::default().prose(caveat, SENTENCE)).collect();
    if diff.mismatched > 0 {
        warnings.push(Line::ours(format!(
            "Two retrievals of the same snapshot differed for {}: retrieval itself varies.",
            numbers::counted(diff.mismatched, "question")
        )));
    }
    warnings.extend(passed::difference(&diff.snapshots));
    warnings
}

fn at_risk(diff: &EvidenceDiff) -> Section<'_> {
    let introduction = match diff.at_risk.len() {
        0 => "None: every question has the same documents in the same order.".to_owned(),
        count => format!(
            "{} with other documents or another order, those whose evidence changed most first. An answer may change there, or not.{}",
            numbers::counted(count as u64, "question"),
            if count > SHOWN { format!(" The first 1,000 are shown; {WHOLE} has all.") } else { String::new() }
        ),
    };
    let mut section = Section::new(Topic::AtRisk, String::new(), vec![Block::Paragraph(Line::ours(introduction))]);
    section.entries = (1..).zip(&diff.at_risk).take(SHOWN).map(|(number, question)| entry(number, question)).collect();
    section.open_entries = OPEN;
    section
}

fn entry(number: usize, question: &QuestionAtRisk) -> Vec<Block<'_>> {
    let title = Line::strong(format!("{number}.")).and(" ").theirs(&question.text, QUESTION);
    let title = title.and(" · question ").theirs(&question.question.0, NAME);
    let (lost, gained) = (&question.lost, &question.gained);
    let shared = format!(
        "{}; {}% of the weight changed",
        turned(question.shared, ("lost", lost), ("gained", gained)),
        numbers::pp_float(question.turnover)
    );
    let mut lines = vec![DiffLine { sign: ' ', label: "evidence", texts: Vec::new(), remark: shared }];
    lines.extend(documents('-', "lost", lost, ("", gained)));
    lines.extend(documents('+', "gained", gained, ("", lost)));
    vec![Block::Paragraph(title), Block::Diff(lines)]
}

fn whole<'a>(cost: AuditCost) -> Section<'a> {
    let AuditCost { asked, unasked, answers, packets, calls } = cost;
    let teaser = format!("{} to ask", numbers::counted(asked, "question"));
    let facts = [
        format!(
            "{} asked, {} not asked for want of any change",
            numbers::counted(asked, "question"),
            numbers::count(unasked)
        ),
        format!(
            "at most {}, {} to judge, {} before retries, with the default number of repeats where the spec names none",
            numbers::counted(answers, "answer"),
            numbers::counted(packets, "packet"),
            numbers::counted(calls, "call")
        ),
    ];
    Section::new(Topic::Whole, teaser, vec![Block::List(facts.into_iter().map(Line::ours).collect())])
}

fn reproduce<'a>(diff: &EvidenceDiff) -> Section<'a> {
    let commands = [format!("cd {}", diff.protocol), "churngate verify .".to_owned(), "churngate report .".to_owned()];
    let blocks = vec![Block::Paragraph(the_folder("the evidence")), Block::Commands(commands.into())];
    Section::new(Topic::Reproduce, format!("run {}", diff.protocol.short()), blocks)
}
