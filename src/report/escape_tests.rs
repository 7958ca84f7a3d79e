//! Hostile texts, in every place of a report where text from outside can stand.

use super::escape::{Untrusted, fenced};
use super::fixtures::{flip, flip_detail, incompatible};
use super::result::AuditResult;
use super::{failure_within, html, junit, markdown, markdown_within, plain, terminal};
use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// One hostile text a line; `\n`, `\u{...}` and the like are read as in Rust.
const HOSTILE: &str = include_str!("hostile.txt");

fn hostile() -> Vec<String> {
    let short = HOSTILE.lines().filter(|line| !line.is_empty()).map(unescape);
    short.chain([("😀".repeat(25_600)), "`|@a <b>\n".repeat(11_400), "\u{202e}::x::\r".repeat(10_300)]).collect()
}

fn unescape(line: &str) -> String {
    let (mut text, mut rest) = (String::new(), line);
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        let escape = &rest[at + 1..];
        let (character, used) = match escape.chars().next() {
            Some('n') => ('\n', 1),
            Some('r') => ('\r', 1),
            Some('t') => ('\t', 1),
            Some('u') => {
                let end = escape.find('}').expect("a closed escape");
                let code = u32::from_str_radix(&escape[2..end], 16).expect("hexadecimal digits");
                (char::from_u32(code).expect("a character"), end + 1)
            }
            _ => ('\\', usize::from(escape.starts_with('\\'))),
        };
        text.push(character);
        rest = &escape[used..];
    }
    text.push_str(rest);
    text
}

fn events(text: &str) -> Vec<Event<'_>> {
    Parser::new_ext(text, Options::all() - Options::ENABLE_SMART_PUNCTUATION).collect()
}

/// What a reader sees of a code span in a document that is nothing else.
fn only_code(markdown: &str) -> Option<String> {
    match events(markdown).as_slice() {
        [Event::Start(Tag::Paragraph), Event::Code(code), Event::End(TagEnd::Paragraph)] => Some(code.to_string()),
        _ => None,
    }
}

/// Whether a character shows, and breaks nothing. Joiners are looked at on their own.
fn shows(character: char) -> bool {
    let direction = matches!(character, '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}');
    let invisible = matches!(character, '\u{2060}'..='\u{206f}' | '\u{ad}' | '\u{61c}' | '\u{feff}');
    let tag = matches!(character, '\u{e0000}'..='\u{e007f}');
    !character.is_control() && !direction && !invisible && !tag
}

#[test]
fn joiners_stand_only_where_writing_needs_them() {
    let shown = |text| Untrusted::new(text).visible(100);
    assert_eq!(shown("می\u{200c}خواهم"), "می\u{200c}خواهم");
    assert_eq!(shown("👨\u{200d}👩"), "👨\u{200d}👩");
    assert_eq!(shown("pass\u{200d}word"), "pass‹U+200D›word");
    assert_eq!(shown("é\u{200c}é \u{200c}"), "é‹U+200C›é ‹U+200C›");
    assert_eq!(shown("م\u{200c}\u{200c}م"), "م‹U+200C›‹U+200C›م");
}

#[test]
fn hundreds_of_hostile_texts_are_nothing_but_code() {
    let texts = hostile();
    let distinct: std::collections::BTreeSet<&String> = texts.iter().collect();
    assert!(distinct.len() == texts.len() && texts.len() >= 200, "{} of {}", distinct.len(), texts.len());
    assert!(texts.iter().any(|text| text.len() >= 100_000));
    for text in &texts {
        let untrusted = Untrusted::new(text);
        let shown = untrusted.visible(200);
        assert_eq!(only_code(&untrusted.code(200)).as_deref(), Some(shown.as_str()), "{text:?}");
        assert!(shown.chars().all(shows), "{text:?} -> {shown:?}");
        assert!(!shown.contains("<!--"), "{text:?}");
    }
}

#[test]
fn hostile_texts_stay_in_their_cell() {
    for text in &hostile() {
        let table = format!("| a | b |\n| :-- | --: |\n| {} | after |\n", Untrusted::new(text).cell(200));
        let cells = events(&table).iter().filter(|event| **event == Event::Start(Tag::TableCell)).count();
        assert_eq!(cells, 4, "{table}");
        let codes: Vec<String> = events(&table)
            .into_iter()
            .filter_map(|event| if let Event::Code(code) = event { Some(code.to_string()) } else { None })
            .collect();
        assert_eq!(codes, [Untrusted::new(text).visible(200).replace('|', "¦")], "{table}");
    }
}

#[test]
fn hostile_texts_stay_in_their_fence() {
    for text in &hostile() {
        let block =
            fenced("diff", &[Untrusted::new(text).visible(200), format!("- {}", Untrusted::new(text).visible(200))]);
        let events = events(&block);
        assert!(matches!(events.as_slice(), [Event::Start(Tag::CodeBlock(_)), .., Event::End(TagEnd::CodeBlock)]));
        assert!(events[1..events.len() - 1].iter().all(|event| matches!(event, Event::Text(_))), "{block}");
    }
}

#[test]
fn hostile_prose_is_plain_words_and_code() {
    for text in &hostile() {
        let prose = format!("so: {}", Untrusted::new(text).prose(200));
        for event in events(&prose) {
            match event {
                Event::Text(words) => assert!(is_harmless(&words), "{prose} -> {words}"),
                Event::Code(_) | Event::Start(Tag::Paragraph) | Event::End(TagEnd::Paragraph) => (),
                other => panic!("{text:?} became {other:?}"),
            }
        }
    }
}

#[test]
fn what_separates_words_of_prose_stands_outside_of_their_code() {
    let prose = |text| Untrusted::new(text).prose(200);
    for (text, shown) in [
        (
            "This edits a.sh, b.sh and (c.sh): 3pp → 99pp; x_y!",
            "This edits `a.sh`, `b.sh` and (`c.sh`): `3pp` `→` `99pp`; `x_y`!",
        ),
        ("plain words, (one) or two.", "plain words, (one) or two."),
        ("a.sh,,, ... ,b", "`a.sh,,,` `...` `,b`"),
    ] {
        assert_eq!(prose(text), shown);
    }
}

fn is_harmless(words: &str) -> bool {
    words.chars().all(|character| character.is_alphanumeric() || " .,;:!?'()-".contains(character))
        && !words
            .split_whitespace()
            .any(|word| word.trim_end_matches(['.', ',', ':', ';', '!', '?', ')']).contains('.'))
}

/// A result that has this text wherever text from outside can stand.
fn everywhere(text: &str) -> AuditResult {
    let mut result = incompatible();
    let all = |strings: Vec<&mut String>| strings.into_iter().for_each(|string| text.clone_into(string));
    let machinery = &mut result.machinery;
    machinery.caveats = vec![text.to_owned()];
    all(vec![&mut result.name, &mut machinery.retrieve, &mut machinery.generate, &mut machinery.judge]);
    all(vec![&mut machinery.tool_version, &mut result.decision.inconclusive, &mut result.analysis.subgroups[0].tag]);
    for snapshot in &mut result.snapshots {
        all(vec![&mut snapshot.name, &mut snapshot.physical]);
    }
    for line in result.decision.incompatible_when.iter_mut().chain(&mut result.decision.compatible_when) {
        all(vec![&mut line.condition, &mut line.limit]);
        line.void = Some(text.to_owned());
    }
    let answer = if text.trim().is_empty() { "x" } else { text };
    result.analysis.flips = vec![flip(text, answer, answer), flip("without details", answer, answer)];
    let mut detail = flip_detail(text, text, text, text);
    for document in detail.left.iter_mut().chain(&mut detail.came) {
        all(vec![&mut document.id, &mut document.excerpt]);
    }
    result.flips = vec![detail];
    result.validity.accepted[0].0 = text.to_owned();
    result.validity.served_models = vec![(text.to_owned(), vec![text.to_owned(), text.to_owned()])];
    result.record.retries = vec![(text.to_owned(), 1)];
    result.record.heads[0].0 = text.to_owned();
    result
}

/// The markup of a report apart from what stands in code.
fn markup(report: &str) -> Vec<String> {
    let mut in_block = false;
    let mut seen = Vec::new();
    for event in events(report) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => in_block = true,
            Event::End(TagEnd::CodeBlock) => in_block = false,
            Event::Code(_) => seen.push("code".to_owned()),
            Event::Text(_) if in_block => seen.push("block".to_owned()),
            other => seen.push(format!("{other:?}")),
        }
    }
    // A list is never empty here, and how many lines of a block there are does not matter.
    seen.dedup();
    seen
}

#[test]
fn no_hostile_text_adds_markup_to_a_report() {
    // The one caveat is prose, which is tested on its own.
    let expected = markup(&markdown(&without_prose(everywhere("x"))));
    for text in &hostile() {
        assert_eq!(markup(&markdown(&without_prose(everywhere(text)))), expected, "{text:?}");
    }
}

fn without_prose(mut result: AuditResult) -> AuditResult {
    result.machinery.caveats.clear();
    result
}

#[test]
fn no_hostile_text_adds_markup_to_what_is_told_of_a_failure() {
    let told = |text: &str| markup(&failure_within(text, "why", "What to do.", text, 65_000));
    for text in hostile().iter().filter(|text| !text.trim().is_empty()) {
        assert_eq!(told(text), told("x"), "{text:?}");
    }
}

#[test]
fn no_hostile_text_is_a_command_in_a_remark() {
    for text in &hostile() {
        let remark = plain(text, 5_000);
        assert!(remark.chars().all(shows) && !remark.contains("##["), "{text:?}");
        assert!(!remark.trim_start().starts_with("::"), "{text:?}");
    }
}

#[test]
fn the_only_html_of_a_report_is_ours() {
    for text in &hostile() {
        let report = markdown(&everywhere(text));
        for event in events(&report) {
            if let Event::Html(html) | Event::InlineHtml(html) = &event {
                let ours = ["<details>", "</details>", "<summary><b>", "<summary>"];
                assert!(ours.iter().any(|tag| html.starts_with(tag)), "{text:?} became {html}");
            }
            let forbidden = |tag: &Tag<'_>| matches!(tag, Tag::Link { .. } | Tag::Image { .. } | Tag::Emphasis);
            assert!(!matches!(&event, Event::Start(tag) if forbidden(tag)), "{text:?} became {event:?}");
            assert!(!matches!(event, Event::FootnoteReference(_) | Event::InlineMath(_)), "{text:?}");
        }
    }
}

#[test]
fn nothing_in_a_log_is_a_command_for_its_runner() {
    for text in &hostile() {
        let printed = terminal(&everywhere(text), 60);
        assert!(printed.chars().all(|character| character == '\n' || shows(character)), "{text:?}");
        assert!(!printed.contains("##["), "{text:?}");
        assert!(!printed.lines().any(|line| line.trim_start().starts_with("::")), "{text:?}\n{printed}");
    }
}

#[test]
fn a_report_of_emoji_is_cut_by_bytes_at_whole_entries() {
    let mut result = incompatible();
    let text = "😀|`".repeat(400);
    result.analysis.flips = (0..400).map(|number| flip(&format!("q{number}"), &text, &text)).collect();
    result.flips = (0..400).map(|number| flip_detail(&format!("q{number}"), &text, &text, &text)).collect();
    for budget in [65_000, 20_000, 12_000, 6_000] {
        let report = markdown_within(&result, budget);
        assert!(report.len() <= budget, "{} > {budget}", report.len());
        assert!(report.contains("left out to keep this report within its size"));
        assert_eq!(report.matches("<details>").count(), report.matches("</details>").count());
        assert!(report.starts_with("## ❌ Incompatible"));
    }
    assert!(markdown_within(&result, 65_000).len() > 60_000);
}

proptest! {
    #[test]
    fn any_text_is_nothing_but_code(text in "\\PC*|[\\x00-\\x7f]*|[`| \\\\\n]*|(?s).*", limit in 1_usize..300) {
        let untrusted = Untrusted::new(&text);
        let shown = untrusted.visible(limit);
        prop_assert!(shown.chars().count() <= limit + 2 + shown.matches("<!- -").count());
        prop_assert!(shown.chars().all(shows));
        if !text.is_empty() {
            prop_assert_eq!(only_code(&untrusted.code(limit)), Some(shown));
        }
    }

    #[test]
    fn any_text_leaves_a_report_whole(text in "\\PC{0,60}|[\\x00-\\x7f]{0,60}|[`|<>\\[\\]()!@#*_~\\\\\n -]{0,60}") {
        let expected = markup(&markdown(&without_prose(everywhere("x"))));
        let filled = if text.is_empty() { "x" } else { &text };
        prop_assert_eq!(markup(&markdown(&without_prose(everywhere(filled)))), expected);
        let printed = terminal(&everywhere(&text), 80);
        prop_assert!(printed.chars().all(|character| character == '\n' || shows(character)));
    }
}

/// The tags of a page, apart from what they hold.
fn tags(page: &str) -> Vec<String> {
    let (_, body) = page.split_once("</style>").expect("a style");
    body.split('<').skip(1).filter_map(|piece| piece.split_once('>')).map(|(tag, _)| tag.to_owned()).collect()
}

#[test]
fn no_hostile_text_adds_a_tag_to_a_page() {
    let drawn = |text: &str| tags(&html(&everywhere(text)));
    let expected = drawn("x");
    assert!(expected.len() > 100, "{expected:?}");
    for text in &hostile() {
        assert_eq!(drawn(text), expected, "{text:?}");
    }
}

#[test]
fn a_page_runs_nothing_and_loads_nothing() {
    for text in ["x", "<script>alert(1)</script>", "https://evil.example"] {
        let page = html(&everywhere(text));
        for forbidden in ["<script", "<img", "<link", "<iframe", "src=", "href=", "url(", "@import", " on", "<a "] {
            let found = tags(&page).iter().any(|tag| format!("<{tag}").contains(forbidden));
            assert!(!found, "{forbidden}");
        }
        assert!(page.contains("default-src 'none'"));
    }
}

#[test]
fn junit_of_hostile_texts_is_well_formed() {
    for text in &hostile() {
        let written = junit(&everywhere(text));
        let read =
            quick_junit::Report::deserialize_from_str(&written).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        assert_eq!(read.test_suites[0].test_cases.len(), 3, "{text:?}");
        assert!(written.chars().all(|character| character == '\n' || shows(character)), "{text:?}");
    }
}
