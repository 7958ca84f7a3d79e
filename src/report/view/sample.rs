//! What a sample of this size could detect, and what it cost.

use crate::analyze::{Analysis, ClusterBounds};
use crate::model::amount::dollars;
use crate::report::document::{Block, Line, Section, Topic};
use crate::report::numbers;
use crate::report::result::{AuditResult, RunRecord};

pub(super) fn section(result: &AuditResult) -> Section<'_> {
    let analysis = &result.analysis;
    let mut facts = vec![Line::ours(detectable(analysis))];
    facts.extend(needed(result).map(Line::ours));
    if !result.record.heads.is_empty() {
        facts.push(Line::ours(cost(&result.record)));
    }
    facts.push(Line::ours(stream(result)));
    let teaser = analysis.power.smallest_detectable.map_or_else(
        || "no churn could be seen".to_owned(),
        |smallest| format!("smallest detectable churn {} pp", numbers::pp_float(smallest)),
    );
    Section::new(Topic::Sample, teaser, vec![Block::List(facts)])
}

fn detectable(analysis: &Analysis) -> String {
    let clusters = analysis.kernels.iter().find_map(|figures| figures.clusters.as_ref());
    let clustered = |count: fn(&ClusterBounds) -> u64| {
        clusters.map_or_else(String::new, |of| format!(" in {}", numbers::counted(count(of), "cluster")))
    };
    let Some(smallest) = analysis.power.smallest_detectable else {
        let (asked, of) = (numbers::counted(analysis.asked, "question"), clustered(|clusters| clusters.asked));
        return format!("with {asked} asked{of}, as here, no lower bound says anything: churn of no size is seen");
    };
    format!(
        "with {}{} and the spread seen here, excess churn of {} pp or more is seen in 80% of audits{}",
        numbers::counted(analysis.questions, "question"),
        clustered(|clusters| clusters.clusters),
        numbers::pp_float(smallest),
        if clusters.is_some() { ", if the questions of a cluster change together" } else { "" }
    )
}

fn needed(result: &AuditResult) -> Option<String> {
    let needed = result.questions_to_decide()?;
    Some(format!(
        "about {} in all would decide in 80% of audits, if all questions are like these",
        numbers::counted(needed, "question")
    ))
}

fn cost(record: &RunRecord) -> String {
    let (read, written) = record.tokens;
    let money = record.nano_usd.map_or_else(String::new, |cost| format!(", {}", dollars(cost)));
    let unpriced = record.unpriced.map_or_else(String::new, |tokens| {
        format!(" without the {} that had no price", numbers::counted(tokens, "token"))
    });
    format!(
        "{}, {} tokens read and {} written{money}{unpriced}, {}",
        numbers::counted(record.attempts, "attempt"),
        numbers::count(read),
        numbers::count(written),
        numbers::duration(record.duration_ms)
    )
}

fn stream(result: &AuditResult) -> String {
    let draws: Vec<String> = result
        .analysis
        .kernels
        .iter()
        .map(|figures| {
            let (low, high) = figures.stream.interval;
            let (lower, low, high) = (numbers::pp(figures.stream.lower_bound), numbers::pp(low), numbers::pp(high));
            format!("{} lower bound {lower}, interval {low} to {high} pp", figures.kernel)
        })
        .collect();
    let count = result.analysis.kernels.first().map_or(0, |figures| figures.stream.draws);
    format!("preregistered stream of {} as a cross-check: {}", numbers::counted(count.into(), "draw"), draws.join("; "))
}
