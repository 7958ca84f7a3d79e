//! A job of a workflow: the action's script with the program itself, in a checkout, against a GitHub in this process.

use crate::fake::{Fake, pull};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

pub const SPEC: &str = "\
version: 1
name: rule
questions: { file: questions.jsonl }
snapshots:
  old: { git: base, path: corpus }
  new: { path: corpus }
retrieve: { bm25: {}, top_k: 3 }
generate: { reader: { temperature: 0 }, repeats: 2 }
judge: { embedded: {} }
gate:
  incompatible_when:
    - exact: { at_least: 3pp }
  compatible_when:
    - semantic: { upper_bound_below: 99pp }
  inconclusive: fail
";

const QUESTIONS: &str = r#"{"id": "q1", "question": "Since which version does Chrome support widgets?"}
{"id": "q2", "question": "Since which version does Safari support gadgets?"}
"#;

pub const OLD: (&str, &str) = ("corpus/a.md", "Since version 12 Chrome supports widgets.");
/// A change of the corpus that changes an answer.
pub const CHURN: (&str, &str) = ("corpus/a.md", "Since version 13 Chrome supports widgets.");
/// One that changes none.
pub const ANOTHER_DOCUMENT: (&str, &str) = ("corpus/c.md", "Nothing of note.");

/// A checkout of a repository whose default branch has a spec, and what lies beside it on the runner.
pub struct Job {
    pub fake: Fake,
    folder: TempDir,
    beside: TempDir,
    /// The default branch's tip when the repository was made.
    pub base: String,
    runs: std::cell::Cell<u64>,
}

/// What a job came to.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub said: String,
    pub summary: String,
    outputs: String,
}

impl Ended {
    /// Whether an output has any value, be it empty.
    pub fn declares(&self, name: &str) -> bool {
        self.outputs.lines().any(|line| line.starts_with(&format!("{name}=")) || line.starts_with(&format!("{name}<<")))
    }

    /// The outputs as they stand in their file.
    pub fn outputs(&self) -> &str {
        &self.outputs
    }

    /// The last value of an output.
    pub fn output(&self, name: &str) -> String {
        let (mut value, mut lines) = (String::new(), self.outputs.lines());
        while let Some(line) = lines.next() {
            if let Some((found, delimiter)) = line.split_once("<<") {
                let given: Vec<&str> = lines.by_ref().take_while(|line| *line != delimiter).collect();
                if found == name {
                    value = given.join("\n");
                }
            } else if let Some(given) = line.strip_prefix(&format!("{name}=")) {
                given.clone_into(&mut value);
            }
        }
        value
    }
}

impl Job {
    pub async fn new(files: &[(&str, &str)]) -> Self {
        let (folder, beside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        git(folder.path(), &["init", "--quiet", "--initial-branch=main"]);
        let mut job = Self { fake: Fake::start().await, folder, beside, base: String::new(), runs: 0.into() };
        let safari = ("corpus/b.md", "Since version 7 Safari supports gadgets.");
        let rule = [("churngate.yaml", SPEC), ("questions.jsonl", QUESTIONS), OLD, safari];
        job.base = job.commit(&[&rule[..], files].concat());
        job
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn git(&self, arguments: &[&str]) -> String {
        git(self.folder.path(), arguments)
    }

    pub fn commit(&self, files: &[(&str, &str)]) -> String {
        for (name, text) in files {
            let path = self.folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        self.git(&["add", "--all"]);
        let identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
        self.git(&[&identity[..], &["commit", "--quiet", "--allow-empty", "--message=x"]].concat());
        self.git(&["rev-parse", "HEAD"])
    }

    /// A branch from the base with these files, which is checked out, and the head of pull request 5.
    pub fn change(&self, files: &[(&str, &str)]) -> String {
        self.git(&["checkout", "--quiet", "-B", "change", &self.base]);
        let head = self.commit(files);
        self.fake.state.lock().unwrap().pulls = vec![pull(5, &head, 1, "open")];
        head
    }

    /// Checks a commit out, as actions/checkout does it.
    pub fn check_out(&self, commit: &str) {
        self.git(&["checkout", "--quiet", "--detach", commit]);
    }

    /// The test merge that GitHub makes of a pull request, checked out.
    pub fn merge(&self, head: &str) -> String {
        self.check_out("main");
        let identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
        self.git(&[&identity[..], &["merge", "--quiet", "--no-ff", "-m", "x", head]].concat());
        self.git(&["rev-parse", "HEAD"])
    }

    /// The action in the job of this event. `sha` is the commit that the workflow runs for.
    pub fn act(&self, event: &str, payload: &Value, sha: &str, set: &[(&str, &str)]) -> Ended {
        self.runs.set(self.runs.get() + 1);
        let run = self.runs.get();
        let beside = self.beside.path().join(format!("run-{run}"));
        std::fs::create_dir(&beside).unwrap();
        let place = |name: &str| beside.join(name);
        let mut payload = payload.clone();
        payload["repository"] = json!({ "id": 1, "default_branch": "main" });
        std::fs::write(place("event.json"), payload.to_string()).unwrap();
        let mut command = Command::new("bash");
        command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("action/run.sh")).current_dir(self.folder.path());
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", &beside);
        command.env("CHURNGATE", env!("CARGO_BIN_EXE_churngate")).env("RUNNER_TEMP", &beside);
        let inputs = [
            ("COMMAND", "run"),
            ("SPEC", "churngate.yaml"),
            ("WORKING_DIRECTORY", "."),
            ("COMMENT", "on-change"),
            ("OUTDATED", "update"),
            ("STATUS", "status"),
            ("DISCLOSURE", "answers"),
            ("REQUIRE_PUBLISH", "false"),
        ];
        let empty = ["BASE", "NEW", "SHARD", "SHARDS", "ARTIFACT", "RUNS", "PULL_REQUEST", "HEAD", "ARGS"];
        for (name, value) in empty.map(|name| (name, "")).iter().chain(&inputs) {
            command.env(format!("INPUT_{name}"), value);
        }
        let of_event = |pointer: &str| payload.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        let base = [of_event("/pull_request/base/sha"), of_event("/merge_group/base_sha")].concat();
        command.env("EVENT_BASE", base).env("EVENT_DEFAULT_BRANCH", "main");
        command.env("GITHUB_EVENT_NAME", event).env("GITHUB_EVENT_PATH", place("event.json")).env("GITHUB_SHA", sha);
        command.env("GITHUB_OUTPUT", place("outputs")).env("GITHUB_STEP_SUMMARY", place("summary"));
        command.env("GITHUB_REPOSITORY", "octo/repo").env("GITHUB_RUN_ID", run.to_string());
        command.env("GITHUB_RUN_ATTEMPT", "1").env("GITHUB_TOKEN", "t0ken").env("GITHUB_ACTIONS", "true");
        command.env("GITHUB_API_URL", self.fake.server.uri()).env("GITHUB_SERVER_URL", "https://github.example");
        let output = command.envs(set.iter().copied()).output().unwrap();
        Ended {
            code: output.status.code(),
            said: String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned(),
            summary: std::fs::read_to_string(place("summary")).unwrap_or_default(),
            outputs: std::fs::read_to_string(place("outputs")).unwrap_or_default(),
        }
    }

    /// The job of pull request 5 with its test merge checked out.
    pub fn pull_request(&self, head: &str, set: &[(&str, &str)]) -> Ended {
        let merge = self.merge(head);
        self.act("pull_request", &self.of_pull_request(head), &merge, set)
    }

    pub fn of_pull_request(&self, head: &str) -> Value {
        json!({ "number": 5, "pull_request": { "number": 5, "head": { "sha": head }, "base": { "sha": self.base } } })
    }

    /// A push to a branch whose tip is checked out.
    pub fn push(&self, branch: &str, tip: &str) -> Ended {
        self.check_out(tip);
        let payload = json!({ "ref": format!("refs/heads/{branch}"), "after": tip, "head_commit": { "id": tip } });
        self.act("push", &payload, tip, &[])
    }

    /// Whether any job has begun a run.
    pub fn has_run(&self) -> bool {
        let jobs = std::fs::read_dir(self.beside.path()).unwrap();
        jobs.map(|job| job.unwrap().path().join("churngate-runs")).any(|runs| runs.exists())
    }

    /// Every status, the oldest first: the commit, what it is called, its state.
    pub fn statuses(&self) -> Vec<(String, String, String)> {
        let state = self.fake.state.lock().unwrap();
        let text = |status: &Value, name: &str| status[name].as_str().unwrap().to_owned();
        let all = state.statuses.iter();
        all.map(|status| (text(status, "sha"), text(status, "context"), text(status, "state"))).collect()
    }

    /// What the last status says.
    pub fn description(&self) -> String {
        self.fake.state.lock().unwrap().statuses.last().unwrap()["description"].as_str().unwrap().to_owned()
    }
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git").current_dir(folder).args(arguments).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
