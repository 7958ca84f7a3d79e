//! What the embedded judge must hold: symmetry, reflexivity, the pairs that matter most, and that the committed weights
//! and the published figures follow from the data in the repository.

use super::labelled::{Figures, Half, LabelledPair, ReferencedAnswer, by_kind, fit_to, measure, parse};
use super::weights::WEIGHTS;
use super::{Decision, Reason, decide, judge, reading::Reading};
use crate::model::Label::{self, Different, Same};
use proptest::prelude::*;
use std::path::{Path, PathBuf};

fn at(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn pairs() -> Vec<LabelledPair> {
    parse(&fs_err::read_to_string(at("data/judge/pairs.jsonl")).unwrap()).unwrap()
}

#[test]
fn labelled_pairs_are_many_distinct_and_of_every_kind() {
    let pairs = pairs();
    assert!(pairs.len() >= 300, "{}", pairs.len());
    let ids: std::collections::BTreeSet<&str> = pairs.iter().map(|pair| pair.id.as_str()).collect();
    assert_eq!(ids.len(), pairs.len());
    assert!(pairs.iter().all(|pair| pair.a != pair.b));
    assert_eq!(by_kind(&pairs, Half::Tuned).len(), by_kind(&pairs, Half::Untouched).len());
}

#[test]
fn committed_weights_are_those_that_the_data_give() {
    for (fitted, committed) in fit_to(&pairs()).into_iter().zip(WEIGHTS) {
        assert!(
            (fitted - committed).abs() <= 5.1e-5,
            "{fitted} {committed}: run `cargo run --example fit_judge -- --write`"
        );
    }
}

#[test]
fn figures_in_the_documentation_are_those_that_are_measured() {
    let (pairs, documentation) = (pairs(), fs_err::read_to_string(at("docs/judge.md")).unwrap());
    let rows =
        [("tuned", Half::Tuned), ("untouched", Half::Untouched)].map(|(name, half)| measure(&pairs, half).row(name));
    let kinds = by_kind(&pairs, Half::Untouched);
    for row in rows.into_iter().chain(kinds.iter().map(|(kind, figures)| figures.row(kind))) {
        assert!(documentation.contains(&row), "docs/judge.md lacks\n{row}");
    }
}

#[test]
#[expect(clippy::print_stderr, reason = "says that it was skipped")]
fn figures_on_the_external_set_are_those_that_are_measured() {
    let Some(text) = ["../shared", "../../shared"]
        .iter()
        .find_map(|folder| fs_err::read_to_string(at(folder).join("data/answer-pairs.jsonl")).ok())
    else {
        eprintln!("skipped: the external set of answer pairs is not here");
        return;
    };
    let mut halves = [Figures::default(), Figures::default()];
    for line in text.lines() {
        let answer: ReferencedAnswer = serde_json::from_str(line).unwrap();
        halves[answer.half()].count(answer.same, answer.decision().0);
    }
    let documentation = fs_err::read_to_string(at("docs/judge.md")).unwrap();
    let [one, two] = halves;
    for row in [one.row("external, looked at"), two.row("external, not looked at"), one.and(two).row("external, all")] {
        assert!(documentation.contains(&row), "docs/judge.md lacks\n{row}");
    }
}

#[test]
fn pairs_that_matter_most_are_decided_by_rules() {
    let rules: &[(&str, &str, &str, Label)] = &[
        ("since which version", "Chrome 12", "12", Same),
        ("since which version", "version 12", "12", Same),
        ("since which version", "12.1", "12", Different),
        ("since which version", "1.2.3", "1.2.4", Different),
        ("when was it", "1984", "1985", Different),
        ("when was it", "1921", "11 July 1921", Same),
        ("when was it", "July 11th, 1921", "2021-07-11", Different),
        ("when was it", "July 11th, 1921", "1921-07-11", Same),
        ("who was the president", "George W. Bush", "George H. W. Bush", Different),
        ("who was the president", "George W. Bush", "George Walker Bush", Same),
        ("which country", "U.S.", "the United States", Same),
        ("which country", "USA", "United States of America", Same),
        ("which league", "NFL", "National Football League", Same),
        ("how many", "1.4 billion", "1.4 million", Different),
        ("how many", "1,234", "1234 people", Same),
        ("how many", "twenty-one", "21", Same),
        ("what share", "52%", "52 percent", Same),
        ("how high", "8,848 m", "29,029 ft", Same),
        ("how high", "8,848 m", "8,848 ft", Different),
        ("is it supported", "supported", "not supported", Different),
        ("is it supported", "Yes", "No", Different),
        ("where is it", "UNKNOWN", "Paris", Different),
        ("where is it", "UNKNOWN", "I don't know", Same),
        ("which language", "C", "C++", Different),
        ("where is it", "North Korea", "South Korea", Different),
        ("where is it", "Saint-Étienne", "saint etienne", Same),
    ];
    for (question, one, other, expected) in rules {
        let Decision { label, reason } = decide(&Reading::of(question), &Reading::of(one), &Reading::of(other));
        assert_eq!(label, *expected, "{one} | {other}: {reason:?}");
        if *expected == Same || matches!(reason, Reason::Rule(_)) {
            assert!(matches!(reason, Reason::Rule(_)), "{one} | {other}: {reason:?}");
        }
    }
}

/// Texts made of what the rules look for, so that random pairs meet them.
fn text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("the"),
        Just("12"),
        Just("1.4"),
        Just("billion"),
        Just("1984"),
        Just("July"),
        Just("11th"),
        Just("not"),
        Just("UNKNOWN"),
        Just("U.S."),
        Just("United States"),
        Just("yes"),
        Just("no"),
        Just("George"),
        Just("W."),
        Just("Bush"),
        Just("north"),
        Just("Korea"),
        Just("$5"),
        Just("%"),
        Just("km/h"),
        Just("II"),
        Just("I"),
        Just("-40"),
        Just("2016-17"),
        Just(","),
        Just("and"),
        Just("isn't"),
        Just("BC"),
        Just("1,000"),
        Just("dozen"),
        Just("one"),
        Just("hundred"),
        Just("3.1.4"),
        Just("4gb"),
        Just("80s"),
        Just("Jr."),
        Just("unsupported"),
        Just("½"),
        Just("10²"),
        Just("≥"),
        Just("!="),
        Just("¥5"),
        Just("A$"),
        Just("5 cents"),
        Just("16 Gb"),
        Just("minus"),
        Just("at least"),
        Just("or more"),
        Just("to"),
        Just("10:30"),
        Just("3/4"),
        Just("V"),
        Just("राम"),
        Just("パス"),
        Just("✅"),
        Just("user@a.com"),
        Just("5\""),
        Just("km²"),
        Just("pounds"),
    ];
    prop_oneof![
        4 => proptest::collection::vec(word, 1..6).prop_map(|words| words.join(" ")),
        1 => "\\PC{0,24}",
        1 => "[\\s\\S]{0,24}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn judging_is_symmetric(question in text(), one in text(), other in text()) {
        prop_assert_eq!(judge(&question, &one, &other), judge(&question, &other, &one));
    }

    #[test]
    fn every_answer_is_the_same_as_itself(question in text(), one in text()) {
        prop_assert_eq!(judge(&question, &one, &one), Same);
    }

    #[test]
    fn probabilities_are_finite(question in text(), one in text(), other in text()) {
        if let Reason::Model(same) = decide(&Reading::of(&question), &Reading::of(&one), &Reading::of(&other)).reason {
            prop_assert!((0.0..=1.0).contains(&same));
        }
    }
}
