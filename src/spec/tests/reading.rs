//! What is read and what is refused.

use super::{SMALL, codes, errors, small, with};
use crate::spec::problem::Code;
use crate::spec::yaml::MAX_BYTES;
use crate::spec::{Condition, GateSpec, GenerateBackend, RetrieveBackend, SnapshotSource, from_canonical, parse};

#[test]
fn defaults_are_those_of_the_published_protocol() {
    let spec = small();
    assert_eq!((spec.generate.repeats, spec.retrieve.top_k, spec.retrieve.max_chars), (2, 8, 1200));
    assert_eq!((spec.generate.max_answer_bytes, spec.bootstrap.draws), (512, 50_000));
    assert_eq!(spec.bootstrap.confidence.to_string(), "95%");
    assert_eq!(spec.tolerance.invalid_cells.to_string(), "1pp");
    assert_eq!(spec.gate.incompatible_when, GateSpec::published_block());
    assert_eq!(spec.gate.compatible_when, GateSpec::published_pass());
    assert!(!spec.closed_book && spec.budget.calls.is_none());
}

#[test]
fn the_example_of_an_engine_is_read_whole() {
    let text = r#"
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
    items: /hits/hits
    id: /_id
    text: /_source/text
    url_pointer: /_source/url
    ok: { /timed_out: false, /_shards/failed: 0 }
  top_k: 8
generate:
  openai: { model: gpt-4.1-mini, base_url: https://api.openai.com/v1/, key_env: OPENAI_API_KEY, temperature: 0.70 }
judge:
  openai: { model: gpt-4.1, key_env: OPENAI_API_KEY }
gate:
  incompatible_when:
    - semantic: { at_least: 3pp }
    - semantic: { lower_bound_above: 0pp }
  inconclusive: fail
bootstrap: { draws: 50000, confidence: 95 }
budget: { calls: 20000, minutes: 60 }
tolerance: { invalid_cells: 1% }
"#;
    let spec = parse(text, "churngate.yaml").unwrap_or_else(|errors| panic!("{}", errors.render(false)));
    assert_eq!(spec.secret_names(), ["ES_API_KEY", "OPENAI_API_KEY"]);
    let names: Vec<&str> = spec.snapshots.iter().map(|snapshot| snapshot.name.0.as_str()).collect();
    assert_eq!(names, ["old", "n3", "new"]);
    assert!(matches!(&spec.snapshots[1].source, SnapshotSource::Variables(map) if map["index"] == "docs_n3"));
    let RetrieveBackend::Http(http) = &spec.retrieve.backend else { panic!("not http") };
    assert_eq!(http.expect.ok["/_shards/failed"], serde_json::json!(0));
    let GenerateBackend::Model(server) = &spec.generate.backend else { panic!("not openai") };
    assert_eq!(server.base_url, "https://api.openai.com/v1");
    assert_eq!(server.temperature.as_ref().map(ToString::to_string).as_deref(), Some("0.7"));
    assert!(matches!(spec.gate.incompatible_when[0].condition, Condition::AtLeast(_)));
    assert_eq!(spec.gate.compatible_when, GateSpec::published_pass());
}

#[test]
fn every_problem_of_a_file_is_reported_at_once() {
    let text = "\
version: 2
name: has space
questions: { file: /abs/q.yaml, selct: { count: 0 } }
snapshots:
  old: { path: corpus, index: x }
retrieve: { bm25: {}, top_K: 8, top_k: 1e3 }
generate: { reader: {}, repeats: 1 }
judge: {}
gate: { incompatible_when: [ { exact: { at_least: 3 } } ] }
";
    insta::assert_snapshot!(errors(text).render(false), @r#"
error[out-of-range]: `2` is not known here
 --> churngate.yaml:1:10
  |
1 | version: 2
  |          ^
  |
  = help: write `1`: there is no other

error[bad-text]: `has space` is not a plain name
 --> churngate.yaml:2:7
  |
2 | name: has space
  |       ^^^^^^^^^
  |
  = help: allowed are at most 64 letters, digits, `-`, `_` and `.`, beginning with a letter or digit

error[bad-text]: `/abs/q.yaml` is not a relative path
 --> churngate.yaml:3:20
  |
3 | questions: { file: /abs/q.yaml, selct: { count: 0 } }
  |                    ^^^^^^^^^^^
  |
  = help: write a path relative to the spec's folder, with forward slashes

error[unknown-key]: unknown key `selct` in `questions`
 --> churngate.yaml:3:33
  |
3 | questions: { file: /abs/q.yaml, selct: { count: 0 } }
  |                                 ^^^^^ did you mean `select`?
  |
  = help: known keys are `file`, `select`

error[missing-key]: the key `new` is missing in `snapshots`
 --> churngate.yaml:5:3
  |
5 |   old: { path: corpus, index: x }
  |   ^
  |
  = help: add `new: { path: corpus }`

error[conflict]: `index` cannot stand beside `path`
 --> churngate.yaml:5:24
  |
5 |   old: { path: corpus, index: x }
  |          ---- here     ^^^^^
  |
  = help: a snapshot is `{ path }`, `{ git, path }` or variables of the retrieval backend

error[unknown-key]: unknown key `top_K` in `retrieve`
 --> churngate.yaml:6:23
  |
6 | retrieve: { bm25: {}, top_K: 8, top_k: 1e3 }
  |                       ^^^^^ did you mean `top_k`?
  |
  = help: known keys are `bm25`, `preset`, `http`, `sql`, `command`, `file`, `base_url`, `key_env`, `with`, `embed`, `top_k`, `max_chars`, `on_mismatch`, `concurrency`

error[wrong-type]: expected an integer, found `1e3`
 --> churngate.yaml:6:40
  |
6 | retrieve: { bm25: {}, top_K: 8, top_k: 1e3 }
  |                                        ^^^
  |
  = help: write decimal digits only, without sign, exponent or separators

error[out-of-range]: `1` is out of range
 --> churngate.yaml:7:34
  |
7 | generate: { reader: {}, repeats: 1 }
  |                                  ^
  |
  = help: allowed is a value from 2 to 11

error[missing-key]: `judge` needs one of `openai`, `responses`, `anthropic`, `command`, `embedded`
 --> churngate.yaml:8:8
  |
8 | judge: {}
  |        ^
  |
  = help: add exactly one of `openai`, `responses`, `anthropic`, `command`, `embedded`

error[wrong-unit]: expected percentage points, found `3`
 --> churngate.yaml:9:51
  |
9 | gate: { incompatible_when: [ { exact: { at_least: 3 } } ] }
  |                                                   ^
  |
  = help: write a decimal number with at most six decimals followed by `pp`, such as `3pp`
"#);
}

#[test]
fn what_has_no_place_in_a_spec_is_refused() {
    assert_eq!(codes(&with("name: docs-search", "name: &a docs-search")), ["anchor"]);
    assert_eq!(codes(&with("judge: { embedded: {} }", "judge: *a")), ["alias"]);
    assert_eq!(
        codes(&with("judge: { embedded: {} }", "judge: { embedded: {}, <<: { concurrency: 2 } }")),
        ["merge-key"]
    );
    assert_eq!(codes(&with("name: docs-search", "name: !!str docs-search")), ["tag"]);
    assert_eq!(codes(&with("version: 1", "%YAML 1.2\n---\nversion: 1")), ["directive"]);
    assert_eq!(codes(&format!("{SMALL}---\nversion: 1\n")), ["several-documents"]);
    assert_eq!(codes(&format!("{SMALL}version: 1\n")), ["duplicate-key"]);
    assert_eq!(codes(&with("reader: {}", "reader: { temperature: .nan }")), ["not-finite"]);
    assert_eq!(codes(&with("reader: {}", "reader: { [a]: b }")), ["complex-key"]);
    assert_eq!(codes(""), ["empty"]);
    assert_eq!(codes("# nothing\n"), ["empty"]);
    assert_eq!(codes("just text"), ["wrong-type"]);
    assert_eq!(codes("a: [b"), ["syntax"]);
    assert_eq!(codes(&"x".repeat(MAX_BYTES + 1)), ["too-large"]);
    assert_eq!(codes(&"[".repeat(5_000)), ["too-deep"]);
}

#[test]
fn controls_that_cannot_go_together_are_refused() {
    let server = |text: &str| codes(&with("reader: {}", text));
    for good in [
        "openai: { model: m, max_completion_tokens: 5, key_header: api-key, api_version: 2024-10-21 }",
        "responses: { model: m, max_output_tokens: 5, extra: { text: { verbosity: low } } }",
        "anthropic: { model: m, extra: { output_config: { effort: low } } }",
        "anthropic: { model: m, temperature: 0.5, api_version: 2023-06-01, key_header: x-api-key }",
    ] {
        let text = with("reader: {}", good);
        let spec = parse(&text, "churngate.yaml").unwrap_or_else(|errors| panic!("{}", errors.render(false)));
        let again = from_canonical(&spec.canonical()).unwrap();
        assert_eq!(again.generate.backend, spec.generate.backend, "{good}");
    }
    for (bad, code) in [
        ("openai: { model: m, max_tokens: 5, max_completion_tokens: 5 }", "conflict"),
        ("openai: { model: m, extra: { max_completion_tokens: 5 } }", "conflict"),
        ("openai: { model: m, api_version: \"1&key=2\" }", "bad-text"),
        ("openai: { model: m, max_output_tokens: 5 }", "unknown-key"),
        ("responses: { model: m, extra: { text: { format: 1 } } }", "conflict"),
        ("responses: { model: m, max_tokens: 5 }", "unknown-key"),
        ("anthropic: { model: m, temperature: 0.5 }", "conflict"),
        ("anthropic: { model: m, extra: { top_k: 5 } }", "conflict"),
        ("anthropic: { model: m, extra: { output_config: { format: 1 } } }", "conflict"),
        ("anthropic: { model: m, api_version: 2024-01-01 }", "unknown-word"),
        ("anthropic: { model: m, base_url: \"https://u:p@h/v1\" }", "secret-in-spec"),
        ("responses: { model: m, base_url: \"h/v1\" }", "bad-address"),
    ] {
        assert_eq!(server(bad), [code], "{bad}");
    }
}

#[test]
fn what_only_paces_a_run_is_no_part_of_what_is_measured() {
    let server = |more: &str| {
        let text = with("reader: {}", &format!("openai: {{ model: m{more} }}"));
        parse(&text, "churngate.yaml").unwrap_or_else(|errors| panic!("{}", errors.render(false)))
    };
    let paced = server(
        ", price: { input: 0.4, output: 1.6 }, rate_limit: { requests_per_minute: 500, tokens_per_minute: 30000 }",
    );
    let GenerateBackend::Model(model) = &paced.generate.backend else { panic!("no model") };
    assert_eq!(model.price.map(|price| (price.input, price.output)), Some((400, 1_600)));
    assert_eq!(model.rate_limit.tokens_per_minute, Some(30_000));
    assert_eq!(paced.canonical(), server("").canonical());
    let limited = parse(&format!("{SMALL}budget: {{ usd: 5.25, tokens: 9 }}\n"), "churngate.yaml").unwrap();
    assert_eq!((limited.budget.nano_usd, limited.budget.tokens), (Some(5_250_000_000), Some(9)));
    assert_eq!(limited.canonical(), parse(SMALL, "churngate.yaml").unwrap().canonical());
}

#[test]
fn keys_of_later_versions_are_named_as_such() {
    assert_eq!(codes(&format!("{SMALL}stopping: {{}}\n")), ["unsupported"]);
    assert_eq!(codes(&with("questions.jsonl", "questions.xlsx")), ["unsupported"]);
}

#[test]
fn only_the_new_snapshot_may_be_named_by_a_file() {
    let http =
        "retrieve: { http: { url: 'http://h/{index}', body: { q: '{{question}}' }, items: /i, id: /id, text: /t }";
    let text = |new: &str| {
        let text = with("new: { path: corpus }", new).replace("retrieve: { bm25: {}", http);
        text.replace("old: { git: base, path: corpus }", "old: { index: docs_v1 }")
    };
    let spec = parse(&text("new: { from: index.yaml }"), "s").unwrap();
    assert_eq!(spec.snapshots[1].source, crate::spec::SnapshotSource::From("index.yaml".into()));
    assert_eq!(from_canonical(&spec.canonical()), Some(spec));
    assert_eq!(codes(&text("new: { from: /etc/passwd }")), ["bad-text"]);
    assert_eq!(codes(&text("new: { from: index.yaml, index: docs_v2 }")), ["conflict"]);
    let old = text("new: { from: index.yaml }").replace("old: { index: docs_v1 }", "old: { from: a.yaml }");
    assert!(codes(&old).contains(&"conflict"), "{:?}", codes(&old));
    assert_eq!(codes(&with("new: { path: corpus }", "new: { from: index.yaml }")), ["conflict"]);
}

#[test]
fn snapshots_must_fit_the_backend() {
    assert_eq!(codes(&with("new: { path: corpus }", "new: { index: docs_v2 }")), ["conflict"]);
    assert_eq!(codes(&with("new: { path: corpus }", "new: { path: corpus, index: x }")), ["conflict"]);
    assert_eq!(codes(&with("new: { path: corpus }", "new: { git: base }")), ["missing-key"]);
    let http = "http: { url: 'http://h/{index}' }";
    assert_eq!(codes(&with("bm25: {}", http)), ["conflict", "conflict"]);
    let engine = with("bm25: {}", http)
        .replace("old: { git: base, path: corpus }", "old: { index: a }")
        .replace("new: { path: corpus }", "new: { index: b }");
    assert!(parse(&engine, "x").is_ok());
    assert_eq!(codes(&engine.replace("{index}", "{table}")), ["placeholder", "placeholder", "placeholder"]);
    assert_eq!(codes(&engine.replace("index: b", "table: b")), ["conflict", "placeholder"]);
    assert_eq!(codes(&engine.replace("index: b", "index: 'http://evil/'")), ["bad-text"]);
}

#[test]
fn rungs_have_names_of_their_own() {
    let rungs = |list: &str| with("  new: { path: corpus }", &format!("  new: {{ path: corpus }}\n  between: {list}"));
    assert!(parse(&rungs("[ { name: n3, path: c3 }, { name: n5, path: c5 } ]"), "x").is_ok());
    assert_eq!(codes(&rungs("[ { name: n3, path: c3 }, { name: n3, path: c5 } ]")), ["duplicate-name"]);
    assert_eq!(codes(&rungs("[ { name: old, path: c3 } ]")), ["duplicate-name"]);
    assert_eq!(codes(&rungs("[ { path: c3 } ]")), ["missing-key"]);
}

#[test]
fn addresses_and_keys_are_guarded() {
    let server = |rest: &str| with("reader: {}", &format!("openai: {{ model: m, {rest} }}"));
    assert!(parse(&server("key_env: OPENAI_API_KEY"), "x").is_ok());
    assert_eq!(codes(&server("base_url: 'ftp://host/v1'")), ["bad-address"]);
    assert_eq!(codes(&server("base_url: 'https://user:pw@host/v1'")), ["secret-in-spec"]);
    assert_eq!(codes(&server("base_url: 'https://host/v1?key=1'")), ["bad-address"]);
    assert_eq!(codes(&server("extra: { messages: [] }")), ["conflict"]);
    assert_eq!(codes(&server("extra: { seed: 7, stop: yes }")), ["ambiguous-value"]);
    let http = "http: { url: 'http://h/{index}', headers: { Authorization: Bearer abc } }";
    assert!(codes(&with("bm25: {}", http)).contains(&"secret-in-spec"));
}

#[test]
fn a_key_written_into_the_spec_is_never_shown() {
    let places = [
        with("reader: {}", "openai: { model: m, key_env: sk-proj-Zq81LmPw93VxTt02 }"),
        with("reader: {}", "openai: { model: m, key_env: hunter2 hunter2 }").replace("hunter2 hunter2", "plainword99"),
        with("reader: {}", "openai: { model: m, base_url: 'https://u:plainword99@h/v1' }"),
        with("reader: {}", "openai: { model: m, base_url: 'https://h/v1?key=plainword99' }"),
        with("bm25: {}", "http: { url: 'http://h', headers: { X-Goog-Api-Key: plainword99 } }"),
        with("bm25: {}", "http: { url: 'http://h', query: { access_token: plainword99 } }"),
        with("name: docs-search", "name: docs-search sk-proj-Zq81LmPw93VxTt02"),
        with("reader: {}", "openai: { model: m, modle: sk-proj-Zq81LmPw93VxTt02 }"),
        with("reader: {}", "openai: { model: m, sk-proj-Zq81LmPw93VxTt02: 1 }"),
        with("reader: {}", "openai: { model: m, key_env: \"sk-proj-Zq81LmPw93VxTt02"),
    ];
    for text in places {
        let errors = errors(&text);
        for shown in [errors.render(false), errors.render(true), format!("{errors:?}")] {
            assert!(!shown.contains("Zq81LmPw93VxTt02") && !shown.contains("plainword99"), "{shown}");
        }
    }
}

#[test]
fn codes_are_stable_and_unique() {
    let texts: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    let mut sorted = texts.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), texts.len());
    insta::assert_snapshot!(sorted.join("\n"), @r#"
alias
ambiguous-value
anchor
bad-address
bad-text
complex-key
conflict
directive
duplicate-key
duplicate-name
empty
merge-key
missing-key
not-finite
out-of-range
placeholder
secret-in-spec
several-documents
syntax
tag
too-deep
too-large
unknown-key
unknown-word
unread-file
unreadable
unsupported
wrong-type
wrong-unit
"#);
}

#[test]
fn what_is_written_as_canonical_is_read_as_the_same_spec() {
    let spec = small();
    assert_eq!(from_canonical(&spec.canonical()).as_ref(), Some(&spec));
    let again = parse(&spec.canonical().to_string(), "canonical.json");
    assert_eq!(again.as_ref(), Ok(&spec), "JSON is YAML");
}
