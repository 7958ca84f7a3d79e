//! What is told to decide an undecided audit, held against audits of that size drawn from what was seen.

use super::gate::{line, pp};
use super::ledger::{nq, settings};
use churngate::analyze::bootstrap::{Contrasts, lies_above};
use churngate::analyze::cluster::{ClusterRows, grid_quantile, upper_bound};
use churngate::analyze::outlook::{Law, Resampled};
use churngate::analyze::quantile::Levels;
use churngate::analyze::{Analysis, accumulate, dirichlet, stream};
use churngate::gate::{Verdict, decide, questions_to_decide};
use churngate::model::{Confidence, Kernel, Observation};
use churngate::spec::{Condition, GateLine, GateSpec, Inconclusive};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Mutex;

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

/// The share of audits of so many questions, drawn from what was seen, in which all lines of a rule hold.
fn decided(lines: &[GateLine], law: &Law, asked: u64, questions: u64) -> f64 {
    let holds = |rows: &ClusterRows, line: &GateLine| {
        let total: i64 = rows.iter().map(|((sum, _), count)| sum * count.cast_signed()).sum();
        let all: i64 = rows.iter().map(|((_, questions), count)| questions * count.cast_signed()).sum();
        let churn = churngate::model::Fraction { numerator: total, denominator: law.units * all.unsigned_abs() };
        let confidence = Confidence::default();
        let alone = rows.keys().all(|(_, questions)| *questions == 1);
        match line.condition {
            Condition::AtLeast(limit) => churn.compare(limit) != Ordering::Less,
            Condition::Below(limit) => churn.compare(limit) == Ordering::Less,
            Condition::LowerBoundAbove(limit) if alone => {
                let contrasts: Contrasts = rows.iter().map(|((sum, _), count)| (*sum, *count)).collect();
                lies_above(&contrasts, limit.units_below(churn.denominator), confidence).expect("a law")
            }
            Condition::LowerBoundAbove(limit) => {
                grid_quantile(rows, law.units, Levels::of(confidence).lower).compare(limit) == Ordering::Greater
            }
            Condition::UpperBoundBelow(limit) if alone => {
                let value = |sum: i64| f64::from(i32::try_from(sum).expect("small")) / 4.0;
                let values: Vec<(f64, u64)> = rows.iter().map(|((sum, _), count)| (value(*sum), *count)).collect();
                dirichlet::is_below(&values, 1.0, confidence.alpha(), limit.value())
            }
            Condition::UpperBoundBelow(limit) => upper_bound(rows, law.units, confidence.alpha()) < limit.value(),
        }
    };
    let by: &Resampled = law.by.last().expect("rows");
    let weights: Vec<u64> = by.seen.values().copied().collect();
    let draws = weights.iter().sum::<u64>() * questions / asked;
    // What is drawn is drawn again and again: there are few numbers of flips.
    let known = Mutex::new(BTreeMap::new());
    let verdicts = stream::sample(&weights, draws, DRAWN, [7; 32], |drawn: &[u64]| {
        if let Some(held) = known.lock().expect("no panic").get(drawn) {
            return *held;
        }
        let seen = by.seen.keys().copied().zip(drawn.iter().copied());
        let rows: ClusterRows = seen.filter(|(_, count)| *count > 0).collect();
        let held = lines.iter().all(|line| holds(&rows, line));
        known.lock().expect("no panic").insert(drawn.to_vec(), held);
        held
    });
    f64::from(u32::try_from(verdicts.iter().filter(|held| **held).count()).expect("few")) / f64::from(DRAWN)
}

#[test]
fn audits_of_the_size_that_is_told_are_decided_in_four_of_five_cases_and_much_smaller_ones_are_not() {
    let semantic = |condition| line(Kernel::Semantic, condition);
    let passes = rule(vec![], vec![semantic(Condition::UpperBoundBelow(pp("5pp")))]);
    let blocks = rule(vec![semantic(Condition::LowerBoundAbove(pp("0pp")))], vec![]);
    let blocks_much =
        rule(vec![semantic(Condition::AtLeast(pp("3pp"))), semantic(Condition::LowerBoundAbove(pp("0pp")))], vec![]);
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
    ] {
        let (analysis, laws) = with_laws(&audit(questions, flips, size));
        for gate in [&passes, &blocks, &blocks_much, &above] {
            let decision = decide(&analysis, gate);
            if decision.verdict != Verdict::Inconclusive {
                continue;
            }
            let Some(needed) = questions_to_decide(&decision, &analysis, &laws, gate) else { continue };
            let lines = [&gate.incompatible_when[..], &gate.compatible_when[..]].concat();
            let what =
                format!("{questions} questions, {flips} flips, clusters of {size}, {needed} needed by {lines:?}");
            assert!(needed > analysis.questions, "{what}");
            let share = decided(&lines, &laws[1], analysis.questions, needed);
            assert!(share >= 0.75, "{what}: {share}");
            let fewer = decided(&lines, &laws[1], analysis.questions, needed * 3 / 5);
            assert!(fewer < 0.8, "{what}: {fewer} of audits with three fifths of them");
            told += 1;
        }
    }
    assert!(told >= 20, "{told}");
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
