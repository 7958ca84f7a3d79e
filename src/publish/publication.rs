//! Everything that is published about one result, in order. Each part comes to an outcome of its own; none stops another.

use super::api::Api;
use super::budget::COMMENT;
use super::comment::{Letter, Told, tell};
use super::disclosure::{Disclosure, disclosed};
use super::event::{Subject, subject};
use super::marker::Marker;
use super::outputs::{self, Places};
use super::refusal::{Permission, Refusal};
use super::target::{Target, named, resolve};
use super::{Pace, Surroundings, check, status, summary};
use crate::http::Client;
use crate::report::{self, AuditResult};
use std::io;

/// When a comment is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CommentMode {
    /// For every result.
    Always,
    /// Where the verdict is not `compatible`, or not the one that the comment there tells.
    #[default]
    OnChange,
    /// Never.
    Never,
}

/// How the commit is marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MarkKind {
    /// By a commit status.
    #[default]
    Status,
    /// By a check run.
    Check,
    /// Not at all.
    None,
}

/// What is wanted.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// When a comment is written.
    pub comment: CommentMode,
    /// How the commit is marked.
    pub mark: MarkKind,
    /// What may be shown.
    pub disclosure: Disclosure,
    /// Whether the rule is the pull request's own, because the base has none yet: then the mark is neutral.
    pub exploratory: bool,
    /// The run's folder, for the outputs.
    pub run_folder: String,
    /// The pace of calls.
    pub pace: Pace,
}

/// What one part came to. The words are ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Done, and what.
    Done(&'static str),
    /// Rightly not done, and why.
    Left(&'static str),
    /// Failed: what, and what to do about it.
    Failed {
        /// What failed.
        why: String,
        /// What the user can do.
        hint: Option<String>,
    },
}

/// What everything came to.
#[derive(Clone, Debug)]
pub struct Publication {
    /// The comment.
    pub comment: Outcome,
    /// The status or the check.
    pub mark: Outcome,
    /// The job's summary.
    pub summary: Outcome,
    /// The step's outputs.
    pub outputs: Outcome,
    /// The page of the comment.
    pub comment_url: Option<String>,
}

impl Publication {
    /// Each part with its name.
    #[must_use]
    pub fn parts(&self) -> [(&'static str, &Outcome); 4] {
        let Self { comment, mark, summary, outputs, comment_url: _ } = self;
        [("comment", comment), ("mark", mark), ("summary", summary), ("outputs", outputs)]
    }

    /// Whether nothing failed.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        !self.parts().iter().any(|(_, outcome)| matches!(outcome, Outcome::Failed { .. }))
    }

    /// A sentence for each part that failed.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        self.parts().into_iter().filter_map(|(part, outcome)| warning(part, outcome)).collect()
    }
}

/// Publishes a result. Never fails as a whole, and never changes the verdict.
pub async fn publish(result: &AuditResult, around: &Surroundings, options: &Options, client: &Client) -> Publication {
    let shown = disclosed(result, options.disclosure);
    let (comment, mark, comment_url) = to_server(&shown, around, options, client).await;
    let warnings: Vec<String> = [("comment", &comment), ("mark", &mark)]
        .into_iter()
        .filter_map(|(part, outcome)| warning(part, outcome))
        .collect();
    let summary = to_file(around.summary_file.as_deref(), |file| summary::write(file, &shown, &warnings));
    let failed = |outcome: &Outcome| matches!(outcome, Outcome::Failed { .. });
    let places = Places {
        run_folder: options.run_folder.clone(),
        comment_url: comment_url.clone().unwrap_or_default(),
        published: ![&comment, &mark, &summary].into_iter().any(failed),
    };
    let values = outputs::values(result, &places);
    let outputs = to_file(around.output_file.as_deref(), |file| outputs::write(file, &values));
    Publication { comment, mark, summary, outputs, comment_url }
}

type Server = (Outcome, Outcome, Option<String>);

async fn to_server(shown: &AuditResult, around: &Surroundings, options: &Options, client: &Client) -> Server {
    let about = subject(&around.event_name, &around.event_json, &around.sha);
    let (sha, candidate) = match named(about, around.pull_request, around.head.as_deref()) {
        Subject::Nothing(why) => return (Outcome::Left(why), Outcome::Left(why), None),
        Subject::Commit { sha, pull_request } => (sha, pull_request),
    };
    if options.comment == CommentMode::Never && options.mark == MarkKind::None {
        return (Outcome::Left(UNWANTED), Outcome::Left(UNWANTED), None);
    }
    let api = match Api::new(client, around, options.pace) {
        Ok(api) => api,
        Err(refusal) => return (failed(refusal, COMMENTING), failed(refusal, marking(options.mark)), None),
    };
    let mark = mark(&api, shown, &sha, around, options).await;
    if options.comment == CommentMode::Never {
        return (Outcome::Left(UNWANTED), mark, None);
    }
    let (comment, url) = match resolve(sha, candidate, &api).await {
        Ok(target) => comment(&api, shown, &target, around, options.comment).await,
        Err(refusal) => (failed(refusal, COMMENTING), None),
    };
    (comment, mark, url)
}

const UNWANTED: &str = "not wanted";
const COMMENTING: Permission = Permission::PullRequests;

const fn marking(kind: MarkKind) -> Permission {
    match kind {
        MarkKind::Check => Permission::Checks,
        MarkKind::Status | MarkKind::None => Permission::Statuses,
    }
}

async fn mark(
    api: &Api<'_>,
    shown: &AuditResult,
    sha: &super::event::Sha,
    around: &Surroundings,
    options: &Options,
) -> Outcome {
    let (page, exploratory) = (around.run_url(), options.exploratory);
    let (done, marked) = match options.mark {
        MarkKind::None => return Outcome::Left(UNWANTED),
        MarkKind::Status => {
            ("status", status::mark(api, sha, &status::body(shown, exploratory, page.as_deref())).await)
        }
        MarkKind::Check => {
            ("check run", check::mark(api, &check::body(shown, exploratory, sha, page.as_deref())).await)
        }
    };
    match marked {
        Ok(()) => Outcome::Done(done),
        Err(refusal) => failed(refusal, marking(options.mark)),
    }
}

async fn comment(
    api: &Api<'_>,
    shown: &AuditResult,
    target: &Target,
    around: &Surroundings,
    mode: CommentMode,
) -> (Outcome, Option<String>) {
    let Some(number) = target.pull_request else {
        return (Outcome::Left(target.without.unwrap_or("the event has no pull request")), None);
    };
    match tell(api, number, &letter(shown, target, around), mode == CommentMode::OnChange).await {
        Ok(Told::Created(url)) => (Outcome::Done("created"), Some(url)),
        Ok(Told::Updated(url)) => (Outcome::Done("updated"), Some(url)),
        Ok(Told::Newer(url)) => (Outcome::Left("a newer run has written the comment"), Some(url)),
        Ok(Told::Unneeded(url)) => (Outcome::Left("there is nothing new to tell"), url),
        Err(refusal) => (failed(refusal, COMMENTING), None),
    }
}

/// The report, a line that says what was audited, and the marker.
fn letter(shown: &AuditResult, target: &Target, around: &Surroundings) -> Letter {
    let origin = origin(target, around);
    let run = (around.run_id, around.run_attempt);
    // The marker's own length does not depend on the text.
    let length = Marker::new(&shown.name, run, &target.sha, shown.decision.verdict, "").to_string().len();
    let text =
        format!("{}\n\n{origin}", report::markdown_within(shown, COMMENT - length - origin.len() - 4).trim_end());
    let marker = Marker::new(&shown.name, run, &target.sha, shown.decision.verdict, &text);
    Letter { body: format!("{text}\n\n{marker}"), marker }
}

fn origin(target: &Target, around: &Surroundings) -> String {
    let commit: String = target.sha.as_str().chars().take(12).collect();
    match around.run_url() {
        Some(url) => format!("Commit `{commit}`, [run {}]({url})", around.run_id),
        None => format!("Commit `{commit}`"),
    }
}

fn to_file<F>(file: Option<&camino::Utf8Path>, write: F) -> Outcome
where
    F: FnOnce(&camino::Utf8Path) -> io::Result<()>,
{
    match file.map(write) {
        None => Outcome::Left("there is no file for it here"),
        Some(Ok(())) => Outcome::Done("written"),
        Some(Err(error)) => Outcome::Failed { why: format!("the file cannot be written: {error}"), hint: None },
    }
}

fn failed(refusal: Refusal, needed: Permission) -> Outcome {
    Outcome::Failed { why: refusal.to_string(), hint: refusal.hint(needed) }
}

fn warning(part: &str, outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Failed { why, hint: Some(hint) } => Some(format!("the {part} was not published: {why}; {hint}")),
        Outcome::Failed { why, hint: None } => Some(format!("the {part} was not published: {why}")),
        Outcome::Done(_) | Outcome::Left(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::publish::event::Sha;
    use crate::publish::fixtures::blocking;

    #[test]
    fn the_letter_ends_with_its_marker_and_fits() {
        let mut result = blocking();
        result.flips = vec![result.flips[0].clone(); 3000];
        result.analysis.flips = vec![result.analysis.flips[0].clone(); 3000];
        let target = Target { sha: Sha::parse(&"a".repeat(40)).unwrap(), pull_request: Some(1), without: None };
        let letter = letter(&result, &target, &Surroundings::default());
        assert!(letter.body.len() <= COMMENT && letter.body.len() > COMMENT / 2, "{}", letter.body.len());
        assert_eq!(Marker::last_in(&letter.body), Some(letter.marker));
    }

    #[test]
    fn each_failure_is_a_sentence() {
        let publication = Publication {
            comment: failed(Refusal::ReadOnly, COMMENTING),
            mark: Outcome::Done("status"),
            summary: Outcome::Left("there is no file for it here"),
            outputs: Outcome::Done("written"),
            comment_url: None,
        };
        assert!(!publication.is_complete());
        insta::assert_snapshot!(publication.warnings().join("\n"), @r"
        the comment was not published: the token may not write; add these lines to the job, or, for pull requests from forks, publish from a second workflow:
          permissions:
            pull-requests: write
        ");
    }
}
