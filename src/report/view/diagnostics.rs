//! The judge held against itself and against another one, and the generator against another one: a line each, told as what it
//! is, a diagnosis.

use super::{DESCRIPTION, NAME};
use crate::analyze::agreement::JudgeAgreement;
use crate::analyze::{
    Churn, LabelFlips, PairedChurn, Replication, Sampled, SecondJudge, SecondOpinion, SelfConsistency,
};
use crate::model::{Fraction, Kernel};
use crate::report::document::Line;
use crate::report::numbers;
use crate::report::result::AuditResult;

/// The lines; none where the spec asks for no diagnosis.
pub(in crate::report) fn facts(result: &AuditResult) -> Vec<Line<'_>> {
    let Some(diagnostics) = &result.diagnostics else { return Vec::new() };
    let again = diagnostics.self_consistency.as_ref().map(self_consistency);
    let second = diagnostics.second_judge.as_ref().map(second_judge);
    let replica = diagnostics.replication.as_ref().map(replication);
    again.into_iter().chain(second).chain(replica).collect()
}

fn self_consistency(found: &SelfConsistency) -> Line<'_> {
    let line = Line::strong("judge asked again");
    match &found.labels {
        Some(labels) => line.and(format!(": {}", flips(labels))).and(on(&found.sample)),
        None => unknown(line, &found.sample),
    }
}

fn flips(labels: &LabelFlips) -> String {
    format!(
        "{} of {} changed ({}{}), in {} of {}",
        numbers::count(labels.flipped),
        numbers::counted(labels.pairs, "label"),
        numbers::percent_of(labels.flipped, labels.pairs),
        interval(labels.interval),
        numbers::count(labels.questions_flipped),
        numbers::counted(labels.questions, "question")
    )
}

fn replication(found: &Replication) -> Line<'_> {
    let line = named("second generator", &found.generator, &found.served_models);
    let exact = found.exact.as_ref().map_or_else(String::new, |exact| format!("; {}", paired(Kernel::Exact, exact)));
    match &found.churn {
        Some(churn) => line.and(format!(": {}{exact}", paired(Kernel::Semantic, churn))).and(on(&found.sample)),
        None => unknown(line, &found.sample),
    }
}

/// Whose figures they are.
fn named<'a>(what: &str, who: &'a str, served: &'a [String]) -> Line<'a> {
    let line = Line::strong(what).and(" (").theirs(who, DESCRIPTION);
    match served.first() {
        Some(model) => line.and(", served by ").theirs(model, NAME).and(")"),
        None => line.and(")"),
    }
}

fn second_judge(found: &SecondJudge) -> Line<'_> {
    let line = named("second judge", &found.judge, &found.served_models);
    match &found.labels {
        Some(SecondOpinion { agreement, churn }) => {
            line.and(format!(": {}; {}", agreed(agreement), paired(Kernel::Semantic, churn))).and(on(&found.sample))
        }
        None => unknown(line, &found.sample),
    }
}

fn agreed(found: &JudgeAgreement) -> String {
    let JudgeAgreement { table, kappa, same_partition, questions, agreement_interval, kappa_interval, .. } = found;
    let alike = table.alike();
    let kappa = kappa.map_or_else(String::new, |kappa| {
        let around = kappa_interval.map_or_else(String::new, |(low, high)| {
            format!(" ({} to {})", numbers::float(low, 2), numbers::float(high, 2))
        });
        format!(", kappa {}{around}", numbers::float(kappa, 2))
    });
    format!(
        "{} of {} alike ({}{}){kappa}, {} of {} the same",
        numbers::count(alike),
        numbers::counted(table.pairs(), "label"),
        numbers::percent_of(alike, table.pairs()),
        interval(*agreement_interval),
        numbers::count(*same_partition),
        numbers::counted(*questions, "partition")
    )
}

/// The churn of two sides, and the difference.
fn paired(kernel: Kernel, churn: &PairedChurn) -> String {
    format!(
        "{kernel} D̂ {} pp by the first, {} by the second, difference {}",
        around(&churn.first, numbers::pp),
        around(&churn.second, numbers::pp),
        around(&churn.difference, numbers::signed_pp)
    )
}

fn around(churn: &Churn, shown: fn(Fraction) -> String) -> String {
    let (low, high) = churn.interval;
    format!("{} ({} to {})", shown(churn.mean), shown(low), shown(high))
}

/// An interval of a share, behind it in brackets; nothing where there is none.
fn interval(interval: Option<(f64, f64)>) -> String {
    interval.map_or_else(String::new, |(low, high)| {
        format!(", interval {} to {}", numbers::pp_float(low), numbers::pp_float(high))
    })
}

/// What the figures rest on.
fn on(sample: &Sampled) -> String {
    let judged = sample.packets.saturating_sub(sample.unjudged);
    format!(
        "; {} sampled, {} judged",
        numbers::counted(sample.questions, "question"),
        numbers::counted(judged, "packet")
    )
}

fn unknown<'a>(line: Line<'a>, sample: &'a Sampled) -> Line<'a> {
    let why = sample.why.as_deref().unwrap_or("nothing was compared");
    line.and(": no figure, since ").prose(why, DESCRIPTION)
}
