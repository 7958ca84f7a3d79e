//! Everything that is published about one audit, in order. Each part comes to an outcome of its own; none stops another.

use super::api::Api;
use super::budget::COMMENT;
use super::comment::{Letter, Outdated, Thread, Told};
use super::draws::Draws;
use super::event::{Candidate, Sha, Subject, base_branch, is_of_default_branch, subject};
use super::history::History;
use super::job_file::JobFile;
use super::marker::Marker;
use super::marking::{is_unmarked, marked, marked_as_twin, marking, marks, two_specs};
use super::marks::Marks;
use super::notice::{Failed, Notice};
use super::options::{Audited, CommentMode, Options};
use super::outcome::{Outcome, Publication};
use super::outputs::{self, Places};
use super::refusal::{Permission, Refusal};
use super::target::{self, named, resolve};
use super::{Surroundings, summary, twin};
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

/// Says that the rule is nobody's but the change's, where one is audited without a base to read the rule from: of anything but the
/// default branch's own commit, whatever the event is about.
fn explores(around: &Surroundings, options: &Options) -> Option<&'static str> {
    let Audited { checkout, own_rule, .. } = &options.audited;
    let is_its_own = |sha: &str| sha == around.sha && checkout.as_ref().is_none_or(|checkout| checkout.commit == sha);
    let agreed = is_of_default_branch(&around.event_name, &around.event_json)
        && matches!(about(around), Subject::Commit { sha, .. } if is_its_own(sha.as_str()));
    // Outside of GitHub nobody is told.
    let is_told = !around.event_name.is_empty() || !matches!(about(around), Subject::Nothing(_));
    (*own_rule && is_told && !options.artifact && !agreed).then_some(OWN_RULE)
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
    let base = base_branch(&around.event_name, &around.event_json);
    let notice = notice.of_spec(options.spec.as_deref().map(twin::id), base.as_deref().map(twin::id));
    let summary_file = around.summary_file.as_deref().map(JobFile::open);
    let output_file = around.output_file.as_deref().map(JobFile::open);
    let before = Places {
        exploratory: notice.exploratory,
        unproved: notice.unproved,
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
        unproved: notice.unproved,
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

    /// Neither comment nor mark, because the server refuses what both need.
    fn refused(refusal: Refusal, options: &Options) -> Self {
        let refused = |needed| Outcome::refused(refusal, needed);
        let (comment, mark) = (refused(COMMENTING), refused(marking(options.mark)));
        Self { comment, mark, ..Self::left(UNWANTED) }
    }

    /// Neither comment nor mark, for one reason.
    const fn left(why: &'static str) -> Self {
        Self { comment: Outcome::Left(why), outdated: Outcome::Left(why), mark: Outcome::Left(why), comment_url: None }
    }
}

const UNWANTED: &str = "not wanted";
const CHECK_OUT: &str =
    "check out the commit that is to be marked before the audit; where the event does not name it, `head` does";
const COMMENTING: Permission = Permission::PullRequests;

/// What is said to the server, and what was said: after a look at what was said before.
async fn to_server(notice: Notice, around: &Surroundings, options: &Options, client: &Client) -> (Server, Notice) {
    let (commit, candidate) = match about(around) {
        Subject::Nothing(why) => return (Server::left(why), notice),
        Subject::Unreadable(why) => return (Server::failed(why, None), notice),
        Subject::Commit { sha, pull_request } => (Ok(sha), pull_request),
        Subject::PullRequest(number) => (Err(number), Candidate::Known(number)),
    };
    if options.comment == CommentMode::Never && is_unmarked(&notice, options) {
        return (Server::left(UNWANTED), notice);
    }
    let api = match Api::new(client, around, options.pace) {
        Ok(api) => api,
        Err(refusal) => return (Server::refused(refusal, options), notice),
    };
    let sha = match commit {
        Ok(sha) => sha,
        Err(number) => match target::head(number, &api).await {
            Ok(Some(sha)) => sha,
            Ok(None) => return (Server::failed(target::NO_REQUEST, None), notice),
            Err(refusal) => return (Server::refused(refusal, options), notice),
        },
    };
    if let Some(checkout) =
        options.audited.checkout.as_ref().filter(|checkout| !options.artifact && !checkout.holds(&sha))
    {
        let why = format!("commit `{}` was audited, and not `{sha}`, which this event is about", checkout.commit);
        return (Server::failed(&why, Some(CHECK_OUT)), notice);
    }
    let (place, base) = place(&api, &sha, candidate, &notice, options).await;
    let notice = notice.into_base(base);
    // The last look before the commit is marked.
    let (read, marks) = (place.draws().await, marks(&api, &sha, &notice, around, options).await);
    let of_marks = marks.as_ref().map(Marks::draws).map_err(|refusal| *refusal);
    let notice = notice.drawn(History::new(read, of_marks, marking(options.mark)));
    let (mark, notice) = marked(notice, &api, &sha, around, options, &marks.unwrap_or_default()).await;
    let server = comment(&notice, place, &sha, around, options, mark).await;
    held_to_twin(server, notice, &api, &sha, around, options).await
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
    let mark = marked_as_twin(&notice, api, sha, around, options).await;
    (Server { mark, ..server }, notice)
}

/// Where the comment belongs.
enum Place<'a> {
    Thread(Thread<'a>),
    /// Nowhere, and why.
    Nowhere(&'static str),
    /// Nobody knows.
    Unknown(Refusal),
}

impl Place<'_> {
    async fn draws(&self) -> Result<Draws, Refusal> {
        match self {
            Self::Thread(thread) => thread.draws().await,
            Self::Nowhere(_) => Ok(Draws::default()),
            Self::Unknown(refusal) => Err(*refusal),
        }
    }
}

/// Where the comment belongs, and the branch that its pull request goes into, where that was asked for.
async fn place<'a>(
    api: &'a Api<'a>,
    sha: &Sha,
    candidate: Candidate,
    notice: &Notice,
    options: &Options,
) -> (Place<'a>, Option<String>) {
    if options.comment == CommentMode::Never {
        return (Place::Nowhere(UNWANTED), None);
    }
    let (opened, base) = match resolve(sha, candidate, api).await {
        Ok(Ok(request)) => (Thread::open(api, request.number, &notice.key).await, request.base),
        Ok(Err(why)) => return (Place::Nowhere(why), None),
        Err(refusal) => (Err(refusal), None),
    };
    (opened.map_or_else(Place::Unknown, Place::Thread), base.as_deref().map(twin::id))
}

async fn comment(
    notice: &Notice,
    place: Place<'_>,
    sha: &Sha,
    around: &Surroundings,
    options: &Options,
    mark: Outcome,
) -> Server {
    if notice.is_twin && !matches!(place, Place::Nowhere(_)) {
        return Server { mark, comment: two_specs(notice), ..Server::left(UNWANTED) };
    }
    let told = match place {
        Place::Nowhere(why) => return Server { mark, ..Server::left(why) },
        Place::Unknown(refusal) => Err(refusal),
        Place::Thread(thread) => thread.tell(&letter(notice, sha, around), options.comment, options.outdated).await,
    };
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

/// The text, a line that says what was audited, and the marker, whose length depends on neither text nor draws: there is room for
/// draws that are found when it is written.
fn letter(notice: &Notice, sha: &Sha, around: &Surroundings) -> Letter {
    let origin = origin(sha, around);
    let run = (around.run_id, around.run_attempt);
    let marker = |text: &str, draws: &Draws| Marker {
        spec: notice.spec.clone(),
        ..Marker::new(&notice.key, run, sha, notice.word, text, draws)
    };
    let length = marker("", &Draws::default()).to_string().len() + Draws::ROOM;
    let text = format!("{}\n\n{origin}", notice.markdown_within(COMMENT - length - origin.len() - 4).trim_end());
    let marker = marker(&text, &notice.draws);
    Letter { text, marker }
}

fn origin(sha: &Sha, around: &Surroundings) -> String {
    let commit: String = sha.as_str().chars().take(12).collect();
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
    fn the_letter_fits_with_all_draws_that_a_marker_keeps() {
        let mut result = blocking();
        result.flips = vec![result.flips[0].clone(); 3000];
        result.analysis.flips = vec![result.analysis.flips[0].clone(); 3000];
        let sha = Sha::parse(&"a".repeat(40)).unwrap();
        let notice = Notice::of_result(&result, Disclosure::Answers, false, &Lines::default());
        let Letter { text, marker } = letter(&notice, &sha, &Surroundings::default());
        let room = COMMENT - text.len();
        let draws: Vec<String> = (0..100).map(|run| format!("0123456789ab.{run:0>12}.incompatible")).collect();
        let full = Marker { draws: Draws::parse(&draws.join(",")), ..marker };
        assert!(text.len() > COMMENT / 2 && full.to_string().len() + 2 <= room, "{room}");
    }
}
