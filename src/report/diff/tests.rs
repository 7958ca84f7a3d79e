//! What a diff shows, and that nothing from outside reaches a terminal raw.

use super::{AuditCost, EvidenceDiff, QuestionAtRisk, diff_json, diff_markdown_within, diff_text};
use crate::analyze::{FlipOverlap, Overlap, OverlapFigures};
use crate::model::{Digest, PassedOver, QuestionId};
use crate::report::result::{EvidenceLine, SnapshotSummary};

fn diff(text: &str) -> EvidenceDiff {
    let line = |id: &str| EvidenceLine { id: id.to_owned(), excerpt: text.to_owned() };
    let snapshot = |name: &str, documents| SnapshotSummary {
        name: name.to_owned(),
        physical: format!("index={name} ({text})"),
        fingerprint: None,
        documents,
        passed_over: documents.map(|_| PassedOver {
            endings: vec![(".pdf".to_owned(), 30), (text.to_owned(), 7)],
            others: 1,
            hidden: 0,
            links: 2,
        }),
    };
    let question = |id: &str, turnover| QuestionAtRisk {
        question: QuestionId(id.to_owned()),
        text: text.to_owned(),
        turnover,
        shared: 1,
        lost: vec![line("a"), line("b"), line("c"), line("d")],
        gained: vec![line("e")],
    };
    let figures = OverlapFigures { mean_shared: 2.5, none: 1, same_set: 2, same_list: 1 };
    let flips = FlipOverlap {
        flips: 0,
        flips_mean_shared: None,
        flips_none: 0,
        rest_mean_shared: None,
        rest_none: 0,
        fisher_p: 1.0,
        by_content: None,
    };
    EvidenceDiff {
        name: "docs-search".to_owned(),
        protocol: Digest::of(b"p"),
        snapshots: vec![snapshot("old", Some(11_973)), snapshot("new", None)],
        retrieve: "embedded BM25".to_owned(),
        replayed: false,
        overlap: Overlap {
            questions: 4,
            by_id: figures.clone(),
            by_url: None,
            by_content: figures,
            identical_prompts: 1,
            without_documents: None,
            flips,
        },
        placebo: None,
        caveats: vec![format!("This change edits {text}.")],
        mismatched: 0,
        at_risk: vec![question("q1", 1.0), question("q2", 0.25)],
        cost: AuditCost { asked: 3, unasked: 1, answers: 12, packets: 3, calls: 15 },
    }
}

#[test]
fn the_overlap_the_cost_and_the_first_questions_are_shown() {
    insta::assert_snapshot!(diff_text(&diff("text"), 1), @r"
docs-search: evidence alone, no verdict
retrieved by embedded BM25
warning: This change edits text.
snapshot old: index=old (text), 11,973 documents
snapshot new: index=new (text)
old: 40 files were passed over: .pdf 30, text 7, others 1, links or submodules 2
Old and new pass over other files, 40 and 0 of them: what is in these is in no answer.

compared by  shared (mean)  none shared  same set  same list
id                    2.50       25.00%    50.00%     25.00%
content               2.50       25.00%    50.00%     25.00%
1 of 4 questions (25.00%) would be asked with the same bytes
a whole audit would ask 3 questions and not ask 1: at most 12 answers, 3 packets, 15 external calls before retries

questions at risk: 2
   1. q1: 100.00% of the weight changed, 1 shared
      text
      - a  ·  text
      - b  ·  text
      - c  ·  text
      - and 1 more
      + e  ·  text
1 more; `--limit` shows them, `--format json` has them all
");
}

#[test]
fn an_edited_document_is_told_as_changed_and_not_as_lost_and_gained() {
    let mut diff = diff("text");
    diff.at_risk[0].gained.push(EvidenceLine { id: "a".to_owned(), excerpt: "other text".to_owned() });
    let text = diff_markdown_within(&diff, usize::MAX);
    assert!(text.contains("1 document shared, 1 changed, 3 lost, 1 gained; 100.00% of the weight changed"), "{text}");
    assert!(text.contains("- changed     a  ·  text") && text.contains("+ changed     a  ·  other text"), "{text}");
    assert!(text.contains("25.00% of questions have the same documents in the same order by id"), "{text}");
}

#[test]
fn what_is_left_out_is_in_the_file_that_is_there() {
    let text = diff_markdown_within(&diff("text"), 900);
    assert!(
        text.contains("left out to keep this report within its size; diff.json in the run's folder has everything"),
        "{text}"
    );
    assert!(!text.contains("result.json"), "{text}");
}

#[test]
fn nothing_from_outside_reaches_a_terminal_raw() {
    let hostile = "::error::x\n\u{1b}[31m##[group]\u{202e}";
    let text = diff_text(&diff(hostile), 2);
    assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}') && !text.contains("##["), "{text}");
    assert!(text.lines().all(|line| !line.trim_start().starts_with("::")), "{text}");
}

#[test]
fn the_json_has_every_question_in_order() {
    let value: serde_json::Value = serde_json::from_slice(&diff_json(&diff("\"{{x}}\u{0}"))).unwrap();
    assert_eq!(value["at_risk"].as_array().map(Vec::len), Some(2));
    assert_eq!(value["at_risk"][1]["turnover"], 0.25);
    assert_eq!(value["at_risk"][0]["lost"][0]["excerpt"], "\"{{x}}\u{0}");
    assert_eq!(value["cost"]["calls"], 15);
    assert_eq!(
        (&value["snapshots"][0]["passed_over"]["links"], &value["snapshots"][1]["passed_over"]),
        (&2.into(), &serde_json::Value::Null)
    );
    assert_eq!(value["overlap"]["by_url"], serde_json::Value::Null);
}
