//! Every published figure of the two studies, to the printed digit.

use super::ledger::{nq, settings, tqa};
use churngate::analyze::{Alignment, Analysis, KernelFigures, analyze};
use churngate::model::{Fraction, SnapshotName};

fn run(observations: &[churngate::model::Observation]) -> Analysis {
    analyze(observations, &settings()).expect("an analysis")
}

fn pp(fraction: &Fraction) -> String {
    fraction.to_pp(3)
}

/// Within, cross, D̂, lower bound, interval.
fn line(figures: &KernelFigures) -> [String; 6] {
    let agreement = figures.agreement.as_ref().expect("asked questions");
    [
        pp(&agreement.within),
        pp(&agreement.cross),
        pp(&figures.churn),
        pp(&figures.lower_bound),
        pp(&figures.interval.0),
        pp(&figures.interval.1),
    ]
}

#[test]
fn natural_questions_comes_out_to_the_printed_digit() {
    let analysis = run(&nq());
    assert_eq!(line(&analysis.kernels[0]), ["25.250", "18.813", "6.438", "4.563", "4.188", "8.750"]);
    assert_eq!(line(&analysis.kernels[1]), ["89.125", "78.875", "10.250", "7.688", "7.188", "13.438"]);
    let semantic = analysis.kernels[1].agreement.as_ref().expect("asked questions");
    assert_eq!([pp(&semantic.within_old), pp(&semantic.within_new)], ["88.500", "89.750"]);
    assert_eq!(analysis.kernels[1].stable_flips, 40);
    assert_eq!(analysis.kernels[1].corrected_flips, Some(36.0));
    assert_eq!(analysis.flips.len(), 40);
}

#[test]
fn natural_questions_correctness_comes_out() {
    let analysis = run(&nq());
    let correctness = analysis.correctness.expect("gold");
    let (same, changed) = (correctness.flows_same_meaning, correctness.flows_changed_meaning);
    assert_eq!(correctness.comparisons, 800);
    assert_eq!((same.lost + changed.lost, same.gained + changed.gained, changed.wrong), (46, 34, 155));
    assert!(same.lost + same.gained >= 54, "{same:?}");
    let (old, new) = correctness.exact_match;
    let change = Fraction { numerator: new.numerator - old.numerator, denominator: new.denominator };
    assert_eq!(change.to_pp(2), "-1.50");
}

#[test]
fn triviaqa_comes_out_to_the_printed_digit() {
    let analysis = run(&tqa());
    assert_eq!(line(&analysis.kernels[0])[..5], ["64.500", "61.500", "3.000", "0.500", "0.000"]);
    assert_eq!(line(&analysis.kernels[1])[..4], ["96.750", "94.625", "2.125", "0.375"]);
    assert_eq!((analysis.kernels[0].churn.numerator, analysis.kernels[0].churn.denominator), (24, 800));
    assert_eq!(analysis.kernels[1].stable_flips, 5);
    assert_eq!(analysis.kernels[1].corrected_flips, Some(4.5));
    let correctness = analysis.correctness.expect("gold");
    let (same, changed) = (correctness.flows_same_meaning, correctness.flows_changed_meaning);
    assert_eq!(correctness.comparisons, 400);
    assert_eq!((same.lost + changed.lost, same.gained + changed.gained, changed.wrong), (30, 35, 12));
    let (old, new) = correctness.exact_match;
    let change = Fraction { numerator: new.numerator - old.numerator, denominator: new.denominator };
    assert_eq!(change.to_pp(2), "1.25");
}

#[test]
fn randomisation_test_comes_out() {
    let (nq, tqa) = (run(&nq()), run(&tqa()));
    let p =
        [&nq, &tqa].map(|analysis| [0, 1].map(|kernel| format!("{:.1e}", analysis.kernels[kernel].randomisation_p)));
    assert_eq!(p, [["1.6e-9", "2.7e-15"], ["3.3e-2", "1.8e-2"]]);
}

#[test]
fn upper_bounds_come_out() {
    let bounds =
        |analysis: &Analysis| [0, 1].map(|kernel| format!("{:.3}", analysis.kernels[kernel].upper_bound * 100.0));
    assert_eq!(bounds(&run(&nq())), ["8.649", "13.204"]);
    assert_eq!(bounds(&run(&tqa())), ["6.169", "4.855"]);
}

#[test]
fn evidence_turnover_comes_out() {
    let overlap = run(&nq()).overlap.expect("evidence");
    assert_eq!(overlap.questions, 400);
    assert_eq!(format!("{:.2}", overlap.by_id.mean_shared), "1.19");
    assert_eq!(overlap.by_id.none, 111);
    assert_eq!(overlap.flips.flips, 40);
    assert_eq!(overlap.flips.flips_mean_shared, Some(0.825));
    assert_eq!(overlap.flips.rest_mean_shared.map(|mean| format!("{mean:.3}")), Some("1.231".into()));
    assert!((overlap.flips.fisher_p - 0.271_131).abs() < 1e-6);
    let tqa = run(&tqa()).overlap.expect("evidence");
    assert_eq!(format!("{:.2}", tqa.by_id.mean_shared), "1.09");
    assert_eq!(tqa.by_id.none, 59);
}

#[test]
fn adjacent_flips_come_out() {
    let mut settings = settings();
    settings.old = churngate::model::SnapshotName("n0".into());
    settings.between = ["n1", "n3"].map(|name| churngate::model::SnapshotName(name.into())).to_vec();
    let analysis = analyze(&nq(), &settings).expect("an analysis");
    let flips: Vec<u64> = analysis.ladder.iter().map(|rung| rung.stable_flips).collect();
    assert_eq!(flips, [33, 29, 26]);
    assert_eq!(analysis.trajectories.expect("rungs").any_step, 59);
}

#[test]
fn inner_trajectories_come_out() {
    let trajectories = run(&nq()).trajectories.expect("a rung");
    assert_eq!((trajectories.several_steps, trajectories.returns), (12, 6));
    let expected = Alignment { old: 8, new: 12, third: 6, repeats_disagree: 12, mixed: 2 };
    assert_eq!(trajectories.middles, [(SnapshotName("n3".into()), expected)]);
}

#[test]
fn closed_book_anchor_comes_out() {
    let mut observations = nq();
    for observation in &mut observations {
        observation.snapshots[0].snapshot = SnapshotName::closed_book();
    }
    let mut settings = settings();
    settings.closed_book = true;
    let anchor = analyze(&observations, &settings).expect("an analysis").closed_book.expect("asked for");
    assert_eq!(anchor, Alignment { old: 11, new: 10, third: 8, repeats_disagree: 11, mixed: 0 });
}

#[test]
fn preregistered_stream_lies_within_a_unit_of_the_exact_quantiles() {
    for analysis in [run(&nq()), run(&tqa())] {
        for figures in &analysis.kernels {
            assert!(figures.stream.agrees, "{:?}", figures.stream);
            assert_eq!(figures.stream.tolerance, 1, "{:?}", figures.stream);
        }
    }
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let bytes = || serde_json::to_vec(&run(&tqa())).expect("json");
    assert_eq!(bytes(), bytes());
}

/// The committed examples hold exactly these studies.
#[test]
fn examples_are_the_studies() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
    for (name, expected) in [("paper-nq", nq()), ("paper-triviaqa", tqa())] {
        let file = format!("{root}/{name}/answers.jsonl");
        let text = std::fs::read_to_string(&file).expect("an example");
        let read = churngate::run::outside::parse(&text, &file).expect("questions");
        assert_eq!(read.len(), expected.len());
        for (read, expected) in read.iter().zip(&expected) {
            assert_eq!(read.snapshots, expected.snapshots, "{}", expected.id);
            assert_eq!(read.judgments, expected.judgments, "{}", expected.id);
            assert_eq!(read.id, expected.id);
        }
        assert_eq!(run(&read), run(&expected), "{name}");
    }
}
