//! What a reply counts as by its status alone.

use crate::http::{Call, CallError, Reply, Wish};
use crate::model::{Failure, FailureClass};
use crate::retrieve::remote::Judged;
use jiff::Timestamp;

/// A reply after which another attempt may come to something.
pub(in crate::retrieve) fn too_soon(reply: &Reply, said: impl FnOnce() -> Option<String>) -> Option<Judged> {
    let reason = match reply.status {
        408 => "server-timeout",
        425 | 429 => "rate-limited",
        500..=599 => "server-error",
        _ => return None,
    };
    Some(Judged::Invalid { reason, wish: Wish::of(reply, Timestamp::now()), said: said() })
}

/// A reply that no further attempt would change.
pub(in crate::retrieve) fn refused(status: u16, said: Option<String>) -> Judged {
    let (reason, hint) = match status {
        401 | 403 => ("key-refused", "check the key and its rights"),
        402 => ("quota-used-up", "the account has no quota left"),
        404 | 410 => ("index-unknown", "check the URL and the snapshot's variables"),
        _ => ("request-refused", "check the request against the engine's own description of its requests"),
    };
    let said = said.map_or_else(String::new, |said| format!(" and says `{said}`"));
    let message = format!("the search engine answered with status {status} ({reason}){said}");
    Judged::Fatal { reason, failure: Failure::new(FailureClass::Incomplete, message).with_hint(hint) }
}

/// A call without a complete reply.
pub(in crate::retrieve) fn unanswered(error: CallError, call: &Call) -> Judged {
    let reason = error.code();
    if error.may_pass() {
        return Judged::Invalid { reason, wish: Wish::NONE, said: None };
    }
    let message = format!("failed to call the search engine at `{}`: {error}", call.address());
    let failure = Failure::new(FailureClass::Incomplete, message);
    Judged::Fatal { reason, failure: error.remedy().into_iter().fold(failure, Failure::with_hint) }
}
