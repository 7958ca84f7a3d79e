//! Attempts and outcomes as the ledger wants them.

use crate::http::CallError;
use crate::http::chat::{Facts, Tokens};
use crate::ledger::record::{AcceptedJudgment, Attempt, JudgmentsRecord, Outcome, Record, Usage, Verdict};
use crate::model::{Digest, QuestionId};
use jiff::Timestamp;
use std::time::Duration;

/// The record that precedes a call.
#[must_use]
pub fn attempt(of: &QuestionId, request: Digest) -> JudgmentsRecord {
    let at_ms = u64::try_from(Timestamp::now().as_millisecond()).unwrap_or_default();
    Record::Attempt(Attempt { of: of.clone(), request, at_ms })
}

/// What an attempt came to.
#[derive(Debug)]
pub struct JudgmentOutcome {
    /// The `seq` of the attempt.
    pub attempt: u64,
    /// What it counts as.
    pub verdict: Verdict<AcceptedJudgment>,
    /// What a server says about itself.
    pub facts: Facts,
    /// From the call's start to its end.
    pub latency: Duration,
    /// The digest of the raw body, where there was one.
    pub body: Option<Digest>,
}

impl JudgmentOutcome {
    /// The audit ended before the call was made.
    #[must_use]
    pub fn not_sent(attempt: u64) -> Self {
        let verdict = Verdict::Invalid(CallError::NotSent.code().to_owned());
        Self { attempt, verdict, facts: Facts::default(), latency: Duration::ZERO, body: None }
    }

    /// The record that follows a call.
    #[must_use]
    pub fn record(self, of: &QuestionId) -> JudgmentsRecord {
        let Self { attempt, verdict, facts, latency, body } = self;
        let Facts { status, served_model, fingerprint, response_id, tokens, nano_usd, hold: _ } = facts;
        let usage = tokens.map(|Tokens { input, output, cached }| Usage { input, output, cached, nano_usd });
        let latency_ms = u64::try_from(latency.as_millis()).unwrap_or(u64::MAX);
        let of = of.clone();
        let outcome =
            Outcome { attempt, of, verdict, status, served_model, fingerprint, response_id, usage, latency_ms, body };
        Record::Outcome(outcome)
    }
}
