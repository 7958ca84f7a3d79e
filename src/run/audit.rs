//! The whole audit.

use super::classes::{self, Written};
use super::recompute::{self, Computed, Locks};
use super::shard::{self, Shard};
use super::{Prepared, conclusion, diagnose, origin, replay};
use crate::freeze::{Frozen, Protocol};
use crate::http::Context;
use crate::ledger::RunFolder;
use crate::model::{Event, Failure, FailureClass};
use crate::report::{self, AuditResult};
use crate::{freeze, generate, judge, retrieve};
use camino::{Utf8Path, Utf8PathBuf};
use rayon::prelude::*;
use std::sync::Arc;

/// A finished audit.
#[derive(Debug)]
pub struct Finished {
    /// The run's folder.
    pub folder: Utf8PathBuf,
    /// Every figure and the verdict.
    pub result: AuditResult,
}

/// Runs every stage in order, each from where it stopped, and writes the result and its reports into the run folder.
///
/// # Errors
/// Whatever a stage fails with; what is in the ledgers stays there, and the same call goes on from it.
pub async fn audit(prepared: Prepared, context: &Context) -> Result<Finished, Failure> {
    let (folder, _, locks) = stages(prepared, context).await?;
    let (computed, written) = recompute::compute(folder.path(), &locks)?;
    write_reports(folder.path(), &computed, written)?;
    Ok(Finished { folder: folder.path().to_owned(), result: computed.result })
}

/// Runs every stage of one shard. It has no result of its own.
///
/// # Errors
/// As [`audit`].
pub async fn audit_shard(prepared: Prepared, part: Shard, context: &Context) -> Result<Utf8PathBuf, Failure> {
    // What limits the whole run is shared out by questions, so that all shards together keep it.
    let budget = context.budget.share(prepared.protocol.questions.len() as u64, prepared.questions);
    let context = Context { budget: Arc::new(budget), ..context.clone() };
    let (folder, protocol, locks) = stages(prepared, &context).await?;
    let finished = shard::Finished { protocol: protocol.digest, part, heads: locks.heads() };
    let bytes = serde_json::to_vec_pretty(&finished)
        .map_err(|_| Failure::new(FailureClass::Incomplete, format!("failed to write `{}`", shard::FILE)))?;
    write(folder.path(), shard::FILE, &bytes)?;
    Ok(folder.path().to_owned())
}

async fn stages(prepared: Prepared, context: &Context) -> Result<(RunFolder, Protocol, Locks), Failure> {
    let (folder, frozen) = open_run(prepared, context)?;
    replay::take_up(&frozen.protocol, &folder, context)?;
    let evidence = retrieve::retrieve(&frozen, &folder, context).await?;
    let answers = generate::generate(&frozen.protocol, &folder, &evidence, context).await?;
    let judgments = judge::judge(&frozen.protocol, &folder, &answers, context).await?;
    let side = diagnose::seal(&frozen.protocol, &folder, (&frozen.lock, &evidence, &answers), context).await?;
    let locks = Locks { protocol: frozen.lock, evidence, answers, judgments, side };
    Ok((folder, frozen.protocol, locks))
}

/// Writes every report of a result, and what its figures need of the texts.
pub(super) fn write_reports(folder: &Utf8Path, computed: &Computed, mut classes: Written) -> Result<(), Failure> {
    write_from(folder, classes::FILE, &mut classes.bytes()?)?;
    report::FORMATS.par_iter().try_for_each(|format| write(folder, format.file, &(format.render)(&computed.result)))
}

/// Opens the run's folder and freezes the protocol in it.
pub(super) fn open_run(prepared: Prepared, context: &Context) -> Result<(RunFolder, Frozen), Failure> {
    for note in prepared.protocol.notes() {
        context.observer.observe(Event::Note(note.clone()));
    }
    let folder = replay::open(&prepared.folder, prepared.replay)?;
    let concluded = conclusion::read(folder.path(), &prepared.protocol, prepared.shard.is_some());
    let folder = folder.concluded(concluded);
    hide_from_git(folder.path())?;
    let frozen = freeze::freeze(&folder, prepared.protocol)?;
    record_origin(folder.path(), prepared.origin.as_ref())?;
    Ok((folder, frozen))
}

/// Keeps where this run's rule came from; the same protocol may have been run from elsewhere before.
pub(super) fn record_origin(folder: &Utf8Path, origin: Option<&origin::Origin>) -> Result<(), Failure> {
    let Some(origin) = origin else {
        return match fs_err::remove_file(folder.join(origin::FILE)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Failure::new(
                FailureClass::Incomplete,
                format!("failed to remove `{}` from the run folder: {}", origin::FILE, error.kind()),
            )),
            _ => Ok(()),
        };
    };
    let bytes = serde_json::to_vec_pretty(origin)
        .map_err(|_| Failure::new(FailureClass::Incomplete, format!("failed to write `{}`", origin::FILE)))?;
    write(folder, origin::FILE, &bytes)
}

/// Keeps the run out of the user's repository: it holds evidence and answers. Whatever else lies beside it is none of ours
/// to hide.
pub(super) fn hide_from_git(run: &Utf8Path) -> Result<(), Failure> {
    let path = run.join(".gitignore");
    let written = fs_err::OpenOptions::new().write(true).create_new(true).open(&path);
    match written.and_then(|mut file| std::io::Write::write_all(&mut file, b"*\n")) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            Err(Failure::new(FailureClass::Incomplete, format!("failed to write `{path}`: {}", error.kind()))
                .with_hint("make the folder writable, or name another one with `--runs`"))
        }
        _ => Ok(()),
    }
}

/// Writes a file whole or not at all: under another name first, made durable, then renamed.
pub(super) fn write(folder: &Utf8Path, name: &str, mut bytes: &[u8]) -> Result<(), Failure> {
    write_from(folder, name, &mut bytes)
}

/// The same from bytes that are read a piece at a time.
pub(super) fn write_from(folder: &Utf8Path, name: &str, bytes: &mut impl std::io::Read) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        Failure::new(FailureClass::Incomplete, format!("failed to write `{name}` in `{folder}`: {}", error.kind()))
            .with_hint("nothing that was recorded is lost: run the same command again once there is room")
    };
    let mut file = readable().tempfile_in(folder).map_err(failed)?;
    std::io::copy(bytes, &mut file).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(folder.join(name)).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Temporary files are private as a rule; what they become here is for whoever may read the folder.
fn readable() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder
}

/// The failure of a place that cannot be written.
pub(super) fn unwritten(place: &str, error: &std::io::Error) -> Failure {
    Failure::new(FailureClass::Incomplete, format!("failed to write `{place}`: {}", error.kind()))
        .with_hint("make the folder writable, or name another one with `--runs`")
}
