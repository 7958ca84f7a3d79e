//! What is audited, by one digest. The protocol's own digest is another one wherever a commit or a name is, and an unrelated
//! commit on the base branch would make of an audit a new one, with a draw of its own.

use crate::model::Digest;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The digest of everything that a lock holds but what a snapshot is called whose content is known: its path, its commit, its
/// variables, its physical name, and what lies beside its documents without being read. The content stands for all of them: of an
/// engine its digest holds the physical names behind the variables.
pub(super) fn digest(lock: &[u8]) -> Digest {
    // A lock that is no JSON is nobody's: whoever reads one has refused it by now.
    let Ok(Value::Object(mut lock)) = serde_json::from_slice(lock) else { return Digest::of(lock) };
    // It is that of the whole spec.
    lock.remove("spec_digest");
    let contents = contents(&lock);
    if let Some(Value::Array(snapshots)) = lock.get_mut("snapshots") {
        for snapshot in snapshots {
            if let Some(content) = known(snapshot, &contents) {
                *snapshot = content;
            }
        }
    }
    let named = lock.get_mut("spec").and_then(|spec| spec.get_mut("snapshots")).and_then(Value::as_object_mut);
    if let Some(named) = named {
        named.retain(|name, _| !contents.contains_key(name));
        if let Some(Value::Array(between)) = named.get_mut("between") {
            for rung in between {
                if let Some(content) = known(rung, &contents) {
                    *rung = content;
                }
            }
        }
    }
    let mut rest = Value::Object(lock);
    // Taking members out may have moved others.
    rest.sort_all_objects();
    Digest::of(rest.to_string().as_bytes())
}

/// The digests of contents by the names of their snapshots, where they are known.
fn contents(lock: &Map<String, Value>) -> BTreeMap<String, Value> {
    let snapshots = lock.get("snapshots").and_then(Value::as_array).into_iter().flatten();
    let content = |snapshot: &Value| {
        let fingerprint = snapshot.get("fingerprint").filter(|fingerprint| !fingerprint.is_null())?;
        Some((snapshot.get("name")?.as_str()?.to_owned(), fingerprint.clone()))
    };
    snapshots.filter_map(content).collect()
}

/// A snapshot by its content alone; nothing where that is not known.
fn known(snapshot: &Value, contents: &BTreeMap<String, Value>) -> Option<Value> {
    let name = snapshot.get("name")?.as_str()?;
    Some(json!({ "name": name, "fingerprint": contents.get(name)? }))
}
