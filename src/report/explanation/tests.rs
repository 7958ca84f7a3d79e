//! What an explanation says, and that nothing from outside reaches a terminal raw.

use super::*;
use crate::analyze::counterfactual::Base;

/// Two changes of documents and one of the order, asked twice each, with this text wherever text comes from outside.
fn explanation(text: &str, finding: Finding) -> Explanation {
    let change = |change, id: &str| EvidenceChange {
        change,
        id: format!("{id}{text}"),
        new_id: matches!(change, Change::Edited { .. }).then(|| format!("new{text}")),
        old_excerpt: Some(text.to_owned()),
        new_excerpt: Some(text.to_owned()),
    };
    let step = |base, change, classes: [Class; 2]| StepAnswers {
        step: Step { base, change },
        evidence: Digest::of(b"evidence"),
        answers: vec![(0, text.to_owned()), (1, text.to_owned())],
        classes: vec![(Kernel::Exact, classes.to_vec())],
    };
    let given = |answer: &str| Given { documents: 3, answers: vec![format!("{answer}{text}"); 2] };
    Explanation {
        run: Digest::of(b"run"),
        question: QuestionId(format!("q1{text}")),
        text: format!("Since when?{text}"),
        generate: format!("model m{text}"),
        judge: format!("model j{text}"),
        normalisation: "nq",
        repeats: 2,
        old: given("old"),
        new: given("new"),
        shared: 1,
        changes: vec![
            change(Change::Left { old: 1 }, "a"),
            change(Change::Edited { old: 2, new: 0 }, "b"),
            change(Change::Came { new: 1 }, "c"),
            change(Change::Reordered, ""),
        ],
        settled: None,
        steps: vec![
            step(Base::New, None, [Class::New; 2]),
            step(Base::New, Some(0), [Class::Old, Class::Other]),
            step(Base::Old, Some(0), [Class::New; 2]),
            step(Base::New, Some(1), [Class::Unknown; 2]),
            step(Base::Old, Some(2), [Class::Both, Class::New]),
            step(Base::New, Some(3), [Class::Old; 2]),
        ],
        tried: 3,
        findings: vec![(Kernel::Exact, finding)],
        calls: CallPlan { all: 20, left: 10, amount: None, whom: Some(format!("model m at {text}")) },
        caveats: vec![format!("Mind {text}.")],
        folder: "explain/q1".to_owned(),
    }
}

fn told(lists: [&[usize]; 5]) -> Finding {
    let [decide, needed, enough, in_part, open] = lists.map(<[usize]>::to_vec);
    Finding::Told { decide, needed, enough, in_part, open }
}

/// What is said of a finding, in one line.
fn said(finding: Finding) -> String {
    let text = explanation_text(&explanation("", finding), 100);
    let (_, after) = text.split_once("\nexact: ").expect("a finding");
    let (sentences, _) = after.split_once("\nCompared: ").expect("what the kernel cannot tell");
    sentences.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn each_finding_says_what_the_answers_show_and_no_more() {
    let cases = [
        (
            told([&[0], &[], &[], &[], &[]]),
            "Putting back `a` alone takes the new answer away in 2 of 2 repeats, and brings the old one back in 1; taking `a` alone out \
             of the old evidence gives the new answer in 2 of 2 repeats: this change moves the answer. The old evidence as it is gives \
             an old answer in 0 of 2 repeats only: the generator varies.",
        ),
        (
            told([&[], &[3], &[], &[], &[]]),
            "Restoring the old order alone brings the old answer back in 2 of 2 repeats; giving the old evidence the new order alone \
             gives the new answer in 0 of 2 repeats: it needs this change, and another one with it.",
        ),
        (
            told([&[], &[], &[2], &[], &[]]),
            "On its own, adding `c` alone to the old evidence gives the new answer in 2 of 2 repeats; where that alone is undone (`c`), \
             the new answer still comes in 0 of 2 repeats: another change gives it as well.",
        ),
        (
            told([&[], &[], &[], &[0, 3], &[1]]),
            "Repeats disagree with `a`, the order: that cannot be told from noise. Not all is known of `b`: answers are missing, and \
             nothing is said of that.",
        ),
        (
            told([&[], &[], &[], &[], &[]]),
            "No single change does: none of the 4 changes alone takes the new answer away",
        ),
        (Finding::Drifted, "does not give the new answer in every repeat, or the old evidence gives it: no change"),
        (Finding::Unstable, "The run's own repeats of the new snapshot disagree"),
        (Finding::Open, "nothing can be said before they have them"),
        (Finding::NoFlip, "nothing flipped by this kernel"),
    ];
    for (finding, wanted) in cases {
        let said = said(finding.clone());
        assert!(said.contains(wanted), "{finding:?}: {said}");
        assert_eq!(said.contains("moves the answer"), wanted.contains("moves the answer"), "{said}");
    }
}

#[test]
fn what_is_settled_before_anything_is_asked_says_why_and_shows_no_rows() {
    let cases = [
        (Settled::SameEvidence { asked: true }, "the noise of the generator, or of the judge"),
        (Settled::SameEvidence { asked: false }, "the question was not asked"),
        (Settled::RetrievalVaries, "retrieval varies by itself"),
        (Settled::NoFlip, "nothing flipped"),
    ];
    for (settled, wanted) in cases {
        let told = Explanation { settled: Some(settled), ..explanation("", Finding::Open) };
        let text = explanation_text(&told, 100).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(wanted) && !text.contains("UNKNOWN"), "{text}");
    }
}

#[test]
fn nothing_from_outside_reaches_a_terminal_raw() {
    let hostile = "::error::x\n\u{1b}[31m##[group]\u{202e}";
    for finding in [told([&[0, 1, 2, 3], &[], &[], &[], &[]]), told([&[], &[0], &[1], &[2], &[3]])] {
        let told = explanation(hostile, finding);
        for text in [explanation_text(&told, 60), plan_text(&told, 60)] {
            assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}') && !text.contains("##["), "{text}");
            assert!(text.lines().all(|line| !line.trim_start().starts_with("::")), "{text}");
        }
        let value: serde_json::Value = serde_json::from_slice(&explanation_json(&told)).unwrap();
        assert_eq!(value["changes"][0]["id"], format!("a{hostile}"));
        assert_eq!(value["steps"][0]["answers"][0]["answer"], hostile);
        assert_eq!(value["changes"][1]["old_rank"], 3);
    }
}
