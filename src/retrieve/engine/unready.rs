//! What is said of a probe that came to nothing: one message a reason.

use crate::http::remedy;
use crate::model::{Failure, FailureClass, SnapshotName};
use crate::retrieve::limits::MAX_ATTEMPTS;

/// A probe that came to nothing.
pub(super) struct Unready<'a> {
    /// The snapshot that it asks about.
    pub snapshot: &'a SnapshotName,
    /// Its number among the probes, from 1.
    pub number: usize,
    /// The host and the port that it asks.
    pub address: String,
    /// The spec's key that names them.
    pub key: &'static str,
    /// What the engine says of it, last.
    pub said: Option<String>,
}

impl Unready<'_> {
    /// The failure, by the reason of the last attempt.
    pub(super) fn failure(&self, reason: &str) -> Failure {
        let Self { snapshot, number, address, key, said } = self;
        let said = said.as_ref().map_or_else(String::new, |said| format!(", and the engine says `{said}`"));
        let Some((came, hint)) = came(reason, key) else {
            let message = format!(
                "the snapshot `{snapshot}` is not ready: probe {number} got no good reply in {MAX_ATTEMPTS} attempts \
                 ({reason}){said}"
            );
            return Failure::new(FailureClass::Incomplete, message)
                .with_hint("wait until the index is built and green, then run the same command again");
        };
        let message = format!(
            "failed to ask the search engine at `{address}` about the snapshot `{snapshot}`: probe {number} {came} in \
             {MAX_ATTEMPTS} attempts ({reason}){said}"
        );
        Failure::new(FailureClass::Incomplete, message).with_hint(hint)
    }
}

/// What came of the attempts, and what to do about it. Nothing where the engine answered that the snapshot is not ready.
fn came(reason: &str, key: &str) -> Option<(&'static str, String)> {
    let check = || {
        format!(
            "check `{key}`, and that the engine runs there and can be reached from here, then run the same command again"
        )
    };
    let (came, hint) = match reason {
        "connect-failed" => ("got no connection", check()),
        "timed-out" => ("got no reply in time", check()),
        "proxy-failed" => ("got no connection through the proxy", remedy(reason).to_owned()),
        "reply-cut" => {
            ("got no whole reply", "see what cuts its replies off, then run the same command again".to_owned())
        }
        "reply-too-large" => {
            ("got a reply that is larger than any that is read", format!("check that `{key}` names the engine itself"))
        }
        "key-in-answer" => ("got a reply that shows a key", "see why the engine shows keys that it is sent".to_owned()),
        "server-timeout" | "server-error" => {
            ("got nothing but errors", "see the engine's own log, then run the same command again".to_owned())
        }
        "rate-limited" => {
            ("was refused for too many calls", "run the same command again once the engine takes calls".to_owned())
        }
        _ => return None,
    };
    Some((came, hint))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::CallError;

    #[test]
    fn every_reason_of_a_probe_has_a_message_of_its_own() {
        let snapshot = SnapshotName::old();
        let probe =
            Unready { snapshot: &snapshot, number: 1, address: "search:9200".to_owned(), key: "base_url", said: None };
        let said = |reason: &str| {
            let failure = probe.failure(reason);
            format!("{}\n  {}", failure.message, failure.hint.unwrap_or_default())
        };
        let codes = CallError::ALL.into_iter().filter(|error| error.may_pass() && *error != CallError::NotSent);
        for code in codes.map(CallError::code).chain(["server-timeout", "server-error", "rate-limited"]) {
            let said = said(code);
            assert!(said.contains("`search:9200`") && !said.contains("not ready"), "{said}");
        }
        insta::assert_snapshot!(["connect-failed", "timed-out", "server-error", "not-ready"].map(said).join("\n"), @r#"
failed to ask the search engine at `search:9200` about the snapshot `old`: probe 1 got no connection in 5 attempts (connect-failed)
  check `base_url`, and that the engine runs there and can be reached from here, then run the same command again
failed to ask the search engine at `search:9200` about the snapshot `old`: probe 1 got no reply in time in 5 attempts (timed-out)
  check `base_url`, and that the engine runs there and can be reached from here, then run the same command again
failed to ask the search engine at `search:9200` about the snapshot `old`: probe 1 got nothing but errors in 5 attempts (server-error)
  see the engine's own log, then run the same command again
the snapshot `old` is not ready: probe 1 got no good reply in 5 attempts (not-ready)
  wait until the index is built and green, then run the same command again
"#);
    }
}
