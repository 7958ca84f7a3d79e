//! How an audit went: attempts, retries, invalid cells, tokens, time; and which records there are, by kind.

use super::collect::Collected;
use super::conduct::Answering;
use crate::freeze::Protocol;
use crate::http::{CallError, is_served};
use crate::ledger::record::{
    AnswersRecord, Attempt, EvidenceRecord, JudgmentsRecord, Outcome, Record, Usage, VectorsRecord, Verdict,
};
use crate::model::{Digest, SnapshotName};
use crate::report::{ChangedModel, Conduct, Kind, Ledger, ModelReplies, RunRecord, Validity};
use std::collections::{BTreeMap, BTreeSet};

/// The records of one kind in one ledger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    /// How many.
    pub count: u64,
    /// The number of the first.
    pub first: u64,
    /// The number of the last.
    pub last: u64,
}

/// Counts over the records of a run, taken while they are read for the figures.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Records by ledger and kind.
    pub spans: BTreeMap<(Ledger, Kind), Span>,
    made: u64,
    not_sent: u64,
    retries: BTreeMap<String, u64>,
    usage: Usage,
    /// Tokens of calls that had no price.
    unpriced: u64,
    /// Replies that were served and do not say how many tokens they took.
    untold: u64,
    first_ms: Option<u64>,
    last_ms: u64,
    /// When the attempts began whose outcome was not read yet.
    started: BTreeMap<(Ledger, u64), u64>,
    /// Of the generator, by snapshot.
    served: BTreeMap<SnapshotName, Models>,
    /// Of all other servers, by what a result calls them.
    others: BTreeMap<&'static str, Models>,
    /// How answers came to be, in time.
    pub answering: Answering,
}

/// The models that accepted replies name.
#[derive(Debug, Default)]
struct Models {
    /// How many replies name each.
    named: BTreeMap<String, u64>,
    /// How many replies name none.
    unnamed: u64,
}

impl Models {
    fn take(&mut self, model: Option<&String>) {
        match model.map(|model| self.named.get_mut(model).ok_or(model)) {
            Some(Ok(count)) => *count += 1,
            Some(Err(model)) => drop(self.named.insert(model.clone(), 1)),
            None => self.unnamed += 1,
        }
    }
}

impl Tally {
    /// Takes a record of the vectors: calls to an embedder are paid for as others are.
    pub(super) fn vectors(&mut self, seq: u64, record: &VectorsRecord) {
        self.take(Ledger::Vectors, seq, record);
    }

    /// Takes a record of the evidence. Retrieval is no call of the budget and has no retries in a report.
    pub(super) fn evidence(&mut self, seq: u64, record: &EvidenceRecord) {
        self.span(Ledger::Evidence, seq, record);
    }

    /// Takes a record of the answers.
    pub(super) fn answers(&mut self, seq: u64, record: &AnswersRecord) {
        self.take(Ledger::Answers, seq, record);
        self.answering.take(record);
        if let Record::Outcome(Outcome { of, served_model, verdict: Verdict::Accepted(_), .. }) = record {
            self.served.entry(of.snapshot.clone()).or_default().take(served_model.as_ref());
        }
    }

    /// Takes a record of the judgments.
    pub(super) fn judgments(&mut self, seq: u64, record: &JudgmentsRecord) {
        self.take(Ledger::Judgments, seq, record);
    }

    /// Takes a record of a diagnosis. Its calls are calls of the run.
    pub(super) fn side<K, A, N>(&mut self, ledger: Ledger, seq: u64, record: &Record<K, A, N>) {
        self.take(ledger, seq, record);
    }

    fn take<K, A, N>(&mut self, ledger: Ledger, seq: u64, record: &Record<K, A, N>) {
        self.span(ledger, seq, record);
        match record {
            Record::Attempt(Attempt { at_ms, .. }) => {
                self.started.insert((ledger, seq), *at_ms);
            }
            Record::Outcome(outcome) => self.outcome(ledger, outcome),
            Record::Note(_) => {}
        }
        let is_untold = record.without_usage().is_some_and(|(status, reason)| is_served(status, reason));
        self.untold += u64::from(is_untold);
    }

    fn span<K, A, N>(&mut self, ledger: Ledger, seq: u64, record: &Record<K, A, N>) {
        let kind = match record {
            Record::Attempt(_) => Kind::Attempts,
            Record::Outcome(Outcome { verdict: Verdict::Accepted(_), .. }) => Kind::Accepted,
            Record::Outcome(_) => Kind::NotAccepted,
            Record::Note(_) => Kind::Notes,
        };
        let span = self.spans.entry((ledger, kind)).or_insert(Span { count: 0, first: seq, last: seq });
        span.count += 1;
        span.last = seq;
    }

    fn outcome<K, A>(&mut self, ledger: Ledger, outcome: &Outcome<K, A>) {
        if let (Verdict::Accepted(_), Some(server)) = (&outcome.verdict, server(ledger)) {
            self.others.entry(server).or_default().take(outcome.served_model.as_ref());
        }
        let started = self.started.remove(&(ledger, outcome.attempt));
        if was_not_sent(&outcome.verdict) {
            self.not_sent += 1;
            return;
        }
        if let Some(reason) = outcome.verdict.reason() {
            *self.retries.entry(reason.to_owned()).or_default() += 1;
        }
        if let Some(usage) = outcome.usage {
            // What a server says of itself may be any number.
            self.usage.input = self.usage.input.saturating_add(usage.input);
            self.usage.output = self.usage.output.saturating_add(usage.output);
            match usage.nano_usd {
                Some(cost) => self.usage.nano_usd = Some(self.usage.nano_usd.unwrap_or(0).saturating_add(cost)),
                None => self.unpriced = self.unpriced.saturating_add(usage.amount(None).tokens),
            }
        }
        if let Some(started) = started {
            self.made += 1;
            self.first_ms = Some(self.first_ms.map_or(started, |first| first.min(started)));
            self.last_ms = self.last_ms.max(started.saturating_add(outcome.latency_ms));
        }
    }

    /// What two runs of one protocol do not share.
    pub(super) fn record(&self, heads: Vec<(String, Digest)>, conduct: Vec<Conduct>, replayed: bool) -> RunRecord {
        // Of an attempt without an outcome nobody knows whether its call was made: it may have been paid for.
        let interrupted = self.started.len() as u64;
        let first_ms = self.started.values().copied().chain(self.first_ms).min();
        RunRecord {
            heads,
            attempts: self.made + interrupted,
            retries: self.retries.clone().into_iter().collect(),
            not_sent: Some(self.not_sent),
            tokens: (self.usage.input, self.usage.output),
            nano_usd: self.usage.nano_usd,
            unpriced: self.usage.nano_usd.map(|_| self.unpriced).filter(|tokens| *tokens > 0),
            untold: Some(self.untold).filter(|replies| *replies > 0),
            unended: Some(interrupted).filter(|attempts| *attempts > 0),
            conduct: Some(conduct),
            replayed: Some(replayed),
            duration_ms: self.last_ms.saturating_sub(first_ms.unwrap_or(self.last_ms)),
        }
    }
}

/// Whether no call followed an attempt: the audit, or its recording, came to an end before.
fn was_not_sent<A>(verdict: &Verdict<A>) -> bool {
    verdict.reason().is_some_and(CallError::is_not_sent)
}

/// Whose replies a ledger holds; nothing where they are the generator's, or of retrieval.
const fn server(ledger: Ledger) -> Option<&'static str> {
    match ledger {
        Ledger::Vectors => Some(Validity::EMBEDDER),
        Ledger::Judgments | Ledger::Again | Ledger::ReplicaJudgments => Some(Validity::JUDGE),
        Ledger::Second => Some(Validity::SECOND_JUDGE),
        Ledger::ReplicaAnswers => Some(Validity::SECOND_GENERATOR),
        Ledger::Evidence | Ledger::Answers => None,
    }
}

/// What holds for the answers: two runs of one protocol share it.
pub(super) fn validity(protocol: &Protocol, collected: &Collected) -> Validity {
    let asked = collected.questions - collected.unchanged;
    let cells = asked * u64::from(protocol.spec.generate.repeats);
    let names = || protocol.snapshots.iter().map(|snapshot| &snapshot.name);
    let accepted = |name: &SnapshotName| collected.accepted.get(name).copied().unwrap_or(0);
    Validity {
        cells: cells * protocol.snapshots.len() as u64,
        accepted: names().map(|name| (name.to_string(), accepted(name))).collect(),
        invalid: names().map(|name| (name.to_string(), cells.saturating_sub(accepted(name)))).collect(),
        excluded_questions: collected.excluded,
        packets: collected.packets,
        mismatched_evidence: collected.mismatched,
        served_models: named(&collected.tally),
        unnamed_models: unnamed(&collected.tally, protocol.spec.retrieve.is_within()),
        changed_models: changed(&collected.tally, protocol.spec.retrieve.is_within()),
    }
}

/// The models by snapshot, then those of the embedder and of the judge. Those of diagnoses stand beside their figures.
fn named(tally: &Tally) -> Vec<(String, Vec<String>)> {
    let served = tally.served.iter().map(|(name, models)| (name.0.as_str(), models));
    let others = [Validity::EMBEDDER, Validity::JUDGE].into_iter();
    let all = served.chain(others.filter_map(|name| Some((name, tally.others.get(name)?))));
    all.filter(|(_, models)| !models.named.is_empty())
        .map(|(name, models)| (name.to_owned(), models.named.keys().cloned().collect()))
        .collect()
}

/// The replies that name no model, of servers that name one elsewhere. Deployed systems are each a server of their own; else one
/// generator answers for all snapshots.
fn unnamed(tally: &Tally, deployed: bool) -> Vec<(String, u64)> {
    let names_one = |models: &Models| !models.named.is_empty();
    let mut found: Vec<(&str, u64)> = Vec::new();
    if deployed {
        let named = tally.served.iter().filter(|(_, models)| names_one(models));
        found.extend(named.map(|(name, models)| (name.0.as_str(), models.unnamed)));
    } else if tally.served.values().any(names_one) {
        found.push((Validity::GENERATOR, tally.served.values().map(|models| models.unnamed).sum()));
    }
    let others = tally.others.iter().filter(|(_, models)| names_one(models));
    found.extend(others.map(|(name, models)| (*name, models.unnamed)));
    found.into_iter().filter(|(_, count)| *count > 0).map(|(name, count)| (name.to_owned(), count)).collect()
}

/// The servers that named several models: one generator of all snapshots, or any deployed system of a black box, which may each serve
/// a model of its own; then all others but the embedder, whose model never changes.
fn changed(tally: &Tally, deployed: bool) -> Vec<ChangedModel> {
    let models: BTreeSet<&String> = tally.served.values().flat_map(|models| models.named.keys()).collect();
    let is_mixed = |models: &Models| models.named.len() > 1;
    let is_changed = if deployed { tally.served.values().any(is_mixed) } else { models.len() > 1 };
    let by_snapshot = |model: &String| -> Vec<(String, u64)> {
        let of = |(name, models): (&SnapshotName, &Models)| Some((name.to_string(), *models.named.get(model)?));
        tally.served.iter().filter_map(of).collect()
    };
    let generator = models.into_iter().map(|model| {
        let snapshots = by_snapshot(model);
        ModelReplies { model: model.clone(), replies: snapshots.iter().map(|(_, count)| count).sum(), snapshots }
    });
    let generator = ChangedModel { server: Validity::GENERATOR.to_owned(), models: generator.collect() };
    let others = tally.others.iter().filter(|(name, models)| **name != Validity::EMBEDDER && is_mixed(models));
    let others = others.map(|(name, models)| {
        let replies = |(model, count): (&String, &u64)| ModelReplies {
            model: model.clone(),
            replies: *count,
            snapshots: Vec::new(),
        };
        ChangedModel { server: (*name).to_owned(), models: models.named.iter().map(replies).collect() }
    });
    Some(generator).filter(|_| is_changed).into_iter().chain(others).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::record::AcceptedJudgment;
    use crate::model::QuestionId;

    #[test]
    fn attempts_that_no_call_followed_are_no_calls_no_retries_and_take_no_time() {
        let of = || QuestionId("q".to_owned());
        let attempt = |at_ms| JudgmentsRecord::Attempt(Attempt { of: of(), request: Digest::of(b"r"), at_ms });
        let outcome = |attempt, verdict| {
            JudgmentsRecord::Outcome(Outcome {
                attempt,
                of: of(),
                verdict,
                status: None,
                served_model: None,
                fingerprint: None,
                response_id: None,
                usage: None,
                latency_ms: 5,
                body: None,
            })
        };
        let invalid = |code: &str| Verdict::Invalid(code.to_owned());
        let fatal = |code: &str| Verdict::Fatal(code.to_owned());
        let mut tally = Tally::default();
        let records = [
            attempt(10),
            outcome(0, invalid("not-sent")),
            attempt(20),
            outcome(2, invalid("timed-out")),
            attempt(30),
            outcome(4, fatal("not-recorded")),
            attempt(40),
            outcome(6, fatal("key-refused")),
            attempt(900),
        ];
        for (seq, record) in records.iter().enumerate() {
            tally.judgments(seq as u64, record);
        }
        let record = tally.record(Vec::new(), Vec::new(), false);
        assert_eq!((record.attempts, record.not_sent), (3, Some(2)), "one has no outcome and may have been made");
        assert_eq!(record.retries, [("key-refused".to_owned(), 1), ("timed-out".to_owned(), 1)]);
        assert_eq!(record.duration_ms, 25);
        assert_eq!((record.untold, record.unended), (None, Some(1)), "what was not served took nothing");
    }

    #[test]
    fn replies_that_were_served_and_do_not_say_what_they_took_are_counted_whatever_they_are_worth() {
        let usage = Some(Usage { input: 3, output: 1, cached: 0, nano_usd: None });
        let invalid = |code: &str| Verdict::Invalid(code.to_owned());
        let mut tally = Tally::default();
        for (seq, (status, verdict, usage)) in (0_u64..).zip([
            (Some(200), Verdict::Accepted(AcceptedJudgment { pairs: Vec::new() }), None),
            (Some(200), Verdict::Accepted(AcceptedJudgment { pairs: Vec::new() }), usage),
            (Some(200), invalid("cut-by-length"), None),
            (Some(200), invalid("cut-by-length"), usage),
            (Some(200), invalid("error-in-body"), None),
            (Some(500), invalid("server-error"), None),
            (None, invalid("timed-out"), None),
            (None, Verdict::Accepted(AcceptedJudgment { pairs: Vec::new() }), None),
        ]) {
            let of = QuestionId("q".to_owned());
            let (served_model, fingerprint, response_id, body) = (None, None, None, None);
            let latency_ms = 5;
            let outcome = Outcome {
                attempt: seq,
                of,
                verdict,
                status,
                served_model,
                fingerprint,
                response_id,
                usage,
                latency_ms,
                body,
            };
            tally.judgments(seq, &JudgmentsRecord::Outcome(outcome));
        }
        let record = tally.record(Vec::new(), Vec::new(), false);
        assert_eq!((record.tokens, record.untold, record.unended), ((6, 2), Some(2), None));
    }

    fn models(named: &[&str], unnamed: u64) -> Models {
        Models { named: named.iter().map(|name| ((*name).to_owned(), 2)).collect(), unnamed }
    }

    #[test]
    fn the_models_of_the_judge_come_last_and_only_where_it_named_any() {
        let mut tally = Tally::default();
        for name in [SnapshotName::old(), SnapshotName::new_snapshot()] {
            tally.served.insert(name, models(&["m-1"], 0));
        }
        tally.others.insert(Validity::JUDGE, models(&[], 3));
        tally.others.insert(Validity::SECOND_JUDGE, models(&["j-2"], 0));
        let names = |tally: &Tally| named(tally).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
        assert_eq!(names(&tally), ["new", "old"]);
        tally.others.insert(Validity::JUDGE, models(&["j-1"], 0));
        assert_eq!(names(&tally), ["new", "old", "judge"]);
        tally.others.insert(Validity::EMBEDDER, models(&["e-1"], 0));
        assert_eq!(names(&tally), ["new", "old", "embedder", "judge"]);
        assert_eq!(named(&tally)[3].1, ["j-1"]);
    }

    #[test]
    fn replies_without_a_model_count_where_others_of_the_same_server_name_one() {
        let others =
            [Validity::EMBEDDER, Validity::JUDGE, Validity::SECOND_GENERATOR, Validity::SECOND_JUDGE].into_iter();
        let mut tally = Tally::default();
        tally.served.insert(SnapshotName::old(), models(&[], 3));
        tally.served.insert(SnapshotName::new_snapshot(), models(&[], 4));
        tally.others = others.clone().zip(5..).map(|(name, unnamed)| (name, models(&[], unnamed))).collect();
        assert!(unnamed(&tally, false).is_empty() && unnamed(&tally, true).is_empty(), "nobody names a model");
        tally.served.insert(SnapshotName::new_snapshot(), models(&["m-1"], 4));
        assert_eq!(unnamed(&tally, false), [("generator".to_owned(), 7)]);
        assert_eq!(unnamed(&tally, true), [("new".to_owned(), 4)], "the old system names none anywhere");
        for name in others {
            tally.others.entry(name).or_default().named.insert("m-2".to_owned(), 1);
        }
        let told = [("embedder", 5), ("judge", 6), ("second generator", 7), ("second judge", 8)];
        assert_eq!(unnamed(&tally, true)[1..], told.map(|(name, count)| (name.to_owned(), count)));
        tally.served.clear();
        tally.others.values_mut().for_each(|models| models.unnamed = 0);
        assert!(unnamed(&tally, false).is_empty(), "all of them name one");
    }

    #[test]
    fn models_that_change_are_counted_by_snapshot_and_those_of_a_black_box_may_differ_between_systems() {
        let mut tally = Tally::default();
        tally.served.insert(SnapshotName::old(), models(&["m-1"], 0));
        tally.served.insert(SnapshotName::new_snapshot(), models(&["m-2"], 1));
        tally.others.insert(Validity::JUDGE, models(&["j-1"], 0));
        assert!(changed(&tally, true).is_empty(), "each system has one");
        let of = |name: &str, count| (name.to_owned(), count);
        let one = |model: &str, replies, snapshots: Vec<(String, u64)>| {
            let model = model.to_owned();
            ModelReplies { model, replies, snapshots }
        };
        let said = |server: &str, models| {
            let server = server.to_owned();
            ChangedModel { server, models }
        };
        let generator = vec![one("m-1", 2, vec![of("old", 2)]), one("m-2", 2, vec![of("new", 2)])];
        assert_eq!(changed(&tally, false), [said("generator", generator)]);
        let counts = tally.served.entry(SnapshotName::new_snapshot()).or_default();
        counts.take(Some(&"m-1".to_owned()));
        counts.take(Some(&"m-2".to_owned()));
        tally.others.insert(Validity::JUDGE, models(&["j-1", "j-2"], 0));
        tally.others.insert(Validity::EMBEDDER, models(&["e-1", "e-2"], 0));
        let generator = vec![one("m-1", 3, vec![of("new", 1), of("old", 2)]), one("m-2", 3, vec![of("new", 3)])];
        let judge = vec![one("j-1", 2, Vec::new()), one("j-2", 2, Vec::new())];
        assert_eq!(changed(&tally, true), [said("generator", generator), said("judge", judge)]);
    }
}
