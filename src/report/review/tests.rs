//! What a review says, and what it keeps to itself.

use super::*;
use crate::analyze::review::Sides;
use crate::model::{Answer, Label, QuestionId};

const OLD: Sides = Sides { old: true, new: false };
const NEW: Sides = Sides { old: false, new: true };

fn pair(number: u8, question: &str, answers: [&str; 2], judge: Label, flip: bool) -> Pair {
    Pair {
        id: Digest::from_bytes([number; 32]),
        question: QuestionId(format!("q-{number}")),
        text: question.to_owned(),
        answers: answers.map(|text| Answer::parse(text, 999).unwrap()),
        sides: [NEW, OLD],
        judge,
        flip,
        sampled: number != 3,
    }
}

fn review() -> Review {
    let pairs = vec![
        pair(1, "Who designed the library?", ["Ines Rohr", "Ada Lang"], Label::Different, true),
        pair(2, "Which river is it?", ["Rhine", "the Rhine"], Label::Same, false),
        pair(
            3,
            "What does ::error::x say?",
            ["=1+1 \u{1b}[31m\u{202e}", "##[error]two\n::stop"],
            Label::Different,
            true,
        ),
        pair(4, "How old is it?", ["12 years", "a dozen years"], Label::Different, false),
    ];
    Review {
        name: "docs-search".to_owned(),
        protocol: Digest::of(b"protocol"),
        judgments: Digest::of(b"judgments"),
        judge: "embedded judge".to_owned(),
        verdict: Verdict::Incompatible,
        reviewer: "ann".to_owned(),
        labels_file: "runs/1/review/ann.jsonl".to_owned(),
        judged: 4_120,
        flips: 3,
        reviewed: 2,
        labels: Labels::new(),
        pairs,
        figures: None,
    }
}

fn labelled() -> Review {
    let mut review = review();
    let given = [HandLabel::Different, HandLabel::Unsure, HandLabel::Same, HandLabel::Same];
    review.labels = review.pairs.iter().map(|pair| pair.id).zip(given).collect();
    let (pairs, labels) = (&review.pairs, &review.labels);
    let confirmed = crate::analyze::review::confirmed(pairs, labels);
    let other = [(Digest::from_bytes([1; 32]), HandLabel::Same), (Digest::from_bytes([3; 32]), HandLabel::Same)];
    review.figures = Some(ReviewFigures {
        sample: Stratum::of(pairs.iter().filter(|pair| pair.sampled), labels, 0.05),
        flips: Stratum::of(pairs.iter().filter(|pair| pair.flip), labels, 0.05),
        confirmed,
        confirmed_interval: confirmed.interval(0.05),
        churn: Fraction { numerator: 24, denominator: 800 },
        refuted: Fraction { numerator: 1, denominator: 200 },
        between: vec![Between {
            names: ["ann".to_owned(), "bob".to_owned()],
            table: crate::analyze::review::between(labels, &other.into()),
        }],
    });
    review
}

#[test]
fn the_outcome_of_a_review() {
    insta::assert_snapshot!(review_text(&labelled(), 100));
}

#[test]
fn the_outcome_as_json() {
    insta::assert_snapshot!(String::from_utf8(review_json(&labelled())).unwrap());
}

#[test]
fn what_whoever_labels_is_shown() {
    let review = review();
    let prompts = review.pairs.iter().enumerate().map(|(at, pair)| prompt(pair, at + 1, 4, 60));
    insta::assert_snapshot!(opening(&review, 100) + &prompts.collect::<String>() + "\n" + &review_text(&review, 100));
}

/// Nothing that is shown or written before the end moves with the judge's labels, with the snapshots or with why a pair was chosen.
#[test]
fn nothing_of_the_judge_is_told_before_the_end() {
    let shown = |review: &Review| {
        let prompts = review.pairs.iter().map(|pair| prompt(pair, 1, 4, 80)).collect::<String>();
        let sheets = [SheetFormat::Csv, SheetFormat::Jsonl].map(|format| sheet(&review.pairs, &review.labels, format));
        let json = review_json(review);
        (opening(review, 80), prompts, sheets, review_text(review, 80), json)
    };
    let before = shown(&review());
    let mut other = review();
    for pair in &mut other.pairs {
        pair.judge = if pair.judge == Label::Same { Label::Different } else { Label::Same };
        (pair.flip, pair.sampled) = (!pair.flip, true);
        pair.sides.reverse();
    }
    assert_eq!(before, shown(&other));
}

#[test]
fn no_text_acts_on_a_terminal_a_log_or_a_spreadsheet() {
    let review = labelled();
    let all = review_text(&review, 100) + &prompt(&review.pairs[2], 1, 1, 100);
    assert!(!all.contains(['\u{1b}', '\u{202e}']) && !all.contains("##["), "{all}");
    assert!(!all.lines().any(|line| line.trim_start().starts_with("::")), "{all}");
    let csv = String::from_utf8(sheet(&review.pairs, &review.labels, SheetFormat::Csv)).unwrap();
    assert!(csv.contains(",'=1+1 ‹U+001B›[31m‹U+202E›,##[error]two⏎::stop,same\n"), "{csv}");
    assert!(csv.starts_with("id,question,a,b,label\n") && csv.lines().count() == 5, "{csv}");
    let jsonl = String::from_utf8(sheet(&review.pairs, &Labels::new(), SheetFormat::Jsonl)).unwrap();
    assert!(jsonl.contains(r###""a":"=1+1 ‹U+001B›[31m‹U+202E›","b":"##[error]two⏎::stop","label":""}"###), "{jsonl}");
}

#[test]
fn where_there_is_nothing_to_label_that_is_what_is_said() {
    let nothing = Review { pairs: Vec::new(), judged: 0, flips: 0, reviewed: 0, ..review() };
    let said = review_text(&nothing, 100);
    assert!(said.contains("nothing to label: every two answers of old and new") && !said.contains("labels:"), "{said}");
    let said = review_text(&Review { judged: 9, ..nothing }, 100);
    assert!(said.contains("nothing to label: no stable flip is reviewed"), "{said}");
}
