//! `churngate run`.

use super::arguments::{RunArguments, Shown};
use super::work::Work;
use super::{context, output};
use crate::gate::Verdict;
use crate::http::Context;
use crate::model::{Failure, FailureClass};
use crate::publish::disclosure::{disclosed, disclosed_evidence};
use crate::report::{self, AuditResult};
use crate::run::{self, Finished, Prepared};
use crate::spec::Mode;
use camino::Utf8Path;

/// Runs the audit and prints its report.
pub fn run(arguments: &RunArguments) -> Result<u8, Failure> {
    let draft = run::read(run::Request { shard: arguments.shard, ..arguments.spec.request() })?;
    let context = context::context(draft.spec(), &arguments.tape, arguments.tasks, arguments.quiet)?;
    let work = Work::new(&context)?;
    let prepared = work.does(run::prepare(draft, Some(&context)))?;
    if let Some(file) = &arguments.folder_file {
        tell_folder(file, &prepared.folder)?;
    }
    run::plan(&prepared).within_budget()?;
    if prepared.protocol.spec.mode == Mode::Evidence {
        return evidence(prepared, arguments, &context, &work);
    }
    match arguments.shard {
        None => conclude(&work.does(run::audit(prepared, &context))?, arguments.disclosure),
        Some(shard) => {
            let folder = work.does(run::audit_shard(prepared, shard, &context))?;
            output::line(&format!("shard {shard} is complete: {folder}"))?;
            output::line("no verdict yet: join all shards with `churngate merge`")?;
            Ok(0)
        }
    }
}

/// Runs to the evidence and no further. Whatever changed, it is no verdict.
fn evidence(prepared: Prepared, arguments: &RunArguments, context: &Context, work: &Work<'_>) -> Result<u8, Failure> {
    if arguments.shard.is_some() {
        let failure = Failure::new(FailureClass::Usage, "a spec of `mode: evidence` is not run in shards");
        return Err(failure.with_hint("leave out `--shard`: retrieval alone is cheap"));
    }
    let compared = work.does(run::evidence(prepared, context))?;
    let shown = disclosed_evidence(&compared.diff, arguments.disclosure.into());
    output::write(report::diff_text(&shown, super::report::QUESTIONS).as_bytes())?;
    output::write(report::next_steps(compared.folder.as_str()).as_bytes())?;
    Ok(0)
}

/// Prints the report of a finished audit with the texts that may be shown, and gives its exit code.
pub fn conclude(finished: &Finished, shown: Shown) -> Result<u8, Failure> {
    super::report::print(&disclosed(&finished.result, shown.into()), "terminal")?;
    output::write(report::next_steps(finished.folder.as_str()).as_bytes())?;
    let exploratory = run::origin(&finished.folder)?.is_some_and(|origin| origin.is_exploratory());
    Ok(if exploratory { 0 } else { exit_code(&finished.result) })
}

/// Writes the run's folder to a file, for whoever goes on with it.
pub fn tell_folder(file: &Utf8Path, folder: &Utf8Path) -> Result<(), Failure> {
    let whole = camino::absolute_utf8(folder).and_then(|whole| fs_err::write(file, whole.as_str()));
    whole.map_err(|error| Failure::new(FailureClass::Usage, format!("failed to write `{file}`: {}", error.kind())))
}

/// The exit code of a verdict that blocks.
pub const INCOMPATIBLE: u8 = 1;

/// The exit code of a verdict.
pub fn exit_code(result: &AuditResult) -> u8 {
    match result.decision.verdict {
        Verdict::Incompatible => INCOMPATIBLE,
        Verdict::Inconclusive if result.fails() => 3,
        Verdict::Compatible | Verdict::Inconclusive => 0,
    }
}
