//! What must hold of every audit.

use churngate::analyze::edges::Edges;
use churngate::analyze::lattice::{Lattice, Repeats};
use churngate::analyze::{Analysis, AnalyzeError, Settings, analyze, randomisation};
use churngate::model::{Answer, Kernel, Label, Observation, QuestionId, SnapshotAnswers, SnapshotName};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A question: the classes of its old and new answers, and the meaning of every class.
type Question = (Vec<u8>, Vec<u8>, Vec<u8>);

fn audits() -> impl Strategy<Value = Vec<Question>> {
    (2_usize..5, 2_usize..5).prop_flat_map(|(old, new)| {
        let class = || 0_u8..4;
        let question = (
            proptest::collection::vec(class(), old),
            proptest::collection::vec(class(), new),
            proptest::collection::vec(0_u8..3, 4),
        );
        proptest::collection::vec(question, 1..12)
    })
}

/// Observations whose answers are written by `name`.
fn observe(questions: &[Question], name: impl Fn(u8) -> String) -> Vec<Observation> {
    let answer = |class: &u8| Answer::parse(&name(*class), 512).expect("an answer");
    let observation = |(number, (old, new, meaning)): (usize, &Question)| {
        let snapshot = |snapshot, classes: &[u8]| SnapshotAnswers {
            snapshot,
            answers: classes.iter().map(answer).collect(),
            evidence: None,
            cited: Vec::new(),
        };
        let mut judgments = BTreeMap::new();
        for one in 0..4_u8 {
            for other in 0..4_u8 {
                let key = (answer(&one), answer(&other));
                if key.0 < key.1 {
                    let same = meaning[usize::from(one)] == meaning[usize::from(other)];
                    judgments.insert(key, if same { Label::Same } else { Label::Different });
                }
            }
        }
        Observation {
            id: QuestionId(format!("q{number}")),
            cluster: None,
            tags: Vec::new(),
            snapshots: vec![snapshot(SnapshotName::old(), old), snapshot(SnapshotName::new_snapshot(), new)],
            judgments,
            similarities: BTreeMap::new(),
            gold: Vec::new(),
            unchanged: false,
        }
    };
    questions.iter().enumerate().map(observation).collect()
}

fn run(observations: &[Observation], swapped: bool) -> Analysis {
    let (old, new) = (SnapshotName::old(), SnapshotName::new_snapshot());
    let (old, new) = if swapped { (new, old) } else { (old, new) };
    analyze(observations, &Settings { old, new, ..settings() }).expect("an analysis")
}

fn settings() -> Settings {
    Settings { draws: 200, bootstrap_key: [5; 32], ..Settings::default() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn swapping_the_snapshots_keeps_churn_and_its_bounds(questions in audits()) {
        let observations = observe(&questions, |class| format!("answer {class}"));
        let (one, other) = (run(&observations, false), run(&observations, true));
        for (one, other) in one.kernels.iter().zip(&other.kernels) {
            prop_assert_eq!(one.churn, other.churn);
            prop_assert_eq!(one.lower_bound, other.lower_bound);
            prop_assert_eq!(one.stable_flips, other.stable_flips);
            prop_assert!((one.upper_bound - other.upper_bound).abs() < 1e-9);
            prop_assert!((one.randomisation_p - other.randomisation_p).abs() < 1e-9);
            let (one, other) = (one.agreement.as_ref().expect("asked"), other.agreement.as_ref().expect("asked"));
            prop_assert_eq!((one.within_old, one.within, one.cross), (other.within_new, other.within, other.cross));
        }
    }

    #[test]
    fn renaming_the_answers_keeps_every_figure(questions in audits()) {
        let before = run(&observe(&questions, |class| format!("answer {class}")), false);
        let after = run(&observe(&questions, |class| format!("{} said", [9, 2, 7, 4][usize::from(class)])), false);
        prop_assert_eq!(before.kernels, after.kernels);
        prop_assert_eq!(before.transitivity, after.transitivity);
    }

    #[test]
    fn churn_is_within_minus_cross_and_never_clipped(questions in audits()) {
        let analysis = run(&observe(&questions, |class| format!("answer {class}")), false);
        for kernel in &analysis.kernels {
            let agreement = kernel.agreement.as_ref().expect("asked questions");
            prop_assert!((agreement.within.value() - agreement.cross.value() - kernel.churn.value()).abs() < 1e-12);
            let equal_weights = f64::midpoint(agreement.within_old.value(), agreement.within_new.value());
            prop_assert!((agreement.within.value() - equal_weights).abs() < 1e-12);
            let floor = -1.0 / f64::from(analysis.repeats.0.min(analysis.repeats.1));
            prop_assert!(kernel.churn.value() >= floor && kernel.churn.value() <= 1.0);
        }
    }

    #[test]
    fn a_placebo_that_answers_like_new_leaves_nothing_beyond_it_and_changes_no_other_figure(questions in audits()) {
        let mut observations = observe(&questions, |class| format!("answer {class}"));
        let without = run(&observations, false);
        for observation in &mut observations {
            let rebuilt = SnapshotAnswers { snapshot: SnapshotName::placebo(), ..observation.snapshots[1].clone() };
            observation.snapshots.push(rebuilt);
        }
        let mut with = analyze(&observations, &Settings { placebo: true, ..settings() }).expect("an analysis");
        let placebo = with.placebo.take().expect("asked for");
        prop_assert_eq!(&placebo.kernels, &with.kernels);
        for beyond in &placebo.beyond {
            let values = [beyond.churn.numerator, beyond.interval.0.numerator, beyond.interval.1.numerator];
            prop_assert_eq!(values, [0; 3]);
        }
        prop_assert_eq!(with, without);
    }

    #[test]
    fn contrasts_average_to_zero_over_all_splits(
        old in 2_u32..5,
        new in 2_u32..5,
        agreeing in proptest::collection::vec(any::<bool>(), 28),
        transitive in any::<bool>(),
    ) {
        let repeats = Repeats { old, new };
        let lattice = Lattice::new(repeats).expect("a lattice");
        let same = |i: usize, j: usize| {
            let class = |answer: usize| agreeing[answer];
            Ok::<bool, AnalyzeError>(if transitive { class(i) == class(j) } else { agreeing[i * 7 % 28] ^ agreeing[j * 5 % 28] })
        };
        let edges = Edges::build(repeats, same).expect("edges");
        let splits = randomisation::splits(&edges, lattice, Kernel::Exact).expect("splits");
        let sum: i128 = splits.iter().map(|(value, ways)| i128::from(*value) * i128::from(*ways)).sum();
        prop_assert_eq!(sum, 0);
        let ways: u64 = splits.values().sum();
        let total = old + new;
        let choose = (0..old).fold(1_u64, |ways, i| ways * u64::from(total - i) / u64::from(i + 1));
        prop_assert_eq!(ways, choose);
        prop_assert!(splits.contains_key(&lattice.contrast(edges.agreeing())));
    }
}

#[test]
fn more_than_two_repeats_and_unequal_ones_are_audited() {
    let question = (vec![0, 0, 0], vec![1, 1, 1, 1, 1], vec![0, 1, 2, 2]);
    let analysis = run(&observe(&vec![question; 30], |class| format!("answer {class}")), false);
    assert_eq!(analysis.repeats, (3, 5));
    let exact = &analysis.kernels[0];
    assert_eq!((exact.churn.value(), exact.lower_bound.value(), exact.stable_flips), (1.0, 1.0, 30));
    // One split in C(8, 3) = 56 is the observed one.
    let expected = 56_f64.powi(-30);
    assert!((exact.randomisation_p - expected).abs() < 1e-8 * expected, "{}", exact.randomisation_p);
    assert_eq!(exact.corrected_flips, None);
    assert!((exact.upper_bound - 1.0).abs() < f64::EPSILON);
}
