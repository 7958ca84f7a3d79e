//! How the reader does on the quickstart's facts.

use super::read::read;
use super::score::{Page, Terms};
use super::text::tokens;
use super::{Draw, Reader};
use crate::model::{Document, Evidence, Question, QuestionId, UNKNOWN};
use crate::spec::ReaderSpec;
use serde_json::Value;

fn lines(file: &str) -> Vec<Value> {
    let path = format!("{}/examples/quickstart/{file}", env!("CARGO_MANIFEST_DIR"));
    fs_err::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap().to_owned()
}

fn question(value: &Value) -> Question {
    Question { id: QuestionId(text(value, "id")), text: text(value, "question"), tags: Vec::new(), cluster: None }
}

/// The eight documents that share most with the question.
fn evidence(question: &Question, corpus: &[(String, String)], pages: &[Page<'_>]) -> Evidence {
    let coverage = Terms::of(&tokens(&question.text)).page_coverage(pages);
    let mut order: Vec<usize> = (0..corpus.len()).collect();
    order.sort_by(|one, other| coverage[*other].total_cmp(&coverage[*one]).then(one.cmp(other)));
    let document = |index: &usize| Document { id: corpus[*index].0.clone(), url: None, text: corpus[*index].1.clone() };
    Evidence { documents: order.iter().take(8).map(document).collect() }
}

fn reader(temperature_milli: u32, seed: u64) -> Reader {
    Reader::new(&ReaderSpec { temperature_milli, seed }, &[3; 32])
}

fn answer(reader: &Reader, question: &Question, evidence: &Evidence, snapshot: u64, repeat: u32) -> String {
    reader.answer(question, evidence, Draw { evidence: evidence.digest(), repeat, snapshot })
}

/// Shares over ten repeats of every question, all of one snapshot.
struct Shares {
    exact: f64,
    same_number: f64,
    unknown: f64,
}

fn share(part: usize, whole: usize) -> f64 {
    f64::from(u32::try_from(part).unwrap()) / f64::from(u32::try_from(whole).unwrap())
}

fn number(answer: &str) -> &str {
    answer.rsplit(' ').next().unwrap()
}

fn agreement(asked: &[(Question, Evidence)], reader: &Reader) -> Shares {
    let (mut exact, mut same_number, mut pairs, mut unknown) = (0, 0, 0, 0);
    for (question, evidence) in asked {
        let (candidates, evidence) = (read(question, evidence), evidence.digest());
        let draw = |repeat| reader.draw(question, &candidates, Draw { evidence, repeat, snapshot: 0 });
        let answers: Vec<_> = (0..10).map(draw).collect();
        unknown += answers.iter().filter(|answer| *answer == UNKNOWN).count();
        for (at, one) in answers.iter().enumerate() {
            pairs += answers.len() - at - 1;
            exact += answers[at + 1..].iter().filter(|other| *other == one).count();
            same_number += answers[at + 1..].iter().filter(|other| number(other) == number(one)).count();
        }
    }
    let answers = asked.len() * 10;
    Shares { exact: share(exact, pairs), same_number: share(same_number, pairs), unknown: share(unknown, answers) }
}

/// The quickstart's questions, with their gold and what they find in the new release.
fn quickstart() -> (Vec<(Question, Evidence)>, Vec<Value>) {
    let corpus: Vec<_> = lines("new.jsonl").iter().map(|line| (text(line, "id"), text(line, "text"))).collect();
    let pages: Vec<_> = corpus.iter().map(|(_, text)| Page::read(text)).collect();
    let lines = lines("questions.jsonl");
    let asked = lines.iter().map(|line| {
        let question = question(line);
        let evidence = evidence(&question, &corpus, &pages);
        (question, evidence)
    });
    (asked.collect(), lines.iter().map(|line| line["answers"].clone()).collect())
}

#[test]
fn the_quickstart_is_read_well_and_with_the_noise_of_a_language_model() {
    let (asked, gold) = quickstart();
    let best = asked.iter().map(|(question, evidence)| answer(&reader(0, 1), question, evidence, 0, 0));
    let right =
        best.zip(&gold).filter(|(best, gold)| gold.as_array().unwrap().iter().any(|alias| alias == best)).count();
    // Four of the 120 ask for features that the new release does not have.
    assert_eq!((right, asked.len()), (116, 120));
    let shares = agreement(&asked, &reader(100, 1));
    assert!((0.60..0.80).contains(&shares.exact), "exact agreement {}", shares.exact);
    assert!((0.93..0.98).contains(&shares.same_number), "agreement in the number {}", shares.same_number);
    assert!((0.02..0.06).contains(&shares.unknown), "share of UNKNOWN {}", shares.unknown);
    let row = format!(
        "| {:.1}% | {:.1}% | {:.1}% |",
        100.0 * shares.exact,
        100.0 * shares.same_number,
        100.0 * shares.unknown
    );
    assert!(include_str!("../../../docs/reader.md").contains(&row), "docs/reader.md must hold: {row}");
}

fn about(text: &str) -> Evidence {
    let document = |text: &str| Document { id: String::new(), url: None, text: text.to_owned() };
    let distraction = "Berlin is the capital of Germany. It lies on the Spree. About 3,700,000 people live there.";
    Evidence { documents: vec![document(text), document(distraction)] }
}

fn best(question: &str, text: &str) -> String {
    let id = QuestionId("q".into());
    let question = Question { id, text: question.to_owned(), tags: Vec::new(), cluster: None };
    answer(&reader(0, 1), &question, &about(text), 0, 0)
}

#[test]
fn the_best_span_is_of_the_kind_that_is_asked_for() {
    let moon =
        "On 20 July 1969 Neil Armstrong landed on the Moon with two men. He wore the suit of the Apollo program.";
    for (question, text, expected) in [
        (
            "Since which version does Chrome support Array.prototype.at?",
            "Chrome has supported Array.prototype.at since version 92.",
            "92",
        ),
        ("Who landed on the Moon?", moon, "Neil Armstrong"),
        ("When did Neil Armstrong land on the Moon?", moon, "20 July 1969"),
        ("How many men landed on the Moon?", moon, "two"),
        ("What is the capital of Norway?", "The capital of Norway is Oslo. Its currency is the krone.", "Oslo"),
        ("What is the currency of Norway?", "Norway lies in Europe. Its currency is the krone.", "krone"),
        ("Does Chrome support it on Windows?", "Chrome does not support it on Windows.", "No"),
        ("Where is Oslo?", "Oslo lies in Norway.", "Norway"),
    ] {
        assert_eq!(best(question, text), expected, "{question}");
    }
}

#[test]
fn what_the_evidence_does_not_hold_is_unknown() {
    assert_eq!(best("Since which version does Chrome support WebSerial?", "Nothing of that sort."), UNKNOWN);
    let question = Question { id: QuestionId("q".into()), text: "Who?".into(), tags: Vec::new(), cluster: None };
    for evidence in [Evidence::default(), about("")] {
        for temperature in [0, 100, 2000] {
            let answers = (0..20).map(|repeat| answer(&reader(temperature, 1), &question, &evidence, 0, repeat));
            assert!(answers.filter(String::is_empty).count() == 0);
        }
    }
    assert_eq!(answer(&reader(2000, 1), &question, &Evidence::default(), 0, 0), UNKNOWN);
}

#[test]
fn a_draw_depends_on_its_cell_and_seeds_alone() {
    let (asked, _) = quickstart();
    let all = |reader: Reader, snapshot, repeat| {
        asked
            .iter()
            .map(|(question, evidence)| answer(&reader, question, evidence, snapshot, repeat))
            .collect::<Vec<_>>()
    };
    let first = all(reader(100, 1), 0, 0);
    assert_eq!(first, all(reader(100, 1), 0, 0));
    for other in [all(reader(100, 1), 1, 0), all(reader(100, 1), 0, 1), all(reader(100, 2), 0, 0)] {
        let differing = first.iter().zip(&other).filter(|(one, other)| one != other).count();
        assert!((20..60).contains(&differing), "{differing} of 120 answers differ");
    }
}

proptest::proptest! {
    #[test]
    fn no_text_makes_it_panic(question in "\\PC{0,60}", text in "[A-Za-z0-9 .,\"“”'’_:()é日-]{0,120}", seed: u64) {
        let question = Question { id: QuestionId("q".into()), text: question, tags: Vec::new(), cluster: None };
        for asked in [question.text.as_str(), "Who is A", "How many is 1", "What is a", "when 1 May 1990", "is it", "which version"] {
            let question = Question { text: asked.to_owned(), ..question.clone() };
            assert!(!answer(&reader(500, seed), &question, &about(&text), 0, 0).trim().is_empty());
        }
    }
}
