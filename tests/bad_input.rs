//! Mutated specs and question files: whatever stands in them, there is a typed error or a valid value, never a panic.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail by panicking")]

use churngate::freeze::{self, FreezeError, Inputs, ResolvedSnapshot};
use churngate::model::{Failure, FailureClass, SnapshotName};
use churngate::spec::{self, Code};

/// How many mutated inputs of each kind.
const CASES: u64 = 500;

const SPEC: &str = r#"
version: 1
name: docs-search
questions:
  file: questions.jsonl
  select: { count: 400, seed: 20260810, exclude: dev-ids.txt }
snapshots:
  old: { index: docs_v41 }
  new: { index: docs_v42 }
  between: [ { name: n3, index: docs_n3 } ]
  closed_book: true
retrieve:
  http:
    url: http://localhost:9200/{index}/_search
    secret_headers: { Authorization: { prefix: "ApiKey ", env: ES_API_KEY } }
    body: { size: "{{top_k}}", query: { match: { text: "{{question}}" } } }
    ok: { /timed_out: false, /_shards/failed: 0 }
  top_k: 8
generate:
  openai: { model: gpt-4.1-mini, key_env: OPENAI_API_KEY, temperature: 0.7, extra: { seed: 7 } }
  repeats: 3
judge:
  command: { argv: [judge, --strict], env: [LANG] }
gate:
  incompatible_when:
    - semantic: { at_least: 3pp }
  inconclusive: fail
bootstrap: { draws: 50000, confidence: 95 }
budget: { calls: 20000, minutes: 60 }
tolerance: { invalid_cells: 1% }
"#;

const HOSTILE_YAML: &[&str] = &[
    "&a [*a]",
    "*x",
    "<<: *y",
    "!!python/object:os.system",
    "%YAML 1.3\n",
    "---\n",
    "...\n",
    "? [a, b]\n: c\n",
    ".nan",
    "-.inf",
    "1e400",
    "0x7fffffffffffffff",
    "{{{{",
    "}}}}",
    "[[[[[[[[",
    "\t",
    "\u{0}",
    "\u{feff}",
    "\u{202e}",
    "🦀🦀",
    "\u{85}",
    "\r",
    "'",
    "\"",
    "\"\\u0000\\ud800\"",
    "|\n  text\n",
    ">-\n",
    "key: key: key",
    "- - - -",
    "version: 2\n",
    "name: ~\n",
    "99999999999999999999999",
    "-0",
    "{}",
    "[]",
    "null",
    "yes",
    "@",
    "`",
    "#",
    ": ",
    "a: {b: {c: {d: {e: {}}}}}",
    "\u{1b}[31m",
];

const QUESTIONS: &str = r#"{"id":"a","question":"Who wrote it?","answer":["x","y"],"tags":["t"],"cluster":"s"}
{"_id":2,"text":"Where is it?","metadata":{"category":"c","tags":"u;v"}}
{"question":"When was that?","Answer":{"Value":"1999","Aliases":["in 1999"]}}
"#;

const CSV: &str = "id,question,answer,tags\r\n1,Who?,x,a;b\r\n2,\"Where, \"\"now\"\"?\",y,\r\n";

const HOSTILE_JSON: &[&str] = &[
    "{\"id\":",
    "[[[[[[[[[[",
    "\\ud800",
    "\\u0000",
    "\u{0}",
    "1e999",
    "NaN",
    "{\"id\":{},\"id\":{}}",
    "null",
    "true",
    "\"\"",
    ",,,",
    "\u{feff}",
    "{}",
    "[]",
    "\n\n",
    "\r",
    "\"",
    "=cmd()",
    "🦀",
    "\u{202e}",
    "{\"question\":\"x\"}",
    "// comment",
    "'",
];

/// A small generator (xorshift64*): the same cases everywhere.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(limit.max(1)).unwrap()).unwrap()
    }
}

/// One to six mutations: flipped bytes, cuts, swapped, doubled and removed lines, hostile fragments.
fn mutate(seed: u64, text: &str, hostile: &[&str]) -> Vec<u8> {
    let mut draw = Draw(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=draw.below(6) {
        let at = draw.below(bytes.len() + 1);
        match draw.below(7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << draw.below(8),
            1 => bytes.truncate(at),
            2 | 3 => {
                let fragment = hostile[draw.below(hostile.len())];
                bytes.splice(at..at, fragment.bytes());
            }
            4 => bytes = lines(&bytes, &mut draw, |lines, one, other| lines.swap(one, other)),
            5 => bytes = lines(&bytes, &mut draw, |lines, one, other| lines.insert(one, lines[other].clone())),
            _ => bytes = lines(&bytes, &mut draw, |lines, one, _| drop(lines.remove(one))),
        }
    }
    bytes
}

fn lines(bytes: &[u8], draw: &mut Draw, change: impl Fn(&mut Vec<Vec<u8>>, usize, usize)) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    if lines.is_empty() {
        return bytes.to_vec();
    }
    let (one, other) = (draw.below(lines.len()), draw.below(lines.len()));
    change(&mut lines, one, other);
    lines.concat()
}

/// A spec is a spec, or its problems have places within the text and can be shown.
fn check_spec(text: &str) -> bool {
    let result = spec::parse(text, "churngate.yaml");
    let spec = match result {
        Ok(spec) => spec,
        Err(errors) => {
            assert!(!errors.problems.is_empty());
            for problem in &errors.problems {
                assert!(problem.span.start <= problem.span.end && problem.span.end <= text.len(), "{problem:?}");
                assert_ne!(problem.code, Code::Unreadable, "{text}");
                assert!(errors.position(problem).0 >= 1);
            }
            let shown = errors.render(false);
            assert!(shown.contains("error["), "{shown}");
            assert!(!errors.render(true).is_empty());
            assert_eq!(Failure::from(errors).class, FailureClass::Usage);
            return false;
        }
    };
    let again = spec::from_canonical(&spec.canonical()).unwrap_or_else(|| panic!("not read again: {text}"));
    assert_eq!(again.canonical(), spec.canonical(), "{text}");
    true
}

#[test]
fn mutated_specs_give_specs_or_problems() {
    assert!(check_spec(SPEC));
    let mut good = 0;
    for seed in 0..CASES {
        let bytes = mutate(seed, SPEC, HOSTILE_YAML);
        good += u64::from(check_spec(&String::from_utf8_lossy(&bytes)));
    }
    assert!(
        good > 0 && good < CASES / 2,
        "{good} of {CASES} mutants are specs: the mutations are too weak or too strong"
    );
}

#[test]
fn every_cut_of_a_spec_gives_a_spec_or_problems() {
    for end in 0..SPEC.len() {
        check_spec(&SPEC[..end]);
    }
}

#[test]
fn every_hostile_fragment_at_every_line_gives_a_spec_or_problems() {
    let starts: Vec<usize> = SPEC.match_indices('\n').map(|(at, _)| at + 1).collect();
    for fragment in HOSTILE_YAML {
        for start in &starts {
            check_spec(&format!("{}{fragment}{}", &SPEC[..*start], &SPEC[*start..]));
        }
    }
}

/// More keys than the root of a spec must have.
const MISSING: usize = 16;

#[test]
fn absurd_sizes_cost_no_more_than_their_size() {
    let deep = format!("a: {}", "[".repeat(100_000));
    let numbered = |lines: usize, line: &dyn Fn(usize) -> String| (0..lines).map(line).collect::<Vec<_>>().concat();
    let wide = format!("{SPEC}{}", numbered(40_000, &|n| format!("k{n}: 1\n")));
    let long_line = format!("{{ {} }}", "version: 1, ".repeat(60_000));
    let anchors = numbered(5_000, &|n| format!("a{n}: &a{n} [*a{}]\n", n.max(1) - 1));
    // Each with the most problems that may be told of it: one a place at most, and none after the first that ends a reading.
    for (text, most) in [
        (deep, 1),
        (wide, 40_000 + MISSING),
        (long_line, 60_000 + MISSING),
        (anchors, 15_000 + MISSING),
        ("\u{1b}".repeat(100_000), 1),
        ("🦀".repeat(200_000), 1),
        (": ".repeat(300_000), 1),
        ("#".repeat(2 << 20), 1),
    ] {
        let errors = spec::parse(&text, "churngate.yaml").unwrap_err();
        assert!(errors.problems.len() <= most, "{} problems, {most} at most", errors.problems.len());
        // To look for the nearest known key takes longer than all else, so that few unknown keys have one looked for.
        let suggested = errors.problems.iter().filter(|problem| problem.label.is_some()).count();
        assert!(suggested <= 200, "{suggested} suggestions");
        assert!(errors.render(false).len() < 1 << 20);
    }
}

fn inputs(file: &str, questions: Vec<u8>, exclude: Option<Vec<u8>>, prompt: Option<Vec<u8>>) -> Inputs {
    let snapshot = |name: SnapshotName| ResolvedSnapshot {
        name,
        physical: "tree".to_owned(),
        fingerprint: None,
        documents: None,
        passed_over: None,
    };
    let spec = format!(
        "{{ version: 1, name: n, questions: {{ file: {file} }}, snapshots: {{ old: {{ path: a }}, new: {{ path: b }} }}, \
         retrieve: {{ bm25: {{}} }}, generate: {{ reader: {{}} }}, judge: {{ embedded: {{}} }} }}"
    );
    Inputs {
        spec: spec::parse(&spec, "churngate.yaml").unwrap(),
        base: ".".into(),
        questions_name: file.to_owned(),
        questions_bytes: questions,
        exclude_bytes: exclude,
        only_bytes: None,
        prompt_bytes: prompt,
        snapshots: vec![snapshot(SnapshotName::old()), snapshot(SnapshotName::new_snapshot())],
        tool_version: "0.1.0",
    }
}

/// Questions are planned the same way twice, or the error names its place and shows nothing that a terminal obeys.
fn check_plan(inputs: &Inputs) -> bool {
    let planned = freeze::plan(inputs.clone());
    match &planned {
        Ok(protocol) => {
            let again = freeze::plan(inputs.clone()).unwrap();
            assert_eq!(protocol.digest, again.digest);
            assert!(!protocol.questions.is_empty());
            assert_eq!(freeze::order::cells(protocol).len(), protocol.questions.len() * 4);
        }
        Err(error) => {
            let shown = error.to_string();
            assert!(!shown.chars().any(|c| c.is_control() && c != '\n'), "{shown:?}");
            assert!(shown.len() < 8_192, "{shown}");
            assert_eq!(Failure::from(error.clone()).class, FailureClass::Usage);
        }
    }
    planned.is_ok()
}

#[test]
fn mutated_question_files_give_questions_or_problems() {
    let array = format!("[{}]", QUESTIONS.trim_end().replace('\n', ",\n"));
    let fixture = |name| std::fs::read_to_string(format!("tests/fixtures/questions/{name}")).unwrap();
    let [squad, trivia, cases, yaml] = ["squad.json", "triviaqa.json", "promptfoo.yaml", "plain.yaml"].map(fixture);
    let kinds = [
        ("q.jsonl", QUESTIONS),
        ("q.json", array.as_str()),
        ("q.csv", CSV),
        ("squad.json", &squad),
        ("triviaqa.json", &trivia),
        ("promptfoo.yaml", &cases),
        ("plain.yml", &yaml),
    ];
    for (file, text) in kinds {
        let mut good = 0;
        assert!(check_plan(&inputs(file, text.as_bytes().to_vec(), None, None)), "{text}");
        for seed in 0..CASES {
            good += u64::from(check_plan(&inputs(file, mutate(seed, text, HOSTILE_JSON), None, None)));
        }
        assert!(good > 0 && good < CASES, "{good} of {CASES} mutants of {file} are question files");
    }
}

#[test]
fn mutated_exclusions_and_prompts_give_protocols_or_problems() {
    for seed in 0..CASES {
        let exclude = mutate(seed, "a\n2\nq-0000000000000000\n", HOSTILE_JSON);
        let prompt = mutate(
            seed,
            "Documents:\n{{evidence}}\nQuestion: {{question}}\n",
            &["{{", "}}", "{{x}}", "\u{0}", "\u{feff}"],
        );
        check_plan(&inputs("q.jsonl", QUESTIONS.into(), Some(exclude), Some(prompt)));
    }
}

#[test]
fn json_that_nests_without_end_is_an_error() {
    let deep = format!("{{\"question\":{}", "[".repeat(200_000));
    assert!(matches!(
        freeze::plan(inputs("q.jsonl", deep.into_bytes(), None, None)),
        Err(FreezeError::Questions { .. })
    ));
}
