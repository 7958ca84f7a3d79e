//! From the spec's path to a planned protocol: everything that can be known before anything is spent.

use super::newest;
use super::origin::Origin;
use super::plan;
use super::replay;
use super::rule::{self, Rule};
use super::shard::Shard;
use crate::freeze::{self, Inputs, Protocol};
use crate::git;
use crate::http::Context;
use crate::model::{Failure, FailureClass};
use crate::process;
use crate::retrieve::{self, Opened};
use crate::spec::{CommandSpec, FileKey, Spec, Unread};
use camino::{Utf8Path, Utf8PathBuf};

/// A planned audit and where its run is kept.
#[derive(Debug)]
pub struct Prepared {
    /// The protocol, not yet on disk.
    pub protocol: Protocol,
    /// How many questions the whole audit has, of which a shard's protocol holds its own alone.
    pub questions: u64,
    /// The run's folder: named by the protocol's digest; a replay's is another one than that of the audit.
    pub folder: Utf8PathBuf,
    /// What is checked out, and where the rule came from.
    pub origin: Option<Origin>,
    /// Which part of the audit it is, where it is one.
    pub shard: Option<Shard>,
    /// Whether the replies of servers are read from a recording.
    pub replay: bool,
}

/// Where runs are kept beside a spec.
const RUNS: &str = ".churngate";

/// What is to be audited.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The spec's path.
    pub spec: &'a Utf8Path,
    /// Where runs are kept; `.churngate` beside the spec where absent.
    pub runs: Option<&'a Utf8Path>,
    /// The commit that the spec and the files beside it are read from, in place of the working tree.
    pub base: Option<&'a str>,
    /// Variables of the new snapshot, each as `NAME=VALUE`, in place of the spec's own values.
    pub new: &'a [String],
    /// Which part of the audit is run, where it is one.
    pub shard: Option<Shard>,
    /// Whether evidence alone is wanted: then no program has to be there that answers or judges.
    pub evidence_alone: bool,
    /// Whether the environment has a value of a variable: no change's own program is started beside a key.
    pub is_set: fn(&str) -> bool,
    /// The version of this program.
    pub tool_version: &'static str,
}

/// A spec and the files it names, read but not yet planned.
#[derive(Debug)]
pub struct Draft {
    folder: Utf8PathBuf,
    rule: Rule,
    opened: Opened,
    runs: Utf8PathBuf,
    shard: Option<Shard>,
    tool_version: &'static str,
}

impl Draft {
    /// The spec.
    #[must_use]
    pub const fn spec(&self) -> &Spec {
        &self.rule.spec
    }
}

/// Reads the spec and the files beside it, and finds its snapshots, where they lie here, and its programs.
///
/// # Errors
/// Anything wrong with the spec, or all files, snapshots and programs that are missing or cannot be read: all of class
/// [`FailureClass::Usage`] where the user can mend it.
pub fn read(request: Request<'_>) -> Result<Draft, Failure> {
    let Request { spec: path, runs, base, new, shard, evidence_alone, is_set, tool_version } = request;
    let folder = path.parent().filter(|parent| !parent.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
    if path.file_name().is_none() {
        return Err(Failure::new(FailureClass::Usage, format!("failed to read the spec `{path}`: it is a folder"))
            .with_hint("name the file in it, such as `churngate.yaml`"));
    }
    let runs = runs.map_or_else(|| folder.join(RUNS), Utf8Path::to_owned);
    can_hold_runs(&runs)?;
    let mut rule = rule::read(path, folder, base, is_set)?;
    let filled = newest::fill(&mut rule.spec, folder, new, &mut rule.unread);
    rule.unread.extend(missing_programs(&rule.spec, evidence_alone));
    let opened = match retrieve::open(&rule.spec, folder) {
        Ok(opened) if rule.unread.is_empty() => opened,
        opened => {
            rule.unread.extend(opened.err().unwrap_or_default());
            return Err(rule.source.failure(rule.unread));
        }
    };
    filled?;
    Ok(Draft { folder: folder.to_owned(), rule, opened, runs, shard, tool_version })
}

/// Whether runs can be kept at this place: it is a folder, or can be made one.
///
/// # Errors
/// It, or what it is to lie in, is something else: class [`FailureClass::Usage`].
pub(super) fn can_hold_runs(runs: &Utf8Path) -> Result<(), Failure> {
    match runs.ancestors().find_map(|place| Some((place, place.metadata().ok()?))) {
        Some((place, found)) if !found.is_dir() => {
            Err(Failure::new(FailureClass::Usage, format!("failed to keep runs in `{runs}`: `{place}` is no folder"))
                .with_hint("name a folder with `--runs`"))
        }
        _ => Ok(()),
    }
}

/// The programs that would be found missing only once it is their turn, and much is spent.
fn missing_programs(spec: &Spec, evidence_alone: bool) -> Vec<Unread> {
    let programs = if evidence_alone { spec.programs_in_retrieval() } else { spec.programs() };
    let missing = programs.into_iter().filter_map(|(section, CommandSpec { argv, .. })| {
        let program = argv.first()?;
        let why = process::missing(program)?;
        let failure = Failure::new(FailureClass::Usage, format!("failed to find the program `{program}`: {why}"))
            .with_hint("install it, or write its path, which counts from the folder that `churngate` is started in");
        Some(Unread { key: FileKey::Program(section), failure })
    });
    missing.collect()
}

/// Resolves the snapshots and plans the protocol. Without a context no engine is asked what its snapshots are.
///
/// # Errors
/// Anything wrong with the questions or the snapshots. Where the rule is a base commit's, a run that git tracks is refused:
/// class [`FailureClass::Evidence`].
pub async fn prepare(draft: Draft, context: Option<&Context>) -> Result<Prepared, Failure> {
    let (prepared, unasked) = planned(draft, context).await?;
    unasked.map_or(Ok(prepared), Err)
}

/// The same for a plan that is shown and not run: where an engine could not be asked, its snapshots are known by name alone, and
/// why stands beside the plan.
///
/// # Errors
/// As [`prepare`], but for engines.
pub async fn planned(draft: Draft, context: Option<&Context>) -> Result<(Prepared, Option<Failure>), Failure> {
    let Draft { folder, rule, opened, runs, shard, tool_version } = draft;
    let Rule { spec, questions, exclude, only, prompt, origin, source, preset: _, unread: _ } = rule;
    let (asked, unasked) = match context {
        Some(context) => {
            retrieve::ask(&spec, &folder, context).await.map_or_else(|why| (None, Some(why)), |asked| (asked, None))
        }
        None => (None, None),
    };
    let snapshots = match asked {
        Some(snapshots) => snapshots,
        None => opened.resolve(&spec).map_err(|unread| source.failure(unread))?,
    };
    let inputs = Inputs {
        questions_name: spec.questions.file.to_string(),
        base: folder.clone(),
        spec,
        questions_bytes: questions,
        exclude_bytes: exclude,
        only_bytes: only,
        prompt_bytes: prompt,
        snapshots,
        tool_version,
    };
    let whole = freeze::plan(inputs)?;
    opened.check_evidence(&whole.spec, &whole.questions).map_err(|unread| source.failure(unread))?;
    let questions = whole.questions.len() as u64;
    let (name, protocol) = match shard {
        None => (whole.digest.to_string(), whole),
        Some(shard) => {
            plan::shards_fit(&whole)?;
            (shard.folder(whole.digest), shard.cut(whole)?)
        }
    };
    let replay = context.is_some_and(|context| context.client.is_replaying());
    let folder = runs.join(if replay { replay::folder(&name) } else { name });
    if origin.as_ref().is_some_and(|origin| origin.commit.is_some()) {
        refuse_committed(&folder)?;
    }
    Ok((Prepared { protocol, questions, folder, origin, shard, replay }, unasked))
}

/// Refuses a run that came with the checkout: whoever wrote the change could have made it up, and a sealed run is believed.
fn refuse_committed(run: &Utf8Path) -> Result<(), Failure> {
    if !run.is_dir() || !git::tracks_files_in(run)? {
        return Ok(());
    }
    let message = format!("the run `{run}` is committed, so the change that is judged may have written it");
    Err(Failure::new(FailureClass::Evidence, message)
        .with_hint("take it out of the repository, or keep runs outside of the checkout with `--runs`"))
}
