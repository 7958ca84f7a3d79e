//! Question files as people write them, protocols as they are frozen, and what changes them.

use super::{FreezeError, Inputs, Protocol, ResolvedSnapshot, compare, freeze, load, order, outline, plan, prompts};
use crate::ledger::RunFolder;
use crate::model::{Digest, Evidence, FailureClass, QuestionId, SnapshotName};
use crate::spec;
use camino::Utf8PathBuf;
use std::collections::BTreeSet;

const SPEC: &str = "\
version: 1
name: docs-search
questions: { file: questions.jsonl }
snapshots: { old: { path: a }, new: { path: b } }
retrieve: { bm25: {} }
generate: { reader: {} }
judge: { embedded: {} }
";

fn snapshot(name: SnapshotName, content: &str) -> ResolvedSnapshot {
    let fingerprint = Some(Digest::of(content.as_bytes()));
    ResolvedSnapshot { name, physical: content.to_owned(), fingerprint, documents: Some(3), passed_over: None }
}

fn inputs(file: &str, questions: &[u8]) -> Inputs {
    Inputs {
        spec: spec::parse(&SPEC.replace("questions.jsonl", file), "churngate.yaml").unwrap(),
        base: Utf8PathBuf::from("/somewhere"),
        questions_name: file.to_owned(),
        questions_bytes: questions.to_vec(),
        exclude_bytes: None,
        only_bytes: None,
        prompt_bytes: None,
        snapshots: vec![snapshot(SnapshotName::old(), "one"), snapshot(SnapshotName::new_snapshot(), "two")],
        tool_version: "0.1.0",
    }
}

fn planned(file: &str, questions: &str) -> Result<Protocol, FreezeError> {
    plan(inputs(file, questions.as_bytes()))
}

fn asked(protocol: &Protocol) -> BTreeSet<(&str, &str)> {
    protocol.questions.iter().map(|question| (question.id.0.as_str(), question.text.as_str())).collect()
}

const THREE: &str = "{\"id\":\"a\",\"question\":\"A?\",\"answer\":[\"x\",\"y\"]}\n{\"id\":\"b\",\"question\":\"B?\"}\n{\"id\":\"c\",\"question\":\"C?\"}\n";

#[test]
fn the_usual_names_and_formats_give_the_same_questions() {
    let wanted = BTreeSet::from([("1", "Who?"), ("2", "Where, \"now\"?")]);
    let files = [
        (
            "q.jsonl",
            r#"{"_id":"1","text":"Who?"}
{"_id":"2","text":"Where, \"now\"?"}"#,
        ),
        ("q.jsonl", "\u{feff}{\"qid\":1,\"query\":\"Who?\"}\r\n\r\n{\"qid\":2,\"query\":\"Where, \\\"now\\\"?\"}\r\n"),
        ("q.json", r#"[{"QuestionId":"1","Question":"Who?"},{"id":"2","user_input":"Where, \"now\"?"}]"#),
        ("q.json", r#"{"tests":[{"id":"1","vars":{"question":"Who?"}},{"id":"2","input":"Where, \"now\"?"}]}"#),
        ("q.csv", "id,question\r\n1,Who?\r\n2,\"Where, \"\"now\"\"?\"\r\n"),
        ("q.csv", "\u{feff}query_id,vars.question\n1,Who?\n\n2,\"Where, \"\"now\"\"?\"\n"),
    ];
    for (file, text) in files {
        let protocol = planned(file, text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(asked(&protocol), wanted, "{text}");
    }
}

#[test]
fn a_question_without_an_id_is_named_after_its_text() {
    let protocol = planned("q.jsonl", "{\"question\":\"who wrote it\",\"answer\":[\"x\"]}").unwrap();
    let digest = Digest::of(b"who wrote it").to_string();
    assert_eq!(protocol.questions[0].id.0, format!("q-{}", &digest[..16]));
}

#[test]
fn tags_categories_and_clusters_are_read() {
    let rows = r#"{"id":"a","question":"A?","tags":["x","y"],"category":"z","cluster":"s1"}
{"id":"b","question":"B?","metadata":{"tags":"y; x","category":"z"},"topic":7}"#;
    let protocol = planned("q.jsonl", rows).unwrap();
    for question in &protocol.questions {
        assert_eq!(question.tags, ["x", "y", "z"]);
    }
    let clusters: BTreeSet<_> = protocol.questions.iter().filter_map(|question| question.cluster.as_deref()).collect();
    assert_eq!(clusters, BTreeSet::from(["7", "s1"]));
}

#[test]
fn every_problem_of_a_question_file_is_named_by_its_line() {
    let long = "x".repeat(9_000);
    let rows = format!(
        "{{\"id\":\"a\",\"question\":\"A?\"}}\n\nnot json\n[1]\n{{\"id\":\"a\",\"question\":\"B?\"}}\n\
         {{\"id\":\"b\"}}\n{{\"id\":\"c\",\"question\":\"  \"}}\n{{\"id\":\"d\",\"question\":\"{long}\"}}\n\
         {{\"id\":{{}},\"question\":\"E?\"}}\n{{\"id\":\"f\",\"id\":\"g\",\"question\":\"F?\"}}\n\
         {{\"id\":\"h\",\"question\":\"a\\u0000b\"}}\n{{\"id\":\"i\",\"question\":5}}\n{{\"id\":\"j\",\"question\":\"J?\""
    );
    insta::assert_snapshot!(planned("q.jsonl", &rows).unwrap_err(), @r#"
read the questions in `q.jsonl`: 
  line 3: not valid JSON at column 2
  line 4: not a JSON object
  line 5: the id `a` stands on line 1 as well; give each question an id of its own
  line 6: no question; it is looked for under `question`, `query`, `text`, `input`, `user_input`, `prompt`, `Question` and others
  line 7: the question is blank
  line 8: the question has 9000 bytes; at most 8192 are asked
  line 9: the id (`id`) is neither text nor an integer
  line 10: the name `id` stands twice in one object
  line 11: the question holds a NUL character
  line 12: the question (`question`) is no text
  line 13: the JSON ends too early
"#);
}

#[test]
fn a_name_that_stands_twice_is_told_with_its_place_and_an_id_that_is_not_read_with_what_to_write() {
    let failed = |file: &str, text: &str| plan(inputs(file, text.as_bytes())).unwrap_err().to_string();
    for (file, text, said) in [
        (
            "q.json",
            "[{\"question\": \"A?\"},\n {\"id\": 1, \"question\": \"B?\",\n  \"question\": \"secret?\"}]",
            "line 3, column 15: the name `question` stands twice in one object",
        ),
        (
            "q.json",
            "{\"questions\": [\n{\"a\": {}, \"a\": {}, \"question\": \"secret?\"}]}",
            "line 2, column 16: the name `a` stands twice in one object",
        ),
        ("q.jsonl", "\n{\"id\": 1, \"id\": 2}\n", "line 2: the name `id` stands twice in one object"),
        (
            "q.jsonl",
            "{\"id\": 123456789012345678901234567890, \"question\": \"secret?\"}\n",
            "line 1: the id (`id`) is a number of more digits than are read; write it as a text, in quotes",
        ),
        (
            "q.jsonl",
            "{\"id\": 1.5, \"question\": \"secret?\"}\n",
            "line 1: the id (`id`) is neither text nor an integer",
        ),
    ] {
        let told = failed(file, text);
        assert!(told.contains(said) && !told.contains("secret"), "{told}");
    }
}

#[test]
fn files_that_are_no_question_files_are_refused() {
    let failed = |file: &str, bytes: &[u8]| plan(inputs(file, bytes)).unwrap_err().to_string();
    insta::assert_snapshot!([
        failed("q.jsonl", b""),
        failed("q.csv", b"id,question\n"),
        failed("q.json", b"[]"),
        failed("q.jsonl", b"{\"question\":\"A?\"}\n\xff\n"),
        failed("q.jsonl", b"\x7fELF\0\0"),
        failed("q.jsonl", b"\xff\xfe{\0"),
        failed("q.json", b"{\"a\": 1}"),
        failed("q.json", b"[{\"id\": 1}"),
        failed("q.csv", b"id,id\n1,2\n"),
        failed("q.csv", b"id,question\n1,A?\n2\n"),
        failed("q.jsonl", b"{\"question\":\"A?\"}\n{\"question\":\"A?\"}\n"),
    ]
    .join("\n"), @r#"
find a question in `q.jsonl`: none is there
find a question in `q.csv`: none is there
find a question in `q.json`: none is there
read the questions in `q.jsonl`: line 2: not UTF-8
read the questions in `q.jsonl`: line 1: a NUL byte; this is no text file
read the questions in `q.jsonl`: line 1: the file is UTF-16, not UTF-8
read the questions in `q.json`: line 1, column 1: neither a list of questions, nor an object that has one as `questions`, `tests`, `goldens`, `data`, `Data`, `rows`, `examples`, `samples`
read the questions in `q.json`: 
  line 1, column 2: no question; it is looked for under `question`, `query`, `text`, `input`, `user_input`, `prompt`, `Question` and others
  line 1, column 11: the JSON ends too early
read the questions in `q.csv`: line 1: the name of column 2 stands twice
read the questions in `q.csv`: line 3: the row has another number of columns than the first line
read the questions in `q.jsonl`: line 2: the question stands on line 1 as well; remove one of them, or give each an id of its own
"#);
    assert_eq!(crate::model::Failure::from(plan(inputs("q.jsonl", b"")).unwrap_err()).class, FailureClass::Usage);
}

#[test]
fn selection_follows_the_published_rule_and_nothing_else() {
    let ids = ["q1", "q2", "q3", "q4", "q5"];
    let rows: Vec<String> = ids.iter().map(|id| format!("{{\"id\":\"{id}\",\"question\":\"{id}?\"}}")).collect();
    let mut reversed = rows.clone();
    reversed.reverse();
    let select = |rows: &[String], seed: u64, count: Option<u32>, exclude: Option<&str>| {
        let mut inputs = inputs("q.jsonl", rows.join("\n").as_bytes());
        inputs.spec.questions.seed = seed;
        inputs.spec.questions.count = count;
        inputs.exclude_bytes = exclude.map(|text| text.as_bytes().to_vec());
        plan(inputs).map(|protocol| protocol.questions.into_iter().map(|question| question.id.0).collect::<Vec<_>>())
    };
    let mut expected = ids.to_vec();
    expected.sort_by_key(|id| Digest::of(format!("20260810:{id}").as_bytes()).to_string());
    assert_eq!(select(&rows, 20_260_810, None, None).unwrap(), expected);
    assert_eq!(select(&reversed, 20_260_810, Some(3), None).unwrap(), expected[..3]);
    let without =
        select(&rows, 20_260_810, Some(3), Some(&format!("\u{feff}{}\r\n\r\nnobody\r\n", expected[0]))).unwrap();
    assert_eq!(without, expected[1..4]);
    let notes = |exclude: &str| {
        let mut inputs = inputs("q.jsonl", rows.join("\n").as_bytes());
        inputs.exclude_bytes = Some(exclude.as_bytes().to_vec());
        plan(inputs).unwrap().notes().to_vec()
    };
    assert!(notes("q1\nq2\n").is_empty());
    assert_eq!(notes("q1\nnobody\n"), ["the excluded id `nobody` is not in the question file"]);
    let two = "2 excluded ids are not in the question file, `Q1` among them";
    assert_eq!(notes("nobody\nQ1\nq3\n"), [two]);
    let too_few = FreezeError::TooFew { wanted: 5, available: 4, excluded: 1, unlisted: 0 };
    assert_eq!(select(&rows, 1, Some(5), Some("q1")), Err(too_few));
    assert!(matches!(select(&rows, 1, None, Some(&ids.join("\n"))), Err(FreezeError::AllExcluded { .. })));
}

#[test]
fn cells_are_interleaved_and_each_repeat_reverses_the_one_before() {
    let protocol = planned("q.jsonl", THREE).unwrap();
    let cells = order::cells(&protocol);
    let places: Vec<String> = cells.iter().map(|cell| format!("{}{}", cell.snapshot, cell.repeat)).collect();
    assert_eq!(places.join(" "), "old0 new0 new1 old1 new0 old0 old1 new1 old0 new0 new1 old1");
    let distinct: BTreeSet<_> = cells.iter().collect();
    assert_eq!(distinct.len(), 12);
}

#[test]
fn whatever_changes_the_measurement_changes_the_digest_and_nothing_else_does() {
    let base = planned("questions.jsonl", THREE).unwrap();
    let changed = |change: &dyn Fn(&mut Inputs)| {
        let mut inputs = inputs("questions.jsonl", THREE.as_bytes());
        change(&mut inputs);
        plan(inputs).unwrap().digest != base.digest
    };
    let spec = |from: &str, to: &str| spec::parse(&SPEC.replace(from, to), "x").unwrap();
    assert!(!changed(&|_| {}));
    assert!(!changed(&|inputs| inputs.base = Utf8PathBuf::from("/elsewhere")));
    assert!(!changed(&|inputs| inputs.spec = spec("version: 1", "# a comment\nversion: 1\nbudget: { calls: 9 }")));
    assert!(!changed(
        &|inputs| inputs.spec = spec("reader: {}", "reader: {}, repeats: 2, concurrency: 1, max_attempts: 2")
    ));
    assert!(changed(&|inputs| inputs.spec = spec("reader: {}", "reader: {}, repeats: 3")));
    assert!(changed(&|inputs| inputs.spec = spec("reader: {}", "reader: { seed: 1 }")));
    assert!(changed(&|inputs| inputs.spec = spec("bm25: {}", "bm25: {}, top_k: 9")));
    assert!(changed(&|inputs| inputs.spec = spec("version: 1", "version: 1\nbootstrap: { draws: 1000 }")));
    assert!(changed(&|inputs| inputs.spec = spec("version: 1", "version: 1\ngate: { inconclusive: fail }")));
    assert!(changed(&|inputs| inputs.questions_bytes = THREE.replace("C?", "D?").into_bytes()));
    assert!(changed(&|inputs| inputs.questions_bytes = THREE.replace("\"y\"", "\"z\"").into_bytes()));
    assert!(changed(&|inputs| inputs.exclude_bytes = Some(b"nobody".to_vec())));
    assert!(changed(&|inputs| inputs.prompt_bytes = Some(b"{{question}} {{evidence}}".to_vec())));
    assert!(changed(&|inputs| inputs.snapshots[1].fingerprint = None));
    assert!(changed(&|inputs| inputs.snapshots[1].physical.push('x')));
    assert!(changed(&|inputs| inputs.tool_version = "0.2.0"));
}

#[test]
fn an_audit_is_told_by_its_contents_and_not_by_their_commits_and_names() {
    const FROM_GIT: &str =
        "old: { git: aaaa, path: a }, between: [{ name: mid, git: bbbb, path: b }], new: { path: b }";
    let inputs = |snapshots: &str| {
        let mut inputs = inputs("questions.jsonl", THREE.as_bytes());
        inputs.spec = spec::parse(&SPEC.replace("old: { path: a }, new: { path: b }", snapshots), "x").unwrap();
        inputs.snapshots.push(snapshot(SnapshotName("mid".to_owned()), "three"));
        inputs
    };
    let base = plan(inputs(FROM_GIT)).unwrap();
    let planned = |snapshots: &str, change: &dyn Fn(&mut Inputs)| {
        let mut inputs = inputs(snapshots);
        change(&mut inputs);
        plan(inputs).unwrap()
    };
    let moved =
        FROM_GIT.replace("aaaa", "cccc").replace("bbbb", "dddd").replace("new: { path: b }", "new: { path: c }");
    let nothing = |_: &mut Inputs| {};
    let names = |inputs: &mut Inputs| {
        let passed = crate::model::PassedOver { endings: Vec::new(), others: 1, hidden: 0, links: 0 };
        for snapshot in &mut inputs.snapshots {
            snapshot.physical.push_str(" at eeee");
            snapshot.passed_over = Some(passed.clone());
        }
    };
    for same in [planned(&moved, &nothing), planned(FROM_GIT, &names), planned(&moved, &names)] {
        assert!(same.digest != base.digest && same.audited() == base.audited());
    }
    let changes: [&dyn Fn(&mut Inputs); 6] = [
        &|inputs| inputs.snapshots[0].fingerprint = Some(Digest::of(b"another")),
        &|inputs| inputs.snapshots.swap(1, 2),
        &|inputs| inputs.spec.gate.inconclusive = spec::Inconclusive::Fail,
        &|inputs| inputs.questions_bytes = THREE.replace("C?", "D?").into_bytes(),
        &|inputs| inputs.prompt_bytes = Some(b"{{question}} {{evidence}}".to_vec()),
        &|inputs| inputs.tool_version = "0.2.0",
    ];
    for change in changes {
        assert_ne!(planned(FROM_GIT, change).audited(), base.audited());
    }
    // What is known by name alone is another thing wherever the name is.
    let unknown = |inputs: &mut Inputs| inputs.snapshots[1].fingerprint = None;
    assert_ne!(planned(FROM_GIT, &unknown).audited(), planned(&moved, &unknown).audited());
    let (_temporary, path) = folder();
    freeze(&RunFolder::open(&path).unwrap(), base.clone()).unwrap();
    assert_eq!(load(&path).unwrap().audited(), base.audited());
    assert_eq!(outline(&path).unwrap().0.audited(), base.audited());
}

#[test]
fn the_lock_holds_no_question_and_no_gold() {
    let rows = r#"{"id":"secret-id","question":"a secret question","answer":"a secret answer","tags":"a secret tag"}"#;
    let protocol = planned("q.jsonl", rows).unwrap();
    let lock = String::from_utf8(protocol.lock_bytes().to_vec()).unwrap();
    assert!(!lock.contains("secret"), "{lock}");
    assert_eq!(Digest::of(lock.as_bytes()), protocol.digest);
}

fn folder() -> (tempfile::TempDir, Utf8PathBuf) {
    let temporary = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::from_path_buf(temporary.path().join("run")).unwrap();
    (temporary, path)
}

#[test]
fn questions_come_one_at_a_time_as_they_come_together() {
    let csv = "id,question,cluster,tags\na,A?,one,\nb,B?,one,\"x,y\"\nc,C?,one,\n";
    let json = r#"{"questions":[{"id":"a","question":"A?"},{"question":"B?","cluster":"two"}]}"#;
    for (file, text, count) in [("q.jsonl", THREE, Some(2)), ("q.csv", csv, None), ("q.json", json, None)] {
        let (_temporary, path) = folder();
        let mut inputs = inputs(file, text.as_bytes());
        inputs.spec.questions.count = count;
        let planned = plan(inputs).unwrap();
        freeze(&RunFolder::open(&path).unwrap(), planned.clone()).unwrap();
        let (outlined, mut selection) = outline(&path).unwrap();
        assert_eq!((outlined.digest, selection.count()), (planned.digest, planned.questions.len() as u64));
        let two = [selection.some(1).unwrap(), selection.some(usize::MAX).unwrap()].concat();
        assert_eq!(two, planned.questions, "{file}");
        let ranks: Vec<u128> = two.iter().map(|question| planned.rank(&question.id)).collect();
        assert!(ranks.is_sorted());
        selection.cut(1..2);
        selection.rewind().unwrap();
        assert_eq!(selection.some(9).unwrap(), planned.questions[1..2]);
    }
}

#[test]
fn a_frozen_protocol_is_read_back_with_every_digest_derived_again() {
    let (_temporary, path) = folder();
    let mut inputs = inputs("questions.jsonl", THREE.as_bytes());
    inputs.exclude_bytes = Some(b"b\n".to_vec());
    inputs.prompt_bytes = Some("Q {{question}} E {{evidence}}\r\n".into());
    let planned = plan(inputs).unwrap();
    let frozen = freeze(&RunFolder::open(&path).unwrap(), planned.clone()).unwrap();
    assert_eq!(frozen.lock.head(), planned.digest);
    let loaded = load(&path).unwrap();
    assert_eq!(loaded.digest, planned.digest);
    assert_eq!(loaded.questions, planned.questions);
    assert_eq!(loaded.seeds, planned.seeds);
    assert_eq!(loaded.snapshots, planned.snapshots);
    assert_eq!(loaded.answer_prompt, "Q {{question}} E {{evidence}}\n");
    assert_eq!(loaded.spec.canonical(), planned.spec.canonical());
    let (outlined, mut selection) = outline(&path).unwrap();
    assert_eq!((outlined.digest, outlined.lock_bytes()), (loaded.digest, loaded.lock_bytes()));
    assert_eq!((outlined.seeds, outlined.answer_prompt), (loaded.seeds, loaded.answer_prompt));
    for _ in 0..2 {
        assert_eq!(selection.some(usize::MAX).unwrap(), loaded.questions);
        selection.rewind().unwrap();
    }
    let again = freeze(&RunFolder::open(&path).unwrap(), planned).unwrap();
    assert_eq!(again.lock.head(), frozen.lock.head());
}

#[test]
fn a_difference_stops_and_is_named_with_both_digests() {
    let (_temporary, path) = folder();
    let folder = RunFolder::open(&path).unwrap();
    freeze(&folder, planned("questions.jsonl", THREE).unwrap()).unwrap();
    let mut other = inputs("questions.jsonl", THREE.replace("C?", "D?").as_bytes());
    other.spec.retrieve.top_k = 9;
    let failure = freeze(&folder, plan(other).unwrap()).unwrap_err();
    assert_eq!(failure.class, FailureClass::Evidence);
    insta::assert_snapshot!(failure.message, @r#"
continue the run: its protocol is c7017183c0a3, not 25dd68b9a9c4
  `questions.file` changed: 2d678cd79d15 in the folder, c0620c88def3 now
  `questions.texts` changed: 73e67fd83213 in the folder, 02a957228dda now
  `spec.retrieve.top_k` changed: 2c624232cdd2 in the folder, 19581e27de7c now
  `spec_digest` changed: b8d1e755334f in the folder, 0a1d79fff639 now
"#);
}

#[test]
fn an_edited_lock_or_question_file_is_noticed() {
    let (_temporary, path) = folder();
    let planned = planned("questions.jsonl", THREE).unwrap();
    drop(freeze(&RunFolder::open(&path).unwrap(), planned.clone()).unwrap());
    let lock = path.join("protocol.lock.json");
    let text = std::fs::read_to_string(&lock).unwrap();
    let edits = [
        text.replace("\"top_k\":8", "\"top_k\":9"),
        text.replace("\"repeats\":2", "\"repeats\":1"),
        text.replace("\"version\":1,\"tool", "\"version\":2,\"tool"),
        text.replace("\"selected\":3", "\"selected\":2"),
        text.replacen(':', ": ", 1),
        text[..text.len() / 2].to_owned(),
        String::new(),
    ];
    for edited in edits {
        assert_ne!(edited, text);
        std::fs::write(&lock, &edited).unwrap();
        let failure = load(&path).unwrap_err();
        assert_eq!(failure.class, FailureClass::Evidence, "{failure}");
    }
    std::fs::write(&lock, &text).unwrap();
    let blob = path.join("blobs").join(Digest::of(THREE.as_bytes()).to_string());
    std::fs::write(&blob, THREE.replace("A?", "Z?")).unwrap();
    assert_eq!(load(&path).unwrap_err().class, FailureClass::Evidence);
    assert!(compare(text.as_bytes(), &planned).is_ok());
}

#[test]
fn prompts_are_filled_once() {
    let rows = r#"{"id":"a","question":"What is {{evidence}}?"}"#;
    let protocol = planned("q.jsonl", rows).unwrap();
    let prompt = prompts::answer(&protocol, &protocol.questions[0], &Evidence::default());
    assert!(prompt.contains("What is {{evidence}}?") && prompt.contains("(no documents)"));
    let packet = prompts::judge(&protocol.judge_prompt, "\"{{answers}}?\"", "A {{question}}\nB");
    assert!(packet.contains("\"{{answers}}?\"") && packet.contains("A {{question}}\nB"));
}

#[test]
fn gold_is_read_by_all_its_names() {
    let rows = r#"{"id":"a","question":"A?","answer":["x","y"],"aliases":["x","z"]}
{"id":"b","question":"B?","Answer":{"Value":"v","Aliases":["w"],"NormalizedAliases":["n"]}}
{"id":"c","question":"C?","expected":3}
{"id":"d","question":"D?"}"#;
    let gold = super::gold::read(rows.as_bytes(), "questions.jsonl").unwrap();
    let of = |id: &str| gold[&QuestionId(id.to_owned())].clone();
    assert_eq!(of("a"), ["x", "y", "z"]);
    assert_eq!(of("b"), ["v", "w"]);
    assert_eq!(of("c"), ["3"]);
    assert!(of("d").is_empty());
    let bad = rows.replace("\"expected\":3", "\"expected\":{\"x\":1}");
    assert!(super::gold::read(bad.as_bytes(), "questions.jsonl").is_err());
}

#[test]
fn gold_that_cannot_be_read_is_refused_before_the_protocol_and_never_shown() {
    let file = "{\"id\":\"a\",\"question\":\"A?\",\"answer\":\"fine\"}\n{\"id\":\"b\",\"question\":\"B?\",GOLD}\n";
    for gold in [
        r#""answer":{"secret-x":"secret-y"}"#,
        r#""answers":["secret-a",{"secret-x":1}]"#,
        r#""Answer":{"Value":{"secret-x":1}}"#,
        r#""answer":"secret-a","aliases":[[{"secret-x":[]}]]"#,
    ] {
        let error = planned("q.jsonl", &file.replace("GOLD", gold)).unwrap_err();
        assert!(error.to_string().starts_with("read gold answers in `q.jsonl`: line 2: "), "{error}");
        assert!(!format!("{error:?}").contains("secret"), "{error:?}");
    }
    let array = r#"[{"question":"A?"},{"question":"B?","gold":{}}]"#;
    let error = planned("q.json", array).unwrap_err();
    assert!(error.to_string().contains("line 1, column 20: a gold answer is an object without"), "{error}");
    let many =
        (0..30).map(|n| format!("{{\"id\":{n},\"question\":\"A?\",\"gold\":{{}}}}")).collect::<Vec<_>>().join("\n");
    let error = planned("q.jsonl", &many).unwrap_err().to_string();
    assert!(error.contains("line 20: ") && !error.contains("line 21") && error.ends_with("and more"), "{error}");
}

#[test]
fn a_quote_out_of_place_never_swallows_rows() {
    let problem = |text: &str| planned("q.csv", text).unwrap_err().to_string();
    for (text, line, what) in [
        ("id,question\na,\"unclosed\nb,Q2\n", 2, "never closed"),
        ("id,question\na,Q1\n\nb,\"unclosed\nc,Q2\nd,Q3", 4, "never closed"),
        ("id,question,answer\na,Q1,\"unclosed\nb,Q2,y\n", 2, "never closed"),
        ("id,\"question\na,Q1\n", 1, "never closed"),
        ("id,question\na,\"unclosed\nb,\"Q2\"\n", 2, "goes on after its closing quote"),
        ("id,question\r\na,\"Who\" wrote it?\r\n", 2, "goes on after its closing quote"),
        ("id,question\na,\"unclosed\nb,Q2\"\n", 2, "line break"),
        ("id,question\na,\"one\r\ntwo\"\n", 2, "line break"),
    ] {
        let said = problem(text);
        assert!(said.starts_with(&format!("read the questions in `q.csv`: line {line}: ")), "{text}\n{said}");
        assert!(said.contains(what), "{text}\n{said}");
    }
    let fine = "id,question,contexts\na,\"Who, \"\"now\"\"?\",\"one\n\ntwo\"\nb,a 5\" pipe?,\"\"\n";
    let protocol = planned("q.csv", fine).unwrap();
    assert_eq!(asked(&protocol), BTreeSet::from([("a", "Who, \"now\"?"), ("b", "a 5\" pipe?")]));
}

#[test]
fn the_open_questions_of_natural_questions_are_read_whole() {
    let root = Utf8PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let found = root.ancestors().map(|folder| folder.join("shared/data/nq-open.dev.jsonl")).find(|path| path.exists());
    let Some(path) = found else {
        #[expect(clippy::print_stderr, reason = "a skipped test says so")]
        {
            eprintln!("skipped: the NQ-open questions are not here");
        }
        return;
    };
    let protocol = plan(inputs("nq.jsonl", &std::fs::read(path).unwrap())).unwrap();
    assert!(
        protocol.questions.len() > 3_000 && protocol.questions.iter().all(|question| question.id.0.starts_with("q-"))
    );
}

/// The rules of a spec hold again where it is read back, and a run of one that breaks them then could never be finished.
#[test]
fn a_spec_that_would_not_be_read_back_is_not_frozen() {
    let judge = "judge: { openai: { model: m }, second: { openai: { model: m2 }, sample: 10 } }";
    let mut inputs = inputs("q.jsonl", THREE.as_bytes());
    inputs.spec = spec::parse(&SPEC.replace("judge: { embedded: {} }", judge), "churngate.yaml").unwrap();
    assert!(plan(inputs.clone()).is_ok());
    let first = inputs.spec.judge.backend.clone();
    inputs.spec.judge.second.as_mut().unwrap().backend = first;
    let failure = crate::model::Failure::from(plan(inputs).unwrap_err());
    assert_eq!(failure.class, FailureClass::Usage);
    assert!(failure.message.contains("not read back as the same spec: the second judge is the first one"), "{failure}");
    assert!(failure.hint.is_some());
}
