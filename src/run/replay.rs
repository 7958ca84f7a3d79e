//! Runs whose servers' replies are read from a recording: kept apart from audits that ask servers, in a folder of their own
//! and by the header of every ledger.

use crate::http::{CallError, Context, Tape, Unit};
use crate::ledger::record::{Outcome, Record, Verdict};
use crate::ledger::stage::{Again, Answers, Evidence, Judgments, ReplicaAnswers, ReplicaJudgments, Second, Stage};
use crate::ledger::{self, LedgerError, Recorded, RunFolder};
use crate::model::{Cell, Failure, QuestionId};
use camino::Utf8Path;
use std::collections::HashMap;

/// The folder's name of a replay.
pub(super) fn folder(name: &str) -> String {
    format!("{name}.replay")
}

/// Opens the folder of a run or of a replay.
pub(super) fn open(path: &Utf8Path, replay: bool) -> Result<RunFolder, LedgerError> {
    if replay { RunFolder::open_replay(path) } else { RunFolder::open(path) }
}

/// What retrieved, and that it was a replay where it was one.
pub(super) fn described(retriever: String, replayed: bool) -> String {
    if replayed { format!("{retriever}, replayed from a recording") } else { retriever }
}

/// Passes over the replies that an earlier process of this replay has had: each outcome on record took one.
pub(super) fn pass_over(folder: &RunFolder, context: &Context) -> Result<(), Failure> {
    let Some(tape) = context.client.tape().filter(|tape| tape.replays()) else { return Ok(()) };
    let path = folder.path();
    skip::<Evidence, _, _, _>(path, tape, |key| Unit::evidence(&key.question, &key.snapshot, key.pass))?;
    skip_answers::<Answers, _, _>(path, tape)?;
    skip_judgments::<Judgments, _, _>(path, tape)?;
    skip_judgments::<Again, _, _>(path, tape)?;
    skip_judgments::<Second, _, _>(path, tape)?;
    skip_answers::<ReplicaAnswers, _, _>(path, tape)?;
    skip_judgments::<ReplicaJudgments, _, _>(path, tape)
}

fn skip_answers<S, A, N>(folder: &Utf8Path, tape: &dyn Tape) -> Result<(), Failure>
where
    S: Recorded + Stage<Record = Record<Cell, A, N>>,
{
    skip::<S, _, _, _>(folder, tape, |cell| Unit::answer(S::NAME, cell))
}

fn skip_judgments<S, A, N>(folder: &Utf8Path, tape: &dyn Tape) -> Result<(), Failure>
where
    S: Recorded + Stage<Record = Record<QuestionId, A, N>>,
{
    skip::<S, _, _, _>(folder, tape, |question| Unit::judgment(S::NAME, question))
}

fn skip<S, K, A, N>(folder: &Utf8Path, tape: &dyn Tape, unit: impl Fn(&K) -> Unit) -> Result<(), Failure>
where
    S: Recorded + Stage<Record = Record<K, A, N>>,
{
    if folder.join(S::FILE).symlink_metadata().map_or(true, |file| file.len() == 0) {
        return Ok(());
    }
    let mut replies: HashMap<Unit, u64> = HashMap::new();
    for record in ledger::read::<S>(folder)? {
        // Where the recording had no reply, none was taken from it: it may have one by now. Nor was any for a call whose turn
        // never came.
        let missed = |verdict: &Verdict<A>| match verdict {
            Verdict::Fatal(reason) => reason == CallError::NotRecorded.code(),
            Verdict::Invalid(reason) => reason == CallError::NotSent.code(),
            Verdict::Accepted(_) => false,
        };
        match record?.1 {
            Record::Outcome(Outcome { of, verdict, .. }) if !missed(&verdict) => {
                *replies.entry(unit(&of)).or_default() += 1;
            }
            _ => {}
        }
    }
    #[expect(clippy::iter_over_hash_type, reason = "each unit has its own replies, in whatever order they are told")]
    for (unit, replies) in &replies {
        tape.skip(unit, *replies);
    }
    Ok(())
}
