//! The action under a real runner, `act`, on this host: it audits the quickstart and publishes to a GitHub on this machine
//! that holds every request against the official description. Needs scripts/setup-github-tools.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking, and says what it skipped")]

use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// The mock server. Ends with the test.
struct Mock {
    child: Child,
    port: u16,
}

impl Mock {
    fn start(tools: &Path) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut child = Command::new(tools.join("python"))
            .arg(root.join("tests/action/mock_github.py"))
            .arg(root.join("tests/fixtures/github/openapi-subset.json"))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { child, port: line.trim().parse().unwrap() }
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// What the server holds.
    fn state(&self) -> Value {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.write_all(b"GET /_state HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        let (_, body) = reply.split_once("\r\n\r\n").unwrap();
        serde_json::from_str(body).unwrap()
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        // A server that has ended already is as good.
        let _ended = self.child.kill();
        let _ended = self.child.wait();
    }
}

/// The tools, or nothing where they are not installed and need not be.
fn tools() -> Option<PathBuf> {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/github-tools/venv/bin");
    if tools.join("act").exists() {
        return Some(tools);
    }
    assert!(std::env::var_os("CHURNGATE_REQUIRE_ALL").is_none(), "scripts/setup-github-tools has not been run");
    println!("skipped: scripts/setup-github-tools installs the runner");
    None
}

/// A repository with the action, the quickstart and a workflow that uses both; a pull request is checked out.
struct Checkout {
    folder: TempDir,
    /// What lies outside of the repository: the event, the runner's cache, the outputs.
    beside: TempDir,
    base: String,
    head: String,
}

const WORKFLOW: &str = "\
on: pull_request
permissions: {}
jobs:
  gate:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@9c091bb21b7c1c1d1991bb908d89e4e9dddfe3e0
      - uses: ./
        id: gate
        with:
          spec: examples/quickstart/SPEC
          token: mock-token
          comment: always
          binary-path: BINARY
      - if: always()
        env:
          OUTPUTS: ${{ toJSON(steps.gate.outputs) }}
          REPORT: ${{ steps.gate.outputs.report-json }}
        run: |
          printf '%s' \"$OUTPUTS\" >KEEP
          [ -z \"$REPORT\" ] || cp \"$REPORT\" KEEP.report
";

impl Checkout {
    fn new(spec: &str) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let (folder, beside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let to = folder.path();
        for part in ["action", "examples/quickstart"] {
            copy(&root.join(part), &to.join(part));
        }
        std::fs::copy(root.join("action.yml"), to.join("action.yml")).unwrap();
        // The same audit by a model whose server is down.
        let down = "openai: { model: m, base_url: \"http://127.0.0.1:9/v1\" }\n  max_attempts: 1";
        let text = std::fs::read_to_string(root.join("examples/quickstart/churngate.yaml")).unwrap();
        let reader = text.lines().find(|line| line.trim_start().starts_with("reader:")).unwrap().trim_start();
        std::fs::write(to.join("examples/quickstart/down.yaml"), text.replace(reader, down)).unwrap();
        let (head, _) = text.split_once("\ngenerate:").unwrap();
        let evidence = head.replacen("name: quickstart", "name: quickstart-evidence\nmode: evidence", 1);
        std::fs::write(to.join("examples/quickstart/evidence.yaml"), evidence).unwrap();
        git(to, &["init", "--quiet", "--initial-branch=main"]);
        let base = commit(to);
        std::fs::create_dir_all(to.join(".github/workflows")).unwrap();
        let kept = beside.path().join("outputs.json");
        let workflow = WORKFLOW.replace("SPEC", spec).replace("BINARY", env!("CARGO_BIN_EXE_churngate"));
        let workflow = workflow.replace("KEEP", kept.to_str().unwrap());
        std::fs::write(to.join(".github/workflows/gate.yml"), workflow).unwrap();
        let head = commit(to);
        Self { folder, beside, base, head }
    }

    /// Runs the workflow: whether the job passed, and what was printed.
    fn act(&self, tools: &Path, mock: &Mock, run: u32) -> (bool, String) {
        let (to, beside) = (self.folder.path(), self.beside.path());
        let event = beside.join("event.json");
        std::fs::write(&event, self.event().to_string()).unwrap();
        let mut command = Command::new(tools.join("act"));
        command.current_dir(to).args(["pull_request", "-P", "ubuntu-latest=-self-hosted", "--action-offline-mode"]);
        command.arg("-e").arg(event).arg("--env").arg(format!("GITHUB_API_URL={}", mock.url()));
        command.args(["--env", &format!("GITHUB_GRAPHQL_URL={}/graphql", mock.url())]);
        command.args(["--env", &format!("GITHUB_RUN_ID={run}"), "--env", "GITHUB_REPOSITORY=Codertocat/Hello-World"]);
        let output = command.env("XDG_CACHE_HOME", beside.join("cache")).output().unwrap();
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        (output.status.success(), said)
    }

    /// A real payload, with the commits of this repository.
    fn event(&self) -> Value {
        let events: Vec<Value> = serde_json::from_str(include_str!("fixtures/github/events.json")).unwrap();
        let mut event = events.into_iter().find(|event| event["name"] == "pull_request").unwrap()["payload"].take();
        event["pull_request"]["base"]["sha"] = json!(self.base);
        event["pull_request"]["head"]["sha"] = json!(self.head);
        event
    }

    fn outputs(&self) -> Value {
        serde_json::from_slice(&std::fs::read(self.beside.path().join("outputs.json")).unwrap()).unwrap()
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_file() {
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git").current_dir(folder).args(arguments).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn commit(folder: &Path) -> String {
    git(folder, &["add", "--all"]);
    git(folder, &["-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet", "--message=x"]);
    git(folder, &["rev-parse", "HEAD"])
}

#[test]
fn the_action_audits_comments_and_marks_and_a_second_run_updates() {
    let Some(tools) = tools() else { return };
    let (mock, checkout) = (Mock::start(&tools), Checkout::new("unchanged.yaml"));
    let (passed, said) = checkout.act(&tools, &mock, 71);
    assert!(passed, "{said}");
    let state = mock.state();
    assert_eq!(state["faults"], json!([]), "{said}");
    assert_eq!(
        (state["comments"].as_array().unwrap().len(), state["statuses"].as_array().unwrap().len()),
        (1, 1),
        "{state} {said}"
    );
    assert_eq!(state["statuses"][0]["sha"], json!(checkout.head));
    assert_eq!(state["statuses"][0]["state"], "success");
    let body = state["comments"][0]["body"].as_str().unwrap().to_owned();
    assert!(body.contains("run=71 attempt=1") && body.contains("[run 71](https://github.com/"), "{body}");

    let outputs = checkout.outputs();
    assert_eq!(outputs["published"], "true", "{outputs}");
    assert_eq!(outputs["comment-url"], state["comments"][0]["html_url"]);
    assert_eq!(outputs["questions"], "120");
    let report = std::fs::read(checkout.beside.path().join("outputs.json.report")).unwrap();
    assert_eq!(churngate::report::parse(&report).unwrap().name, "quickstart-unchanged");
    assert!(said.contains("Summary - ## "), "{said}");
    assert_eq!(outputs.as_object().unwrap().len(), churngate::publish::outputs::NAMES.len());

    let (passed, said) = checkout.act(&tools, &mock, 72);
    assert!(passed, "{said}");
    let state = mock.state();
    assert_eq!(state["faults"], json!([]), "{said}");
    assert_eq!((state["comments"].as_array().unwrap().len(), state["statuses"].as_array().unwrap().len()), (1, 2));
    assert!(state["comments"][0]["body"].as_str().unwrap().contains("run=72 attempt=1"));
}

#[test]
fn evidence_alone_is_told_without_a_verdict() {
    let Some(tools) = tools() else { return };
    let (mock, checkout) = (Mock::start(&tools), Checkout::new("evidence.yaml"));
    let (passed, said) = checkout.act(&tools, &mock, 76);
    assert!(passed, "{said}");
    let state = mock.state();
    assert_eq!(state["faults"], json!([]), "{said}");
    assert_eq!(
        (&state["statuses"][0]["state"], &state["statuses"][0]["context"]),
        (&json!("success"), &json!("churngate/quickstart-evidence"))
    );
    let body = state["comments"][0]["body"].as_str().unwrap();
    assert!(body.starts_with("## 🔎 Evidence alone, no verdict: ") && !body.contains("ompatible"), "{body}");
    let outputs = checkout.outputs();
    assert_eq!(
        (&outputs["verdict"], &outputs["questions"], &outputs["published"]),
        (&json!(""), &json!("120"), &json!("true"))
    );
    assert!(outputs["evidence-changed"].as_str().unwrap().parse::<u64>().unwrap() > 10, "{outputs}");
    assert_eq!(outputs.as_object().unwrap().len(), churngate::publish::outputs::NAMES.len());
}

#[test]
fn a_blocking_pair_fails_the_job_and_is_published() {
    let Some(tools) = tools() else { return };
    let (mock, checkout) = (Mock::start(&tools), Checkout::new("changed.yaml"));
    let (passed, said) = checkout.act(&tools, &mock, 73);
    assert!(!passed && said.contains("exit status 1"), "{said}");
    let state = mock.state();
    assert_eq!(state["faults"], json!([]), "{said}");
    assert_eq!(state["statuses"][0]["state"], "failure", "{said}");
    assert_eq!(state["comments"].as_array().unwrap().len(), 1);
    let outputs = checkout.outputs();
    assert_eq!((&outputs["verdict"], &outputs["published"]), (&json!("incompatible"), &json!("true")));
}

#[test]
fn a_spec_that_does_not_exist_fails_the_job_with_every_output_set() {
    let Some(tools) = tools() else { return };
    let (mock, checkout) = (Mock::start(&tools), Checkout::new("none.yaml"));
    let (passed, said) = checkout.act(&tools, &mock, 74);
    assert!(!passed && said.contains("exit status 2"), "{said}");
    let state = mock.state();
    assert_eq!(state["faults"], json!([]), "{said}");
    assert_eq!(state["statuses"][0]["state"], "error", "neither churn nor a pass: {state}");
    let body = state["comments"][0]["body"].as_str().unwrap();
    assert!(
        body.starts_with("## ⛔ No verdict: ") && body.contains("none.yaml") && body.contains("does not exist"),
        "{body}"
    );
    let outputs = checkout.outputs();
    assert_eq!((&outputs["verdict"], &outputs["published"]), (&json!(""), &json!("true")));
    assert_eq!(outputs["comment-url"], state["comments"][0]["html_url"]);
    assert_eq!(outputs.as_object().unwrap().len(), churngate::publish::outputs::NAMES.len());
}

#[test]
fn an_outage_fails_the_job_and_is_told_as_neither_churn_nor_a_pass() {
    let Some(tools) = tools() else { return };
    let (mock, checkout) = (Mock::start(&tools), Checkout::new("down.yaml"));
    let (passed, said) = checkout.act(&tools, &mock, 75);
    assert!(!passed && said.contains("exit status 4"), "{said}");
    let state = mock.state();
    assert_eq!((&state["faults"], &state["statuses"][0]["state"]), (&json!([]), &json!("error")), "{said}");
    assert_eq!(state["statuses"][0]["context"], "churngate/quickstart");
    let body = state["comments"][0]["body"].as_str().unwrap();
    assert!(body.starts_with("## ⛔ No verdict: the audit could not be completed"), "{body}");
    assert!(body.contains("the generator gave no answer at all") && !body.contains("ompatible"), "{body}");
    assert!(said.contains("Summary - ## ⛔ No verdict"), "{said}");
    assert_eq!(checkout.outputs()["verdict"], "");
}

/// A finished run that came from elsewhere, published for a workflow's run that a fork started.
fn publish(mock: &Mock, folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    publish_from(mock, folder, folder, arguments)
}

fn publish_from(mock: &Mock, beside: &Path, folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let event = beside.join("event.json");
    let payload = json!({
        "repository": { "id": 1 },
        "workflow_run": {
            "head_sha": "b".repeat(40), "head_branch": "patch/1", "pull_requests": [],
            "head_repository": { "id": 7, "owner": { "login": "forker" } }
        }
    });
    std::fs::write(&event, payload.to_string()).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_churngate"));
    command.arg("publish").args(arguments).arg(folder).env("GITHUB_ACTIONS", "true");
    command.env("GITHUB_WORKSPACE", beside);
    command.env("GITHUB_API_URL", mock.url()).env("GITHUB_EVENT_NAME", "workflow_run").env("GITHUB_EVENT_PATH", event);
    command.env("GITHUB_REPOSITORY", "octo/repo").env("GITHUB_RUN_ID", "9").env("GITHUB_TOKEN", "mock-token");
    command.env("GITHUB_GRAPHQL_URL", format!("{}/graphql", mock.url())).env("GITHUB_SERVER_URL", "https://github.com");
    for name in ["GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"] {
        command.env_remove(name);
    }
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

#[test]
fn a_fork_is_told_with_a_check_run_as_the_description_wants_it() {
    let Some(tools) = tools() else { return };
    let (mock, folder) = (Mock::start(&tools), tempfile::tempdir().unwrap());
    std::fs::write(folder.path().join("result.json"), RESULT).unwrap();
    let published = || publish(&mock, folder.path(), &["--status=check", "--require-publish", "--unverified"]);
    // By whose rule nobody can say.
    let (code, said) = published();
    assert_eq!((code, &mock.state()["checks"][0]["conclusion"]), (Some(0), &json!("neutral")), "{said}");
    let rule = json!({
        "head": { "commit": "b".repeat(40), "parents": [] }, "commit": "a".repeat(40), "edited": [], "missing": null
    });
    std::fs::write(folder.path().join("rule.json"), rule.to_string()).unwrap();
    let (code, said) = published();
    let state = mock.state();
    assert_eq!((code, &state["faults"]), (Some(0), &json!([])), "{said}");
    assert_eq!(state["checks"][1]["conclusion"], "failure");
    assert!(state["calls"].to_string().contains("POST /repos/octo/repo/issues/2/comments"), "{state}");
}

const RESULT: &str = include_str!("fixtures/github/incompatible.json");

#[test]
fn a_run_folder_that_is_a_trick_publishes_nothing() {
    let Some(tools) = tools() else { return };
    let (mock, folder) = (Mock::start(&tools), tempfile::tempdir().unwrap());
    let result = folder.path().join("result.json");
    let refused = |expected: i32| {
        let (code, said) = publish(&mock, folder.path(), &["--unverified"]);
        assert_eq!(code, Some(expected), "{said}");
        assert!(!said.contains("\n::") && !said.contains("##["), "{said}");
    };
    refused(2);
    for text in ["", "{", "[]", "\n::error::x\n##[error]", &RESULT.replace("incompatible", "blessed")] {
        std::fs::write(&result, text).unwrap();
        refused(5);
    }
    std::fs::remove_file(&result).unwrap();
    #[cfg(unix)]
    {
        let elsewhere = folder.path().join("elsewhere.json");
        std::fs::write(&elsewhere, RESULT).unwrap();
        std::os::unix::fs::symlink(elsewhere, &result).unwrap();
        refused(2);
        std::fs::remove_file(&result).unwrap();
    }
    let file = std::fs::File::create(&result).unwrap();
    file.set_len(65 << 20).unwrap();
    refused(2);
    assert_eq!(mock.state()["calls"], json!([]));
}

#[test]
fn a_check_run_has_remarks_at_the_rule_and_at_the_flipped_questions() {
    let Some(tools) = tools() else { return };
    let (mock, folder) = (Mock::start(&tools), tempfile::tempdir().unwrap());
    let audit = folder.path().join("audit");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/quickstart"), &audit);
    let mut command = Command::new(env!("CARGO_BIN_EXE_churngate"));
    command.current_dir(folder.path()).args(["run", "--quiet", "--runs=runs", "audit/changed.yaml"]);
    assert_eq!(command.output().unwrap().status.code(), Some(1));
    let run = std::fs::read_dir(folder.path().join("runs")).unwrap().next().unwrap().unwrap().path();
    let spec = audit.join("changed.yaml");
    let arguments = ["--status=check", "--comment=never", "--require-publish", "--spec", spec.to_str().unwrap()];
    let (code, said) = publish_from(&mock, folder.path(), &run, &arguments);
    let state = mock.state();
    assert_eq!((code, &state["faults"], state["checks"].as_array().unwrap().len()), (Some(0), &json!([]), 1), "{said}");
    let remarks = state["checks"][0]["output"]["annotations"].as_array().unwrap();
    let line = |name: &str, number: u64| {
        let text = std::fs::read_to_string(folder.path().join(name)).unwrap();
        text.lines().nth(usize::try_from(number).unwrap() - 1).unwrap().to_owned()
    };
    let stands = |remark: &Value| line(remark["path"].as_str().unwrap(), remark["start_line"].as_u64().unwrap());
    assert!(stands(&remarks[0]).starts_with("gate:") && remarks[0]["path"] == "audit/changed.yaml", "{}", remarks[0]);
    assert!(remarks.len() > 20, "{}", remarks.len());
    for remark in &remarks[1..] {
        assert_eq!(remark["path"], "audit/changed.jsonl");
        let question: Value = serde_json::from_str(&stands(remark)).unwrap();
        let message = remark["message"].as_str().unwrap();
        assert!(message.starts_with(question["question"].as_str().unwrap()), "{message} at {question}");
    }
    // Where the questions in the checkout are others than those that were asked, no line of theirs is pointed at.
    std::fs::write(audit.join("changed.jsonl"), "{}").unwrap();
    publish_from(&mock, folder.path(), &run, &arguments);
    let again = mock.state()["checks"][1]["output"]["annotations"].take();
    assert_eq!(again.as_array().unwrap().len(), 1, "{again}");
}

#[test]
fn an_artifact_is_verified_as_a_whole_and_marks_nothing() {
    let Some(tools) = tools() else { return };
    let (mock, folder) = (Mock::start(&tools), tempfile::tempdir().unwrap());
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/quickstart"), folder.path());
    let mut command = Command::new(env!("CARGO_BIN_EXE_churngate"));
    command.current_dir(folder.path()).args(["run", "--quiet", "--runs=runs", "changed.yaml"]);
    assert_eq!(command.output().unwrap().status.code(), Some(1));
    let run = std::fs::read_dir(folder.path().join("runs")).unwrap().next().unwrap().unwrap().path();
    let told = |arguments: &[&str]| publish_from(&mock, folder.path(), &run, arguments);
    let (code, said) = told(&["--artifact", "--require-publish"]);
    let state = mock.state();
    assert_eq!((code, &state["faults"], &state["statuses"]), (Some(0), &json!([]), &json!([])), "{said}");
    let body = state["comments"][0]["body"].as_str().unwrap();
    assert!(body.contains("audit=artifact%3Aquickstart") && body.contains("this comment decides nothing"), "{body}");
    let calls = state["calls"].as_array().unwrap().len();
    let refused = |words: &str| {
        let (code, said) = told(&["--artifact"]);
        assert!(code == Some(5) && said.contains(words), "{words}: {code:?} {said}");
    };
    std::fs::write(run.join("evil.sh"), "x").unwrap();
    refused("is nothing that a run has");
    std::fs::remove_file(run.join("evil.sh")).unwrap();
    let blob = std::fs::read_dir(run.join("blobs")).unwrap().next().unwrap().unwrap().path();
    let intact = std::fs::read(&blob).unwrap();
    std::fs::write(&blob, "another text").unwrap();
    refused("blob");
    std::fs::write(&blob, intact).unwrap();
    for name in ["protocol.lock.json", "evidence.jsonl", "answers.jsonl", "judgments.jsonl"] {
        std::fs::remove_file(run.join(name)).unwrap();
    }
    refused("holds no ledgers");
    assert_eq!(mock.state()["calls"].as_array().unwrap().len(), calls, "nothing was published of any of them");
}

/// The inputs of the action as they are where a workflow names none but a few.
#[cfg(unix)]
const INPUTS: [(&str, &str); 17] = [
    ("COMMAND", "run"),
    ("SPEC", "churngate.yaml"),
    ("WORKING_DIRECTORY", "."),
    ("BASE", ""),
    ("NEW", ""),
    ("SHARD", ""),
    ("SHARDS", ""),
    ("ARTIFACT", ""),
    ("RUNS", ""),
    ("COMMENT", "always"),
    ("OUTDATED", "update"),
    ("STATUS", "status"),
    ("DISCLOSURE", "ids"),
    ("REQUIRE_PUBLISH", ""),
    ("PULL_REQUEST", ""),
    ("HEAD", ""),
    ("ARGS", ""),
];

/// The action's script with a false program, which finds a finished run in its folder and ends with this code.
#[cfg(unix)]
struct Script {
    beside: TempDir,
}

#[cfg(unix)]
impl Script {
    fn new() -> Self {
        use std::os::unix::fs::PermissionsExt as _;
        let beside = tempfile::tempdir().unwrap();
        let program = "#!/bin/bash\nprintf '%s\\n' \"$@\" >>\"$BESIDE/$1\"\ncase \"$1\" in run | merge) ;; *)\n\
            for each; do case \"$each\" in --failure=*) cat \"${each#*=}\" >\"$BESIDE/failure\" ;; esac; done; exit \"${PUBLISHED:-0}\" ;; esac\n\
            for each; do case \"$each\" in --failure-file=*) printf why >\"${each#*=}\" ;; esac; done\n\
            for each; do case \"$each\" in --folder-file=*) printf %s \"$BESIDE\" >\"${each#*=}\" ;; esac; done\nexit \"$CODE\"\n";
        let path = beside.path().join("program");
        std::fs::write(&path, program).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::write(beside.path().join("result.json"), RESULT).unwrap();
        Self { beside }
    }

    fn run(&self, code: i32, inputs: &[(&str, &str)]) -> Option<i32> {
        self.run_in(code, inputs, &[("EVENT_BASE", "")])
    }

    /// The same with more of the environment.
    fn run_in(&self, code: i32, inputs: &[(&str, &str)], environment: &[(&str, &str)]) -> Option<i32> {
        let beside = self.beside.path();
        let mut command = Command::new("bash");
        command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("action/run.sh")).current_dir(beside).env_clear();
        command.env("PATH", "/usr/bin:/bin").env("BESIDE", beside).env("CODE", code.to_string());
        command.env("CHURNGATE", beside.join("program")).env("RUNNER_TEMP", beside);
        command.env("GITHUB_OUTPUT", beside.join("output")).env("GITHUB_STEP_SUMMARY", beside.join("summary"));
        for (name, value) in INPUTS.iter().chain(inputs) {
            command.env(format!("INPUT_{name}"), value);
        }
        command.envs(environment.iter().copied()).output().unwrap().status.code()
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.beside.path().join(name)).unwrap_or_default()
    }
}

#[cfg(unix)]
#[test]
fn only_an_exit_code_with_a_verdict_publishes_what_lies_in_the_folder() {
    for (code, has_verdict) in
        [(0, true), (1, true), (3, true), (2, false), (4, false), (5, false), (101, false), (130, false)]
    {
        let script = Script::new();
        assert_eq!(script.run(code, &[]), Some(code));
        let published = script.read("publish");
        assert!(published.contains("--comment=always") && published.contains("--spec=churngate.yaml"), "{published}");
        let folder = format!("\n{}\n", script.beside.path().display());
        assert_eq!(published.contains(&folder), has_verdict, "{code}: {published}");
        assert_eq!(published.contains(&format!("--failed={code}\n--failure=")), !has_verdict, "{code}: {published}");
        assert!(script.read("output").starts_with("verdict=\n"), "{code}");
    }
}

#[cfg(unix)]
#[test]
fn a_binary_that_cannot_be_started_is_an_audit_that_came_to_nothing_and_is_told() {
    for command in ["run", "publish", "merge", "check"] {
        for binary in ["", "/", "/nowhere", "/etc/passwd"] {
            let script = Script::new();
            let folder = script.beside.path().join("shards/one");
            std::fs::create_dir_all(&folder).unwrap();
            let shards = folder.parent().unwrap().to_str().unwrap();
            let inputs = [("COMMAND", command), ("ARTIFACT", shards), ("SHARDS", shards)];
            let environment = [("EVENT_BASE", ""), ("CHURNGATE", binary)];
            assert_eq!(script.run_in(0, &inputs, &environment), Some(4), "{command} {binary}");
            let summary = script.read("summary");
            assert!(summary.contains("no verdict: the binary cannot be started"), "{command} {binary}: {summary}");
            assert!(script.read("output").starts_with("verdict=\n"), "{command} {binary}");
        }
    }
}

/// Publishing ends with 1 where an earlier verdict stands, and with 6 where it failed and must not.
#[cfg(unix)]
#[test]
fn an_earlier_verdict_that_stands_comes_before_what_does_not_pass_and_a_verdict_before_what_was_not_published() {
    for (code, published, expected) in [
        (0, 0, 0),
        (0, 1, 1),
        (0, 6, 6),
        (1, 0, 1),
        (1, 1, 1),
        (1, 6, 1),
        (3, 0, 3),
        (3, 1, 1),
        (3, 6, 3),
        (4, 6, 4),
        (5, 1, 5),
    ] {
        let environment = [("EVENT_BASE", ""), ("PUBLISHED", &published.to_string())];
        assert_eq!(Script::new().run_in(code, &[], &environment), Some(expected), "{code} {published}");
    }
}

#[cfg(unix)]
#[test]
fn what_ends_publishing_before_anything_is_said_takes_no_verdicts_place() {
    for (published, required, expected) in [
        ("0", "true", 0),
        ("1", "false", 1),
        ("5", "false", 5),
        ("6", "true", 6),
        ("2", "false", 0),
        ("2", "true", 6),
        ("101", "false", 0),
        ("137", "true", 6),
    ] {
        for code in [0, 1, 3, 4] {
            let script = Script::new();
            let ended =
                script.run_in(code, &[("REQUIRE_PUBLISH", required)], &[("EVENT_BASE", ""), ("PUBLISHED", published)]);
            // An earlier verdict that stands comes before an undecided audit's own code.
            let ends = if code == 0 || (code, published) == (3, "1") { expected } else { code };
            assert_eq!(ended, Some(ends), "{code} {published} {required}");
        }
    }
}

#[cfg(unix)]
#[test]
fn runs_are_kept_among_the_runners_temporary_files_or_where_the_input_says() {
    let script = Script::new();
    script.run(0, &[]);
    let expected = format!("--runs={}/churngate-runs", script.beside.path().display());
    assert!(script.read("run").lines().any(|argument| argument == expected), "{}", script.read("run"));
    let script = Script::new();
    script.run(0, &[("RUNS", "kept")]);
    assert!(script.read("run").lines().any(|argument| argument == "--runs=kept"), "{}", script.read("run"));
}

#[cfg(unix)]
#[test]
fn a_replay_has_no_verdict_that_a_later_step_could_go_by() {
    let folder = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    copy(&root.join("examples/quickstart"), folder.path());
    let verdict = |argument: &str| {
        let outputs = folder.path().join(format!("outputs{argument}"));
        let mut command = Command::new("bash");
        command.arg(root.join("action/run.sh")).current_dir(folder.path()).env_clear();
        command.env("PATH", "/usr/bin:/bin").env("CHURNGATE", env!("CARGO_BIN_EXE_churngate"));
        command.env("RUNNER_TEMP", folder.path()).env("GITHUB_OUTPUT", &outputs).env("EVENT_BASE", "");
        for (name, value) in INPUTS.iter().chain(&[("SPEC", "unchanged.yaml"), ("ARGS", argument)]) {
            command.env(format!("INPUT_{name}"), value);
        }
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        let told = std::fs::read_to_string(outputs).unwrap();
        let of = |name: &str| told.rsplit_once(&format!("{name}<<")).unwrap().1.lines().nth(1).unwrap().to_owned();
        (of("verdict"), of("questions"))
    };
    let (audit, replay) = (verdict("--record=rec"), verdict("--replay=rec"));
    assert!(["compatible", "inconclusive"].contains(&audit.0.as_str()), "{audit:?}");
    assert_eq!(replay, (String::new(), audit.1));
}

#[cfg(unix)]
#[test]
fn inputs_are_arguments_and_nothing_else() {
    let script = Script::new();
    let hostile = "index=$(touch pwned)\r\nalias=`touch pwned`; touch pwned\n\n--x";
    script.run(0, &[("NEW", hostile), ("BASE", "abc"), ("ARGS", "--tasks\n4\n$(touch pwned)"), ("SPEC", "-s.yaml")]);
    let said = script.read("run");
    let lines: Vec<&str> = said.lines().collect();
    let expected = [
        "--base=abc",
        "--new=index=$(touch pwned)",
        "--new=alias=`touch pwned`; touch pwned",
        "--new=--x",
        "--tasks",
        "4",
        "$(touch pwned)",
        "--quiet",
    ];
    assert_eq!(lines[3..11], expected, "{said}");
    assert_eq!(lines[lines.len() - 2..], ["--", "-s.yaml"]);
    assert!(!script.beside.path().join("pwned").exists());
}

#[cfg(unix)]
#[test]
fn a_shard_publishes_nothing_and_a_merge_does() {
    let script = Script::new();
    assert_eq!(script.run(0, &[("SHARD", "2/4")]), Some(0));
    assert!(script.read("run").contains("\n--shard=2/4\n") && script.read("publish").is_empty());
    let folder = format!("run-folder={}\n", script.beside.path().display());
    assert!(script.read("output").ends_with(&folder), "{}", script.read("output"));
    let script = Script::new();
    assert_eq!(script.run(4, &[("SHARD", "2/4")]), Some(4));
    assert!(script.read("publish").is_empty() && script.read("summary").contains("exit code 4"));

    for (code, published) in [(0, "--comment=always"), (1, "--comment=always"), (2, "--failed=2")] {
        let script = Script::new();
        for name in ["one", "two"] {
            std::fs::create_dir_all(script.beside.path().join("shards").join(name)).unwrap();
        }
        assert_eq!(script.run(code, &[("COMMAND", "merge"), ("SHARDS", "shards")]), Some(code));
        assert!(script.read("merge").ends_with("--\nshards/one\nshards/two\n"), "{}", script.read("merge"));
        assert!(script.read("publish").contains(published), "{}", script.read("publish"));
    }
    assert_eq!(Script::new().run(0, &[("COMMAND", "merge"), ("SHARDS", "")]), Some(2));
    for empty in [false, true] {
        let script = Script::new();
        if empty {
            std::fs::create_dir(script.beside.path().join("shards")).unwrap();
        }
        assert_eq!(script.run(0, &[("COMMAND", "merge"), ("SHARDS", "shards")]), Some(4));
        assert!(script.read("publish").contains("--failed=4\n--failure="), "{}", script.read("publish"));
        assert!(script.read("failure").starts_with("no shard was found in `shards`"), "{}", script.read("failure"));
        assert!(script.read("merge").is_empty());
    }
}

/// What a program of the audit can see of the token: its environment and that of each process above it that began with this
/// script.
#[cfg(target_os = "linux")]
#[test]
fn only_what_publishes_can_see_the_token() {
    let script = Script::new();
    let beside = script.beside.path();
    let program = "#!/bin/bash\n{ env; pid=$$\n\
        until [ \"$pid\" = \"$ABOVE\" ]; do tr '\\0' '\\n' <\"/proc/$pid/environ\"; read -r _ _ _ pid _ <\"/proc/$pid/stat\"; done\n\
        } >\"$BESIDE/seen-$1\"\nexec \"$BESIDE/program\" \"$@\"\n";
    let spy = beside.join("spy");
    std::fs::write(&spy, program).unwrap();
    std::fs::set_permissions(&spy, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut environment = vec![("EVENT_BASE", ""), ("CHURNGATE", spy.to_str().unwrap())];
    let above = std::process::id().to_string();
    // A job's own variable of the name under which the script keeps it must not hand it on.
    environment.extend([
        ("GITHUB_TOKEN", "the-token"),
        ("ABOVE", above.as_str()),
        ("token", "another"),
        ("found", "false"),
    ]);
    assert_eq!(script.run_in(0, &[], &environment), Some(0));
    let (run, publish) = (script.read("seen-run"), script.read("seen-publish"));
    assert!(run.matches("INPUT_SPEC=").count() > 2 && !run.contains("the-token"), "{run}");
    assert!(publish.contains("GITHUB_TOKEN=the-token"), "{publish}");
}

/// The variables that the action's script sets.
#[cfg(unix)]
fn own_variables() -> std::collections::BTreeSet<String> {
    let script = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("action/run.sh")).unwrap();
    let is_own =
        |name: &str| !name.is_empty() && name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_');
    let mut found = std::collections::BTreeSet::new();
    for line in script.lines().filter(|line| !line.trim_start().starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        // What follows a quotation mark is text.
        let code = words.iter().take_while(|word| !word.starts_with('\''));
        let set = code.filter_map(|word| word.split_once(['=', '+']).map(|(name, _)| name));
        let sets_next = |word: &str| ["local", "for", "read", "-r", "-ra"].contains(&word);
        let declared = words.windows(2).filter(|pair| sets_next(pair[0])).map(|pair| pair[1]);
        let also = if words.first() == Some(&"local") { &words[1..] } else { &[] };
        let names = set.chain(declared).chain(also.iter().copied()).map(|name| name.trim_end_matches(';'));
        found.extend(names.filter(|name| is_own(name)).map(str::to_owned));
    }
    found
}

#[cfg(target_os = "linux")]
#[test]
fn a_jobs_variables_that_are_called_as_the_scripts_change_nothing_and_hand_nothing_on() {
    let names = own_variables();
    for expected in ["token", "found", "word", "line", "commits", "failing", "publishing", "problems"] {
        assert!(names.contains(expected), "{expected} is not among {names:?}");
    }
    let script = Script::new();
    let beside = script.beside.path();
    let spy = beside.join("spy");
    std::fs::write(&spy, "#!/bin/bash\nenv >\"$BESIDE/seen-$1\"\nexec \"$BESIDE/program\" \"$@\"\n").unwrap();
    std::fs::set_permissions(&spy, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut environment =
        vec![("EVENT_BASE", "abc"), ("CHURNGATE", spy.to_str().unwrap()), ("GITHUB_TOKEN", "the-token")];
    environment.extend(names.iter().map(|name| (name.as_str(), "false")));
    assert_eq!(script.run_in(0, &[], &environment), Some(0));
    let run = script.read("seen-run");
    assert!(run.contains("INPUT_SPEC=") && !run.contains("the-token"), "{run}");
    let handed_on: Vec<&str> =
        run.lines().filter(|line| line.split_once('=').is_some_and(|(name, _)| names.contains(name))).collect();
    assert!(handed_on.is_empty(), "{handed_on:?}");
    let (asked, published) = (script.read("run"), script.read("publish"));
    assert!(
        asked.lines().any(|argument| argument == "--base=abc") && asked.ends_with("--\nchurngate.yaml\n"),
        "{asked}"
    );
    assert!(published.ends_with(&format!("--\n{}\n", beside.display())), "{published}");
}

/// Whatever else the action's scripts go by is the runner's, the shell's or what `action.yml` sets: no variable of a job's own
/// can be taken for it.
#[cfg(unix)]
#[test]
fn the_scripts_go_by_no_variable_that_a_job_could_have_set() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let action = std::fs::read_to_string(root.join("action.yml")).unwrap();
    let is_capital = |letter: char| letter.is_ascii_uppercase() || letter == '_';
    for (script, least) in [("run.sh", 20), ("install.sh", 6)] {
        let text = std::fs::read_to_string(root.join("action").join(script)).unwrap();
        let names = text.split('$').skip(1).map(|rest| {
            let rest = rest.strip_prefix('{').unwrap_or(rest).trim_start_matches('#');
            &rest[..rest.find(|letter| !is_capital(letter)).unwrap_or(rest.len())]
        });
        let names: std::collections::BTreeSet<&str> = names.filter(|name| !name.is_empty()).collect();
        assert!(names.len() >= least, "{names:?}");
        for name in names {
            let given = ["GITHUB_", "RUNNER_"].iter().any(|owner| name.starts_with(owner));
            let known = given || ["BASH_SOURCE", "TMPDIR"].contains(&name);
            assert!(known || action.contains(&format!("        {name}: ${{{{ ")), "{script} goes by {name}");
        }
    }
}

#[cfg(unix)]
#[test]
fn neither_a_token_that_does_not_follow_nor_folders_elsewhere_lead_the_script_astray() {
    let script = Script::new();
    let beside = script.beside.path();
    for folder in ["sub", "elsewhere/sub"] {
        std::fs::create_dir_all(beside.join(folder)).unwrap();
    }
    let spy = beside.join("spy");
    std::fs::write(&spy, "#!/bin/bash\npwd >\"$BESIDE/at\"\nexec \"$BESIDE/program\" \"$@\"\n").unwrap();
    std::fs::set_permissions(&spy, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let elsewhere = beside.join("elsewhere");
    for token in ["", "the-token"] {
        let environment = [
            ("EVENT_BASE", ""),
            ("CHURNGATE", spy.to_str().unwrap()),
            ("GITHUB_TOKEN", token),
            ("TOKEN_FOLLOWS", "true"),
            ("CDPATH", elsewhere.to_str().unwrap()),
        ];
        assert_eq!(script.run_in(0, &[("WORKING_DIRECTORY", "sub")], &environment), Some(0), "{token}");
        assert!(
            script.read("at").ends_with("/sub\n") && !script.read("at").contains("elsewhere"),
            "{}",
            script.read("at")
        );
        assert!(script.read("publish").contains("--comment=always"), "{token}");
    }
}

/// A pull request whose base branch moved on after its last push, checked out as GitHub merged it.
#[cfg(unix)]
#[test]
fn the_rule_is_that_of_the_commit_which_the_pull_request_is_merged_with() {
    let script = Script::new();
    let folder = script.beside.path().join("checkout");
    let write = |name: &str| {
        std::fs::write(folder.join(name), name).unwrap();
        commit(&folder)
    };
    std::fs::create_dir(&folder).unwrap();
    git(&folder, &["init", "--quiet", "--initial-branch=main"]);
    let (event_base, newest) = (write("a"), write("b"));
    git(&folder, &["checkout", "--quiet", "-b", "change", &event_base]);
    let head = write("c");
    git(&folder, &["checkout", "--quiet", "--detach", &newest]);
    git(
        &folder,
        &["-c", "user.name=a", "-c", "user.email=a@example.org", "merge", "--quiet", "--no-ff", "-m", "x", "change"],
    );
    let merge = git(&folder, &["rev-parse", "HEAD"]);
    let base = |event: &str, sha: &str, event_base: &str, input: &str| {
        let environment = [("EVENT_BASE", event_base), ("GITHUB_EVENT_NAME", event), ("GITHUB_SHA", sha)];
        let inputs = [("WORKING_DIRECTORY", "checkout"), ("BASE", input)];
        let _removed = std::fs::remove_file(script.beside.path().join("run"));
        assert_eq!(script.run_in(0, &inputs, &environment), Some(0));
        let said = script.read("run");
        said.lines().find_map(|line| line.strip_prefix("--base=")).map(str::to_owned)
    };
    assert_eq!(base("pull_request", &merge, &event_base, ""), Some(newest.clone()));
    assert_eq!(base("pull_request", &merge, &newest, ""), Some(newest.clone()));
    // Another event, another commit, a base that is none of its ancestors, or an input: what was said before holds.
    assert_eq!(base("merge_group", &merge, &event_base, ""), Some(event_base.clone()));
    assert_eq!(base("pull_request", &head, &event_base, ""), Some(event_base.clone()));
    assert_eq!(base("pull_request", &merge, &head, ""), Some(head.clone()));
    assert_eq!(base("pull_request", &merge, &event_base, &head), Some(head.clone()));
    assert_eq!(base("pull_request", &merge, &event_base, "none"), None);
    assert_eq!(base("push", &merge, "", ""), None);
    git(&folder, &["checkout", "--quiet", "--detach", &head]);
    assert_eq!(base("pull_request", &head, &event_base, ""), Some(event_base), "the head itself is checked out");
}

#[cfg(unix)]
#[test]
fn an_artifact_is_published_as_one() {
    let script = Script::new();
    std::fs::create_dir(script.beside.path().join("theirs")).unwrap();
    assert_eq!(script.run(0, &[("COMMAND", "publish"), ("ARTIFACT", "theirs")]), Some(0));
    assert!(script.read("publish").ends_with("--artifact\n--\ntheirs\n"), "{}", script.read("publish"));
    assert!(script.read("run").is_empty());
    assert_eq!(Script::new().run(0, &[("COMMAND", "publish"), ("ARTIFACT", "")]), Some(2));
    assert_eq!(Script::new().run(0, &[("COMMAND", "eval")]), Some(2));
}

#[test]
fn the_action_declares_the_outputs_that_are_written() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let action = std::fs::read_to_string(root.join("action.yml")).unwrap();
    let (_, outputs) = action.split_once("\noutputs:\n").unwrap();
    let (outputs, runs) = outputs.split_once("\nruns:\n").unwrap();
    let declared: Vec<&str> = outputs
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.strip_suffix(':'))
        .filter(|name| !name.starts_with(' '))
        .collect();
    assert_eq!(declared, churngate::publish::outputs::NAMES);
    let script = std::fs::read_to_string(root.join("action/run.sh")).unwrap();
    for name in declared {
        assert!(
            script.contains(&format!("{name} "))
                || script.contains(&format!("{name};"))
                || script.contains(&format!("{name}=")),
            "{name}"
        );
    }
    let documented = std::fs::read_to_string(root.join("docs/github-action.md")).unwrap();
    let (_, inputs) = action.split_once("\ninputs:\n").unwrap();
    let (inputs, _) = inputs.split_once("\noutputs:\n").unwrap();
    let inputs = inputs.lines().filter_map(|line| line.strip_prefix("  ")?.strip_suffix(':'));
    for name in inputs.filter(|name| !name.starts_with(' ')) {
        assert!(documented.contains(&format!("`{name}`")), "`{name}` is not documented");
        assert!(runs.contains(&format!("inputs.{name} ")), "{name} is not used");
    }
    for name in churngate::publish::outputs::NAMES {
        assert!(documented.contains(&format!("`{name}`")), "`{name}` is not documented");
    }
    for text in [runs, script.as_str(), &std::fs::read_to_string(root.join("action/install.sh")).unwrap()] {
        assert!(!text.contains("eval "), "nothing is evaluated");
    }
    for run in runs.split("run: |").skip(1) {
        let step = run.split("\n    - ").next().unwrap();
        assert!(!step.contains("${{"), "no text of the workflow's stands in a script: {step}");
    }
}
