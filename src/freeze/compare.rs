//! What changed between two protocols, by name and by both digests.

use super::Protocol;
use crate::model::{Digest, Failure, FailureClass};
use serde_json::Value;
use std::collections::BTreeSet;

/// The most differences that are listed.
const LISTED: usize = 10;

/// Compares the lock that lies in a run folder with a protocol.
///
/// # Errors
/// They differ: the failure names each member that does, with the digests of both of its values.
pub fn compare(locked: &[u8], now: &Protocol) -> Result<(), Failure> {
    if locked == now.lock_bytes() {
        return Ok(());
    }
    let mut changed = differences(locked, now.lock_bytes());
    let more = changed.len().saturating_sub(LISTED);
    changed.truncate(LISTED);
    if more > 0 {
        changed.push(format!("and {more} more"));
    }
    let (old, new) = (Digest::of(locked).short(), now.digest.short());
    let message = format!("continue the run: its protocol is {old}, not {new}\n  {}", changed.join("\n  "));
    let hint = "the run folder holds another audit, or its lock was edited; move it away to start afresh";
    Err(Failure::new(FailureClass::Evidence, message).with_hint(hint))
}

/// One line a difference: the member's path and the short digests of both values.
fn differences(locked: &[u8], now: &[u8]) -> Vec<String> {
    let read = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).ok();
    let (Some(locked), Some(now)) = (read(locked), read(now)) else {
        return vec!["the lock in the folder is not valid JSON".to_owned()];
    };
    let mut lines = Vec::new();
    walk("", Some(&locked), Some(&now), &mut lines);
    if lines.is_empty() {
        lines.push("only the spelling of the lock differs".to_owned());
    }
    lines
}

fn walk(path: &str, locked: Option<&Value>, now: Option<&Value>, lines: &mut Vec<String>) {
    match (locked, now) {
        (Some(one), Some(other)) if one == other => {}
        (Some(Value::Object(one)), Some(Value::Object(other))) => {
            let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
            for name in names {
                walk(&member(path, name), one.get(name), other.get(name), lines);
            }
        }
        (Some(Value::Array(one)), Some(Value::Array(other))) if one.len() == other.len() => {
            for (index, (one, other)) in one.iter().zip(other).enumerate() {
                walk(&member(path, &index.to_string()), Some(one), Some(other), lines);
            }
        }
        _ => lines.push(format!("`{path}` changed: {} in the folder, {} now", short(locked), short(now))),
    }
}

fn member(path: &str, name: &str) -> String {
    let shown: String = name.chars().filter(|c| !c.is_control() && *c != '`').take(60).collect();
    if path.is_empty() { shown } else { format!("{path}.{shown}") }
}

/// A digest stays as it is, other values are named by theirs.
fn short(value: Option<&Value>) -> String {
    let Some(value) = value else { return "nothing".to_owned() };
    let own = value.as_str().and_then(|text| text.parse::<Digest>().ok());
    own.unwrap_or_else(|| Digest::of(value.to_string().as_bytes())).short()
}
