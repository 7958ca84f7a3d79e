//! Observations that do not make an audit are refused, and the question is named.

use super::ledger::{settings, tqa};
use churngate::analyze::{AnalyzeError, analyze};
use churngate::model::{Answer, Failure, FailureClass, Kernel, Label, Observation, SnapshotName};

fn few() -> Vec<Observation> {
    let mut observations = tqa();
    observations.truncate(6);
    observations
}

fn refused(change: impl FnOnce(&mut Vec<Observation>)) -> AnalyzeError {
    let mut observations = few();
    change(&mut observations);
    analyze(&observations, &settings()).expect_err("a refusal")
}

fn answer(text: &str) -> Answer {
    Answer::parse(text, 512).expect("an answer")
}

#[test]
fn no_question_is_no_audit() {
    assert_eq!(refused(Vec::clear), AnalyzeError::NoQuestions);
    assert_eq!(Failure::from(AnalyzeError::NoQuestions).class, FailureClass::Usage);
}

#[test]
fn a_question_that_stands_twice_is_named() {
    let error = refused(|observations| observations[3].id = observations[1].id.clone());
    assert_eq!(error.to_string(), "question `tqa-0001` stands twice");
}

#[test]
fn a_missing_judgment_is_named_without_its_answers() {
    let error = refused(|observations| observations[2].snapshots[3].answers[1] = answer("never judged"));
    assert_eq!(error.to_string(), "question `tqa-0002`: no judgment of answer 1 of `n1` with answer 2 of `n7`");
}

#[test]
fn repeats_must_be_two_and_equal() {
    let one = refused(|observations| {
        observations[0].snapshots[1].answers.pop();
    });
    assert!(matches!(one, AnalyzeError::TooFewRepeats { found: 1, .. }), "{one}");
    let three = refused(|observations| {
        let again = observations[4].snapshots[3].answers[0].clone();
        observations[4].snapshots[3].answers.push(again);
    });
    assert!(matches!(three, AnalyzeError::UnequalRepeats { found: 3, expected: 2, .. }), "{three}");
}

#[test]
fn snapshots_must_be_there_once() {
    let missing = refused(|observations| observations[1].snapshots.truncate(3));
    assert_eq!(missing.to_string(), "question `tqa-0001`: snapshot `n7` is missing");
    let twice = refused(|observations| observations[1].snapshots[0].snapshot = SnapshotName("n7".into()));
    assert_eq!(twice, AnalyzeError::DuplicateSnapshot(SnapshotName("n7".into())));
    let mut same = settings();
    same.new = same.old.clone();
    assert!(matches!(analyze(&few(), &same), Err(AnalyzeError::DuplicateSnapshot(_))));
}

#[test]
fn an_unchanged_question_has_no_answers() {
    let error = refused(|observations| observations[5].unchanged = true);
    assert!(matches!(error, AnalyzeError::AnsweredUnchanged { .. }), "{error}");
    assert_eq!(Failure::from(error).class, FailureClass::Evidence);
}

#[test]
fn evidence_lists_have_one_length() {
    let error = refused(|observations| {
        if let Some(keys) = &mut observations[0].snapshots[1].evidence {
            keys.ids.pop();
        }
    });
    assert!(matches!(error, AnalyzeError::UnevenEvidence { .. }), "{error}");
}

#[test]
fn no_draws_are_refused() {
    let mut none = settings();
    none.draws = 0;
    assert_eq!(analyze(&few(), &none), Err(AnalyzeError::NoDraws));
}

/// Questions with this many answers from either side: the old ones say x, some of the new ones of some questions y.
fn repeated(questions: usize, old: usize, new: usize) -> Vec<Observation> {
    let mut observations = tqa();
    observations.truncate(questions);
    for (place, observation) in observations.iter_mut().enumerate() {
        observation.snapshots.retain(|entry| ["n1", "n7"].contains(&entry.snapshot.0.as_str()));
        let said = |repeat: usize| answer(if place % 2 == 0 && repeat >= old { "y" } else { "x" });
        observation.snapshots[0].answers = (0..old).map(said).collect();
        observation.snapshots[1].answers = (old..old + new).map(said).collect();
        observation.judgments = [((answer("x"), answer("y")), Label::Different)].into();
    }
    observations
}

#[test]
fn repeats_that_make_too_fine_a_lattice_are_refused_before_anything_is_allocated() {
    let mut ends = settings();
    ends.between.clear();
    // A lattice of nine millions to 1: the window of its law would hold tens of gigabytes.
    let error = analyze(&repeated(2, 97, 89), &ends).expect_err("a refusal");
    assert_eq!(error, AnalyzeError::TooFine { old: 97, new: 89 });
    assert_eq!(Failure::from(error).class, FailureClass::Usage);
    assert_eq!(analyze(&repeated(1, 50_000, 2), &ends), Err(AnalyzeError::TooFine { old: 50_000, new: 2 }));
    // More ways to split 120 answers than 64 bits count.
    let error = analyze(&repeated(3, 60, 60), &ends).expect_err("a refusal");
    assert_eq!(error, AnalyzeError::TooManySplits { old: 60, new: 60 });
    assert_eq!(Failure::from(error).class, FailureClass::Usage);
    assert_eq!(analyze(&repeated(3, 34, 34), &ends), Err(AnalyzeError::TooManySplits { old: 34, new: 34 }));
    assert!(analyze(&repeated(3, 33, 33), &ends).is_ok());
}

#[test]
fn labels_of_many_answers_that_are_not_transitive_are_refused_with_their_question() {
    let mut ends = settings();
    ends.between.clear();
    let mut observations = repeated(3, 12, 12);
    let broken = &mut observations[1];
    broken.snapshots[1].answers[0] = answer("z");
    broken.snapshots[1].answers[1] = answer("y");
    broken.judgments = [
        ((answer("x"), answer("y")), Label::Same),
        ((answer("x"), answer("z")), Label::Same),
        ((answer("y"), answer("z")), Label::Different),
    ]
    .into();
    let question = Some(broken.id.clone());
    let error = analyze(&observations, &ends).expect_err("a refusal");
    assert_eq!(error, AnalyzeError::TooManyRepeats { question, kernel: Kernel::Semantic, answers: 24, limit: 22 });
    assert!(error.to_string().contains(&format!("question `{}`", observations[1].id)), "{error}");
    observations[1].snapshots[0].answers.pop();
    observations[1].snapshots[1].answers.pop();
    assert!(analyze(&observations[1..2], &ends).is_ok());
}

#[test]
fn many_repeats_of_many_questions_are_counted_in_seconds() {
    let mut ends = settings();
    ends.between.clear();
    let mut observations = repeated(60, 20, 20);
    // No two questions alike: as many contrasts and patterns of splits as there are questions.
    for (place, observation) in observations.iter_mut().enumerate() {
        for (side, step) in [(0, 1), (1, 3)] {
            let said = |repeat: usize| answer(["x", "y"][usize::from(repeat * step < place % 20 + side)]);
            observation.snapshots[side].answers = (0..20).map(said).collect();
        }
    }
    let begun = std::time::Instant::now();
    assert!(analyze(&observations, &ends).is_ok());
    assert!(begun.elapsed() < std::time::Duration::from_mins(1), "{:?}", begun.elapsed());
}

#[test]
fn a_similarity_outside_0_to_1_is_refused_and_its_question_named() {
    for strange in [1.5, -0.1, f64::NAN, f64::INFINITY] {
        let error = refused(|observations| {
            observations[3].similarities = [((answer("x"), answer("y")), strange)].into();
        });
        // Without the others' similarities an earlier question may lack one: the first in order is named.
        assert!(
            matches!(error, AnalyzeError::MissingSimilarity { .. } | AnalyzeError::NotASimilarity { .. }),
            "{error}"
        );
    }
    let named = |similarity| {
        let mut observations = repeated(3, 2, 2);
        for observation in &mut observations {
            observation.similarities = [((answer("x"), answer("y")), 0.25)].into();
        }
        observations[2].similarities = similarity;
        let mut ends = settings();
        ends.between.clear();
        analyze(&observations, &ends).map(|analysis| analysis.soft.map(|soft| soft.churn))
    };
    let pair = || (answer("x"), answer("y"));
    for strange in [1.5, -0.1, f64::NAN] {
        let error = named([(pair(), strange)].into()).expect_err("a refusal");
        assert_eq!(error.to_string(), "question `tqa-0002`: a similarity is not a number from 0 to 1");
    }
    let error = named([].into()).expect_err("a refusal");
    assert_eq!(error.to_string(), "question `tqa-0002`: two of its answers have no similarity");
    // Two questions of three go from x x to y y: 1 - 0.25 each.
    assert_eq!(named([(pair(), 0.25)].into()), Ok(Some(0.5)));
}
