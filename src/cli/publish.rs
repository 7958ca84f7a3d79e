//! `churngate publish`.

use super::arguments::{Comment, Mark, Outdated, PublishArguments};
use super::{context, output};
use crate::git;
use crate::http::{Client, HttpSettings};
use crate::ledger;
use crate::model::{Failure, FailureClass, QuestionId};
use crate::publish::{
    self, Audited, Checkout, CommentMode, Failed, Lines, MarkKind, Options, Outcome, Pace, Place, Publication,
    Surroundings,
};
use crate::report::{self, AuditResult};
use crate::run;
use camino::{Utf8Path, Utf8PathBuf};
use fs_err as fs;
use secrecy::SecretString;
use std::collections::BTreeSet;
use std::io::Read as _;
use std::time::Duration;

/// The largest result or event that is read, in bytes.
const MAX_BYTES: u64 = 64 << 20;
/// The largest message of a failure that is read, in bytes.
const MAX_MESSAGE: u64 = 1 << 20;

/// Publishes a finished run, or that there is none, and says what each part came to.
pub fn publish(arguments: &PublishArguments) -> Result<u8, Failure> {
    let settings = HttpSettings {
        connect_timeout: Duration::from_secs(10),
        read_timeout: Duration::from_mins(1),
        max_body_bytes: 32 << 20,
    };
    let client = Client::new(settings)?;
    let publication = match (&arguments.run, arguments.failed) {
        (Some(folder), _) => of_run(folder, arguments, &client)?,
        (None, Some(exit_code)) => of_failure(exit_code, arguments, &client)?,
        (None, None) => return Err(Failure::new(FailureClass::Usage, "there is nothing to publish")),
    };
    say(&publication)?;
    if publication.stands {
        output::warn(STANDS);
        return Ok(super::run::INCOMPATIBLE);
    }
    let failed = arguments.require_publish && !publication.is_complete();
    Ok(if failed { FailureClass::Publication.exit_code() } else { 0 })
}

const STANDS: &str =
    "an earlier draw of this audit was incompatible on this pull request or commit, and that verdict stands";

fn of_run(folder: &Utf8Path, arguments: &PublishArguments, client: &Client) -> Result<Publication, Failure> {
    if arguments.artifact {
        run::artifact::check(folder)?;
    }
    // A result without ledgers is refused by other words, or published as one that was not checked.
    if folder.join(run::RESULT).symlink_metadata().is_err() {
        ledger::must_hold_a_run(folder)?;
    }
    if run::is_evidence(folder) {
        return of_evidence(folder, arguments, client);
    }
    let (result, unverified) = result(folder, arguments)?;
    let lines = match &arguments.spec {
        Some(spec) if arguments.status == Mark::Check && !arguments.artifact => lines(folder, spec, &result)?,
        _ => Lines::default(),
    };
    let options = Options { unverified, lines, ..of_folder(folder, arguments)? };
    let surroundings = surroundings(arguments);
    Ok(super::runtime()?.block_on(publish::publish(&result, &surroundings, &options, client)))
}

/// What a run of evidence alone came to, held against its ledger. There is no way to publish one without.
fn of_evidence(folder: &Utf8Path, arguments: &PublishArguments, client: &Client) -> Result<Publication, Failure> {
    let mut diff = run::recorded_evidence(folder)?;
    if arguments.artifact {
        run::verify(folder)?;
        diff.caveats.insert(0, ARTIFACT.to_owned());
    }
    let options = of_folder(folder, arguments)?;
    let surroundings = surroundings(arguments);
    Ok(super::runtime()?.block_on(publish::publish_evidence(&diff, &surroundings, &options, client)))
}

fn of_failure(exit_code: i32, arguments: &PublishArguments, client: &Client) -> Result<Publication, Failure> {
    let spec = arguments.spec.as_deref().unwrap_or(Utf8Path::new("churngate.yaml"));
    let called = run::called(spec, arguments.base.as_deref());
    let message = match &arguments.failure {
        Some(file) => bounded(file, MAX_MESSAGE).unwrap_or_default(),
        None => Vec::new(),
    };
    let failed = Failed {
        exploratory: called.as_ref().is_some_and(|called| called.exploratory),
        name: called.map_or_else(|| spec.file_stem().unwrap_or("audit").to_owned(), |called| called.name),
        exit_code,
        message: String::from_utf8_lossy(&message).into_owned(),
    };
    let audited = Audited { own_rule: arguments.base.is_none(), ..Audited::default() };
    let options = Options { audited, ..options(arguments) };
    let surroundings = surroundings(arguments);
    Ok(super::runtime()?.block_on(publish::publish_failure(&failed, &surroundings, &options, client)))
}

/// What the arguments say, and what the run in the folder says of itself.
fn of_folder(folder: &Utf8Path, arguments: &PublishArguments) -> Result<Options, Failure> {
    let origin = run::origin(folder)?.unwrap_or_default();
    let edits_inputs = origin.edits_what_counts();
    let run::Origin { head, commit, missing, .. } = origin;
    let checkout = head.map(|run::Head { commit, parents }| Checkout { commit, parents });
    Ok(Options {
        exploratory: missing.is_some(),
        audited: Audited { checkout, own_rule: commit.is_none(), edits_inputs },
        run_folder: folder.to_string(),
        ..options(arguments)
    })
}

/// What the arguments alone say.
fn options(arguments: &PublishArguments) -> Options {
    Options {
        comment: match arguments.comment {
            Comment::Always => CommentMode::Always,
            Comment::OnChange => CommentMode::OnChange,
            Comment::Never => CommentMode::Never,
        },
        outdated: match arguments.outdated {
            Outdated::Update => publish::Outdated::Update,
            Outdated::Hide => publish::Outdated::Hide,
        },
        mark: match arguments.status {
            Mark::Status => MarkKind::Status,
            Mark::Check => MarkKind::Check,
            Mark::None => MarkKind::None,
        },
        disclosure: arguments.disclosure.into(),
        artifact: arguments.artifact,
        spec: arguments.spec.as_deref().map(|spec| git::from_root(spec).1.to_string()),
        pace: Pace::default(),
        ..Options::default()
    }
}

/// The run's result, as it follows from its ledgers, and whether there are none. An artifact is verified as a whole. No link is
/// followed, and no more is read than a result can have.
fn result(folder: &Utf8Path, arguments: &PublishArguments) -> Result<(AuditResult, bool), Failure> {
    let path = folder.join(run::RESULT);
    let bytes = bounded(&path, MAX_BYTES).map_err(|why| {
        Failure::new(FailureClass::Usage, format!("failed to read `{path}`: {why}"))
            .with_hint("name the folder of a finished run: `.churngate/<digest>`")
    })?;
    let mut result = report::parse(&bytes)
        .map_err(|error| Failure::new(FailureClass::Evidence, format!("failed to read `{path}`: {error}")))?;
    let recorded = run::recorded(folder)?;
    let unverified = recorded.is_none();
    match recorded {
        Some(_) if arguments.artifact => result = run::verify(folder)?.result.unwrap_or(result),
        Some(recorded) => result = recorded,
        None if arguments.unverified => result.machinery.caveats.insert(0, UNVERIFIED.to_owned()),
        None => return Err(without_ledgers(folder)),
    }
    if arguments.artifact {
        result.machinery.caveats.insert(0, ARTIFACT.to_owned());
    }
    Ok((result, unverified))
}

const UNVERIFIED: &str =
    "The ledgers of this run were not there when it was published: none of its figures was checked.";
const ARTIFACT: &str = "These files were made by a run that may have executed code of the pull request. They are consistent, \
                        which is no proof that they are true; this comment decides nothing.";

fn without_ledgers(folder: &Utf8Path) -> Failure {
    let message = format!("`{folder}` holds no ledgers, so that nothing vouches for its `result.json`");
    Failure::new(FailureClass::Evidence, message)
        .with_hint("publish the whole run folder, or add `--unverified`, and the comment says so")
}

/// Where the rule and the flipped questions stand, by paths from the repository's top.
fn lines(folder: &Utf8Path, spec: &Utf8Path, result: &AuditResult) -> Result<Lines, Failure> {
    let workspace = std::env::var("GITHUB_WORKSPACE").unwrap_or_default();
    let Ok(top) = Utf8Path::new(&workspace).canonicalize_utf8() else { return Ok(Lines::default()) };
    let place = |path: &Utf8Path, line: u64| {
        let whole = path.canonicalize_utf8().ok()?;
        let parts: Vec<&str> = whole.strip_prefix(&top).ok()?.components().map(|part| part.as_str()).collect();
        Some(Place { path: parts.join("/"), line })
    };
    let wanted: BTreeSet<&QuestionId> = result.flips.iter().map(|flip| &flip.question).collect();
    let run::Lines { rule, questions } = run::lines(folder, spec, &wanted)?;
    let questions = questions.into_iter().flat_map(|(path, lines)| {
        let at = |(id, line)| Some((id, place(&path, line)?));
        lines.into_iter().filter_map(at).collect::<Vec<_>>()
    });
    Ok(Lines { rule: rule.and_then(|(path, line)| place(&path, line)), questions: questions.collect() })
}

fn bounded(path: &Utf8Path, limit: u64) -> Result<Vec<u8>, String> {
    let found = fs::symlink_metadata(path).map_err(|error| error.kind().to_string())?;
    if !found.is_file() {
        return Err("it is no regular file".to_owned());
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(|error| error.kind().to_string())?;
    file.take(limit + 1).read_to_end(&mut bytes).map_err(|error| error.kind().to_string())?;
    if bytes.len() as u64 > limit { Err(format!("it has more than {limit} bytes")) } else { Ok(bytes) }
}

/// What a workflow's step knows of itself, from its environment.
fn surroundings(arguments: &PublishArguments) -> Surroundings {
    let text = |name: &str| std::env::var(name).unwrap_or_default();
    let number = |name: &str| text(name).parse().unwrap_or_default();
    let file = |name: &str| Some(text(name)).filter(|path| !path.is_empty()).map(Utf8PathBuf::from);
    let or = |name: &str, otherwise: &str| {
        Some(text(name)).filter(|text| !text.is_empty()).unwrap_or_else(|| otherwise.to_owned())
    };
    Surroundings {
        event_name: text("GITHUB_EVENT_NAME"),
        event_json: file("GITHUB_EVENT_PATH").map_or_else(Vec::new, |path| event(&path)),
        sha: text("GITHUB_SHA"),
        repository: text("GITHUB_REPOSITORY"),
        run_id: number("GITHUB_RUN_ID"),
        run_attempt: number("GITHUB_RUN_ATTEMPT"),
        api_url: or("GITHUB_API_URL", "https://api.github.com"),
        graphql_url: Some(text("GITHUB_GRAPHQL_URL")).filter(|url| !url.is_empty()),
        server_url: or("GITHUB_SERVER_URL", "https://github.com"),
        token: token(),
        output_file: file("GITHUB_OUTPUT"),
        summary_file: file("GITHUB_STEP_SUMMARY"),
        pull_request: arguments.pull_request,
        head: arguments.head.clone(),
    }
}

/// The event's payload. One that cannot be read leaves summary and outputs to be written, and is told: nothing else can be.
fn event(path: &Utf8Path) -> Vec<u8> {
    bounded(path, MAX_BYTES).unwrap_or_else(|why| {
        output::warn(&format!("failed to read the event `{path}`: {why}"));
        Vec::new()
    })
}

/// The token, where there is one that can be sent. Without one, too, summary and outputs are written.
fn token() -> Option<SecretString> {
    let token = std::env::var("GITHUB_TOKEN").ok().filter(|token| !token.is_empty())?;
    let Some(fault) = context::fault(&token) else { return Some(SecretString::from(token)) };
    let hint = "hint: it must hold the token and nothing else";
    output::warn(&format!("nothing is published with the environment variable `GITHUB_TOKEN`: it {fault}\n{hint}"));
    None
}

fn say(publication: &Publication) -> Result<(), Failure> {
    for (part, outcome) in publication.parts() {
        match outcome {
            Outcome::Done(what) => output::line(&format!("{part}: {what}"))?,
            Outcome::Left(why) => output::line(&format!("{part}: none, {why}"))?,
            Outcome::Failed { .. } => {}
        }
    }
    if let Some(url) = &publication.comment_url {
        output::line(url)?;
    }
    for warning in publication.warnings() {
        output::warn(&warning);
    }
    Ok(())
}
