//! Whether the snapshots are still what was frozen.

use super::asked::Asked;
use super::resolve::variables;
use crate::freeze::{Protocol, ResolvedSnapshot};
use crate::http::Context;
use crate::model::{Failure, FailureClass};
use std::collections::BTreeMap;

/// The variables of every snapshot as requests are filled with them: physical names in the place of aliases, so that an
/// alias that moves meanwhile moves no search.
///
/// # Errors
/// A snapshot is another one than was frozen, is not ready, or the engine does not answer.
pub(super) async fn expect(protocol: &Protocol, context: &Context) -> Result<Vec<BTreeMap<String, String>>, Failure> {
    let asked = Asked::new(&protocol.spec.retrieve, &protocol.base, context)?;
    let mut all = Vec::new();
    for (snapshot, frozen) in protocol.spec.snapshots.iter().zip(&protocol.snapshots) {
        let named = variables(&snapshot.source);
        let identity = asked.identify(&snapshot.name, &named, context).await?;
        // A plan made without the engine has nothing to hold it against.
        if let Some(fingerprint) = frozen.fingerprint
            && identity.fingerprint() != Some(fingerprint)
        {
            return Err(moved(frozen, &identity.resolved(&snapshot.name, &named)));
        }
        all.push(identity.variables);
    }
    Ok(all)
}

fn moved(before: &ResolvedSnapshot, now: &ResolvedSnapshot) -> Failure {
    let told = |snapshot: &ResolvedSnapshot| {
        let count = snapshot
            .documents
            .map_or_else(String::new, |count| format!(", {count} document{}", if count == 1 { "" } else { "s" }));
        format!("{}{count}", snapshot.physical)
    };
    let (was, is) = (told(before), told(now));
    let how =
        if was == is { "its settings or its build changed".to_owned() } else { format!("it was {was}, and is {is}") };
    let message = format!("the snapshot `{}` moved while it was audited: {how}", before.name);
    Failure::new(FailureClass::Incomplete, message)
        .with_hint("name an index that nobody writes to, and run again: it will be another run")
}
