//! The examples are what their own pages say they are, and their evidence does not depend on how it is computed.

#![expect(clippy::unwrap_used, reason = "a test may stop anywhere")]

use camino::{Utf8Path, Utf8PathBuf};
use churngate::model::Evidence;
use churngate::retrieve::bm25::{Bm25Index, IndexSettings, Indexed};
use churngate::retrieve::corpus::{Corpus, CorpusDocument};
use churngate::retrieve::open;
use churngate::spec::{self, SnapshotSource};

fn examples() -> Utf8PathBuf {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")
}

fn quickstart(file: &str) -> String {
    std::fs::read_to_string(examples().join("quickstart").join(file)).unwrap()
}

fn documents(file: &str) -> Vec<CorpusDocument> {
    let corpus = Corpus::open(&SnapshotSource::Path(file.into()), &examples().join("quickstart")).unwrap();
    corpus.documents().unwrap().map(Result::unwrap).collect()
}

fn index(documents: Vec<CorpusDocument>, in_memory: bool) -> Indexed {
    let settings = IndexSettings { chunk_chars: None, max_chars: 1200, in_memory };
    Bm25Index::build(documents.into_iter().map(Ok), settings).unwrap()
}

fn questions(file: &str) -> Vec<serde_json::Value> {
    quickstart(file).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn evidence(index: &Bm25Index, questions: &[serde_json::Value]) -> Vec<Evidence> {
    questions.iter().map(|question| index.search(question["question"].as_str().unwrap(), 8).unwrap()).collect()
}

#[test]
fn every_spec_is_valid_and_the_quickstart_resolves() {
    for name in [
        "quickstart/churngate.yaml",
        "quickstart/unchanged.yaml",
        "quickstart/changed.yaml",
        "browser-compat/churngate.yaml",
    ] {
        let path = examples().join(name);
        let spec = spec::parse(&std::fs::read_to_string(&path).unwrap(), name).map_err(|errors| errors.render(false));
        let spec = spec.unwrap();
        if name.starts_with("quickstart") {
            let opened = open(&spec, path.parent().unwrap());
            let resolved = opened.and_then(|opened| opened.resolve(&spec)).unwrap();
            let counts: Vec<_> = resolved.iter().map(|snapshot| snapshot.documents).collect();
            assert_eq!(counts, [Some(289), Some(306)]);
            assert!(path.parent().unwrap().join(&spec.questions.file).is_file());
        }
    }
}

#[test]
fn the_quickstart_has_what_its_page_says() {
    let page = quickstart("README.md");
    let tagged = |tag: &str| {
        let has = |question: &&serde_json::Value| question["tags"].as_array().unwrap().iter().any(|found| found == tag);
        questions("questions.jsonl").iter().filter(has).count()
    };
    let lines = |file: &str| quickstart(file).lines().count();
    for said in [
        format!("{} and {} documents", lines("old.jsonl"), lines("new.jsonl")),
        format!("{} questions: {} about facts that are the same", lines("questions.jsonl"), tagged("unchanged")),
        format!("{} about facts that differ", tagged("changed")),
        format!("{} about features that only the new release has", tagged("added")),
        format!("{} about features that only the old one has", tagged("removed")),
        format!("| {} questions about facts that are the same", lines("unchanged.jsonl")),
        format!("| {} questions about facts that differ", lines("changed.jsonl")),
    ] {
        assert!(page.contains(&said), "the page does not say: {said}");
    }
}

#[test]
fn evidence_is_the_same_in_every_order_place_and_run() {
    let questions = questions("questions.jsonl");
    let in_order = index(documents("new.jsonl"), true);
    let mut turned = documents("new.jsonl");
    turned.reverse();
    turned.rotate_left(101);
    let turned = index(turned, false);
    assert_eq!(in_order.fingerprint, turned.fingerprint);
    assert_eq!(evidence(&in_order.index, &questions), evidence(&turned.index, &questions));
}

#[test]
fn the_document_a_question_is_about_is_among_its_evidence() {
    let index = index(documents("new.jsonl"), true).index;
    for file in ["unchanged.jsonl", "changed.jsonl"] {
        let questions = questions(file);
        let found = questions.iter().zip(evidence(&index, &questions)).filter(|(question, evidence)| {
            let about = question["id"].as_str().unwrap().rsplit_once('/').unwrap().0;
            evidence.documents.iter().any(|document| document.id == about)
        });
        let share = found.count() * 100 / questions.len();
        assert!(share >= 90, "{file}: {share} % of the questions");
    }
}

/// A change of the base branch is an `edited`, which GitHub's default leaves out; so is a new title.
#[test]
fn the_workflows_judge_a_pull_request_anew_under_another_base() {
    let workflow = |name: &str| std::fs::read_to_string(examples().join("workflows").join(name)).unwrap();
    for name in ["gate.yml", "sharded.yml", "fork-run.yml"] {
        assert!(workflow(name).contains("    types: [opened, synchronize, reopened, edited]\n"), "{name}");
    }
    // The audit that follows this check takes the default branch's rule under any base, so that a new title need not start it.
    assert!(workflow("fork-check.yml").contains("    types: [opened, synchronize, reopened]\n"));
    let audit = workflow("fork-audit.yml");
    assert!(audit.contains("base: ${{ github.sha }} #"), "{audit}");
    let group = "group: churngate-audit-${{ github.event.workflow_run.head_sha }}-${{ github.event.workflow_run.conclusion }}\n";
    assert!(audit.contains(group) && audit.contains("github.event.workflow_run.conclusion == 'success'"), "{audit}");
}

/// A group ends what it holds: nothing of another workflow, and nothing by a run that came to nothing.
#[test]
fn no_workflow_ends_another_ones_jobs() {
    for entry in examples().join("workflows").read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "yml") {
            continue;
        }
        let workflow = std::fs::read_to_string(&path).unwrap();
        let group = workflow.lines().find_map(|line| line.strip_prefix("  group: ")).unwrap();
        let file = path.file_stem().unwrap().to_str().unwrap();
        let is_named =
            ["${{ github.workflow }}", &file.replace("fork-", "churngate-")].iter().any(|name| group.contains(name));
        assert!(is_named, "{file}: {group}");
        let follows = workflow.contains("\n  workflow_run:");
        assert_eq!(group.contains("${{ github.event.workflow_run.conclusion }}"), follows, "{file}: {group}");
    }
}

/// The step of a workflow that takes a fork's files, run as it stands there: a link that a fork adds is no document.
#[cfg(unix)]
#[test]
fn the_links_of_a_fork_are_no_documents() {
    let workflow = std::fs::read_to_string(examples().join("workflows/fork-audit.yml")).unwrap();
    let (_, step) = workflow.split_once("        run: |\n").unwrap();
    let script: Vec<&str> = step.lines().take_while(|line| line.starts_with("          ")).collect();
    let (fork, here) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let git = |folder: &std::path::Path, arguments: &[&str]| {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
        let output =
            std::process::Command::new("git").current_dir(folder).args(identity).args(arguments).output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    git(fork.path(), &["init", "--quiet"]);
    std::fs::create_dir(fork.path().join("corpus")).unwrap();
    std::fs::write(fork.path().join("corpus/a.md"), "A document.").unwrap();
    std::os::unix::fs::symlink("/etc/hostname", fork.path().join("corpus/link.md")).unwrap();
    git(fork.path(), &["add", "--all"]);
    git(fork.path(), &["commit", "--quiet", "--message=x"]);
    let head = git(fork.path(), &["rev-parse", "HEAD"]);
    git(here.path(), &["init", "--quiet"]);
    let mut command = std::process::Command::new("bash");
    command.args(["-euo", "pipefail", "-c", &script.join("\n")]).current_dir(here.path());
    command.env("HEAD_SHA", head).env("FETCH_URL", format!("file://{}", fork.path().display()));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let folder = Utf8Path::from_path(here.path()).unwrap();
    let corpus = Corpus::open(&SnapshotSource::Path("corpus".into()), folder).unwrap();
    let found: Vec<String> = corpus.documents().unwrap().map(|document| document.unwrap().id).collect();
    assert_eq!(found, ["a.md"]);
}

/// The `if` of each job of a workflow.
fn conditions(workflow: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut within = false;
    for line in workflow.lines() {
        let depth = line.len() - line.trim_start().len();
        if let Some(condition) = line.strip_prefix("    if:") {
            found.push(condition.trim().to_owned());
            within = true;
        } else if within && depth > 4 {
            found.last_mut().unwrap().push_str(line.trim());
        } else {
            within = false;
        }
    }
    found
}

/// A job that is skipped counts as passed: a new title, which is an event as well, would pass what was blocked.
#[test]
fn no_workflow_skips_a_job_of_a_pull_request() {
    let mut of_pull_requests = 0;
    for folder in ["examples/workflows", ".github/workflows"] {
        for entry in Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).read_dir_utf8().unwrap() {
            let path = entry.unwrap().into_path();
            if path.extension() != Some("yml") {
                continue;
            }
            let workflow = std::fs::read_to_string(&path).unwrap();
            if !workflow.contains("\n  pull_request:") {
                continue;
            }
            of_pull_requests += 1;
            let skipping: Vec<String> =
                conditions(&workflow).into_iter().filter(|condition| condition != "${{ !cancelled() }}").collect();
            assert!(skipping.is_empty() && !workflow.contains("github.event.action"), "{path}: {skipping:?}");
        }
    }
    assert!(of_pull_requests >= 6, "{of_pull_requests}");
    assert_eq!(conditions("jobs:\n  a:\n    if: >-\n      x\n      && y\n    steps:\n      - if: z\n"), [">-x&& y"]);
}

#[test]
fn every_run_that_is_uploaded_can_be_uploaded_again() {
    for name in ["gate", "sharded", "fork-run"] {
        let workflow = std::fs::read_to_string(examples().join(format!("workflows/{name}.yml"))).unwrap();
        let (_, upload) = workflow.split_once("actions/upload-artifact@").unwrap();
        let step = upload.split("\n\n").next().unwrap();
        assert!(step.contains("overwrite: true") && step.contains("if-no-files-found: error"), "{name}: {step}");
    }
}
