//! How mistakes are shown: place, remedy, nearest key.

use super::{SMALL, errors, with};
use crate::spec::problem::Code;

/// The rendered problems of a small spec with one part replaced.
fn shown(line: &str, instead: &str) -> String {
    errors(&with(line, instead)).render(false)
}

#[test]
fn an_unknown_key_is_shown_with_the_nearest_one() {
    insta::assert_snapshot!(shown("bm25: {} }", "bm25: {}, top_l: 8 }"), @r#"
error[unknown-key]: unknown key `top_l` in `retrieve`
 --> churngate.yaml:7:23
  |
7 | retrieve: { bm25: {}, top_l: 8 }
  |                       ^^^^^ did you mean `top_k`?
  |
  = help: known keys are `bm25`, `preset`, `http`, `sql`, `command`, `file`, `base_url`, `key_env`, `with`, `embed`, `top_k`, `max_chars`, `on_mismatch`, `concurrency`
"#);
}

#[test]
fn a_key_that_is_like_no_other_is_shown_with_all_known_ones() {
    insta::assert_snapshot!(shown("judge: { embedded: {} }", "judge: { embedded: {}, colour: red }"), @r#"
error[unknown-key]: unknown key `colour` in `judge`
 --> churngate.yaml:9:24
  |
9 | judge: { embedded: {}, colour: red }
  |                        ^^^^^^
  |
  = help: known keys are `openai`, `responses`, `anthropic`, `command`, `embedded`, `normalisation`, `concurrency`, `max_attempts`, `passes`, `self_consistency`, `second`
"#);
}

#[test]
fn a_duplicate_key_is_shown_with_the_first_one() {
    insta::assert_snapshot!(shown("judge: { embedded: {} }", "judge: { embedded: {} }\nname: other"), @r#"
error[duplicate-key]: the key `name` stands here twice
  --> churngate.yaml:10:1
   |
 2 | name: docs-search
   | ---- first here
...
10 | name: other
   | ^^^^
   |
   = help: keep one of the two
"#);
}

#[test]
fn a_number_that_is_none_is_shown_in_its_place() {
    insta::assert_snapshot!(shown("reader: {}", "reader: { temperature: .nan }"), @r#"
error[not-finite]: `.nan` is not a finite number
 --> churngate.yaml:8:36
  |
8 | generate: { reader: { temperature: .nan } }
  |                                    ^^^^
  |
  = help: write a number in decimal digits
"#);
}

#[test]
fn an_anchor_and_its_alias_are_shown_both() {
    let text = with("old: { git: base, path: corpus }", "old: &old { path: corpus }")
        .replace("new: { path: corpus }", "new: *old");
    insta::assert_snapshot!(errors(&text).render(false), @r#"
error[anchor]: anchors are not allowed in a spec
 --> churngate.yaml:5:8
  |
5 |   old: &old { path: corpus }
  |        ^^^^
  |
  = help: write the value out where it is needed

error[alias]: aliases are not allowed in a spec
 --> churngate.yaml:6:8
  |
6 |   new: *old
  |        ^^^^
  |
  = help: write the value out, or quote it if it is a text that begins with `*`
"#);
}

#[test]
fn an_anchor_is_marked_wherever_it_stands() {
    for (from, to) in [
        ("name: docs-search", "name: &an docs-search"),
        ("name: docs-search", "name: &an\n  docs-search"),
        ("name: docs-search", "name: !!str &an 'a & b'"),
        ("name: docs-search", "&an name: docs-search"),
        ("name: docs-search", "name: &an"),
        ("snapshots:\n", "snapshots: &an # R&D\n"),
    ] {
        let text = with(from, to);
        let errors = errors(&text);
        let anchor = errors.problems.iter().find(|problem| problem.code == Code::Anchor).unwrap();
        assert_eq!(&text[anchor.span.clone()], "&an", "{to}");
    }
}

#[test]
fn parser_words_begin_in_lower_case_and_names_do_not() {
    let rendered = errors(&with("version: 1", "%YAML 1.2\n---\nversion: 1")).render(false);
    assert!(rendered.contains("error[directive]: YAML directives are not allowed in a spec"), "{rendered}");
    for text in ["a: [", "a: 'b", "a: b: c", "\tx: 1", "a: *", "- a\nb: c", "{a", "%TAG ! x\n---\na: 1", "a: \"\\q\""] {
        let rendered = errors(text).render(false);
        for line in rendered.lines().filter(|line| line.starts_with("error[")) {
            let words = line.rsplit(": ").next().unwrap();
            let (mut letters, second) = (words.chars(), words.chars().nth(1).unwrap());
            let is_name = second.is_uppercase();
            assert!(letters.next().unwrap().is_lowercase() || is_name, "{line}");
        }
    }
}

#[test]
fn a_wrong_unit_is_shown_with_the_right_one() {
    insta::assert_snapshot!(shown("version: 1", "version: 1\ntolerance: { invalid_cells: 0.01 }"), @r#"
error[wrong-unit]: expected percentage points, found `0.01`
 --> churngate.yaml:2:29
  |
2 | tolerance: { invalid_cells: 0.01 }
  |                             ^^^^
  |
  = help: write a decimal number with at most six decimals followed by `pp`, such as `1pp`
"#);
}

#[test]
fn an_empty_text_is_told_from_a_value_that_is_not_there() {
    let reader = "generate: { openai: { model: m, base_url: \"https://a.example/v1\", key_env: \"\" } }";
    for text in [with("name: docs-search", "name: \"\""), with("generate: { reader: {} }", reader)] {
        let errors = errors(&text);
        let [problem] = errors.problems.as_slice() else { panic!("{}", errors.render(false)) };
        assert_eq!(problem.message, "expected a text, found an empty one");
        assert_eq!(&text[problem.span.clone()], "\"\"");
        assert!(errors.render(false).contains("write a value, or leave the key out where it may be absent"));
    }
    assert!(!errors(&with("name: docs-search", "name:")).render(false).contains("an empty one"));
}

#[test]
fn a_missing_section_is_shown_with_what_to_add() {
    insta::assert_snapshot!(shown("judge: { embedded: {} }\n", ""), @r#"
error[missing-key]: the key `judge` is missing in the spec
 --> churngate.yaml:1:1
  |
1 | version: 1
  | ^
  |
  = help: add `judge: { openai: { ... } }`
"#);
}

#[test]
fn a_word_that_is_none_is_shown_with_the_nearest_one() {
    insta::assert_snapshot!(shown("version: 1", "version: 1\ngate: { inconclusive: wran }"), @r#"
error[unknown-word]: `wran` is not one of `pass`, `warn`, `fail`
 --> churngate.yaml:2:23
  |
2 | gate: { inconclusive: wran }
  |                       ^^^^
  |
  = help: did you mean `warn`?
"#);
}

#[test]
fn two_backends_are_shown_both() {
    insta::assert_snapshot!(shown("judge: { embedded: {} }", "judge:\n  embedded: {}\n  command: { argv: [judge] }"), @r#"
error[conflict]: `judge` takes only one of `openai`, `responses`, `anthropic`, `command`, `embedded`
  --> churngate.yaml:11:3
   |
10 |   embedded: {}
   |   -------- the first one
11 |   command: { argv: [judge] }
   |   ^^^^^^^
   |
   = help: keep one of them
"#);
}

#[test]
fn a_placeholder_without_quotes_is_shown_with_its_remedy() {
    let http = "http: { url: 'http://h/{index}', body: { q: {{question}} } }";
    let text = with("bm25: {}", http)
        .replace("old: { git: base, path: corpus }", "old: { index: a }")
        .replace("new: { path: corpus }", "new: { index: b }");
    insta::assert_snapshot!(errors(&text).render(false), @r#"
error[complex-key]: a key must be a single text
 --> churngate.yaml:7:58
  |
7 | retrieve: { http: { url: 'http://h/{index}', body: { q: {{question}} } } }
  |                                                          ^^^^^^^^^^
  |
  = help: a text with braces, such as `"{{question}}"`, must stand in quotes
"#);
}

#[test]
fn a_key_in_place_of_its_name_is_hidden_where_it_stands() {
    insta::assert_snapshot!(shown("reader: {}", "openai: { model: m, key_env: hunter2hunter2 }"), @r#"
error[secret-in-spec]: expected the name of an environment variable, found something else, not shown here
 --> churngate.yaml:8:42
  |
8 | generate: { openai: { model: m, key_env: ************** } }
  |                                          ^^^^^^^^^^^^^^
  |
  = help: write the variable's name in capital letters, such as `OPENAI_API_KEY`; if a key stands here, revoke it
"#);
}

#[test]
fn a_quote_that_is_not_closed_is_shown_with_its_place() {
    insta::assert_snapshot!(shown("name: docs-search", "name: \"docs-search"), @r#"
error[syntax]: not valid YAML: invalid indentation in multiline quoted scalar
 --> churngate.yaml:3:1
  |
3 | questions: { file: questions.jsonl }
  | ^
  |
  = help: a quote before this place is not closed; close it on its own line
"#);
}

#[test]
fn a_truth_value_in_other_words_is_refused_with_the_right_ones() {
    insta::assert_snapshot!(shown("new: { path: corpus }", "new: { path: corpus }\n  closed_book: yes"), @r#"
error[wrong-type]: expected `true` or `false`, found `yes`
 --> churngate.yaml:7:16
  |
7 |   closed_book: yes
  |                ^^^
  |
  = help: write `true` or `false`, in small letters and without quotes
"#);
}

#[test]
fn plausible_slips_are_told_how_to_write_what_was_meant() {
    let judged = with("judge: { embedded: {} }", "judge: embedded");
    let added = |line: &str| format!("{SMALL}{line}\n");
    let slips = [
        (judged, "write `{ embedded: {} }`, with its own keys, if any, between the inner braces"),
        (
            with("judge: { embedded: {} }", "judge: other"),
            "write one of `openai`, `responses`, `anthropic`, `command`, `embedded` below it",
        ),
        (added("bootstrap: { confidence: 0.95 }"), "write it in percent, such as `95` or `95%`"),
        (
            added("bootstrap: { confidence: 99.9999999 }"),
            "write it in percent with at most six decimals, such as `95` or `95%`",
        ),
        (
            added("gate: { compatible_when: [ { semantic: { below: 1.1234567pp } } ] }"),
            "write a decimal number with at most six decimals followed by `pp`, such as `3pp`",
        ),
        (with("name: docs-search", "name: \"a\\tb\""), "write a space in its place"),
        (with("name: docs-search", "name: \"a\\u0007b\""), "write it without that character"),
        (with("file: questions.jsonl", "file: plain"), "write the questions as `.jsonl`, `.json`, `.csv` or `.yaml`"),
        (added("gate: { compatible_when: [] }"), "add an entry, or leave the key out where it may be absent"),
        (with("version: 1", "version: 2"), "write `1`: there is no other"),
    ];
    for (text, help) in slips {
        let said = errors(&text).render(false);
        assert!(said.contains(&format!("= help: {help}")), "{help}:\n{said}");
    }
}

#[test]
fn variables_of_snapshots_are_listed_one_by_one() {
    let text = SMALL
        .replace("old: { git: base, path: corpus }", "old: { index: a, alias: b }")
        .replace("new: { path: corpus }", "new: { index: c }")
        .replace("bm25: {}", "command: { argv: [ask] }");
    let said = errors(&text).render(false);
    assert!(said.contains("help: `old` has `alias`, `index`, `new` has `index`"), "{said}");
}
