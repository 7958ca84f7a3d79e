//! What is told to decide an undecided audit, held against all audits of that size that may be drawn from what was seen.

use super::gate::{line, pp};
use super::ledger::{nq, settings};
use churngate::analyze::outlook::Law;
use churngate::analyze::{Analysis, accumulate, dirichlet, stream};
use churngate::gate::{decide, questions_to_decide};
use churngate::model::{Fraction, Kernel, Observation};
use churngate::spec::{Condition, GateLine, GateSpec, Inconclusive};
use statrs::distribution::{Binomial, Discrete as _, DiscreteCDF as _};
use std::cmp::Ordering;

/// Audits drawn of each.
const DRAWN: u32 = 400;

/// The figures and what is resampled.
pub fn with_laws(observations: &[Observation]) -> (Analysis, Vec<Law>) {
    let mut quick = settings();
    quick.draws = 1_000;
    quick.between.clear();
    let accumulator = accumulate(observations, &quick).expect("an audit");
    let laws = accumulator.laws();
    (accumulator.finish().expect("an analysis"), laws)
}

/// How many questions would decide, by the rule.
pub fn needed(observations: &[Observation], gate: &GateSpec) -> Option<u64> {
    let (analysis, laws) = with_laws(observations);
    questions_to_decide(&decide(&analysis, gate), &analysis, &laws, gate)
}

/// So many questions, in clusters of a size where it is more than one, whose first ones flip, cluster by cluster.
fn audit(questions: usize, flips: usize, size: usize) -> Vec<Observation> {
    let flip = nq().into_iter().find(super::gate::stable_flip).expect("a flip");
    let question = |place: usize| {
        let mut question = flip.clone();
        question.id.0 = format!("question {place}");
        question.cluster = (size > 1).then(|| format!("cluster {}", place / size));
        if place >= flips {
            let same = question.snapshots[0].answers.clone();
            question.snapshots.iter_mut().for_each(|entry| entry.answers.clone_from(&same));
        }
        question
    };
    (0..questions).map(question).collect()
}

/// A rule of one kind alone.
fn rule(incompatible_when: Vec<GateLine>, compatible_when: Vec<GateLine>) -> GateSpec {
    GateSpec { incompatible_when, compatible_when, inconclusive: Inconclusive::Warn }
}

fn binomial(draws: u64, share: f64, most: u64) -> f64 {
    Binomial::new(share, draws).expect("a law").cdf(most)
}

/// Whether a line holds where so many of so many equal rows flip wholly: each bound is one of the binomial law then.
#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn holds_at(line: &GateLine, flips: u64, rows: u64) -> bool {
    let churn = Fraction { numerator: flips.cast_signed(), denominator: rows };
    match line.condition {
        Condition::AtLeast(limit) => churn.compare(limit) != Ordering::Less,
        Condition::Below(limit) => churn.compare(limit) == Ordering::Less,
        Condition::LowerBoundAbove(limit) => {
            let at_limit = limit.units_below(rows).unsigned_abs();
            flips > at_limit && binomial(rows, flips as f64 / rows as f64, at_limit) < 0.05
        }
        Condition::UpperBoundBelow(limit) => binomial(rows, limit.value(), flips) < 0.05,
    }
}

/// The share of all audits of so many equal rows in which all lines hold, where each row flips with this probability.
fn decided(lines: &[GateLine], share: f64, rows: u64) -> f64 {
    let law = Binomial::new(share, rows).expect("a law");
    let held = (0..=rows).filter(|flips| lines.iter().all(|line| holds_at(line, *flips, rows)));
    held.map(|flips| law.pmf(flips)).sum()
}

#[test]
#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn audits_of_the_size_that_is_told_are_decided_in_four_of_five_cases_and_much_smaller_ones_are_not() {
    let semantic = |condition| line(Kernel::Semantic, condition);
    let passes = rule(vec![], vec![semantic(Condition::UpperBoundBelow(pp("5pp")))]);
    let blocks = rule(vec![semantic(Condition::LowerBoundAbove(pp("0pp")))], vec![]);
    let much = vec![semantic(Condition::AtLeast(pp("3pp"))), semantic(Condition::LowerBoundAbove(pp("0pp")))];
    let above = rule(vec![semantic(Condition::LowerBoundAbove(pp("2pp")))], vec![]);
    let mut told = 0;
    for (questions, flips, size) in [
        (60, 1, 1),
        (100, 2, 1),
        (60, 2, 1),
        (200, 6, 1),
        (40, 2, 1),
        (100, 4, 1),
        (100, 2, 2),
        (120, 4, 4),
        (120, 12, 6),
        (300, 9, 3),
    ] {
        let (analysis, laws) = with_laws(&audit(questions, flips, size));
        for gate in [&passes, &blocks, &rule(much.clone(), vec![]), &above] {
            let decision = decide(&analysis, gate);
            let Some(needed) = questions_to_decide(&decision, &analysis, &laws, gate) else { continue };
            let lines = [&gate.incompatible_when[..], &gate.compatible_when[..]].concat();
            let what =
                format!("{questions} questions, {flips} flips, clusters of {size}, {needed} needed by {lines:?}");
            assert!(needed > analysis.questions, "{what}");
            let share = flips as f64 / questions as f64;
            let of = |questions: u64| decided(&lines, share, questions / size as u64);
            assert!(of(needed) >= 0.75, "{what}: {}", of(needed));
            assert!(of(needed * 3 / 5) < 0.8, "{what}: {} of audits with three fifths of them", of(needed * 3 / 5));
            told += 1;
        }
    }
    assert!(told >= 20, "{told}");
}

/// The same of contrasts of many sizes, from audits that are drawn.
#[test]
#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn contrasts_of_many_sizes_are_decided_as_often() {
    let observations: Vec<Observation> = nq().into_iter().skip(38).take(100).collect();
    let (analysis, laws) = with_laws(&observations);
    let (limit, alpha) = (pp("8pp"), analysis.confidence.alpha());
    let gate = rule(vec![], vec![line(Kernel::Semantic, Condition::UpperBoundBelow(limit))]);
    let decision = decide(&analysis, &gate);
    let needed = questions_to_decide(&decision, &analysis, &laws, &gate).expect("a number");
    let rows = &laws[1].by[0].seen;
    assert!(rows.len() > 2 && needed > 100, "{rows:?}");
    let weights: Vec<u64> = rows.values().copied().collect();
    let passed = |questions: u64| {
        let audits = stream::sample(&weights, questions, DRAWN, [7; 32], |drawn: &[u64]| {
            let values = rows.keys().map(|(sum, _)| *sum as f64 / 4.0).zip(drawn.iter().copied());
            dirichlet::is_below(&values.collect::<Vec<(f64, u64)>>(), 1.0, alpha, limit.value())
        });
        audits.iter().filter(|passed| **passed).count() as f64 / f64::from(DRAWN)
    };
    assert!(passed(needed) >= 0.75, "{needed}: {}", passed(needed));
    assert!(passed(needed * 3 / 5) < 0.8, "{needed}: {}", passed(needed * 3 / 5));
}

#[test]
fn one_flip_in_sixty_takes_about_two_hundred_questions_to_pass() {
    let passes = rule(vec![], vec![line(Kernel::Semantic, Condition::UpperBoundBelow(pp("5pp")))]);
    // The last number of questions before which four of five audits pass, from the binomial law alone: 208 and 286.
    for (questions, flips, least) in [(60, 1, 208), (100, 2, 286)] {
        let needed = needed(&audit(questions, flips, 1), &passes).expect("a number");
        assert!((least * 9 / 10..=least * 11 / 10).contains(&needed), "{needed}");
    }
}

#[test]
fn what_no_number_of_questions_would_decide_is_told_no_number() {
    let at_least = |limit| rule(vec![line(Kernel::Semantic, Condition::AtLeast(pp(limit)))], vec![]);
    let passes = |limit| rule(vec![], vec![line(Kernel::Semantic, Condition::UpperBoundBelow(pp(limit)))]);
    let flips = audit(100, 4, 1);
    // Churn of 4 pp never comes to be more than that, nor less.
    assert_eq!(needed(&flips, &at_least("4.5pp")), None);
    assert_eq!(needed(&flips, &passes("4pp")), None);
    assert_eq!(needed(&flips, &passes("3pp")), None);
    // A line that holds as it stands at the limit would hold again in every other audit.
    let both = rule(
        vec![
            line(Kernel::Semantic, Condition::AtLeast(pp("4pp"))),
            line(Kernel::Semantic, Condition::LowerBoundAbove(pp("2pp"))),
        ],
        vec![],
    );
    assert_eq!(needed(&flips, &both), None);
}
