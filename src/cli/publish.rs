//! `churngate publish`.

use super::arguments::{Comment, Mark, PublishArguments, Shown};
use super::output;
use crate::http::{Client, HttpSettings};
use crate::model::{Failure, FailureClass};
use crate::publish::{self, CommentMode, Disclosure, MarkKind, Options, Outcome, Pace, Publication, Surroundings};
use crate::report::{self, AuditResult};
use crate::run;
use camino::{Utf8Path, Utf8PathBuf};
use fs_err as fs;
use secrecy::SecretString;
use std::io::Read as _;
use std::time::Duration;

/// The largest result or event that is read, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// Publishes a finished run, and says what each part came to.
pub fn publish(arguments: &PublishArguments) -> Result<u8, Failure> {
    let result = result(&arguments.run)?;
    let options = Options {
        comment: match arguments.comment {
            Comment::Always => CommentMode::Always,
            Comment::OnChange => CommentMode::OnChange,
            Comment::Never => CommentMode::Never,
        },
        mark: match arguments.status {
            Mark::Status => MarkKind::Status,
            Mark::Check => MarkKind::Check,
            Mark::None => MarkKind::None,
        },
        disclosure: match arguments.disclosure {
            Shown::Ids => Disclosure::Ids,
            Shown::Questions => Disclosure::Questions,
            Shown::Answers => Disclosure::Answers,
        },
        exploratory: run::origin(&arguments.run)?.is_some_and(|origin| origin.is_exploratory()),
        run_folder: arguments.run.to_string(),
        pace: Pace::default(),
    };
    let settings = HttpSettings { connect_timeout: Duration::from_secs(10), max_body_bytes: 32 << 20 };
    let client = Client::new(settings)?;
    let surroundings = surroundings(arguments)?;
    let publication = super::runtime()?.block_on(publish::publish(&result, &surroundings, &options, &client));
    say(&publication)?;
    let failed = arguments.require_publish && !publication.is_complete();
    Ok(if failed { FailureClass::Publication.exit_code() } else { 0 })
}

/// The run's result, as it follows from the ledgers where they are there. The folder may come from an artifact that
/// somebody else filled: no link is followed, and no more is read than a result can have.
fn result(folder: &Utf8Path) -> Result<AuditResult, Failure> {
    let path = folder.join("result.json");
    let bytes = bounded(&path).map_err(|why| {
        Failure::new(FailureClass::Usage, format!("failed to read `{path}`: {why}"))
            .with_hint("name the folder of a finished run: `.churngate/<digest>`")
    })?;
    let written = report::parse(&bytes)
        .map_err(|error| Failure::new(FailureClass::Evidence, format!("failed to read `{path}`: {error}")))?;
    let recorded = run::recorded(folder)?;
    if recorded.is_none() {
        output::warn(&format!("`{folder}` holds no ledgers: `result.json` is published as it is, without a check"));
    }
    Ok(recorded.unwrap_or(written))
}

fn bounded(path: &Utf8Path) -> Result<Vec<u8>, String> {
    let found = fs::symlink_metadata(path).map_err(|error| error.kind().to_string())?;
    if !found.is_file() {
        return Err("it is no regular file".to_owned());
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(|error| error.kind().to_string())?;
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| error.kind().to_string())?;
    if bytes.len() as u64 > MAX_BYTES { Err(format!("it has more than {MAX_BYTES} bytes")) } else { Ok(bytes) }
}

/// What a workflow's step knows of itself, from its environment.
fn surroundings(arguments: &PublishArguments) -> Result<Surroundings, Failure> {
    let text = |name: &str| std::env::var(name).unwrap_or_default();
    let number = |name: &str| text(name).parse().unwrap_or_default();
    let file = |name: &str| Some(text(name)).filter(|path| !path.is_empty()).map(Utf8PathBuf::from);
    let or = |name: &str, otherwise: &str| {
        Some(text(name)).filter(|text| !text.is_empty()).unwrap_or_else(|| otherwise.to_owned())
    };
    let event_json = match file("GITHUB_EVENT_PATH") {
        Some(path) => bounded(&path)
            .map_err(|why| Failure::new(FailureClass::Usage, format!("failed to read the event `{path}`: {why}")))?,
        None => Vec::new(),
    };
    Ok(Surroundings {
        event_name: text("GITHUB_EVENT_NAME"),
        event_json,
        sha: text("GITHUB_SHA"),
        repository: text("GITHUB_REPOSITORY"),
        run_id: number("GITHUB_RUN_ID"),
        run_attempt: number("GITHUB_RUN_ATTEMPT"),
        api_url: or("GITHUB_API_URL", "https://api.github.com"),
        graphql_url: Some(text("GITHUB_GRAPHQL_URL")).filter(|url| !url.is_empty()),
        server_url: or("GITHUB_SERVER_URL", "https://github.com"),
        token: Some(text("GITHUB_TOKEN")).filter(|token| !token.is_empty()).map(SecretString::from),
        output_file: file("GITHUB_OUTPUT"),
        summary_file: file("GITHUB_STEP_SUMMARY"),
        pull_request: arguments.pull_request,
        head: arguments.head.clone(),
    })
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
