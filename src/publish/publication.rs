//! Everything that is published about one audit, in order. Each part comes to an outcome of its own; none stops another.

use super::api::Api;
use super::budget::COMMENT;
use super::check::Marked;
use super::comment::{self, Letter, Outdated, Told, tell};
use super::event::{Sha, Subject, is_of_default_branch, subject};
use super::job_file::JobFile;
use super::marker::Marker;
use super::notice::{self, Failed, Notice};
use super::options::{CommentMode, MarkKind, Options};
use super::outcome::{Outcome, Publication};
use super::outputs::{self, Places};
use super::refusal::Permission;
use super::target::{Target, named, resolve};
use super::{Surroundings, check, status, summary, twin};
use crate::http::Client;
use crate::report::{AuditResult, EvidenceDiff};
use std::io;

/// Publishes a result. Never fails as a whole, and never changes the verdict.
pub async fn publish(result: &AuditResult, around: &Surroundings, options: &Options, client: &Client) -> Publication {
    let mut result = result.clone();
    let explored = explores(around, options);
    result.machinery.caveats.splice(0..0, explored.map(str::to_owned));
    let exploratory = options.exploratory || explored.is_some();
    let notice = Notice::of_result(&result, options.disclosure, exploratory, &options.lines);
    let notice = finished(notice, options);
    told(notice, around, options, client, |places| outputs::values(&result, places)).await
}

/// Publishes what changed in the evidence alone. Never fails as a whole, and never claims a verdict.
pub async fn publish_evidence(
    diff: &EvidenceDiff,
    around: &Surroundings,
    options: &Options,
    client: &Client,
) -> Publication {
    let mut diff = diff.clone();
    let explored = explores(around, options);
    diff.caveats.splice(0..0, explored.map(str::to_owned));
    let notice = Notice::of_evidence(&diff, options.disclosure, options.exploratory || explored.is_some());
    let notice = finished(notice, options);
    told(notice, around, options, client, |places| outputs::of_evidence(&diff, places)).await
}

/// Tells that an audit came to no verdict. Never fails as a whole.
pub async fn publish_failure(
    failed: &Failed,
    around: &Surroundings,
    options: &Options,
    client: &Client,
) -> Publication {
    let exploratory = failed.exploratory || explores(around, options).is_some();
    let failed = Failed { exploratory, ..failed.clone() };
    told(Notice::of_failure(&failed), around, options, client, outputs::without_a_verdict).await
}

/// What is told of a run besides what it came to.
fn finished(notice: Notice, options: &Options) -> Notice {
    let notice = if options.audited.edits_inputs { notice.remarked(EDITS_INPUTS) } else { notice };
    let notice = if options.unverified { notice.unverified() } else { notice };
    if options.artifact { notice.of_an_artifact() } else { notice }
}

const EDITS_INPUTS: &str = "this change edits what the rule relies on";

const OWN_RULE: &str = "Exploratory: no base commit was named, so the rule is the one that was checked out, and the verdict neither \
                        blocks nor passes.";

/// Says that the rule is nobody's but the change's, where one is audited without a base to read the rule from.
fn explores(around: &Surroundings, options: &Options) -> Option<&'static str> {
    let agreed = match about(around) {
        Subject::Nothing(_) => return None,
        Subject::Unreadable(_) => false,
        Subject::Commit { sha, .. } => {
            is_of_default_branch(&around.event_name, &around.event_json) && sha.as_str() == around.sha
        }
    };
    (options.audited.own_rule && !options.artifact && !agreed).then_some(OWN_RULE)
}

fn about(around: &Surroundings) -> Subject {
    let about = subject(&around.event_name, &around.event_json, &around.sha);
    named(about, around.pull_request, around.head.as_deref())
}

async fn told(
    notice: Notice,
    around: &Surroundings,
    options: &Options,
    client: &Client,
    values: impl Fn(&Places) -> Vec<(&'static str, String)>,
) -> Publication {
    let notice = notice.of_spec(options.spec.as_deref().map(twin::id));
    let summary_file = around.summary_file.as_deref().map(JobFile::open);
    let output_file = around.output_file.as_deref().map(JobFile::open);
    let before = Places {
        exploratory: notice.exploratory,
        unproved: notice.unproved.is_some(),
        run_folder: options.run_folder.clone(),
        ..Places::default()
    };
    // The server may keep this process until something ends it: the job's own files know by then.
    let _once_more = to_file(summary_file.as_ref(), |file| summary::write(file, &notice, &[]));
    let _once_more = to_file(output_file.as_ref(), |file| outputs::write(file, &values(&before)));
    let (Server { comment, outdated, mark, comment_url }, notice) = to_server(notice, around, options, client).await;
    let parts = [("comment", &comment), ("hiding of outdated comments", &outdated), ("mark", &mark)];
    let warnings: Vec<String> = parts.into_iter().filter_map(|(part, outcome)| outcome.warning(part)).collect();
    let summary = to_file(summary_file.as_ref(), |file| summary::write(file, &notice, &warnings));
    let places = Places {
        comment_url: comment_url.clone().unwrap_or_default(),
        published: ![&comment, &outdated, &mark, &summary].into_iter().any(Outcome::has_failed),
        stands: notice.stands,
        ..before
    };
    let outputs = to_file(output_file.as_ref(), |file| outputs::write(file, &values(&places)));
    Publication { comment, outdated, mark, summary, outputs, comment_url, stands: notice.stands }
}

/// What the server was told.
struct Server {
    comment: Outcome,
    outdated: Outcome,
    mark: Outcome,
    comment_url: Option<String>,
}

impl Server {
    /// Neither comment nor mark, because it cannot be known where they belong.
    fn failed(why: &str, hint: Option<&str>) -> Self {
        let failed = || Outcome::Failed { why: why.to_owned(), hint: hint.map(str::to_owned) };
        Self { comment: failed(), outdated: Outcome::Left("there is none"), mark: failed(), comment_url: None }
    }

    /// Neither comment nor mark, for one reason.
    const fn left(why: &'static str) -> Self {
        Self { comment: Outcome::Left(why), outdated: Outcome::Left(why), mark: Outcome::Left(why), comment_url: None }
    }
}

const UNWANTED: &str = "not wanted";
const CHECK_OUT: &str =
    "check out the commit that is to be marked before the audit; where the event does not name it, `head` does";
const NEWER: &str = "a newer run has marked the commit";
const COMMENTING: Permission = Permission::PullRequests;

const fn marking(kind: MarkKind) -> Permission {
    match kind {
        MarkKind::Check => Permission::Checks,
        MarkKind::Status | MarkKind::None => Permission::Statuses,
    }
}

/// What is said to the server, and what was said: after a look at what was said before.
async fn to_server(notice: Notice, around: &Surroundings, options: &Options, client: &Client) -> (Server, Notice) {
    let (sha, candidate) = match about(around) {
        Subject::Nothing(why) => return (Server::left(why), notice),
        Subject::Unreadable(why) => return (Server::failed(why, None), notice),
        Subject::Commit { sha, pull_request } => (sha, pull_request),
    };
    let unmarked = options.mark == MarkKind::None || notice.unmarked.is_some();
    if options.comment == CommentMode::Never && unmarked {
        return (Server::left(UNWANTED), notice);
    }
    if let Some(checkout) =
        options.audited.checkout.as_ref().filter(|checkout| !options.artifact && !checkout.holds(&sha))
    {
        let why = format!("commit `{}` was audited, and not `{sha}`, which this event is about", checkout.commit);
        return (Server::failed(&why, Some(CHECK_OUT)), notice);
    }
    let api = match Api::new(client, around, options.pace) {
        Ok(api) => api,
        Err(refusal) => {
            let refused = |needed| Outcome::refused(refusal, needed);
            let (comment, mark) = (refused(COMMENTING), refused(marking(options.mark)));
            return (Server { comment, mark, ..Server::left(UNWANTED) }, notice);
        }
    };
    if options.comment == CommentMode::Never {
        let (mark, notice) = marked(notice, &api, &sha, around, options).await;
        return (Server { mark, ..Server::left(UNWANTED) }, notice);
    }
    let target = resolve(sha.clone(), candidate, &api).await;
    let number = target.as_ref().ok().and_then(|target| target.pull_request);
    let notice = after(notice, number, &api).await;
    let (mark, notice) = marked(notice, &api, &sha, around, options).await;
    match target {
        Ok(target) => {
            let server = comment(&api, &notice, &target, around, options, mark).await;
            held_to_twin(server, notice, &api, &sha, around, options).await
        }
        Err(refusal) => {
            (Server { comment: Outcome::refused(refusal, COMMENTING), mark, ..Server::left(UNWANTED) }, notice)
        }
    }
}

/// Marks the commit. Where another spec of the same name has marked it before, or meanwhile, the mark says that.
async fn marked(
    notice: Notice,
    api: &Api<'_>,
    sha: &Sha,
    around: &Surroundings,
    options: &Options,
) -> (Outcome, Notice) {
    let kind = if notice.unmarked.is_some() { MarkKind::None } else { options.mark };
    let notice = if twin::has_marked(api, sha, &notice, kind).await { notice.twin() } else { notice };
    let outcome = mark(api, &notice, sha, around, options).await;
    if !notice.is_twin && twin::has_marked(api, sha, &notice, kind).await {
        let notice = notice.twin();
        return (mark(api, &notice, sha, around, options).await, notice);
    }
    (outcome, notice)
}

/// The same where it was found only while the comment was written that another spec has the name.
async fn held_to_twin(
    server: Server,
    notice: Notice,
    api: &Api<'_>,
    sha: &Sha,
    around: &Surroundings,
    options: &Options,
) -> (Server, Notice) {
    if notice.is_twin || server.comment != two_specs(&notice) {
        return (server, notice);
    }
    let notice = notice.twin();
    let mark = mark(api, &notice, sha, around, options).await;
    (Server { mark, ..server }, notice)
}

/// What a part came to that another spec of the same name has been told of.
fn two_specs(notice: &Notice) -> Outcome {
    Outcome::Failed { why: notice::two_specs(&notice.name), hint: Some(notice::TWO_SPECS.to_owned()) }
}

/// The notice, after what was drawn before on the pull request, as far as that can be read.
async fn after(notice: Notice, number: Option<u64>, api: &Api<'_>) -> Notice {
    let Some(number) = number else { return notice };
    let before = comment::draws(api, number, &notice.key).await.unwrap_or_default();
    notice.drawn(before)
}

async fn mark(api: &Api<'_>, notice: &Notice, sha: &Sha, around: &Surroundings, options: &Options) -> Outcome {
    if let Some(why) = notice.unmarked {
        return Outcome::Left(why);
    }
    let (page, run) = (around.run_url(), (around.run_id, around.run_attempt));
    let marked = match options.mark {
        MarkKind::None => return Outcome::Left(UNWANTED),
        MarkKind::Status => {
            let marked = status::mark(api, sha, notice, page.as_deref()).await;
            marked.map(|ours| if ours { Outcome::Done("status") } else { Outcome::Left(NEWER) })
        }
        MarkKind::Check => check::mark(api, notice, sha, run, page.as_deref()).await.map(|marked| match marked {
            Marked::Whole => Outcome::Done("check run"),
            Marked::Newer => Outcome::Left(NEWER),
            Marked::WithoutAllRemarks(refusal) => {
                let why = format!("the check run stands, but some remarks at lines do not: {refusal}");
                Outcome::Failed { why, hint: None }
            }
        }),
    };
    match marked {
        Ok(_) if notice.is_twin => two_specs(notice),
        Ok(outcome) => outcome,
        Err(refusal) => Outcome::refused(refusal, marking(options.mark)),
    }
}

async fn comment(
    api: &Api<'_>,
    notice: &Notice,
    target: &Target,
    around: &Surroundings,
    options: &Options,
    mark: Outcome,
) -> Server {
    let Some(number) = target.pull_request else {
        return Server { mark, ..Server::left(target.without.unwrap_or("the event has no pull request")) };
    };
    if notice.is_twin {
        return Server { mark, comment: two_specs(notice), ..Server::left(UNWANTED) };
    }
    let told = tell(api, number, &letter(notice, target, around), options.comment, options.outdated).await;
    let (comment, comment_url, outdated) = match told {
        Err(refusal) => (Outcome::refused(refusal, COMMENTING), None, Ok(0)),
        Ok((Told::Created(url), outdated)) => (Outcome::Done("created"), Some(url), outdated),
        Ok((Told::Updated(url), outdated)) => (Outcome::Done("updated"), Some(url), outdated),
        Ok((Told::Newer(url), outdated)) => (Outcome::Left("a newer run has written the comment"), Some(url), outdated),
        Ok((Told::Twin, outdated)) => (two_specs(notice), None, outdated),
        Ok((Told::Unneeded(url), outdated)) => (Outcome::Left("there is nothing new to tell"), url, outdated),
    };
    let outdated = match (options.outdated, outdated) {
        (Outdated::Update, _) => Outcome::Left(UNWANTED),
        (Outdated::Hide, Ok(0)) => Outcome::Left("there are none"),
        (Outdated::Hide, Ok(_)) => Outcome::Done("hidden"),
        (Outdated::Hide, Err(refusal)) => Outcome::refused(refusal, COMMENTING),
    };
    Server { comment, outdated, mark, comment_url }
}

/// The text, a line that says what was audited, and the marker.
fn letter(notice: &Notice, target: &Target, around: &Surroundings) -> Letter {
    let origin = origin(target, around);
    let run = (around.run_id, around.run_attempt);
    // The marker's own length does not depend on the text.
    let length = marker(notice, run, &target.sha, "").to_string().len();
    let text = format!("{}\n\n{origin}", notice.markdown_within(COMMENT - length - origin.len() - 4).trim_end());
    let marker = marker(notice, run, &target.sha, &text);
    Letter { body: format!("{text}\n\n{marker}"), marker }
}

fn marker(notice: &Notice, run: (u64, u64), sha: &Sha, text: &str) -> Marker {
    let marker = Marker::new(&notice.key, run, sha, notice.word, text, &notice.draws);
    Marker { spec: notice.spec.clone(), ..marker }
}

fn origin(target: &Target, around: &Surroundings) -> String {
    let commit: String = target.sha.as_str().chars().take(12).collect();
    match around.run_url() {
        Some(url) => format!("Commit `{commit}`, [run {}]({url})", around.run_id),
        None => format!("Commit `{commit}`"),
    }
}

fn to_file<F>(file: Option<&JobFile<'_>>, write: F) -> Outcome
where
    F: FnOnce(&JobFile<'_>) -> io::Result<()>,
{
    match file.map(write) {
        None => Outcome::Left("there is no file for it here"),
        Some(Ok(())) => Outcome::Done("written"),
        Some(Err(error)) => Outcome::Failed { why: format!("the file cannot be written: {error}"), hint: None },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::publish::fixtures::blocking;
    use crate::publish::{Disclosure, Lines};

    #[test]
    fn the_letter_ends_with_its_marker_and_fits() {
        let mut result = blocking();
        result.flips = vec![result.flips[0].clone(); 3000];
        result.analysis.flips = vec![result.analysis.flips[0].clone(); 3000];
        let target = Target { sha: Sha::parse(&"a".repeat(40)).unwrap(), pull_request: Some(1), without: None };
        let notice = Notice::of_result(&result, Disclosure::Answers, false, &Lines::default());
        let letter = letter(&notice, &target, &Surroundings::default());
        assert!(letter.body.len() <= COMMENT && letter.body.len() > COMMENT / 2, "{}", letter.body.len());
        assert_eq!(Marker::last_in(&letter.body), Some(letter.marker));
    }
}
