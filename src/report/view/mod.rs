//! Result -> document: every phrase and every rounding of the reports, once for all formats.

mod changed;
mod churn;
mod cited;
mod clusters;
mod conduct;
mod correctness;
mod diagnostics;
mod evidence;
mod flips;
mod headline;
mod one_word;
mod passed;
mod placebo;
mod reproduce;
mod rule;
mod sample;
mod served;
mod soft;
mod subgroups;
mod trajectories;
mod transitivity;
mod turnover;
mod validity;
mod warnings;

use super::document::{Block, Document, Line, Section};
use super::result::AuditResult;
use super::unproved::Unproved;
pub(in crate::report) use diagnostics::facts as diagnostics;
pub(in crate::report) use evidence::{evidence, line as evidence_line};
pub(in crate::report) use flips::entries as flips;
pub(in crate::report) use headline::headline;
pub(in crate::report) use passed::{difference, lines as passed_over};

/// Characters of a name or an id that are shown.
const NAME: usize = 80;
/// Characters of a physical snapshot, a backend or a model that are shown.
const DESCRIPTION: usize = 160;
/// Characters of a sentence from outside that are shown.
const SENTENCE: usize = 320;
/// Rows of a table of snapshots, tags or reasons that are shown.
const ROWS: usize = 20;

/// How many warnings there are that another audit of the same kind need not have.
pub(in crate::report) fn remarks(result: &AuditResult) -> usize {
    warnings::warnings(result).len() - warnings::of_the_verdict(result)
}

/// Everything a report says about a result.
pub(in crate::report) fn document(result: &AuditResult) -> Document<'_> {
    document_as(result, Unproved::of(result))
}

/// The same where the verdict proves nothing for this reason.
pub(in crate::report) fn document_as(result: &AuditResult, unproved: Option<Unproved>) -> Document<'_> {
    let verdict = result.decision.verdict;
    Document {
        verdict: unproved.is_none().then_some(verdict),
        headline: unproved.map_or_else(|| headline::headline(result), |unproved| unproved.headline(verdict)),
        summary: headline::summary(result),
        warnings: warnings::warnings(result),
        sections: sections(result),
        whole: whole(result),
    }
}

/// Where everything is: what was computed of answers made elsewhere has no run and no folder.
fn whole(result: &AuditResult) -> &'static str {
    if result.record.heads.is_empty() { "the output of --format json" } else { "result.json in the run's folder" }
}

fn sections(result: &AuditResult) -> Vec<Section<'_>> {
    let placebo = placebo::section(result);
    let always = [rule::section(result), changed::section(result), flips::section(result)];
    let known = [
        correctness::section(&result.analysis),
        turnover::section(&result.analysis),
        cited::section(&result.analysis),
        clusters::section(&result.analysis),
        subgroups::ladder(&result.analysis, whole(result)),
        trajectories::section(&result.analysis),
        transitivity::section(&result.analysis),
        soft::section(&result.analysis),
        subgroups::section(&result.analysis, whole(result)),
    ];
    let last = [validity::section(result), sample::section(result), reproduce::section(result)];
    let first = std::iter::once(churn::section(result)).chain(placebo).chain(always);
    first.chain(known.into_iter().flatten()).chain(last).collect()
}

/// Figures of a diagnosis that there are none of, and why.
fn absent<'a>(what: &str, why: &'a str) -> Block<'a> {
    Block::Paragraph(
        Line::ours(format!("Not every figure of {what} could be computed: "))
            .prose(why, SENTENCE)
            .and(". The verdict rests on none of them."),
    )
}

/// The first rows, and how many are left out.
fn first_rows<T>(rows: &[T]) -> (&[T], usize) {
    let shown = rows.len().min(ROWS);
    (&rows[..shown], rows.len() - shown)
}
