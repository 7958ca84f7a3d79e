//! What an attempt that came to nothing says of whoever was asked, by its code: what to do about it, and whether it was paid for.
//! Codes are those of `docs/outcomes.md`, of all rooms that ask.

use super::CallError;

/// What there is to do where time alone can help.
const AGAIN: &str = "run the same command again to go on";
/// What there is to do about a reply of which the code says no more than that it is none.
const LOOK: &str = "look at one of the replies (`blobs/` of the run folder has it, under the `body` of its outcome in the ledger), and \
                    check the address and the request in the spec";
/// The same where another form or another model may give one.
const FORM: &str =
    "write another form of `structured` in the spec, or take another model; of a program, look at what it writes";

/// What to do about whoever gave nothing else, by what its last attempt came to.
#[must_use]
pub fn remedy(code: &str) -> &'static str {
    of_call(code).or_else(|| of_reply(code)).unwrap_or(AGAIN)
}

/// Nothing came that is a reply.
fn of_call(code: &str) -> Option<&'static str> {
    Some(match code {
        "connect-failed" | "reply-cut" | "no-connection" => {
            "see that it runs and is reachable, then run the same command again to go on"
        }
        "timed-out" | "timeout" => {
            "see that it runs and is reachable, or raise `timeout_seconds` in the spec; then run the same command again to go on"
        }
        "proxy-failed" => {
            "see that the proxy runs that HTTPS_PROXY, HTTP_PROXY or ALL_PROXY names, and that it lets this host through; or name the \
             host in NO_PROXY; then run the same command again to go on"
        }
        "server-timeout" | "conflict" | "server-error" | "server-unavailable" | "unexpected-status" | "not-ready" => {
            "it is there and in trouble: see what it says itself, then run the same command again to go on"
        }
        "rate-limited" => {
            "set `concurrency` and `rate_limit` below what the account and the server allow, then run the same command again to go on"
        }
        "program-failed" | "pipe-broken" => "run the program by hand on one question, and see what it says",
        "reply-too-large" => "see what it sends: it is more than is read of any reply",
        "key-in-answer" => "see that it is given no key in what it reads: its replies spell one",
        _ if CallError::is_not_sent(code) => AGAIN,
        _ => return None,
    })
}

/// A reply came, and holds nothing that counts.
fn of_reply(code: &str) -> Option<&'static str> {
    Some(match code {
        "empty-body" => "see why it sends nothing, and check the address in the spec",
        "cut-by-length" | "reasoning-only" => {
            "raise `max_tokens` (or what the spec has in its place), so that a whole answer has room; a deployed system has a limit of \
             its own"
        }
        "answer-malformed" | "judgment-not-labels" | "judgment-pair-missing" | "judgment-pair-unasked" => FORM,
        "answer-too-long" => "raise `max_answer_bytes` in the spec, or ask for shorter answers",
        "no-text" => "it calls a tool in place of an answer: take its tools away, or take another model",
        "judge-refused" => "it will not judge these answers: take another judge",
        "vectors-missing" | "vectors-of-several-lengths" | "no-vector" => {
            "see that the address in the spec is that of an embedder, and that it gives one vector for each text"
        }
        "not-utf8" | "not-json" | "error-in-body" | "no-choices" | "not-finished" | "empty-content"
        | "answer-empty" | "partial-reply" | "stream-cut" | "not-ok" | "no-answer" | "no-items" | "item-without-id"
        | "item-without-text" | "item-undecodable" | "columns-differ" => LOOK,
        _ => return None,
    })
}

/// Whether a server that replied like this, with this reason where the reply was not accepted, has done what it is paid for: it
/// then says how many tokens it used, or never does. A refusal (4xx) was not served, nor was what is an error within a success.
#[must_use]
pub fn is_served(status: Option<u16>, reason: Option<&str>) -> bool {
    status.is_some_and(|status| (200..300).contains(&status)) && reason.is_none_or(is_written)
}

/// Whether a model wrote what came, whatever it is worth.
fn is_written(code: &str) -> bool {
    matches!(
        code,
        "cut-by-length"
            | "reasoning-only"
            | "not-finished"
            | "no-text"
            | "empty-content"
            | "no-answer"
            | "answer-malformed"
            | "answer-empty"
            | "answer-too-long"
            | "judgment-not-labels"
            | "judgment-pair-missing"
            | "judgment-pair-unasked"
            | "judge-refused"
            | "vectors-missing"
            | "vectors-of-several-lengths"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// The codes of the page that are no answer and may pass.
    fn invalid() -> BTreeSet<&'static str> {
        let page = include_str!("../../docs/outcomes.md");
        let rows = page.lines().filter_map(|line| line.strip_suffix("` |")?.split_once(" | invalid | `"));
        rows.map(|(_, code)| code).collect()
    }

    /// Codes without a reply of whoever was asked, or with one that says that it will do better.
    const FOR_WANT_OF_A_REPLY: [&str; 14] = [
        "conflict",
        "connect-failed",
        "no-connection",
        "not-ready",
        "not-sent",
        "proxy-failed",
        "rate-limited",
        "reply-cut",
        "server-error",
        "server-timeout",
        "server-unavailable",
        "timed-out",
        "timeout",
        "unexpected-status",
    ];

    #[test]
    fn every_code_that_may_pass_has_a_remedy_and_only_the_want_of_a_reply_is_waited_for() {
        let codes = invalid();
        assert!(codes.len() > 40, "{codes:?}");
        for code in &codes {
            assert!(of_call(code).is_some() != of_reply(code).is_some(), "`{code}` has no remedy, or two");
            let waits = remedy(code).contains("run the same command again");
            assert_eq!(waits, FOR_WANT_OF_A_REPLY.contains(code), "`{code}`: {}", remedy(code));
        }
        let reachable: Vec<&str> = codes.into_iter().filter(|code| remedy(code).contains("reachable")).collect();
        assert_eq!(reachable, ["connect-failed", "no-connection", "reply-cut", "timed-out", "timeout"]);
    }

    #[test]
    fn what_a_model_wrote_is_paid_for_and_errors_are_not() {
        let codes = invalid();
        for (status, reason, is) in [
            (Some(200), None, true),
            (Some(299), Some("cut-by-length"), true),
            (Some(200), Some("error-in-body"), false),
            (Some(200), Some("not-json"), false),
            (Some(400), None, false),
            (Some(500), Some("server-error"), false),
            (None, None, false),
        ] {
            assert_eq!(is_served(status, reason), is, "{status:?} {reason:?}");
            assert!(reason.is_none_or(|reason| codes.contains(reason)), "{reason:?}");
        }
        for code in codes.into_iter().filter(|code| is_written(code)) {
            assert!(of_reply(code).is_some(), "`{code}` is no reply");
        }
    }
}
