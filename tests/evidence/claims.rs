//! The claim matrix: no figure of the report is missing from it, and nothing in it is missing from the run.

use crate::fixture::{Copy, LEDGERS, records};
use crate::harness::{Workspace, code, stderr, stdout};
use anyhow::{Context as _, Result};
use camino::{Utf8Path, Utf8PathBuf};
use churngate::model::Digest;
use serde_json::Value;
use std::{collections::BTreeSet, fs};

/// The numbers in a text: digits with the dots, commas and exponents between them.
fn numbers(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = String::new();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let next_is_digit = characters.peek().is_some_and(char::is_ascii_digit);
        let joins = matches!(character, '.' | ',') && !open.is_empty() && next_is_digit;
        let exponent = character == 'e' && !open.is_empty() && characters.peek() == Some(&'-');
        if character.is_ascii_digit() || joins || exponent || (character == '-' && open.ends_with('e')) {
            open.push(character);
        } else if !open.is_empty() {
            found.push(std::mem::take(&mut open));
        }
    }
    found.extend((!open.is_empty()).then_some(open));
    found
}

/// The report without what comes from outside: code spans (ids, names) and the answers and documents of flips. What is left
/// of a flip are our own remarks about its evidence.
fn ours(report: &str) -> String {
    let mut kept = String::new();
    let mut fence = None;
    for line in report.lines() {
        if let Some(info) = line.strip_prefix("```") {
            fence = if fence.is_none() { Some(info.to_owned()) } else { None };
            continue;
        }
        match fence.as_deref() {
            Some("diff") if !line.contains(" shared, ") => {}
            Some(_) => kept.push_str(line),
            None => kept.extend(line.split('`').step_by(2).map(|part| format!("{part} "))),
        }
        kept.push('\n');
    }
    kept
}

fn check(folder: &Utf8Path, claims: &Value) -> Result<()> {
    let report = fs::read_to_string(folder.join("report.md"))?;
    let shown: Vec<&str> =
        claims["claims"].as_array().context("no claims")?.iter().filter_map(|claim| claim["shown"].as_str()).collect();
    let claimed: BTreeSet<String> = shown.iter().flat_map(|shown| numbers(shown)).collect();
    let seen = numbers(&ours(&report));
    assert!(seen.len() > 60, "{}", seen.len());
    // The flips are numbered where the report lists them.
    let missing: BTreeSet<&String> = seen.iter().filter(|number| !claimed.contains(*number)).collect();
    assert!(missing.is_empty(), "figures without a claim: {missing:?}");
    sources_exist(folder, claims)
}

/// Every source is a file of the run under its digest, with the records that are counted; every claim names such sources.
fn sources_exist(folder: &Utf8Path, claims: &Value) -> Result<()> {
    let mut names = BTreeSet::new();
    for source in claims["sources"].as_array().context("no sources")? {
        let file = source["file"].as_str().context("no file")?;
        let bytes = fs::read(folder.join(file))?;
        let digest = if LEDGERS.contains(&file) {
            Digest::of(std::str::from_utf8(&bytes)?.lines().last().context("no seal")?.as_bytes())
        } else {
            Digest::of(&bytes)
        };
        assert_eq!(source["digest"], digest.to_string(), "{source}");
        if source["records"].is_object() {
            count(folder, file, &source["records"])?;
        }
        assert!(names.insert(source["name"].as_str().context("no name")?.to_owned()), "{source}");
    }
    let mut used = BTreeSet::new();
    for claim in claims["claims"].as_array().context("no claims")? {
        let of_claim = claim["sources"].as_array().context("no sources")?;
        assert!(!of_claim.is_empty(), "{claim}");
        for source in of_claim.iter().filter_map(Value::as_str) {
            assert!(names.contains(source), "{claim}");
            used.insert(source.to_owned());
        }
        assert_eq!(claim["command"], "churngate verify RUN");
    }
    assert_eq!(used, names);
    for flip in claims["flips"].as_array().context("no flips")? {
        for ledger in ["evidence", "answers", "judgments"] {
            let records = records(folder, &format!("{ledger}.jsonl"))?;
            let numbers = flip["records"][ledger].as_array().context("no records")?;
            assert!(!numbers.is_empty(), "{flip}");
            for number in numbers {
                let record = &records[usize::try_from(number.as_u64().context("no number")?)?];
                assert!(record.to_string().contains(&flip["question"].to_string()), "{flip}: {record}");
            }
        }
    }
    Ok(())
}

fn count(folder: &Utf8Path, file: &str, facts: &Value) -> Result<()> {
    let records = records(folder, file)?;
    if facts["type"] == "seal" {
        assert_eq!(facts["count"], records.len());
        return Ok(());
    }
    let is_one = |record: &Value| {
        let accepted = facts["accepted"].as_bool();
        record["type"] == facts["type"]
            && accepted.is_none_or(|accepted| record["verdict"].get("accepted").is_some() == accepted)
    };
    let places: Vec<usize> = (0..records.len()).filter(|at| is_one(&records[*at])).collect();
    assert_eq!(facts["count"], places.len(), "{file}: {facts}");
    assert_eq!(facts["seq"], serde_json::json!([places.first(), places.last()]), "{file}: {facts}");
    Ok(())
}

#[test]
fn every_figure_of_an_exported_report_is_claimed_and_every_source_exists() -> Result<()> {
    let copy = Copy::new()?;
    let export = copy.path("export");
    churngate::run::export(&copy.run(), &export)?;
    check(&export, &serde_json::from_slice(&fs::read(export.join("claims.json"))?)?)
}

#[test]
fn the_quickstart_claims_every_figure_as_well_and_prints_the_matrix() -> Result<()> {
    let workspace = Workspace::quickstart()?;
    workspace.churngate(&["run", "--quiet", "churngate.yaml"])?;
    let run = Utf8PathBuf::try_from(workspace.run_folder()?)?;
    let export = Utf8PathBuf::try_from(workspace.path("export"))?;
    churngate::run::export(&run, &export)?;
    check(&export, &serde_json::from_slice(&fs::read(export.join("claims.json"))?)?)?;
    let printed = workspace.churngate(&["verify", run.as_str(), "--claims"])?;
    assert_eq!(code(&printed)?, 0, "{}", stderr(&printed));
    // The run and its export have the same figures, records and places.
    let table = |text: &str| text.lines().filter(|line| line.contains("D̂ (pp)")).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(table(&stdout(&printed)), table(&fs::read_to_string(export.join("claims.md"))?));
    Ok(())
}
