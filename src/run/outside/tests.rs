use super::*;
use crate::model::{Answer, Label};

const GOOD: &str = r#"{"id":"q1","answers":{"old":["a"," a "],"new":["b","c"]},"labels":[["a","b","different"],["c","a","different"],["b","c","same"]],"gold":["a"],"tags":["t"],"cluster":"k","evidence":{"new":[{"id":"d1","url":"u"},{"id":"d2","text":"x"}]}}"#;

fn problem(line: &str) -> Problem {
    parse(line, "f.jsonl").expect_err("a refusal").problem
}

/// A question with one thing replaced.
fn with(from: &str, to: &str) -> Problem {
    assert!(GOOD.contains(from), "{from}");
    problem(&GOOD.replace(from, to))
}

#[test]
fn a_line_is_a_question() {
    let text = format!("\u{feff}{GOOD}\r\n\r\n{}\n", GOOD.replace("q1", "q2"));
    let read = parse(&text, "f.jsonl").expect("questions");
    assert_eq!(read.len(), 2);
    let answer = |text| Answer::parse(text, 9).expect("an answer");
    assert_eq!(read[0].label(&answer("c"), &answer("b")), Some(Label::Same));
    assert_eq!(read[0].snapshots[0].answers, [answer("a"), answer("a")]);
    assert_eq!(read[1].snapshots[1].evidence.as_ref().map(|keys| keys.ids.len()), Some(2));
    assert_eq!(
        (read[0].gold.len(), read[0].cluster.as_deref(), read[0].snapshots[0].evidence.is_none()),
        (1, Some("k"), true)
    );
}

#[test]
fn errors_name_file_and_line() {
    let error = parse(&format!("{GOOD}\n\n{{\"id\":7}}"), "f.jsonl").expect_err("a refusal");
    insta::assert_snapshot!(error, @"failed to read `f.jsonl`, line 3: `id` is not a text");
    let error = parse(&format!("{GOOD}\n{GOOD}"), "f.jsonl").expect_err("a refusal");
    insta::assert_snapshot!(error, @"failed to read `f.jsonl`, line 2: the id stands on line 1 too");
}

#[test]
fn control_characters_of_the_file_are_never_shown_raw() {
    let error = parse("{\"id\":\"q\",\"\\u001b[31m\":1}", "f.jsonl").expect_err("a refusal").to_string();
    assert!(!error.contains('\u{1b}') && error.contains("is unknown"), "{error}");
}

#[test]
fn every_sort_of_fault_has_its_own_error() {
    assert_eq!(with("\"q1\"", "\" \""), Problem::EmptyId);
    assert_eq!(with("\"b\",\"c\"]}", "\"b\",\"\"]}"), Problem::EmptyAnswer { snapshot: "new".into(), repeat: 1 });
    assert_eq!(with("[\"c\",\"a\",\"different\"]", "[\"z\",\"a\",\"different\"]"), Problem::StrangeLabel(1));
    assert_eq!(with("[\"c\",\"a\",\"different\"]", "[\"b\",\"a\",\"same\"]"), Problem::ContradictoryLabel(1));
    assert_eq!(with("[\"c\",\"a\",\"different\"]", "[\"a\",\"a\",\"different\"]"), Problem::ContradictoryLabel(1));
    assert_eq!(
        with("\"tags\"", "\"correct\":{\"old\":[true,true],\"new\":[false,false]},\"tags\""),
        Problem::GoldAndCorrect
    );
    assert_eq!(
        with("\"evidence\":{\"new\"", "\"evidence\":{\"n\"").to_string(),
        "`evidence` names snapshot `n`, which `answers` does not have"
    );
    assert_eq!(with("\"tags\"", "\"unchanged\":true,\"tags\""), Problem::AnsweredUnchanged);
    assert_eq!(with("\"new\":[\"b\"", "\"old\":[\"b\""), Problem::Repeated);
    assert_eq!(with("\"tags\"", "\"tags\":[],\"tags\""), Problem::Repeated);
    assert_eq!(with("\"tags\"", "\"tag\""), Problem::Unknown("tag".into()));
}

#[test]
fn marks_become_the_answers_that_are_right() {
    let marked = |marks: &str| GOOD.replace("\"gold\":[\"a\"]", &format!("\"correct\":{marks}"));
    let read = parse(&marked("{\"old\":[false,false],\"new\":[true,false]}"), "f.jsonl").expect("questions");
    assert_eq!(read[0].gold, ["b", "\u{ffff}"]);
    let twice = marked("{\"old\":[true,false],\"new\":[true,false]}");
    assert_eq!(problem(&twice), Problem::ContradictoryMarks);
    assert_eq!(problem(&marked("{\"old\":[true],\"new\":[true,false]}")), Problem::UnevenMarks("old".into()));
    assert_eq!(problem(&marked("{\"old\":[true,true]}")), Problem::UnevenMarks("new".into()));
}

#[test]
fn a_line_of_another_form_is_described_in_words_of_the_format() {
    let good = [("id", "\"a\""), ("answers", "{\"old\":[\"x\"],\"new\":[\"x\"]}")];
    let without = |name: &str| {
        let members: Vec<_> = good.iter().filter(|(member, _)| *member != name).collect();
        members.iter().map(|(member, value)| format!("\"{member}\":{value},")).collect::<Vec<_>>().concat()
    };
    for name in ["id", "answers", "labels", "similarity", "gold", "correct", "tags", "cluster", "evidence", "unchanged"]
    {
        for value in ["7.5", "[7]", "{\"a\":7}", "[[\"x\",\"y\",\"equal\"]]"] {
            let said = problem(&format!("{{{}\"{name}\":{value}}}", without(name))).to_string();
            assert!(said.starts_with(&format!("`{name}` is not ")), "{name} {value}: {said}");
        }
    }
    let said = [
        problem("[1]"),
        problem("\"text\""),
        problem("not json"),
        problem("{\"id\":\"a\""),
        problem(&format!("{{{}\"tags\":[]}}", without("id"))),
        problem(&format!("{{{}\"tags\":[]}}", without("answers"))),
        problem(&format!("{{{}\"labels\":[[\"x\",\"x\"]]}}", without(""))),
        problem(&format!("{{{}\"evidence\":{{\"old\":[{{\"id\":\"d\",\"score\":1}}]}}}}", without(""))),
    ];
    insta::assert_snapshot!(said.map(|problem| problem.to_string()).join("\n"), @r#"
not a JSON object
not a JSON object
not valid JSON at column 2
not valid JSON at column 9
the member `id` is missing
the member `answers` is missing
`labels` is not a list of `[text, text, "same" or "different"]`
`evidence` is not an object of snapshot names and lists of `{"id", "url", "text"}`
"#);
}

#[test]
fn similarities_are_numbers_from_0_to_1_of_answers_of_the_question() {
    let given = |list: &str| GOOD.replace("\"gold\"", &format!("\"similarity\":{list},\"gold\""));
    let read = parse(&given("[[\"c\",\"a\",0.25],[\"a\",\"b\",0],[\"b\",\"c\",1],[\"a\",\"a\",1]]"), "f.jsonl")
        .expect("questions");
    let answer = |text| Answer::parse(text, 9).expect("an answer");
    assert_eq!(read[0].similarity(&answer("a"), &answer("c")), Some(0.25));
    assert_eq!(read[0].similarity(&answer("a"), &answer("a")), Some(1.0));
    for value in ["1.0000001", "-0.5", "1e300"] {
        let said = problem(&given(&format!("[[\"c\",\"a\",{value}]]"))).to_string();
        assert_eq!(said, format!("question `q1`: similarity no. 1 is {value}, not a number from 0 to 1"));
    }
    assert!(matches!(problem(&given("[[\"c\",\"a\",NaN]]")), Problem::NotJson(_)));
    assert!(matches!(problem(&given("[[\"c\",\"a\",\"NaN\"]]")), Problem::Wrong { member: "similarity", .. }));
    assert_eq!(problem(&given("[[\"c\",\"z\",1]]")), Problem::StrangeSimilarity(0));
    assert_eq!(problem(&given("[[\"c\",\"a\",1],[\"a\",\"c\",0]]")), Problem::ContradictorySimilarity(1));
    assert_eq!(problem(&given("[[\"c\",\"c\",0.5]]")), Problem::ContradictorySimilarity(0));
}
