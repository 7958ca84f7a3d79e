//! Question files of every format that is understood, and what their readers must never do.

use super::fields;
use crate::freeze::{FreezeError, Inputs, Protocol, ResolvedSnapshot, gold, plan};
use crate::model::{QuestionId, SnapshotName};
use crate::spec;
use camino::Utf8PathBuf;
use std::collections::BTreeMap;

fn inputs(file: &str, questions: &[u8]) -> Inputs {
    let snapshot = |name, physical: &str| ResolvedSnapshot {
        name,
        physical: physical.to_owned(),
        fingerprint: None,
        documents: None,
        passed_over: None,
    };
    let spec = format!(
        "version: 1\nname: docs\nquestions: {{ file: {file} }}\nsnapshots: {{ old: {{ path: a }}, new: {{ path: b }} }}\n\
         retrieve: {{ bm25: {{}} }}\ngenerate: {{ reader: {{}} }}\njudge: {{ embedded: {{}} }}\n"
    );
    Inputs {
        spec: spec::parse(&spec, "churngate.yaml").unwrap(),
        base: Utf8PathBuf::new(),
        questions_name: file.to_owned(),
        questions_bytes: questions.to_vec(),
        exclude_bytes: None,
        only_bytes: None,
        prompt_bytes: None,
        snapshots: vec![snapshot(SnapshotName::old(), "one"), snapshot(SnapshotName::new_snapshot(), "two")],
        tool_version: "0.1.0",
    }
}

fn planned(file: &str, text: &str) -> Result<Protocol, FreezeError> {
    plan(inputs(file, text.as_bytes()))
}

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/fixtures/questions/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// `id: text [tags] (cluster)` of every question in order of ids, where an id that follows from the text is `-`.
fn described(protocol: &Protocol) -> Vec<String> {
    let mut lines: Vec<String> = protocol
        .questions
        .iter()
        .map(|question| {
            let own = if question.id.0.starts_with("q-") { "-" } else { &question.id.0 };
            let cluster = question.cluster.as_deref().unwrap_or("none");
            format!("{own}: {} {:?} {cluster}", question.text, question.tags)
        })
        .collect();
    lines.sort();
    lines
}

fn gold_of(protocol: &Protocol, bytes: &[u8]) -> BTreeMap<String, String> {
    let gold = gold::read(bytes, protocol.spec.questions.file.as_str()).unwrap();
    let text = |id: &QuestionId| Some(protocol.questions.iter().find(|question| question.id == *id)?.text.clone());
    gold.iter().filter_map(|(id, aliases)| Some((text(id)?, aliases.join(" | ")))).collect()
}

const PLAIN: [&str; 2] = [
    "2: Who may read the audit log? [\"access\"] none",
    "q1: Which port does the admin page use? [\"admin\", \"ports\"] handbook",
];
const PLAIN_GOLD: [(&str, &str); 2] = [
    ("Which port does the admin page use?", "gold 8080 | gold port 8080"),
    ("Who may read the audit log?", "gold the owner"),
];

type Case<'a> = (&'a str, &'a [&'a str], &'a [(&'a str, &'a str)]);

const CASES: &[Case<'_>] = &[
    ("plain.jsonl", &PLAIN, &PLAIN_GOLD),
    ("plain.json", &PLAIN, &PLAIN_GOLD),
    ("plain.csv", &PLAIN, &PLAIN_GOLD),
    ("plain.yaml", &PLAIN, &PLAIN_GOLD),
    (
        "beir/queries.jsonl",
        &[
            "test-7: how do bees find water [] insects",
            "test-9: why is basalt dark [] none",
            "train-1: does salt lower the freezing point [] none",
        ],
        &[
            ("why is basalt dark", "gold iron and magnesium"),
            ("how do bees find water", ""),
            ("does salt lower the freezing point", ""),
        ],
    ),
    (
        "squad.json",
        &[
            "s1: What did the lamp burn? [] Lighthouses",
            "s2: Who built the old tower? [] Lighthouses",
            "s3: When did the first ferry cross? [] Ferries",
        ],
        &[
            ("What did the lamp burn?", "gold oil"),
            ("Who built the old tower?", ""),
            ("When did the first ferry cross?", "gold 1820"),
        ],
    ),
    (
        "nq-open.jsonl",
        &["-: when was the harbour wall finished [] none", "-: who drew the first chart of the bay [] none"],
        &[
            ("when was the harbour wall finished", "gold 1904 | gold in 1904"),
            ("who drew the first chart of the bay", "gold Ida Storm"),
        ],
    ),
    (
        "triviaqa.json",
        &["tc_1: Which ship carried pairs? [] none", "tc_2: How many hills were counted? [] none"],
        &[("Which ship carried pairs?", "gold Ark | gold The Ark"), ("How many hills were counted?", "gold 7")],
    ),
    (
        "promptfoo.yaml",
        &["-: Which colours has the flag? [] none", "-: Who holds the keys of the harbour? [\"people\"] none"],
        &[
            ("Who holds the keys of the harbour?", "gold the master"),
            ("Which colours has the flag?", "gold blue | gold white | gold BLUE"),
        ],
    ),
    (
        "promptfoo.csv",
        &[
            "-: Which colours has the flag? [] none",
            "-: Who holds the keys of the harbour? [\"harbour\", \"keys\", \"people\"] none",
        ],
        &[
            ("Who holds the keys of the harbour?", "gold the master"),
            ("Which colours has the flag?", "gold blue | gold white | gold blue and white"),
        ],
    ),
    (
        "ragas.jsonl",
        &["-: How deep is the dock? [\"single_hop\"] none", "-: How long is the pier? [] none"],
        &[("How deep is the dock?", "gold nine metres"), ("How long is the pier?", "gold 300 metres")],
    ),
    (
        "ragas.csv",
        &["-: How deep is the dock? [\"single_hop\"] none"],
        &[("How deep is the dock?", "gold nine metres")],
    ),
    (
        "deepeval.json",
        &["-: Which tide is highest? [\"sea\", \"tides\"] tides.md", "-: Which wind is coldest? [] winds.md"],
        &[("Which tide is highest?", "gold spring tide"), ("Which wind is coldest?", "gold the north wind")],
    ),
    (
        "deepeval.csv",
        &["-: Which tide is highest? [] tides.md", "-: Which wind is coldest? [] winds.md"],
        &[("Which tide is highest?", "gold spring tide"), ("Which wind is coldest?", "gold the north wind")],
    ),
    (
        "rows.json",
        &["h1: What is a mole? [] none", "h2: Who keeps the mole? [] none"],
        &[("What is a mole?", "gold a wall | gold wall"), ("Who keeps the mole?", "gold guild | gold the guild")],
    ),
    ("langsmith.csv", &["-: Where is the chart kept? [] none"], &[("Where is the chart kept?", "gold in the tower")]),
];

#[test]
fn every_format_gives_its_questions_and_its_gold() {
    for (name, questions, gold) in CASES {
        let bytes = fixture(name);
        let protocol = plan(inputs(name, &bytes)).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(described(&protocol), *questions, "{name}");
        let expected: BTreeMap<String, String> =
            gold.iter().map(|(text, aliases)| ((*text).to_owned(), (*aliases).to_owned())).collect();
        assert_eq!(gold_of(&protocol, &bytes), expected, "{name}");
    }
}

#[test]
fn gold_of_no_format_reaches_a_question_a_note_or_an_error() {
    for (name, ..) in CASES {
        let text = String::from_utf8(fixture(name)).unwrap();
        let protocol = planned(name, &text).unwrap();
        let seen = format!(
            "{:?} {:?} {}",
            protocol.questions,
            protocol.notes(),
            String::from_utf8_lossy(protocol.lock_bytes())
        );
        assert!(!seen.contains("gold ") && !seen.contains("said"), "{name}: {seen}");
        let other = planned(name, &text.replace("gold ", "pyrite ")).unwrap();
        assert_eq!(other.questions, protocol.questions, "{name}");
        for cut in (0..text.len()).filter(|at| text.is_char_boundary(*at)) {
            if let Err(error) = planned(name, &text[..cut]) {
                assert!(!format!("{error:?}").contains("gold "), "{name}: {error:?}");
            }
        }
    }
}

#[test]
fn every_fixture_is_a_case() {
    let folder = format!("{}/tests/fixtures/questions", env!("CARGO_MANIFEST_DIR"));
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(name == "beir" || CASES.iter().any(|(case, ..)| *case == name), "{name} is in no case");
    }
}

#[test]
fn problems_of_documents_have_line_column_and_remedy() {
    let failed = |file: &str, text: &str| planned(file, text).unwrap_err().to_string();
    insta::assert_snapshot!([
        failed("q.json", "[\n  {\"question\": \"A?\"},\n  {\"question\": 5}, [1], {\"question\": [\"B?\"]}\n]"),
        failed("q.json", "{\"tests\":\n  \"file://cases.csv\"}"),
        failed("q.json", "{\"data\": [{\"question\": \"A?\"} {\"question\": \"B?\"}]}"),
        failed("q.json", "{\"data\": [{\"question\": \"A?\"}]} x"),
        failed("q.json", "{data: []}"),
        failed("q.json", "{\"data\": [{\"paragraphs\": [{\"qas\": [1, {\"question\": \"\"}]}, {}]}, {\"paragraphs\": 1}]}"),
        failed("q.json", "{\"other\": [], \"rows\": 4}"),
        failed("q.json", "\"x\""),
        failed("q.yaml", "- question: A?\n- id: 3\n- B?\n- file://more.yaml\n- question: file://a.txt\n"),
        failed("q.yaml", "tests: file://cases.csv\n"),
        failed("q.yaml", "- question: &a A?\n- question: *a\n"),
        failed("q.yaml", "- question: \"A?\n"),
        failed("q.yaml", "questions: 5\n"),
        failed("q.yaml", "---\n- question: A?\n---\n- question: B?\n"),
        failed("q.csv", "question,weight\nA?,1\nB?,2.5\n"),
        failed("q.jsonl", "{\"question\":\"A?\",\"tags\":{}}\n{\"question\":\"B?\",\"topic\":1.5}\n{\"question\":\"C?\",\"tags\":[[]]}"),
        failed("q.jsonl", "{\"question\":\"A?\"}\n{\"id\":\"x\",\"question\":\"B?\"}\n{\"question\":\"A?\"}\n{\"id\":\"x\",\"question\":\"C?\"}"),
    ].join("\n"), @r#"
read the questions in `q.json`: 
  line 3, column 3: the question (`question`) is no text
  line 3, column 20: not a JSON object
  line 3, column 25: the question (`question`) is a list; write one entry a question
read the questions in `q.json`: line 2, column 3: `tests` names another file; name that file in `questions.file`
read the questions in `q.json`: line 1, column 30: not valid JSON: a `,` is missing here
read the questions in `q.json`: line 1, column 32: the JSON goes on after its end
read the questions in `q.json`: line 1, column 2: not valid JSON
read the questions in `q.json`: 
  line 1, column 11, question 1 of the article: not a JSON object
  line 1, column 11, question 2 of the article: no question; it is looked for under `question`, `query`, `text`, `input`, `user_input`, `prompt`, `Question` and others
  line 1, column 11: a paragraph of this article has no list `qas`
  line 1, column 65: `paragraphs` is no list
read the questions in `q.json`: line 1, column 1: neither a list of questions, nor an object that has one as `questions`, `tests`, `goldens`, `data`, `Data`, `rows`, `examples`, `samples`
read the questions in `q.json`: line 1, column 1: neither a list of questions, nor an object that has one as `questions`, `tests`, `goldens`, `data`, `Data`, `rows`, `examples`, `samples`
read the questions in `q.yaml`: 
  line 2, column 3: no question; it is looked for under `question`, `query`, `text`, `input`, `user_input`, `prompt`, `Question` and others
  line 3, column 3: expected a mapping, found a single value
  line 4, column 3: the entry names another file; name that file in `questions.file`
  line 5, column 3: the question (`question`) names a file; write its text here
read the questions in `q.yaml`: line 1, column 8: `tests` names another file; name that file in `questions.file`
read the questions in `q.yaml`: 
  line 1, column 13: anchors are not allowed in a question file; write the value out where it is needed
  line 2, column 13: aliases are not allowed in a question file; write the value out, or quote it if it is a text that begins with `*`
read the questions in `q.yaml`: line 2, column 1: not valid YAML: invalid indentation in multiline quoted scalar; a quote before this place is not closed; close it on its own line
read the questions in `q.yaml`: line 1, column 1: neither a list of questions, nor an object that has one as `questions`, `tests`, `goldens`, `data`, `Data`, `rows`, `examples`, `samples`
read the questions in `q.yaml`: line 3, column 1: a question file is one YAML document; keep each document in a file of its own
read the questions in `q.csv`: line 3: weights (`weight`) are not supported: each question counts once; remove the field
read the questions in `q.jsonl`: 
  line 1: the tags (`tags`) are neither text nor a list
  line 2: the cluster (`topic`) is neither text nor an integer
  line 3: the tag (`tags`) is neither text nor an integer
read the questions in `q.jsonl`: 
  line 3: the question stands on line 1 as well; remove one of them, or give each an id of its own
  line 4: the id `x` stands on line 2 as well; give each question an id of its own
"#);
}

#[test]
fn gold_that_stands_elsewhere_or_is_code_is_refused_by_its_place() {
    let failed = |file: &str, text: &str| planned(file, text).unwrap_err().to_string();
    insta::assert_snapshot!([
        failed("q.yaml", "- vars: { question: A? }\n  assert: [{ type: equals, value: 'file://secret.txt' }]\n"),
        failed("q.yaml", "- vars: { question: A? }\n  assert: [{ value: secret }]\n"),
        failed("q.yaml", "- vars: { question: A? }\n  assert: secret\n"),
        failed("q.csv", "question,ground_truths\nA?,\"['secret', 'other']\"\n"),
    ].join("\n"), @r#"
read gold answers in `q.yaml`: line 1, column 3: an expected answer is kept in another file; write it here
read gold answers in `q.yaml`: line 1, column 3: an assertion of `assert` has no `type`
read gold answers in `q.yaml`: line 1, column 3: `assert` is no list of assertions
read gold answers in `q.csv`: line 2: a gold answer is a list in the spelling of a program; write it as a JSON list
"#);
    let fine = "question,__expected\nA?,javascript: output > 1\nB?,not-contains: x\nC?,Note: yes\nD?,\n";
    let protocol = planned("q.csv", fine).unwrap();
    let gold = gold_of(&protocol, fine.as_bytes());
    assert_eq!(gold.values().map(String::as_str).collect::<Vec<_>>(), ["", "", "Note: yes", ""]);
}

#[test]
fn yaml_keeps_what_was_written() {
    let text = "- { id: 007, question: A?, answers: [1.10, no, 2026-08-10, true] }\n- { question: 5, id: x }\n";
    let protocol = planned("q.yaml", text).unwrap();
    assert_eq!(described(&protocol), ["007: A? [] none", "x: 5 [] none"]);
    assert_eq!(gold_of(&protocol, text.as_bytes())["A?"], "1.10 | no | 2026-08-10 | yes");
}

#[test]
fn a_person_is_told_what_a_file_seems_to_hold() {
    let text = "{\"question\":\"Mail a.b@mail.org?\",\"frequency\":7,\"cluster\":\"x\"}\n{\"id\":\"c@mail.org\",\"question\":\"Who?\",\"cluster\":\"x\"}\n\
                {\"question\":\"who\",\"cluster\":\"x\"}\n";
    let protocol = planned("q.jsonl", text).unwrap();
    insta::assert_snapshot!(protocol.notes().join("\n"), @r#"
questions seem to hold an e-mail address (on line 1); they are sent to every generator and judge of the audit; take it out where it is somebody's
ids, tags or clusters seem to hold an e-mail address (on line 2); ids, tags and clusters stand in ledgers, reports and comments; use others
the field `frequency` is not taken for a weight: each question counts once
all questions have the same cluster, which is too few for any bound: no line of the rule with a bound can hold; leave the field out where it does not say how the questions were drawn
"#);
    assert!(protocol.questions.iter().all(|question| question.cluster.as_deref() == Some("x")));
}

#[test]
fn the_questions_of_a_split_are_those_that_its_qrels_name() {
    let only = |only: &[u8]| {
        let mut inputs = inputs("queries.jsonl", &fixture("beir/queries.jsonl"));
        inputs.only_bytes = Some(only.to_vec());
        plan(inputs)
    };
    let qrels = only(&fixture("beir/qrels/test.tsv")).unwrap();
    assert_eq!(described(&qrels), ["test-7: how do bees find water [] insects", "test-9: why is basalt dark [] none"]);
    assert_eq!(qrels.notes(), Vec::<String>::new());
    let ids = only(b"\xef\xbb\xbftest-9\r\n\r\nnobody\r\n").unwrap();
    assert_eq!(described(&ids), ["test-9: why is basalt dark [] none"]);
    assert_eq!(ids.notes(), ["the id `nobody` of `select.only` is not in the question file"]);
    assert!(matches!(only(b"nobody\n"), Err(FreezeError::NoneListed { .. })));
    assert!(only(b"a\0b").unwrap_err().to_string().contains("NUL"));
    assert_ne!(qrels.digest, ids.digest);
}

/// A file with these ids, planned with these lists.
fn listed(
    ids: &[&str],
    exclude: Option<&str>,
    only: Option<&str>,
    count: Option<u32>,
) -> Result<Protocol, FreezeError> {
    let rows: Vec<String> =
        ids.iter().map(|id| serde_json::json!({"id": id, "question": format!("{id}?")}).to_string()).collect();
    let mut inputs = inputs("q.jsonl", rows.join("\n").as_bytes());
    inputs.spec.questions.count = count;
    inputs.spec.questions.exclude = exclude.map(|_| "excluded.txt".into());
    inputs.spec.questions.only = only.map(|_| "only.txt".into());
    inputs.exclude_bytes = exclude.map(|list| list.as_bytes().to_vec());
    inputs.only_bytes = only.map(|list| list.as_bytes().to_vec());
    plan(inputs)
}

#[test]
fn lists_that_leave_too_little_are_told_apart_with_file_line_and_id() {
    let failed = |exclude, only, count| {
        let failure = crate::model::Failure::from(listed(&["q1", "q2"], exclude, only, count).unwrap_err());
        format!("{}\n  {}", failure.message, failure.hint.unwrap_or_default())
    };
    insta::assert_snapshot!([
        failed(None, Some("\nx\na\n"), None),
        failed(None, Some("q1 0 d1 1\n"), None),
        failed(None, Some("\n"), None),
        failed(Some("q1\nq2\n"), None, None),
        failed(Some("q1\n"), Some("q1\nq3\n"), None),
        failed(Some("q1\n"), None, Some(2)),
        failed(None, Some("q1\n"), Some(2)),
    ].join("\n"), @r#"
find a question in `q.jsonl`: none of the 2 there stands in `only.txt`, which on line 2 has `x`, an id that no question has
  write ids of questions in `q.jsonl` into `only.txt`, one a line, or leave `questions.select.only` out
find a question in `q.jsonl`: none of the 2 there stands in `only.txt`, which on line 1 has `q1 0 d1 1`, an id that no question has; lines of judgments in columns are not read here: write the ids alone, one a line
  write ids of questions in `q.jsonl` into `only.txt`, one a line, or leave `questions.select.only` out
find a question in `q.jsonl`: none of the 2 there stands in `only.txt`, which has no id
  write ids of questions in `q.jsonl` into `only.txt`, one a line, or leave `questions.select.only` out
find a question in `q.jsonl`: all of the 2 there are excluded by `excluded.txt`
  take ids out of `excluded.txt`, or add questions
find a question in `q.jsonl`: of the 2 there `select.only` names 1, and all of these are excluded by `excluded.txt`
  take ids out of `excluded.txt`, or add questions
select 2 questions: 1 can be asked, 1 are excluded and 0 not named by `select.only`
  set `questions.select.count` to at most 1, or leave it out to ask all
select 2 questions: 1 can be asked, 0 are excluded and 1 not named by `select.only`
  set `questions.select.count` to at most 1, or leave it out to ask all
"#);
    let notes = |exclude, only| listed(&["q1", "q2"], exclude, only, None).unwrap().notes().join("\n");
    insta::assert_snapshot!([
        notes(Some("q1 0 d1 1\n"), None),
        notes(Some("q1\nq0 0 d1 1\nq2 0 d1 1\n"), None),
        notes(None, Some("q1\nq2 0 d1 1\n")),
    ].join("\n"), @r#"
the excluded id `q1 0 d1 1` is not in the question file; lines of judgments in columns are not read here: write the ids alone, one a line
2 excluded ids are not in the question file, `q0 0 d1 1` among them; lines of judgments in columns are not read here: write the ids alone, one a line
the id `q2 0 d1 1` of `select.only` is not in the question file; lines of judgments in columns are not read here: write the ids alone, one a line
"#);
}

#[test]
fn a_question_file_in_the_place_of_a_list_of_ids_tells_no_gold() {
    let long = format!("SECRETGOLD{}", "x".repeat(256));
    let refused = [
        "{\"id\":\"a\",\"question\":\"A?\",\"answer\":\"SECRETGOLD\"}\n",
        "q1\n[\n  {\n    \"id\": \"a\",\n    \"answer\": \"SECRETGOLD\"\n  }\n]\n",
        "\"a\",\"A?\",\"SECRETGOLD\"\n",
        "nobody\nQ\u{1b}SECRETGOLD\n",
        long.as_str(),
    ];
    let told = [
        "id,question,answer\na,A?,SECRETGOLD\n",
        "- id: a\n  answer: SECRETGOLD\n",
        "id: a\nanswer: |\n  SECRETGOLD\n",
        "a;SECRETGOLD\n",
        "a|SECRETGOLD\n",
        "who came first SECRETGOLD\n",
    ];
    let every = |list: &str, with: &str| {
        let list = format!("{with}{list}");
        let texts = [listed(&["q1", "q2"], Some(&list), None, None), listed(&["q1", "q2"], None, Some(&list), None)];
        texts.map(|planned| match planned {
            Ok(protocol) => protocol.notes().join("\n"),
            Err(error) => crate::model::Failure::from(error).message,
        })
    };
    for with in ["", "q1\n"] {
        for text in refused.iter().flat_map(|list| every(list, with)) {
            assert!(text.starts_with("read the ids in `") && text.contains(": line "), "{text}");
            assert!(!text.contains("SECRETGOLD") && text.len() < 200, "{text}");
        }
        for text in told.iter().flat_map(|list| every(list, with)) {
            assert!(!text.contains("SECRETGOLD") && text.contains("on line ") && text.len() < 200, "{text}");
        }
    }
    insta::assert_snapshot!(every("{\"answer\": 1}\n", "")[0], @r#"read the ids in `excluded.txt`: line 1 begins as JSON or a quoted cell does, so it is no question's id"#);
    insta::assert_snapshot!(every("a,A?,x\n", "q1\n")[1], @r#"the id on line 2 of `only.txt` of `select.only` is not in the question file"#);
    insta::assert_snapshot!(every("a,A?,x\nb,B?,y\n", "")[0], @r#"2 excluded ids are not in the question file, the one on line 1 of `excluded.txt` among them"#);
    insta::assert_snapshot!(every("a,A?,x\n", "")[1], @r#"find a question in `q.jsonl`: none of the 2 there stands in `only.txt`, which on line 1 has an id that no question has"#);
    // BEIR's judgments in the list that does not read them.
    insta::assert_snapshot!(every("q1\td1\t1\n", "")[0], @r#"read the ids in `excluded.txt`: line 1 holds a tab or another control character, so it is no question's id"#);
}

proptest::proptest! {
    #[test]
    fn every_id_that_is_taken_can_be_excluded_and_asked_alone(ends in ("[ \u{a0}\u{feff}\u{2028}]{0,2}", "[ \u{a0}\u{feff}\u{2028}]{0,2}"), middle in "\\PC{1,12}") {
        let id = format!("{}{middle}{}", ends.0, ends.1);
        let Ok(protocol) = listed(&[&id], None, None, None) else { return Ok(()) };
        for shown in [&id, &protocol.questions[0].id.0] {
            let list = format!("other\n{shown}\r\n");
            let excluded = listed(&[&id, "rest"], Some(&list), None, None).unwrap();
            proptest::prop_assert_eq!(described(&excluded), ["rest: rest? [] none"]);
            let only = listed(&[&id, "rest"], None, Some(&list), None).unwrap();
            proptest::prop_assert_eq!(&only.questions, &protocol.questions);
        }
    }
}

#[test]
fn a_document_means_the_same_as_json_and_as_yaml_whatever_stands_first() {
    let lists = super::rows::LISTS;
    let values =
        ["[{\"question\": \"A?\"}]", "[{\"question\": \"B?\"}]", "[1, 2]", "[]", "\"file://a.csv\"", "\"1.5\"", "5"];
    for one in lists {
        for other in lists.iter().filter(|other| *other != one) {
            for first in values {
                for second in values {
                    let text = format!("{{\"{one}\": {first}, \"{other}\": {second}}}");
                    let asked = |file| planned(file, &text).map(|protocol| described(&protocol));
                    let (json, yaml) = (asked("q.json"), asked("q.yaml"));
                    assert_eq!(json.is_ok(), yaml.is_ok(), "{text}: {json:?} and {yaml:?}");
                    assert_eq!(json.ok(), yaml.ok(), "{text}");
                }
            }
            let two = format!("{{\"{one}\": [{{\"question\": \"A?\"}}],\n \"{other}\": [{{\"question\": \"B?\"}}]}}");
            let place = 6 + other.len();
            let said = format!(
                "line 2, column {place}: `{other}` is a list of questions as well, and `{one}` stands before it; keep one of them, or give one another name"
            );
            for file in ["q.json", "q.yaml"] {
                let error = planned(file, &two).unwrap_err().to_string();
                assert!(error.ends_with(&said), "{error}\n{said}");
            }
        }
    }
}

#[test]
fn json_that_is_valid_and_not_read_is_told_for_what_it_is() {
    let row = |value: &str| format!("{{\"question\": \"A?\", \"x\": {value}}}");
    let deep = "[".repeat(127) + &"]".repeat(127);
    for (value, said) in
        [(deep.as_str(), "nested deeper than the 127 levels"), ("1e400", "a number is larger than any")]
    {
        for (file, text) in [("q.jsonl", row(value)), ("q.json", format!("[{}]", row(value)))] {
            let error = planned(file, &text).unwrap_err().to_string();
            assert!(error.contains(said) && !error.contains("not valid"), "{file}: {error}");
        }
    }
}

#[test]
fn the_page_has_every_name_of_every_field() {
    let page = std::fs::read_to_string(format!("{}/docs/questions.md", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let listed = |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    for names in
        [fields::ID, fields::TEXT, fields::TAGS, fields::CATEGORY, fields::CLUSTER, fields::WEIGHT, fields::GOLD]
    {
        assert!(page.contains(&format!("| {}", listed(names))), "docs/questions.md lacks {}", listed(names));
    }
    assert!(page.contains(&crate::freeze::expected::ANSWERS.map(|name| format!("`{name}`")).join(", ")));
}
