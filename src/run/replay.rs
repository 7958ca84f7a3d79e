//! Runs whose servers' replies are read from a recording: kept apart from audits that ask servers, in a folder of their own
//! and by the header of every ledger.

use crate::freeze::Protocol;
use crate::http::{CallError, Context, Tape, Unit};
use crate::ledger::record::{Outcome, Record, Verdict};
use crate::ledger::stage::{
    Again, Answers, Evidence, Judgments, ReplicaAnswers, ReplicaJudgments, Second, Stage, Vectors,
};
use crate::ledger::{self, LedgerError, Recorded, RunFolder};
use crate::model::{Cell, Failure, FailureClass, QuestionId};
use crate::spec::{BlackBoxBackend, EmbedBackend, GenerateBackend, JudgeBackend, RetrieveBackend};
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

/// Tells the tape what earlier processes of this run have had: a replay passes over those replies, each outcome on record having taken
/// one; and a recording must hold them, or it would be none of this run.
///
/// # Errors
/// The recording lacks some: class [`FailureClass::Usage`]. A ledger is damaged.
pub(super) fn take_up(protocol: &Protocol, folder: &RunFolder, context: &Context) -> Result<(), Failure> {
    let Some(tape) = context.client.tape() else { return Ok(()) };
    let (spec, mut had) = (&protocol.spec, Had { path: folder.path(), tape, lacks: false });
    let asks = |judge: &JudgeBackend| matches!(judge, JudgeBackend::Model(_));
    if !tape.replays()
        && spec.retrieve.embed.as_ref().is_some_and(|embed| matches!(embed.backend, EmbedBackend::OpenAi(_)))
    {
        had.of::<Vectors, _, _, _>(|_| Unit::default())?;
    }
    if matches!(spec.retrieve.backend, RetrieveBackend::Http(_)) {
        had.of::<Evidence, _, _, _>(|key| Unit::evidence(&key.question, &key.snapshot, key.pass))?;
    }
    if calls_servers(&spec.generate.backend) {
        had.answers::<Answers, _, _>()?;
    }
    if asks(&spec.judge.backend) {
        had.judgments::<Judgments, _, _>()?;
        had.judgments::<Again, _, _>()?;
        had.judgments::<ReplicaJudgments, _, _>()?;
    }
    if spec.judge.second.as_ref().is_some_and(|second| asks(&second.backend)) {
        had.judgments::<Second, _, _>()?;
    }
    if spec.replicate.as_ref().is_some_and(|replica| calls_servers(&replica.backend)) {
        had.answers::<ReplicaAnswers, _, _>()?;
    }
    if had.lacks { Err(unrecorded(folder.path())) } else { Ok(()) }
}

/// Programs and the embedded reader are no HTTP: no tape knows of them.
fn calls_servers(generator: &GenerateBackend) -> bool {
    match generator {
        GenerateBackend::Model(_) => true,
        GenerateBackend::BlackBox(system) => matches!(system.backend, BlackBoxBackend::Http(_)),
        GenerateBackend::Reader(_) | GenerateBackend::Command(_) => false,
    }
}

fn unrecorded(run: &Utf8Path) -> Failure {
    let message = format!("the recording lacks replies that the run `{run}` has had: they are not asked for again");
    Failure::new(FailureClass::Usage, message).with_hint(format!(
        "remove the run folder `{run}`, or name another folder of runs with `--runs`, and record into a fresh folder; without \
         `--record` the run goes on as it is"
    ))
}

/// The replies that earlier processes have had, ledger by ledger.
struct Had<'a> {
    path: &'a Utf8Path,
    tape: &'a dyn Tape,
    /// Whether a recording lacks any of them.
    lacks: bool,
}

impl Had<'_> {
    fn answers<S, A, N>(&mut self) -> Result<(), Failure>
    where
        S: Recorded + Stage<Record = Record<Cell, A, N>>,
    {
        self.of::<S, _, _, _>(|cell| Unit::answer(S::NAME, cell))
    }

    fn judgments<S, A, N>(&mut self) -> Result<(), Failure>
    where
        S: Recorded + Stage<Record = Record<QuestionId, A, N>>,
    {
        self.of::<S, _, _, _>(|question| Unit::judgment(S::NAME, question))
    }

    fn of<S, K, A, N>(&mut self, unit: impl Fn(&K) -> Unit) -> Result<(), Failure>
    where
        S: Recorded + Stage<Record = Record<K, A, N>>,
    {
        if self.path.join(S::FILE).symlink_metadata().map_or(true, |file| file.len() == 0) {
            return Ok(());
        }
        let mut replies: HashMap<Unit, u64> = HashMap::new();
        for record in ledger::read::<S>(self.path)? {
            if let Record::Outcome(Outcome { of, verdict, .. }) = record?.1
                && took_reply(&verdict)
            {
                *replies.entry(unit(&of)).or_default() += 1;
            }
        }
        #[expect(
            clippy::iter_over_hash_type,
            reason = "each unit has its own replies, in whatever order they are told"
        )]
        for (unit, replies) in &replies {
            if self.tape.replays() {
                self.tape.skip(unit, *replies);
            } else {
                self.lacks |= self.tape.lacks(unit, *replies);
            }
        }
        Ok(())
    }
}

/// Where a recording had no reply, none was taken from it: it may have one by now. Nor was any for a call whose turn never came, or
/// that was not made because it could not be recorded.
fn took_reply<A>(verdict: &Verdict<A>) -> bool {
    match verdict {
        Verdict::Fatal(reason) | Verdict::Invalid(reason) => !CallError::is_not_sent(reason),
        Verdict::Accepted(_) => true,
    }
}
