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
    let left_out = left_out(record);
    let least = if left_out.is_some() { "at least " } else { "" };
    let money = record.nano_usd.map_or_else(String::new, |cost| format!(", {least}{}", dollars(cost)));
    let unpriced = record.unpriced.map_or_else(String::new, |tokens| {
        format!(" without the {} that had no price", numbers::counted(tokens, "token"))
    });
    format!(
        "{}, {least}{} tokens read and {} written{money}{unpriced}, {}{}",
        numbers::counted(record.attempts, "attempt"),
        numbers::count(read),
        numbers::count(written),
        numbers::duration(record.duration_ms),
        left_out.unwrap_or_default()
    )
}

/// Of what nobody knows how much it took, if there is anything.
fn left_out(record: &RunRecord) -> Option<String> {
    let replies = record.untold.map(|count| match count {
        1 => "1 reply did not say what it took".to_owned(),
        _ => format!("{} replies did not say what they took", numbers::count(count)),
    });
    let attempts = record.unended.map(|count| match count {
        1 => "1 attempt has no known end".to_owned(),
        _ => format!("{} attempts have no known end", numbers::count(count)),
    });
    let both: Vec<String> = replies.into_iter().chain(attempts).collect();
    (!both.is_empty()).then(|| format!("; {}", both.join(", ")))
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
    // The gate reads bounds over clusters, which no stream draws.
    let clustered = result.analysis.kernels.iter().any(|figures| figures.clusters.is_some());
    let over = if clustered { " over questions, as if they were independent," } else { "" };
    let draws = draws.join("; ");
    format!("preregistered stream of {}{over} as a cross-check: {draws}", numbers::counted(count.into(), "draw"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_knows_the_cost_of_is_counted_beside_the_cost() {
        let record = |untold, unended, nano_usd| RunRecord {
            untold,
            unended,
            nano_usd,
            tokens: (480, 96),
            ..crate::report::fixtures::compatible().record
        };
        for (untold, unended, nano_usd, said) in [
            (None, None, Some(1_920_000), "480 tokens read and 96 written, 0.0020 USD, 5 min 21 s"),
            (
                Some(12),
                Some(51),
                Some(1_920_000),
                "at least 480 tokens read and 96 written, at least 0.0020 USD, 5 min 21 s; 12 replies did not say what they \
                 took, 51 attempts have no known end",
            ),
            (
                Some(1),
                None,
                None,
                "at least 480 tokens read and 96 written, 5 min 21 s; 1 reply did not say what it took",
            ),
            (None, Some(1), None, "at least 480 tokens read and 96 written, 5 min 21 s; 1 attempt has no known end"),
        ] {
            assert_eq!(cost(&record(untold, unended, nano_usd)), format!("1,932 attempts, {said}"));
        }
    }
}
