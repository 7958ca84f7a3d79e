//! Ledgers that are chained anew with other records in them, as somebody leaves them who forges a run.

use anyhow::{Context as _, Result};
use camino::Utf8Path;
use churngate::model::Digest;
use serde_json::Value;
use std::fs;

/// The ledgers in their order.
pub const LEDGERS: [&str; 3] = ["evidence.jsonl", "answers.jsonl", "judgments.jsonl"];

/// The records of a ledger without their chain.
pub fn records(run: &Utf8Path, ledger: &str) -> Result<Vec<Value>> {
    let text = fs::read_to_string(run.join(ledger))?;
    let mut records = text.lines().map(serde_json::from_str).collect::<serde_json::Result<Vec<Value>>>()?;
    records.remove(0);
    records.pop();
    for record in &mut records {
        let record = record.as_object_mut().context("no object")?;
        record.shift_remove("seq");
        record.shift_remove("prev");
    }
    Ok(records)
}

/// Writes a ledger with these records and chains all ledgers anew, as somebody would who forges a run.
pub fn forge(run: &Utf8Path, ledger: &str, records_now: &[Value]) -> Result<()> {
    let mut before = Digest::of(&fs::read(run.join("protocol.lock.json"))?);
    for name in LEDGERS {
        let kept = records(run, name)?;
        let written = if name == ledger { records_now } else { &kept };
        before = chain(run, name, before, written)?;
    }
    Ok(())
}

/// Writes a ledger with these records, chained to what stands before it, and gives back its head.
pub fn chain(run: &Utf8Path, ledger: &str, before: Digest, records: &[Value]) -> Result<Digest> {
    let path = run.join(ledger);
    let mut header: Value = serde_json::from_str(fs::read_to_string(&path)?.lines().next().context("no header")?)?;
    header["before"] = before.to_string().into();
    let mut lines = vec![header.to_string()];
    for (seq, record) in records.iter().enumerate() {
        let prev = Digest::of(lines[seq].as_bytes());
        let fields = record.to_string();
        lines.push(format!("{{\"seq\":{seq},\"prev\":\"{prev}\",{}", fields.trim_start_matches('{')));
    }
    let prev = Digest::of(lines[records.len()].as_bytes());
    lines.push(format!("{{\"seal\":{},\"prev\":\"{prev}\"}}", records.len()));
    fs::write(path, lines.join("\n") + "\n")?;
    Ok(Digest::of(lines[records.len() + 1].as_bytes()))
}
