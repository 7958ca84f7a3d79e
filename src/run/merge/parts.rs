//! The shards as they are found: each verified, all of one audit, none missing and none twice.

use super::origin::{self, Origin};
use super::shard::{self, Shard};
use super::{Locks, RESULT, conclusion, shard_stages, usage};
use crate::freeze::{self, Protocol};
use crate::ledger::record::Record;
use crate::ledger::{self, BlobCheck, Verification, stage};
use crate::model::{Digest, Failure, FailureClass, QuestionId};
use crate::retrieve;
use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// One verified shard.
#[derive(Debug)]
pub(super) struct Part {
    pub folder: Utf8PathBuf,
    pub shard: Shard,
    /// The protocol of the whole.
    pub protocol: Protocol,
    verification: Verification,
}

/// What is kept of a shard: which one it was, and the names of its ledgers.
#[derive(Debug, Serialize)]
pub(super) struct Heads {
    part: Shard,
    evidence: Option<Digest>,
    answers: Option<Digest>,
    judgments: Option<Digest>,
    /// The ledgers of diagnostics, by name.
    #[serde(flatten)]
    side: BTreeMap<&'static str, Option<Digest>>,
}

impl Part {
    fn open(folder: &Utf8Path) -> Result<Self, Failure> {
        let finished = shard::read(folder)?.ok_or_else(|| no_shard(folder))?;
        let named = |failure: Failure| Failure {
            message: format!("shard {}, `{folder}`: {}", finished.part, failure.message),
            ..failure
        };
        let said = |error| named(conclusion::of_ledger(folder, error));
        let verification = ledger::verify(folder, BlobCheck::Present).map_err(said)?;
        if let Some(difference) = verification.difference {
            return Err(said(difference));
        }
        let protocol = freeze::load(folder).map_err(named)?;
        if protocol.digest != finished.protocol {
            let message = "it says that it is of another audit than its protocol's";
            return Err(named(Failure::new(FailureClass::Evidence, message)));
        }
        let locks = Locks::open(folder).map_err(named)?;
        finished.must_have(folder, &locks.heads()).map_err(named)?;
        let part = Self { folder: folder.to_owned(), shard: finished.part, protocol, verification };
        part.check_questions().map_err(named)?;
        part.check_stages(&locks).map_err(named)?;
        Ok(part)
    }

    /// Whether the ledgers are about this shard's questions, all of them and no other.
    fn check_questions(&self) -> Result<(), Failure> {
        let own = self.protocol.questions.get(self.shard.places(&self.protocol)?).unwrap_or_default();
        let own: BTreeSet<&QuestionId> = own.iter().map(|question| &question.id).collect();
        let found = questions(&self.folder)?;
        let wrong = |what: String| Err(Failure::new(FailureClass::Evidence, what));
        if let Some(foreign) = found.iter().find(|id| !own.contains(id)) {
            return wrong(format!("its ledgers hold question `{foreign}`, which is not of this shard"));
        }
        match own.iter().find(|id| !found.contains(**id)) {
            Some(lacking) => wrong(format!("its ledgers lack question `{lacking}`")),
            None => Ok(()),
        }
    }

    /// Whether its requests, packets and unchanged prompts follow from the protocol, as `verify` asks of every run.
    fn check_stages(&self, locks: &Locks) -> Result<(), Failure> {
        shard_stages(self.shard, locks).map(|_checked| ())
    }

    pub(super) fn heads(&self) -> Heads {
        let Verification { evidence, answers, judgments, side, .. } = &self.verification;
        Heads {
            part: self.shard,
            evidence: evidence.head,
            answers: answers.head,
            judgments: judgments.head,
            side: side.iter().map(|(name, report)| (*name, report.head)).collect(),
        }
    }
}

/// A folder that has not said which part it is. One with a result is a finished run: a joined one lies beside its shards, where a
/// pattern of the shell finds it as well.
fn no_shard(folder: &Utf8Path) -> Failure {
    let lies = |file: &str| folder.join(file).symlink_metadata().is_ok();
    let what = if lies(super::FILE) { "the run that shards were joined to" } else { "a finished run" };
    if lies(super::FILE) || lies(RESULT) {
        return usage(format!("`{folder}` is {what}, and no shard"))
            .with_hint("name the shards alone (`*.shard-*`); to join them anew remove that run, or name another folder with `--runs`");
    }
    unfinished(format!("`{folder}` is no finished shard"))
        .with_hint("name the folders that `churngate run --shard` made, once each has ended with exit code 0")
}

/// Every question that the evidence or the answers are about.
fn questions(folder: &Utf8Path) -> Result<BTreeSet<QuestionId>, Failure> {
    let mut found = BTreeSet::new();
    for record in ledger::read::<stage::Evidence>(folder)? {
        found.insert(match record?.1 {
            Record::Attempt(attempt) => attempt.of.question,
            Record::Outcome(outcome) => outcome.of.question,
            Record::Note(note) => note.question,
        });
    }
    for record in ledger::read::<stage::Answers>(folder)? {
        found.insert(match record?.1 {
            Record::Attempt(attempt) => attempt.of.question,
            Record::Outcome(outcome) => outcome.of.question,
            Record::Note(note) => note.question,
        });
    }
    Ok(found)
}

/// Opens all shards and puts them in order.
///
/// # Errors
/// They are not the shards of one audit, each once.
pub(super) fn whole(folders: &[Utf8PathBuf]) -> Result<Vec<Part>, Failure> {
    let mut parts = folders.iter().map(|folder| Part::open(folder)).collect::<Result<Vec<_>, _>>()?;
    parts.sort_by_key(|part| part.shard);
    let Some(first) = parts.first() else { return Err(usage("there are no shards to merge")) };
    if let Some(other) = parts.iter().find(|part| part.shard.of() != first.shard.of()) {
        return Err(usage(format!(
            "`{}` is shard {}, and `{}` is shard {}: they were cut differently",
            first.folder, first.shard, other.folder, other.shard
        )));
    }
    if let Some(other) = parts.iter().find(|part| part.protocol.digest != first.protocol.digest) {
        return Err(usage(format!(
            "`{}` is of audit {}, and `{}` of audit {}",
            first.folder,
            first.protocol.digest.short(),
            other.folder,
            other.protocol.digest.short()
        ))
        .with_hint("run all shards from the same spec, questions and snapshots, with the same version"));
    }
    if let Some([one, other]) = parts.array_windows().find(|[one, other]| one.shard == other.shard) {
        return Err(usage(format!("shard {} stands twice: `{}` and `{}`", one.shard, one.folder, other.folder)));
    }
    let missing = |wanted: &Shard| !parts.iter().any(|part| part.shard == *wanted);
    match Shard::all(first.shard.of()).find(missing) {
        Some(missing) => {
            Err(unfinished(format!("shard {missing} is missing")).with_hint("run it, then merge all of them"))
        }
        None => Ok(parts),
    }
}

/// A part is not there yet: what the others cost is spent, and the audit is not done.
fn unfinished(message: String) -> Failure {
    Failure::new(FailureClass::Incomplete, message)
}

/// Where the rule of all shards came from.
///
/// # Errors
/// They do not agree on it.
pub(super) fn common_origin(parts: &[Part]) -> Result<Option<Origin>, Failure> {
    let Some((one, others)) = parts.split_first() else { return Ok(None) };
    let first = origin::origin(&one.folder)?;
    for part in others {
        if origin::origin(&part.folder)? != first {
            let message =
                format!("shard {}, `{}`: its rule came from elsewhere than the others'", part.shard, part.folder);
            return Err(
                Failure::new(FailureClass::Evidence, message).with_hint("run all shards with the same `--base`")
            );
        }
    }
    Ok(first)
}

/// Whether the questions of all shards were embedded by one embedder, where they were embedded: each shard's process knew its
/// own part alone.
///
/// # Errors
/// They were not: class [`FailureClass::Incomplete`].
pub(super) fn one_embedder(parts: &[Part]) -> Result<(), Failure> {
    let Some((one, others)) = parts.split_first() else { return Ok(()) };
    if one.protocol.spec.retrieve.embed.is_none() {
        return Ok(());
    }
    let first = retrieve::reference(&one.folder)?;
    for part in others {
        if let Some(how) = first.unlike(&retrieve::reference(&part.folder)?) {
            let message = format!(
                "shard {}, `{}`: its questions were embedded by another embedder than those of shard {}: {how}",
                part.shard, part.folder, one.shard
            );
            let hint = "name a model that stays, remove the folders of these shards, and run them again";
            return Err(Failure::new(FailureClass::Incomplete, message).with_hint(hint));
        }
    }
    Ok(())
}

/// Whether all shards were replayed from recordings.
///
/// # Errors
/// Some were and some were not: no audit is made of both.
pub(super) fn common_replies(parts: &[Part]) -> Result<bool, Failure> {
    let Some((one, others)) = parts.split_first() else { return Ok(false) };
    let first = ledger::is_replayed(&one.folder)?;
    for part in others {
        if ledger::is_replayed(&part.folder)? != first {
            let (replayed, live) = if first { (one, part) } else { (part, one) };
            return Err(Failure::new(
                FailureClass::Evidence,
                format!("shard {} is a replay and shard {} is none", replayed.shard, live.shard),
            )
            .with_hint("merge shards that were all run with `--replay`, or all without"));
        }
    }
    Ok(first)
}
