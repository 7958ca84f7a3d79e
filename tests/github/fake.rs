//! A GitHub in this process: one repository, its comments, statuses, checks and pull requests.

use churngate::analyze::{FlipOverlap, Overlap, OverlapFigures};
use churngate::http::{Client, HttpSettings};
use churngate::model::QuestionId;
use churngate::publish::{
    Failed, Options, Pace, Publication, Surroundings, publish, publish_evidence, publish_failure,
};
use churngate::report::{AuditCost, AuditResult, EvidenceDiff, EvidenceLine, QuestionAtRisk};
use secrecy::SecretString;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

/// The head commit of pull request 5.
pub const HEAD: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

/// Who writes with the token.
pub const BOT: &str = "github-actions[bot]";

/// Something that goes wrong: the next `times` calls of this method whose path holds this text.
pub struct Fault {
    pub method: &'static str,
    pub path: &'static str,
    pub times: u32,
    /// Whether the server acts before it fails.
    pub acts: bool,
    pub reply: ResponseTemplate,
}

/// What the server holds.
#[derive(Default)]
pub struct State {
    pub comments: Vec<Value>,
    pub statuses: Vec<Value>,
    pub checks: Vec<Value>,
    pub pulls: Vec<Value>,
    pub faults: Vec<Fault>,
    /// Method and path of every call, in order.
    pub calls: Vec<String>,
    /// Comments that somebody else adds right before the next one is created.
    pub rival: Vec<Value>,
    /// Statuses that somebody else adds right before the next one is made.
    pub rival_statuses: Vec<Value>,
    /// The node ids of comments that were hidden.
    pub hidden: Vec<String>,
    /// Who writes with the token, where that is not a workflow's own.
    pub writer: Option<Value>,
    /// Whether the server tells who that is.
    pub tells: bool,
    /// In how many lists a comment that was made does not stand yet.
    pub late: u32,
    /// How often the first comment is deleted between two pages of a list.
    pub vanishing: u32,
    /// Those that do not stand in it yet, and in how many lists they will not.
    unlisted: Vec<(Value, u32)>,
    /// How often something was read, and which of those times fail.
    pub reads: usize,
    pub unreadable: std::ops::Range<usize>,
    next_id: u64,
}

/// The server.
pub struct Fake {
    pub server: MockServer,
    pub state: Arc<Mutex<State>>,
}

struct Answering(Arc<Mutex<State>>);

impl Respond for Answering {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        self.0.lock().unwrap().answer(request)
    }
}

impl Fake {
    pub async fn start() -> Self {
        let state = Arc::new(Mutex::new(State { next_id: 100, ..State::default() }));
        state.lock().unwrap().pulls.push(pull(5, HEAD, 1, "open"));
        let server = MockServer::start().await;
        Mock::given(any()).respond_with(Answering(state.clone())).mount(&server).await;
        Self { server, state }
    }

    /// A step's surroundings on pull request 5, in this run.
    pub fn around(&self, run_id: u64) -> Surroundings {
        self.around_at(run_id, HEAD)
    }

    /// The same at another head commit.
    pub fn around_at(&self, run_id: u64, head: &str) -> Surroundings {
        let payload = json!({ "number": 5, "pull_request": { "number": 5, "head": { "sha": head } } });
        Surroundings {
            event_name: "pull_request".to_owned(),
            event_json: payload.to_string().into_bytes(),
            sha: "a".repeat(40),
            repository: "octo/repo".to_owned(),
            run_id,
            run_attempt: 1,
            api_url: self.server.uri(),
            server_url: "https://github.example".to_owned(),
            token: Some(SecretString::from("t0ken".to_owned())),
            ..Surroundings::default()
        }
    }

    pub fn fail(&self, method: &'static str, path: &'static str, times: u32, reply: ResponseTemplate) {
        self.state.lock().unwrap().faults.push(Fault { method, path, times, acts: false, reply });
    }

    pub fn bodies(&self) -> Vec<String> {
        let state = self.state.lock().unwrap();
        state.comments.iter().map(|comment| comment["body"].as_str().unwrap().to_owned()).collect()
    }

    pub fn count(&self, call: &str) -> usize {
        self.state.lock().unwrap().calls.iter().filter(|made| made.starts_with(call)).count()
    }
}

impl State {
    fn answer(&mut self, request: &Request) -> ResponseTemplate {
        let (method, path) = (request.method.as_str().to_owned(), request.url.path().to_owned());
        self.calls.push(format!("{method} {path}"));
        let authorised = request.headers.get("authorization").is_some_and(|value| value == "Bearer t0ken");
        assert!(authorised, "{method} {path} carries no token");
        let reads = method == "GET" || String::from_utf8_lossy(&request.body).contains("viewer");
        self.reads += usize::from(reads);
        if reads && self.unreadable.contains(&(self.reads - 1)) {
            return ResponseTemplate::new(502);
        }
        let fault =
            self.faults.iter_mut().find(|fault| fault.times > 0 && fault.method == method && path.contains(fault.path));
        if let Some(fault) = fault {
            fault.times -= 1;
            let (acts, reply) = (fault.acts, fault.reply.clone());
            if acts {
                self.act(&method, &path, request);
            }
            return reply;
        }
        self.act(&method, &path, request)
    }

    fn act(&mut self, method: &str, path: &str, request: &Request) -> ResponseTemplate {
        let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        if path.ends_with("/graphql") {
            return self.graphql(&body);
        }
        if path.ends_with("/user") {
            let person = self.writer.as_ref().filter(|writer| writer["user"]["type"] == "User");
            return person.map_or(ResponseTemplate::new(403), |writer| ok(200, &writer["user"]));
        }
        let Some((_, path)) = path.split_once("/repos/octo/repo/") else { return ResponseTemplate::new(404) };
        let parts: Vec<&str> = path.split('/').collect();
        match (method, parts.as_slice()) {
            ("GET", ["issues", number, "comments"]) => self.page(number, request),
            ("POST", ["issues", number, "comments"]) => self.create(number, &body),
            ("PATCH", ["issues", "comments", id]) => self.change(id, &body),
            ("DELETE", ["issues", "comments", id]) => self.delete(id),
            ("POST", ["statuses", sha]) => self.status(sha, body),
            ("POST", ["check-runs"]) => self.check(&body),
            ("PATCH", ["check-runs", id]) => self.more_remarks(id, &body),
            ("GET", ["commits", sha, "statuses"]) => paged(of_commit(&self.statuses, "sha", sha), request),
            ("GET", ["commits", sha, "check-runs"]) => {
                let runs: Vec<&Value> = self.checks.iter().rev().filter(|check| check["head_sha"] == *sha).collect();
                ok(200, &json!({ "total_count": runs.len(), "check_runs": runs }))
            }
            ("GET", ["pulls", number]) => self.pull(number),
            ("GET", ["pulls"] | ["commits", _, "pulls"]) => ok(200, &Value::from(self.pulls.clone())),
            _ => ResponseTemplate::new(404),
        }
    }

    /// One page of comments.
    fn page(&mut self, number: &str, request: &Request) -> ResponseTemplate {
        let listed = |comment: &&Value| is_number(&comment["issue"], number) && !self.is_unlisted(comment);
        let listed: Vec<Value> = self.comments.iter().filter(listed).cloned().collect();
        self.unlisted.iter_mut().for_each(|(_, lists)| *lists = lists.saturating_sub(1));
        let reply = paged(listed, request);
        if self.vanishing > 0 && request.url.query().is_some_and(|query| query.ends_with("&page=1")) {
            self.vanishing -= 1;
            self.comments.remove(0);
        }
        reply
    }

    fn is_unlisted(&self, comment: &Value) -> bool {
        self.unlisted.iter().any(|(id, lists)| *lists > 0 && *id == comment["id"])
    }

    /// A comment on pull request 5.
    pub fn comment(&mut self, login: &str, body: &str) -> Value {
        self.next_id += 1;
        let id = self.next_id;
        let page = format!("https://github.example/octo/repo/pull/5#issuecomment-{id}");
        let user = json!({ "login": login });
        json!({ "id": id, "node_id": format!("IC_{id}"), "body": body, "html_url": page, "user": user, "issue": 5 })
    }

    fn create(&mut self, number: &str, body: &Value) -> ResponseTemplate {
        let mut rivals = std::mem::take(&mut self.rival);
        self.comments.append(&mut rivals);
        let text = body["body"].as_str().unwrap();
        if text.len() > 65_536 {
            return ResponseTemplate::new(422);
        }
        let mut comment = self.comment(BOT, text);
        comment["issue"] = Value::from(number.parse::<u64>().unwrap());
        for (name, value) in self.writer.iter().filter_map(Value::as_object).flatten() {
            comment[name] = value.clone();
        }
        self.unlisted.push((comment["id"].clone(), self.late));
        self.comments.push(comment.clone());
        ok(201, &comment)
    }

    fn change(&mut self, id: &str, body: &Value) -> ResponseTemplate {
        let found = self.comments.iter_mut().find(|comment| is_number(&comment["id"], id));
        found.map_or(ResponseTemplate::new(404), |comment| {
            comment["body"] = body["body"].clone();
            ok(200, comment)
        })
    }

    fn delete(&mut self, id: &str) -> ResponseTemplate {
        let before = self.comments.len();
        self.comments.retain(|comment| !is_number(&comment["id"], id));
        ResponseTemplate::new(if self.comments.len() < before { 204 } else { 404 })
    }

    fn status(&mut self, sha: &str, mut body: Value) -> ResponseTemplate {
        let chars = |name: &str| body[name].as_str().unwrap().chars().count();
        if chars("description") > 140 || chars("context") > 255 {
            return ResponseTemplate::new(422);
        }
        body["sha"] = Value::from(sha);
        let mut rivals = std::mem::take(&mut self.rival_statuses);
        self.statuses.append(&mut rivals);
        self.statuses.push(body.clone());
        ok(201, &body)
    }

    fn check(&mut self, body: &Value) -> ResponseTemplate {
        if !fits(&body["output"]) {
            return ResponseTemplate::new(422);
        }
        let mut check = body.clone();
        check["id"] = Value::from(self.checks.len() + 1);
        self.checks.push(check.clone());
        ok(201, &check)
    }

    /// Remarks are added to those that are there.
    fn more_remarks(&mut self, id: &str, body: &Value) -> ResponseTemplate {
        let Some(check) = self.checks.iter_mut().find(|check| is_number(&check["id"], id)) else {
            return ResponseTemplate::new(404);
        };
        if !fits(&body["output"]) {
            return ResponseTemplate::new(422);
        }
        let more = body["output"]["annotations"].as_array().unwrap().clone();
        check["output"]["annotations"].as_array_mut().unwrap().extend(more);
        ok(200, check)
    }

    /// Only comments can be hidden, and names told.
    fn graphql(&mut self, body: &Value) -> ResponseTemplate {
        let query = body["query"].as_str().unwrap();
        if self.tells && query.contains("viewer") {
            let login = self.writer.as_ref().map_or(json!(BOT), |writer| writer["user"]["login"].clone());
            return ok(200, &json!({ "data": { "viewer": { "login": login } } }));
        }
        if !query.contains("minimizeComment") {
            return ResponseTemplate::new(404);
        }
        let node = body["variables"]["id"].as_str().unwrap().to_owned();
        let there = self.comments.iter().any(|comment| comment["node_id"] == node.as_str());
        if !there {
            return ok(200, &json!({ "data": { "minimizeComment": null }, "errors": [{ "type": "NOT_FOUND" }] }));
        }
        self.hidden.push(node);
        ok(200, &json!({ "data": { "minimizeComment": { "minimizedComment": { "isMinimized": true } } } }))
    }

    fn pull(&self, number: &str) -> ResponseTemplate {
        let found = self.pulls.iter().find(|pull| is_number(&pull["number"], number));
        found.map_or(ResponseTemplate::new(404), |pull| ok(200, pull))
    }
}

/// What the server takes of a check run's output.
fn fits(output: &Value) -> bool {
    let remarks = output["annotations"].as_array().unwrap();
    let fits = |remark: &Value| {
        remark["message"].as_str().unwrap().len() <= 64 << 10
            && remark["title"].as_str().unwrap().chars().count() <= 255
    };
    let summary = output["summary"].as_str().unwrap();
    summary.len() <= 65_535
        && !output["title"].as_str().unwrap().is_empty()
        && remarks.len() <= 50
        && remarks.iter().all(fits)
}

/// What the commit has, the newest first.
fn of_commit(all: &[Value], member: &str, sha: &str) -> Vec<Value> {
    all.iter().rev().filter(|one| one[member] == sha).cloned().collect()
}

/// One page of a list, and a link to the next one where there is one.
fn paged(listed: Vec<Value>, request: &Request) -> ResponseTemplate {
    let query = |name: &str| {
        let found = request.url.query_pairs().find(|(key, _)| key == name);
        found.and_then(|(_, value)| value.parse::<usize>().ok())
    };
    let (size, page) = (query("per_page").unwrap_or(30), query("page").unwrap_or(1));
    assert!(size <= 100, "no page has {size} items");
    let (whole, from) = (listed.len(), size * (page - 1));
    let held: Vec<Value> = listed.into_iter().skip(from).take(size).collect();
    let reply = ok(200, &Value::from(held));
    let next = format!(r#"<https://elsewhere.example/?page={}>; rel="next", <x>; rel="last""#, page + 1);
    if from + size < whole { reply.insert_header("link", next.as_str()) } else { reply }
}

fn is_number(value: &Value, digits: &str) -> bool {
    value.as_u64() == digits.parse().ok()
}

fn ok(status: u16, body: &Value) -> ResponseTemplate {
    ResponseTemplate::new(status).set_body_json(body)
}

/// A pull request as the interface shows it.
pub fn pull(number: u64, sha: &str, repository: u64, state: &str) -> Value {
    json!({ "number": number, "state": state, "head": { "sha": sha, "repo": { "id": repository } } })
}

/// An error as the server words it.
pub fn refused(status: u16, message: &str) -> ResponseTemplate {
    ResponseTemplate::new(status).set_body_json(json!({ "message": message }))
}

/// An incompatible result.
pub fn incompatible() -> AuditResult {
    serde_json::from_str(include_str!("../fixtures/github/incompatible.json")).unwrap()
}

/// The same audit, compatible.
pub fn compatible() -> AuditResult {
    let mut result = incompatible();
    result.decision.verdict = churngate::gate::Verdict::Compatible;
    result
}

/// Waits too short to notice.
pub fn options() -> Options {
    let pace = Pace {
        attempts: 3,
        first: Duration::from_millis(5),
        secondary: Duration::from_millis(20),
        longest: Duration::from_millis(1500),
        timeout: Duration::from_millis(500),
        again: Duration::from_millis(100),
    };
    Options { pace, run_folder: "runs/1".to_owned(), ..Options::default() }
}

/// Publishes with our client.
pub async fn told(result: &AuditResult, around: &Surroundings, options: &Options) -> Publication {
    let settings = HttpSettings {
        connect_timeout: Duration::from_secs(2),
        read_timeout: Duration::from_mins(1),
        max_body_bytes: 1 << 20,
    };
    publish(result, around, options, &Client::new(settings).unwrap()).await
}

/// What changed in the evidence of two questions, one of which is a trap for every place it is told in.
pub fn evidence(hostile: &str) -> EvidenceDiff {
    let line = |id: &str| EvidenceLine { id: id.to_owned(), excerpt: format!("excerpt {hostile}") };
    let figures = OverlapFigures { mean_shared: 1.0, none: 0, same_set: 1, same_list: 1 };
    let flips = FlipOverlap {
        flips: 0,
        flips_mean_shared: None,
        flips_none: 0,
        rest_mean_shared: Some(1.0),
        rest_none: 0,
        fisher_p: 1.0,
        by_content: None,
    };
    EvidenceDiff {
        name: "docs-evidence".to_owned(),
        protocol: churngate::model::Digest::of(b"protocol"),
        snapshots: Vec::new(),
        retrieve: "embedded BM25".to_owned(),
        replayed: false,
        overlap: Overlap {
            questions: 2,
            by_id: figures.clone(),
            by_url: None,
            by_content: figures,
            without_documents: Some((0, 0)),
            identical_prompts: 1,
            flips,
        },
        placebo: None,
        caveats: vec![format!("caveat {hostile}")],
        mismatched: 0,
        at_risk: vec![QuestionAtRisk {
            question: QuestionId("q-1".to_owned()),
            text: format!("question {hostile}"),
            turnover: 0.5,
            shared: 1,
            lost: vec![line("lost.md")],
            gained: vec![line("gained.md")],
        }],
        cost: AuditCost { asked: 1, unasked: 1, answers: 4, packets: 1, calls: 5 },
    }
}

/// Publishes evidence alone.
pub async fn told_evidence(diff: &EvidenceDiff, around: &Surroundings, options: &Options) -> Publication {
    let settings = HttpSettings {
        connect_timeout: Duration::from_secs(2),
        read_timeout: Duration::from_mins(1),
        max_body_bytes: 1 << 20,
    };
    publish_evidence(diff, around, options, &Client::new(settings).unwrap()).await
}

/// Publishes that there is no verdict.
pub async fn told_failure(failed: &Failed, around: &Surroundings, options: &Options) -> Publication {
    let settings = HttpSettings {
        connect_timeout: Duration::from_secs(2),
        read_timeout: Duration::from_mins(1),
        max_body_bytes: 1 << 20,
    };
    publish_failure(failed, around, options, &Client::new(settings).unwrap()).await
}
