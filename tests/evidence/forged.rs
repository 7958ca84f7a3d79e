//! Runs whose chains, seals and cross-references hold, and which do not follow from their protocol all the same: what
//! somebody leaves who rewrites the ledgers.

use crate::fixture::{Copy, copy_folder, forge, records, server, some_digest, workspace};
use anyhow::{Context as _, Result, bail};
use camino::Utf8PathBuf;
use churngate::ledger::{BlobCheck, verify as verify_ledgers};
use churngate::model::FailureClass;
use serde_json::{Value, json};
use std::time::Duration;

/// Forges one ledger and expects what `verify` says of it.
fn found(ledger: &str, expected: &str, edit: impl FnOnce(&mut Vec<Value>) -> Result<()>) -> Result<()> {
    let copy = Copy::new()?;
    let mut forged = records(&copy.run(), ledger)?;
    let before = forged.clone();
    edit(&mut forged)?;
    assert_ne!(before, forged, "{expected}: nothing was forged");
    forge(&copy.run(), ledger, &forged)?;
    let structure = verify_ledgers(&copy.run(), BlobCheck::Present)?;
    assert!(structure.difference.is_none(), "{expected}: the structure shows it: {:?}", structure.difference);
    says(&copy.run(), expected)
}

fn says(run: &camino::Utf8Path, expected: &str) -> Result<()> {
    match churngate::run::verify(run) {
        Ok(_) => bail!("verified, although: {expected}"),
        Err(failure) => {
            // What would have stopped the audit is whole all the same: neither a lock nor a ledger fails to match.
            let stopped = failure.message.contains("is sealed, but cannot stand: ");
            let class = if stopped { FailureClass::Incomplete } else { FailureClass::Evidence };
            assert_eq!(failure.class, class, "{failure}");
            assert!(failure.hint.is_some() || !stopped, "{failure}");
            assert!(failure.message.contains(expected), "expected `{expected}`, found: {failure}");
            Ok(())
        }
    }
}

fn first(records: &mut [Value], kind: &str) -> Result<usize> {
    records.iter().position(|record| record["type"] == kind).context("no such record")
}

/// Whether a record is about this question.
pub fn about(record: &Value, question: &str) -> bool {
    [&record["of"]["question"], &record["of"], &record["question"]].into_iter().any(|id| id == question)
}

#[test]
fn a_run_that_nobody_touched_verifies_and_says_what_was_rendered_again() -> Result<()> {
    let verified = churngate::run::verify(&Copy::new()?.run())?;
    let told = verified.checked.join("\n");
    for part in [
        "evidence: 36 retrievals hold the documents of their blobs, each asked by its question's text",
        "answers: 24 requests are the prompts that follow from protocol and evidence; 3 questions are unchanged",
        "judgments: 6 packets follow from answers and seed, and 6 requests from the packets",
    ] {
        assert!(told.contains(part), "{told}");
    }
    assert!(verified.unchecked.is_empty());
    // The forger's own tool changes nothing where nothing is forged.
    let copy = Copy::new()?;
    forge(&copy.run(), "answers.jsonl", &records(&copy.run(), "answers.jsonl")?)?;
    assert!(churngate::run::verify(&copy.run()).is_ok());
    Ok(())
}

#[test]
fn a_request_that_is_not_what_was_to_be_asked_is_found_in_every_stage() -> Result<()> {
    for (ledger, expected) in [
        ("evidence.jsonl", "line 2: the request is not the text of its question"),
        ("answers.jsonl", "the request is not the prompt that follows from protocol and evidence"),
        ("judgments.jsonl", "the request does not follow from the packet and the protocol's judge"),
    ] {
        found(ledger, expected, |records| {
            let at = first(records, "attempt")?;
            records[at]["request"] = some_digest();
            Ok(())
        })?;
    }
    Ok(())
}

#[test]
fn an_answer_that_cites_documents_comes_from_no_generator() -> Result<()> {
    found("answers.jsonl", "its answer cites documents, and no deployed system was asked", |records| {
        let accepted = records.iter_mut().find_map(|record| record["verdict"].get_mut("accepted"));
        accepted.context("no answer")?["citations"] = json!([]);
        Ok(())
    })
}

#[test]
fn a_question_that_is_said_to_be_unchanged_has_identical_prompts() -> Result<()> {
    found("answers.jsonl", "noted as unchanged, but its prompts are not", |records| {
        let at = first(records, "note")?;
        records[at]["prompt"] = some_digest();
        Ok(())
    })?;
    // An inconvenient question is declared unchanged, and all that was asked of it is gone.
    let copy = Copy::new()?;
    let mut answers = records(&copy.run(), "answers.jsonl")?;
    let mut judgments = records(&copy.run(), "judgments.jsonl")?;
    answers.retain(|record| !about(record, "q1"));
    judgments.retain(|record| !about(record, "q1"));
    renumber(&mut answers, &records(&copy.run(), "answers.jsonl")?)?;
    renumber(&mut judgments, &records(&copy.run(), "judgments.jsonl")?)?;
    answers.push(json!({ "type": "note", "question": "q1", "prompt": some_digest() }));
    forge(&copy.run(), "judgments.jsonl", &judgments)?;
    forge(&copy.run(), "answers.jsonl", &answers)?;
    says(&copy.run(), "noted as unchanged, but its prompts are not")?;
    // The same without the note.
    answers.pop();
    forge(&copy.run(), "answers.jsonl", &answers)?;
    says(&copy.run(), "the answers ledger is sealed, but cannot stand")?;
    // And an unchanged question that is simply left out.
    found("answers.jsonl", "does not note every question whose prompts are identical", |records| {
        let at = first(records, "note")?;
        let gone = records.remove(at);
        assert_eq!(at, 0, "notes stand before the attempts: {gone}");
        for record in records.iter_mut().filter(|record| record["type"] == "outcome") {
            record["attempt"] = (record["attempt"].as_u64().context("no number")? - 1).into();
        }
        Ok(())
    })
}

/// Outcomes name their attempts by number: after records are gone, by another one.
pub fn renumber(kept: &mut [Value], all: &[Value]) -> Result<()> {
    let places: Vec<usize> =
        all.iter().enumerate().filter(|(_, record)| !about(record, "q1")).map(|(at, _)| at).collect();
    for record in kept.iter_mut().filter(|record| record["type"] == "outcome") {
        let attempt = usize::try_from(record["attempt"].as_u64().context("no number")?)?;
        record["attempt"] = places.iter().position(|at| *at == attempt).context("its attempt is gone")?.into();
    }
    Ok(())
}

#[test]
fn a_question_without_evidence_is_found() -> Result<()> {
    let lacking = "the evidence ledger is sealed, but a question has no evidence from a snapshot";
    found("evidence.jsonl", lacking, |records| {
        let whole = records.clone();
        records.retain(|record| !about(record, "q1"));
        renumber(records, &whole)
    })
}

#[test]
fn documents_are_those_of_their_blobs() -> Result<()> {
    for (member, value) in [("id", json!("another")), ("content", some_digest())] {
        found("evidence.jsonl", "the documents are not those of the blob that it names", |records| {
            let at = first(records, "outcome")?;
            records[at]["verdict"]["accepted"]["documents"][0][member] = value;
            Ok(())
        })?;
    }
    Ok(())
}

#[test]
fn the_order_within_a_packet_is_the_seeds() -> Result<()> {
    found("judgments.jsonl", "the packet is not the one that follows from the answers and the seed", |records| {
        let at = first(records, "note")?;
        for list in ["answers", "cells"] {
            records[at][list].as_array_mut().context("no list")?.reverse();
        }
        Ok(())
    })
}

#[test]
fn an_audit_that_would_have_stopped_is_not_sealed() -> Result<()> {
    found("answers.jsonl", "cannot stand: the generator's server changed the model", |records| {
        let at = first(records, "outcome")?;
        records[at]["served_model"] = "another-model".into();
        Ok(())
    })?;
    found("judgments.jsonl", "cannot stand: the judge's server changed the model", |records| {
        let at = first(records, "outcome")?;
        records[at]["served_model"] = "another-model".into();
        Ok(())
    })?;
    found("judgments.jsonl", "cannot stand: 1 of 6 packets of different answers have no judgment", |records| {
        let at = first(records, "outcome")?;
        records[at]["verdict"] = json!({ "invalid": "timed-out" });
        Ok(())
    })
}

#[test]
fn a_whole_ledger_of_judgments_by_another_judge_is_found() -> Result<()> {
    let copy = Copy::new()?;
    let server = server(Duration::ZERO)?;
    let other = workspace(&server, "another-judge")?;
    other.churngate(&["run", "--quiet", "churngate.yaml"])?;
    let other = Utf8PathBuf::try_from(other.run_folder()?)?;
    copy_folder(&other.join("blobs"), &copy.run().join("blobs"))?;
    let own = records(&copy.run(), "judgments.jsonl")?;
    let mut foreign = records(&other, "judgments.jsonl")?;
    // The packets are put into the order of this run's seed, so that the judge alone is another one.
    for note in foreign.iter_mut().filter(|record| record["type"] == "note") {
        let same = own.iter().find(|record| record["question"] == note["question"]);
        *note = same.context("another packet")?.clone();
    }
    forge(&copy.run(), "judgments.jsonl", &foreign)?;
    assert!(verify_ledgers(&copy.run(), BlobCheck::Present)?.difference.is_none());
    says(&copy.run(), "the request does not follow from the packet and the protocol's judge")
}
