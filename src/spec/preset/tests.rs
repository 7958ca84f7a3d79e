//! Presets as specs name them, and what is said about mistakes.

use crate::spec::{FileKey, PresetFile, RetrieveBackend, SpecErrors, named_files, parse, parse_with};
use serde_json::json;

fn spec(retrieve: &str) -> String {
    format!(
        "version: 1\nname: n\nquestions: {{ file: q.jsonl }}\nsnapshots: {{ old: {{ index: a }}, new: {{ index: b }} }}\n\
         retrieve: {{ {retrieve} }}\ngenerate: {{ reader: {{}} }}\njudge: {{ embedded: {{}} }}\n"
    )
}

fn errors(retrieve: &str) -> SpecErrors {
    parse(&spec(retrieve), "churngate.yaml").unwrap_err()
}

fn codes(retrieve: &str) -> Vec<&'static str> {
    errors(retrieve).problems.iter().map(|problem| problem.code.as_str()).collect()
}

const OWN: &str = r#"
preset: 1
about: An engine of our own.
with:
  field: { about: "The field." }
  depth: { default: 10, about: "How deep." }
  fields: { default: [a], about: "A list." }
http:
  url: "{base_url}/{index}/{with.field}"
  body: { q: "{{question}}", n: "{{with.depth}}", "{{with.field}}": 1, f: "{{with.fields}}", y: { $names: "a <with.field> b" } }
  text: "/doc/{with.field}"
"#;

fn with_own(own: &str, retrieve: &str) -> Result<crate::spec::Spec, SpecErrors> {
    let text = spec(retrieve);
    assert_eq!(named_files(&text)[0], (FileKey::Preset, "presets/own.yaml".into()));
    parse_with(&text, "churngate.yaml", Some(PresetFile { name: "presets/own.yaml", text: own }))
}

#[test]
fn values_take_whole_places_and_keep_their_kinds() {
    let retrieve =
        "preset: presets/own.yaml, base_url: 'http://h/x/', with: { field: a_b, fields: [x, 'y z'], depth: 3 }";
    let RetrieveBackend::Http(http) = with_own(OWN, retrieve).unwrap().retrieve.backend else { panic!() };
    assert_eq!(http.request.url, "http://h/x/{index}/a_b");
    let body = json!({"q": "{{question}}", "n": 3, "a_b": 1, "f": ["x", "y z"], "y": {"$names": "a a_b b"}});
    assert_eq!(http.request.body, Some(body));
    assert_eq!(http.text, "/doc/a_b");
    let nested = OWN.replace("a <with.field> b", "a");
    let RetrieveBackend::Http(http) = with_own(&nested, &retrieve.replace("a_b", "a.b-c")).unwrap().retrieve.backend
    else {
        panic!()
    };
    assert_eq!((http.text.as_str(), http.request.url.as_str()), ("/doc/a/b-c", "http://h/x/{index}/a.b-c"));
}

#[test]
fn the_bytes_of_a_preset_are_frozen() {
    let origin = |own: &str| {
        let spec = with_own(own, "preset: presets/own.yaml, base_url: 'http://h', with: { field: a }").unwrap();
        spec.canonical()["retrieve"]["http"]["origin"].as_str().unwrap().to_owned()
    };
    let digest = crate::model::Digest::of(OWN.as_bytes());
    assert_eq!(origin(OWN), format!("preset presets/own.yaml, SHA-256 {digest}"));
    assert_ne!(origin(OWN), origin(&format!("{OWN}# a comment\n")));
}

#[test]
fn what_a_preset_needs_and_does_not_know_is_told() {
    assert_eq!(codes("preset: elasticsearch"), ["missing-key"]);
    assert_eq!(codes("preset: elastiksearch, base_url: 'http://h'"), ["unknown-word"]);
    assert_eq!(codes("preset: elasticsearch, base_url: 'http://h', with: { txt: body }"), ["unknown-key"]);
    assert_eq!(codes("preset: elasticsearch, base_url: 'http://h', with: { text: 1 }"), ["wrong-type"]);
    assert_eq!(codes("preset: elasticsearch, base_url: 'http://h', with: { text: 'a/../b' }"), ["bad-text"]);
    assert_eq!(codes("preset: elasticsearch, base_url: 'http://h', with: { text: 'a} {x' }"), ["bad-text"]);
    assert_eq!(codes("preset: elasticsearch, base_url: 'http://h', key_env: sk-abcdefgh"), ["secret-in-spec"]);
    assert_eq!(codes("preset: elasticsearch, base_url: 'http://u:p@h'"), ["secret-in-spec"]);
    let pipeline = "preset: opensearch-hybrid, base_url: 'http://h', embed: { command: { argv: [x] } }";
    assert_eq!(codes(pipeline), ["missing-key"]);
    assert_eq!(codes("preset: elasticsearch-knn, base_url: 'http://h'"), ["missing-key"]);
    assert_eq!(codes("preset: elasticsearch, base_url: 'http://h', embed: { command: { argv: [x] } }"), ["conflict"]);
    assert_eq!(codes("bm25: {}, base_url: 'http://h'"), ["conflict", "conflict", "conflict"]);
    assert_eq!(
        codes("preset: qdrant, base_url: 'http://h', embed: { command: { argv: [x] } }"),
        ["placeholder", "placeholder", "placeholder"]
    );
    assert_eq!(codes("preset: presets/own.yaml, base_url: 'http://h'"), ["unreadable"]);
    assert_eq!(codes("preset: ../../own, base_url: 'http://h'"), ["unknown-word"]);
}

#[test]
fn a_fault_within_a_preset_is_shown_at_its_own_line() {
    let retrieve = "preset: presets/own.yaml, base_url: 'http://h', with: { field: a }";
    for (from, to, code, line) in [
        ("{{question}}", "{{querstion}}", "placeholder", 10),
        ("{{with.depth}}", "{{with.debth}}", "placeholder", 10),
        ("text: \"/doc", "txt: \"/doc", "unknown-key", 11),
        ("url: \"{base_url}", "url: \"ftp://x", "bad-address", 9),
        ("preset: 1", "preset: 2", "out-of-range", 2),
        ("about: An engine of our own.", "", "missing-key", 2),
    ] {
        let errors = with_own(&OWN.replace(from, to), retrieve).unwrap_err();
        let (problem, found) = (&errors.problems[0], errors.position(&errors.problems[0]).0);
        assert_eq!((problem.code.as_str(), found, errors.file.as_str()), (code, line, "presets/own.yaml"), "{errors}");
    }
    let keyed = with_own(OWN, "preset: presets/own.yaml, base_url: 'http://h', key_env: KEY, with: { field: a }");
    assert_eq!(keyed.unwrap_err().problems[0].code.as_str(), "conflict");
}
