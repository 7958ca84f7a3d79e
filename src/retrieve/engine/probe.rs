//! What a snapshot physically is, whether it is ready, and how large: asked before the first and after the last search.

use super::unready::Unready;
use super::{Engine, Identity, refused, request, too_soon, unanswered};
use crate::http::fill::{self, Expect, Filling, words};
use crate::http::{Attempted, Context, Reply, RetryPolicy, Wish, json, until_accepted};
use crate::model::{Failure, FailureClass, SnapshotName, StageName};
use crate::retrieve::limits::MAX_ATTEMPTS;
use crate::retrieve::remote::Judged;
use crate::spec::{PhysicalSpec, ProbeSpec};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// The longest physical name, in bytes.
const MAX_NAME: usize = 255;

/// Asks the engine about a snapshot, one probe after the other; a name that an earlier one found stands in later ones.
///
/// # Errors
/// The engine refuses, does not answer, or says that the snapshot is not ready; an alias of several indexes.
pub(in crate::retrieve) async fn identify(
    engine: Engine<'_>,
    snapshot: &SnapshotName,
    named: &BTreeMap<String, String>,
    context: &Context,
) -> Result<Identity, Failure> {
    let mut identity = Identity::of(named);
    for (number, probe) in engine.spec.probes.iter().enumerate() {
        identity.asked = true;
        let asked = Asked { engine, probe, number: number + 1, snapshot };
        let Some(reply) = asked.reply(&identity.variables, context).await? else { continue };
        asked.learn(&reply, &mut identity)?;
    }
    Ok(identity)
}

/// One probe of one snapshot.
struct Asked<'a> {
    engine: Engine<'a>,
    probe: &'a ProbeSpec,
    number: usize,
    snapshot: &'a SnapshotName,
}

impl Asked<'_> {
    /// The reply, null where it is not JSON. `None` where the probe may tell nothing and does.
    async fn reply(&self, variables: &BTreeMap<String, String>, context: &Context) -> Result<Option<Value>, Failure> {
        let filling =
            Filling { question: "", question_hash: "", nonce: None, top_k: self.engine.top_k, vector: None, variables };
        let call = request::call(self.engine.spec, &self.probe.request, &filling, &context.secrets)?;
        let mut last_said = None;
        let attempt = async |_| {
            let came = match context.send(&call).await {
                Ok(reply) => judged(self.engine, self.probe, &reply),
                Err(error) => Err(unanswered(error, &call)),
            };
            match came {
                Ok(reply) => Attempted::Accepted(reply),
                Err(Judged::Fatal { failure, .. }) => Attempted::Fatal(self.of_snapshot(failure)),
                Err(Judged::Invalid { reason, wish, said }) => {
                    last_said = said;
                    Attempted::Invalid { reason, wish }
                }
                Err(Judged::Accepted(_)) => Attempted::Accepted(None),
            }
        };
        let policy = RetryPolicy::for_one_call(MAX_ATTEMPTS);
        let accepted = until_accepted(policy, context, StageName::Retrieve, attempt).await?;
        accepted.map_err(|reason| {
            let key = if self.engine.spec.origin.is_some() { "base_url" } else { "url" };
            let (snapshot, number, address) = (self.snapshot, self.number, call.address());
            Unready { snapshot, number, address, key, said: last_said }.failure(reason)
        })
    }

    fn learn(&self, reply: &Value, identity: &mut Identity) -> Result<(), Failure> {
        if let Some(physical) = &self.probe.physical
            && let Some(name) = self.physical(physical, reply, &identity.variables)?
        {
            identity.variables.insert(physical.variable.clone(), name);
        }
        if let Some(pointer) = &self.probe.documents {
            let pointer = filled(pointer, &identity.variables);
            let count = fill::one(reply, &pointer).and_then(|value| fill::number(&value)).and_then(|n| n.as_u64());
            match count {
                Some(0) => return Err(self.empty()),
                Some(count) => identity.documents = Some(count),
                None => return Err(self.untold("the number of its documents")),
            }
        }
        for pointer in &self.probe.state {
            let reached = fill::reach(reply, &filled(pointer, &identity.variables)).unwrap_or_default();
            identity.state.push(Value::Array(reached.into_iter().map(Cow::into_owned).collect()).to_string());
        }
        Ok(())
    }

    /// The physical name; `None` where the snapshot's own name is one.
    fn physical(
        &self,
        spec: &PhysicalSpec,
        reply: &Value,
        variables: &BTreeMap<String, String>,
    ) -> Result<Option<String>, Failure> {
        let own = variables.get(&spec.variable);
        let entries = match &spec.among {
            None => vec![reply.clone()],
            Some(among) => {
                let all = fill::items(reply, among).ok_or_else(|| self.untold("its aliases"))?;
                let is_it = |entry: &Value| {
                    fill::one(entry, &spec.named).is_some_and(|name| name.as_str() == own.map(String::as_str))
                };
                all.into_iter().filter(is_it).collect()
            }
        };
        if entries.is_empty() {
            return Ok(None);
        }
        let reached = entries.iter().filter_map(|entry| fill::reach(entry, &spec.value)).flatten();
        let names: BTreeSet<String> = reached.filter_map(|value| fill::text(&value)).collect();
        match names.into_iter().collect::<Vec<_>>().as_slice() {
            [name] if is_plain(name) => Ok(Some(name.clone())),
            [] | [_] => Err(self.untold("its physical name")),
            several => Err(self.several(several.len())),
        }
    }

    fn of_snapshot(&self, failure: Failure) -> Failure {
        Failure {
            message: format!("snapshot `{}`, probe {}: {}", self.snapshot, self.number, failure.message),
            ..failure
        }
    }

    fn untold(&self, what: &str) -> Failure {
        let message =
            format!("the engine does not tell {what} of the snapshot `{}` (probe {})", self.snapshot, self.number);
        Failure::new(FailureClass::Incomplete, message)
            .with_hint("check the snapshot's variables, and the probe against the engine's own description")
    }

    fn empty(&self) -> Failure {
        let message = format!("the index of the snapshot `{}` has no documents", self.snapshot);
        Failure::new(FailureClass::Usage, message).with_hint("check its name, and whether it was filled")
    }

    fn several(&self, count: usize) -> Failure {
        let message = format!("the snapshot `{}` names an alias of {count} indexes", self.snapshot);
        Failure::new(FailureClass::Usage, message).with_hint("name one index, or an alias of one")
    }
}

/// What one reply comes to: what it says, null where it is not JSON; `None` where the probe may tell nothing and does.
pub(in crate::retrieve) fn judged(
    engine: Engine<'_>,
    probe: &ProbeSpec,
    reply: &Reply,
) -> Result<Option<Value>, Judged> {
    let said = || engine.spec.error.as_deref().and_then(|pointer| words(&reply.body, pointer));
    match reply.status {
        200..=299 => {
            let value = json(&reply.body).unwrap_or_default();
            if (Expect { ok: &probe.expect.ok, absent: &probe.expect.absent }).holds(&value) {
                Ok(Some(value))
            } else if probe.optional {
                Ok(None)
            } else {
                Err(Judged::Invalid { reason: "not-ready", wish: Wish::NONE, said: said() })
            }
        }
        400 | 404 | 405 | 410 if probe.optional => Ok(None),
        status => Err(too_soon(reply, said).unwrap_or_else(|| refused(status, said()))),
    }
}

/// Whether a server's text may stand as a name in requests and reports.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.len() <= MAX_NAME && !name.chars().any(char::is_control)
}

/// A pointer with the names of snapshots in it.
fn filled(pointer: &str, variables: &BTreeMap<String, String>) -> String {
    variables.iter().fold(pointer.to_owned(), |pointer, (name, value)| {
        pointer.replace(&format!("{{snapshot.{name}}}"), &value.replace('~', "~0").replace('/', "~1"))
    })
}
