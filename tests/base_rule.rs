//! The rule of a pull request is the base's: a change of spec, prompt, questions or server is judged under the version of
//! the base commit, and told.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

const SPEC: &str = "\
version: 1
name: rule
questions: { file: questions.jsonl }
snapshots:
  old: { git: base, path: corpus }
  new: { path: corpus }
retrieve: { bm25: {}, top_k: 3 }
generate: { reader: {}, repeats: 2, prompt: prompt.txt }
judge: { embedded: {} }
gate:
  incompatible_when:
    - exact: { at_least: 3pp }
  compatible_when:
    - semantic: { upper_bound_below: 5pp }
  inconclusive: fail
";

const QUESTIONS: &str = r#"{"id": "q1", "question": "Since which version does Chrome support widgets?"}
{"id": "q2", "question": "Since which version does Safari support gadgets?"}
"#;

/// A change of the corpus that changes no answer.
const ANOTHER_DOCUMENT: (&str, &str) = ("corpus/c.md", "Nothing of note.");

/// A repository whose base has this spec, and a change to it in the working tree, committed.
struct Repository {
    folder: TempDir,
    base: String,
}

impl Repository {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        git(folder.path(), &["init", "--quiet", "--initial-branch=main"]);
        let mut repository = Self { folder, base: String::new() };
        repository.write("corpus/a.md", "Since version 12 Chrome supports widgets.");
        repository.write("corpus/b.md", "Since version 7 Safari supports gadgets.");
        repository.base = repository.commit(files);
        repository
    }

    fn whole() -> Self {
        let prompt = std::fs::read_to_string("src/freeze/prompts/answer.txt");
        let prompt = prompt.unwrap_or_else(|_| churngate::freeze::prompts::ANSWER.to_owned());
        Self::new(&[("churngate.yaml", SPEC), ("questions.jsonl", QUESTIONS), ("prompt.txt", &prompt)])
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap()
    }

    fn commit(&self, files: &[(&str, &str)]) -> String {
        for (name, text) in files {
            self.write(name, text);
        }
        git(self.folder.path(), &["add", "--all"]);
        let identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
        git(self.folder.path(), &[&identity[..], &["commit", "--quiet", "--allow-empty", "--message=x"]].concat());
        git(self.folder.path(), &["rev-parse", "HEAD"])
    }

    fn churngate(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_churngate"));
        command.current_dir(self.folder.path()).args(arguments).env_remove("GITHUB_ACTIONS").env_remove("KEY");
        command.env_remove("GITHUB_TOKEN").env_remove("GH_TOKEN").output().unwrap()
    }

    /// Runs under the base's rule: exit code, and the report as Markdown.
    fn audit(&self) -> (Option<i32>, String) {
        let base = format!("--base={}", self.base);
        let output = self.churngate(&["run", "--quiet", &base, "--folder-file=.folder"]);
        let folder = std::fs::read_to_string(self.folder.path().join(".folder")).unwrap_or_default();
        let report = std::fs::read_to_string(self.folder.path().join(folder).join("report.md"));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let report = report.map(|report| report.split("```").next().unwrap_or_default().to_owned());
        (output.status.code(), report.unwrap_or(said))
    }
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git").current_dir(folder).args(arguments).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn an_unchanged_rule_is_not_mentioned() {
    let repository = Repository::whole();
    repository.commit(&[("corpus/a.md", "Since version 13 Chrome supports widgets.")]);
    let (code, report) = repository.audit();
    assert!(matches!(code, Some(1 | 3)), "{code:?} {report}");
    assert!(!report.contains("This change edits"), "{report}");
}

#[test]
fn the_old_corpus_under_the_new_name_is_told() {
    let repository = Repository::whole();
    let same = "Old and new are one and the same snapshot";
    let (_, report) = repository.audit();
    assert!(report.contains(same), "{report}");
    repository.commit(&[("corpus/a.md", "Since version 13 Chrome supports widgets.")]);
    let (_, report) = repository.audit();
    assert!(!report.contains(same), "{report}");
}

#[test]
fn a_spec_in_error_still_says_what_it_is_called() {
    let repository = Repository::whole();
    let folder = camino::Utf8Path::from_path(repository.folder.path()).unwrap();
    for name in ["rule", "'rule'", "\"rule\"", "rule # the first"] {
        repository.write("broken.yaml", &SPEC.replace("name: rule", &format!("name: {name}")).replace("top_k", "topk"));
        let called = churngate::run::called(&folder.join("broken.yaml"), None).unwrap();
        assert_eq!((called.name.as_str(), called.exploratory), ("rule", false), "{name}");
        let called = churngate::run::called(&folder.join("broken.yaml"), Some(&repository.base)).unwrap();
        assert_eq!((called.name.as_str(), called.exploratory), ("rule", true), "the base has no such spec: {name}");
    }
    repository.write("broken.yaml", "name: \"a rule\"\n");
    assert_eq!(churngate::run::called(&folder.join("broken.yaml"), None), None);
    let called = churngate::run::called(&folder.join("churngate.yaml"), Some(&repository.base)).unwrap();
    assert!(!called.exploratory, "{called:?}");
}

#[test]
fn a_change_that_leaves_the_corpus_as_it_is_is_held_up_by_nothing() {
    let repository = Repository::whole();
    repository.commit(&[("notes.txt", "Nothing that is audited.")]);
    let (code, report) = repository.audit();
    assert_eq!(code, Some(0), "the rule lets what is undecided fail, and nothing is open here: {report}");
    assert!(report.contains("old and new have the same content, so there was nothing to compare"), "{report}");
    let folder = repository.folder.path();
    let run = folder.join(std::fs::read_to_string(folder.join(".folder")).unwrap());
    let whole = ["report.md", "result.json"].map(|file| std::fs::read_to_string(run.join(file)).unwrap());
    assert!(!whole[0].contains("would decide") && whole[1].contains("\"questions_to_decide\": null"), "{whole:?}");
    repository.commit(&[ANOTHER_DOCUMENT]);
    let (code, report) = repository.audit();
    assert_eq!(code, Some(3), "{report}");
    assert!(!report.contains("nothing to compare"), "{report}");
}

#[test]
fn a_change_that_copies_the_new_corpus_over_the_old_one_does_not_pass_as_no_change() {
    let spec =
        SPEC.replace("{ git: base, path: corpus }", "{ path: old }").replace("prompt: prompt.txt", "max_attempts: 5");
    let old = [
        ("old/a.md", "Since version 12 Chrome supports widgets."),
        ("old/b.md", "Since version 7 Safari supports gadgets."),
    ];
    let rule = [("churngate.yaml", spec.as_str()), ("questions.jsonl", QUESTIONS)];
    let repository = Repository::new(&[&rule[..], &old[..]].concat());
    assert_eq!(repository.audit().0, Some(0), "nothing changed, and nothing that the rule relies on was edited");
    let new = "Since version 13 Chrome supports widgets.";
    repository.commit(&[("corpus/a.md", new), ("old/a.md", new)]);
    let (code, report) = repository.audit();
    assert_eq!(code, Some(3), "{report}");
    assert!(report.contains("This change edits old,") && !report.contains("nothing to compare"), "{report}");
}

#[test]
fn a_looser_gate_is_told_and_not_used() {
    let repository = Repository::whole();
    let looser = SPEC.replace("at_least: 3pp", "at_least: 99pp").replace("inconclusive: fail", "inconclusive: pass");
    repository.commit(&[("churngate.yaml", &looser), ANOTHER_DOCUMENT]);
    let (code, report) = repository.audit();
    assert_eq!(code, Some(3), "two questions prove nothing, and the base says that this fails: {report}");
    assert!(report.contains("This change edits `churngate.yaml` but is judged under"), "{report}");
    let told = "It would change: `gate.incompatible_when[0].exact.at_least`: `3pp` `→` `99pp`; `gate.inconclusive`: fail `→` pass";
    assert!(report.contains(told), "{report}");
    assert!(report.contains("≥ 3 pp") && !report.contains("≥ 99 pp"), "{report}");
}

#[test]
fn another_question_file_prompt_or_server_is_told_and_not_used() {
    let repository = Repository::whole();
    let prompt = repository.read("prompt.txt").replacen(' ', "  ", 1);
    repository.commit(&[("questions.jsonl", "{\"id\": \"easy\", \"question\": \"Easy?\"}\n"), ("prompt.txt", &prompt)]);
    let (_, report) = repository.audit();
    assert!(report.contains("edits `questions.jsonl` but"), "{report}");
    assert!(report.contains("It would change: lines: 2 `→` 1"), "{report}");
    assert!(report.contains("edits `prompt.txt` but"), "{report}");
    let asked = repository.read(".folder");
    assert!(!repository.read(&format!("{asked}/result.json")).contains("easy"));

    let elsewhere = SPEC.replace(
        "generate: { reader: {},",
        "generate: { openai: { model: m, base_url: \"https://evil.example/v1\", key_env: KEY },",
    );
    repository.commit(&[("churngate.yaml", &elsewhere), ANOTHER_DOCUMENT]);
    let (code, report) = repository.audit();
    assert_eq!(code, Some(3), "the base's reader needs no key: {report}");
    assert!(report.contains("`generate.openai`: nothing `→`") && report.contains("evil.example"), "{report}");
    assert!(!report.contains("](http"), "no value of the change is a link: {report}");
}

#[test]
fn a_comment_in_the_spec_is_no_edit_and_a_removed_spec_is_one() {
    let repository = Repository::whole();
    repository.commit(&[("churngate.yaml", &format!("# Hello.\n{SPEC}"))]);
    assert!(!repository.audit().1.contains("This change edits"));
    std::fs::remove_file(repository.folder.path().join("churngate.yaml")).unwrap();
    repository.commit(&[ANOTHER_DOCUMENT]);
    let (code, report) = repository.audit();
    assert_eq!(code, Some(3));
    assert!(
        report.contains("edits `churngate.yaml` but") && report.contains("It would change: it is removed"),
        "{report}"
    );
}

#[test]
fn without_a_rule_on_the_base_the_audit_is_exploratory_and_neutral() {
    for missing in ["churngate.yaml", "questions.jsonl", "prompt.txt"] {
        let mut repository = Repository::whole();
        let text = repository.read(missing);
        std::fs::remove_file(repository.folder.path().join(missing)).unwrap();
        repository.base = repository.commit(&[]);
        repository.commit(&[(missing, &text), ("corpus/a.md", "Since version 13 Chrome supports widgets.")]);
        let (code, report) = repository.audit();
        assert_eq!(code, Some(0), "{missing}: {report}");
        assert!(report.contains("Exploratory: base commit"), "{report}");
        // A CI that reads test results would block by them.
        let tests = repository.read(&format!("{}/report.xml", repository.read(".folder")));
        assert!(!tests.contains("<failure") && tests.contains("<skipped"), "{tests}");
    }
}

#[test]
fn a_first_rule_may_use_no_key_no_server_and_no_program() {
    let programs = [
        "generate: { command: { argv: [\"./steal\"] },",
        "generate: { openai: { model: m, base_url: \"https://evil.example/v1\", key_env: KEY },",
    ];
    for program in programs {
        let mut repository = Repository::whole();
        std::fs::remove_file(repository.folder.path().join("churngate.yaml")).unwrap();
        repository.base = repository.commit(&[]);
        repository.commit(&[("churngate.yaml", &SPEC.replace("generate: { reader: {},", program))]);
        let (code, said) = repository.audit();
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("calls servers or programs") && said.contains("merge the spec"), "{said}");
    }
}

#[test]
fn a_first_rule_may_ask_no_deployed_system() {
    let snapshots = "snapshots:\n  old: { git: base, path: corpus }\n  new: { path: corpus }\nretrieve: { bm25: {}, top_k: 3 }\n\
                     generate: { reader: {}, repeats: 2, prompt: prompt.txt }\n";
    let system = "snapshots: { old: { flow: a }, new: { flow: b } }\n\
                  answer: { preset: flowise, base_url: 'https://evil.example', key_env: KEY }\n";
    assert!(SPEC.contains(snapshots));
    let mut repository = Repository::whole();
    std::fs::remove_file(repository.folder.path().join("churngate.yaml")).unwrap();
    repository.base = repository.commit(&[]);
    repository.commit(&[("churngate.yaml", &SPEC.replace(snapshots, system))]);
    let (code, said) = repository.audit();
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("calls servers or programs") && said.contains("merge the spec"), "{said}");
}

#[test]
fn the_placebo_is_the_base_s_and_told_where_the_change_edits_it() {
    let spec = SPEC.replace("  new: {", "  placebo: { path: rebuilt }\n  new: {");
    let mut repository = Repository::whole();
    repository.base = repository.commit(&[("churngate.yaml", &spec), ("rebuilt/a.md", "Since version 12.")]);
    let other = spec.replace("path: rebuilt", "path: corpus");
    repository.commit(&[("churngate.yaml", &other), ("rebuilt/a.md", "Since version 13.")]);
    let (_, report) = repository.audit();
    assert!(report.contains("`snapshots.placebo.path`: rebuilt `→` corpus"), "{report}");
    assert!(report.contains("This change edits rebuilt, which the rule of base commit"), "{report}");
    assert!(report.contains("the rebuild alone shows"), "{report}");
}

#[test]
fn an_old_snapshot_in_the_tree_that_the_change_edits_is_told() {
    let spec = SPEC.replace("old: { git: base, path: corpus }", "old: { path: old }");
    let mut repository = Repository::whole();
    repository.base = repository.commit(&[("churngate.yaml", &spec), ("old/a.md", "Since version 12.")]);
    repository.commit(&[("old/a.md", "Since version 13.")]);
    let (_, report) = repository.audit();
    assert!(report.contains("This change edits old, which the rule of base commit"), "{report}");
}

/// A base with an old snapshot in the tree, which moves on in everything that it can after a change began.
fn behind(change: &[(&str, &str)]) -> Repository {
    let spec = SPEC.replace("old: { git: base, path: corpus }", "old: { path: old }");
    let mut repository = Repository::whole();
    let fork = repository.commit(&[("churngate.yaml", &spec), ("old/a.md", "Since version 12.")]);
    let newer = format!("{QUESTIONS}{{\"id\": \"q3\", \"question\": \"Since when?\"}}\n");
    let stricter = spec.replace("at_least: 3pp", "at_least: 1pp");
    let prompt = repository.read("prompt.txt").replacen(' ', "  ", 1);
    let moved = [
        ("churngate.yaml", stricter.as_str()),
        ("questions.jsonl", &newer),
        ("prompt.txt", &prompt),
        ("old/a.md", "Since version 11."),
    ];
    repository.base = repository.commit(&moved);
    git(repository.folder.path(), &["checkout", "--quiet", "--detach", &fork]);
    repository.commit(change);
    repository
}

#[test]
fn what_the_base_changed_after_the_change_began_is_not_the_changes_doing() {
    let repository = behind(&[ANOTHER_DOCUMENT]);
    let (code, report) = repository.audit();
    assert!(matches!(code, Some(1 | 3)), "{code:?} {report}");
    assert!(!report.contains("This change edits"), "{report}");
    for file in ["`churngate.yaml`", "`questions.jsonl`", "`prompt.txt`"] {
        assert!(
            report.contains(&format!("This branch is behind: the version of {file} of base commit")),
            "{file}: {report}"
        );
    }
    assert!(report.contains("which is read as this branch has it"), "{report}");
    assert!(report.contains("≥ 1 pp"), "the rule is the base's all the same: {report}");
}

#[test]
fn what_a_change_edits_is_told_apart_from_what_its_base_changed_meanwhile() {
    let old = [("old/a.md", "Since version 13."), ("questions.jsonl", "{\"id\": \"e\", \"question\": \"Easy?\"}\n")];
    let repository = behind(&old);
    let spec = repository.read("churngate.yaml").replace("inconclusive: fail", "inconclusive: pass");
    repository.commit(&[("churngate.yaml", &spec)]);
    let (_, report) = repository.audit();
    assert!(report.contains("It would change: `gate.inconclusive`: fail `→` pass"), "{report}");
    assert!(!report.contains("at_least"), "the base's own change is not this one's: {report}");
    assert!(report.contains("This change edits old,") && report.contains("edits `questions.jsonl` but"), "{report}");
    assert!(report.contains("the version of `prompt.txt` of base commit"), "{report}");
}

#[test]
fn a_history_that_does_not_tell_whose_an_edit_is_is_said_to() {
    let repository = behind(&[ANOTHER_DOCUMENT]);
    let head = git(repository.folder.path(), &["rev-parse", "HEAD"]);
    let shallow = format!("{head}\n{}\n", repository.base);
    std::fs::write(repository.folder.path().join(".git/shallow"), shallow).unwrap();
    let (code, report) = repository.audit();
    assert!(matches!(code, Some(1 | 3)), "{code:?} {report}");
    assert!(!report.contains("This change edits") && !report.contains("This branch is behind"), "{report}");
    assert_eq!(
        report.matches("or its branch is behind, which the history in this clone does not tell").count(),
        4,
        "{report}"
    );
}

#[test]
fn every_snapshot_in_the_tree_but_the_new_one_is_told_where_the_change_edits_it() {
    let spec = SPEC.replace("  new: {", "  between: [ { name: half, path: half } ]\n  new: {");
    let mut repository = Repository::whole();
    repository.base = repository.commit(&[("churngate.yaml", &spec), ("half/a.md", "Since version 12.")]);
    repository.commit(&[("half/a.md", "Since version 13."), ANOTHER_DOCUMENT]);
    let (_, report) = repository.audit();
    assert!(report.contains("This change edits half, which the rule of base commit"), "{report}");
}

#[test]
fn a_database_of_both_snapshots_that_the_change_edits_is_told() {
    let spec = SPEC
        .replace("old: { git: base, path: corpus }", "old: { table: docs_1 }")
        .replace("new: { path: corpus }", "new: { table: docs_2 }")
        .replace(
            "bm25: {}",
            "sql: { sqlite: { file: docs.db }, query: \"SELECT id, text FROM {table} WHERE :question <> ''\" }",
        );
    let mut repository = Repository::whole();
    let database = rusqlite::Connection::open(repository.folder.path().join("docs.db")).unwrap();
    database
        .execute_batch(
            "CREATE TABLE docs_1 (id TEXT, text TEXT); INSERT INTO docs_1 VALUES ('a', 'Since version 12.');
             CREATE TABLE docs_2 (id TEXT, text TEXT); INSERT INTO docs_2 VALUES ('a', 'Since version 13.')",
        )
        .unwrap();
    repository.base = repository.commit(&[("churngate.yaml", &spec)]);
    let (_, report) = repository.audit();
    assert!(!report.contains("This change edits"), "{report}");
    database.execute("UPDATE docs_1 SET text = 'Since version 13.'", []).unwrap();
    repository.commit(&[]);
    let (_, report) = repository.audit();
    assert!(report.contains("This change edits `docs.db`, which"), "{report}");
}

/// A spec in `audit/` whose answers a program of the repository gives, started in the repository's folder.
fn with_a_program(env: &str) -> Repository {
    let command = format!("generate: {{ command: {{ argv: [sh, tools/answer.sh]{env} }},");
    let spec = SPEC.replace("generate: { reader: {},", &command).replace(", prompt: prompt.txt", "");
    let program = "cat >/dev/null\nprintf '{\"answer\": \"x\"}'\n";
    let spec = spec.replace("path: corpus", "path: ../corpus");
    Repository::new(&[
        ("audit/churngate.yaml", &spec),
        ("audit/questions.jsonl", QUESTIONS),
        ("tools/answer.sh", program),
    ])
}

#[test]
fn a_program_in_the_working_folder_that_the_change_edits_is_told() {
    let repository = with_a_program("");
    let base = format!("--base={}", repository.base);
    let report = || {
        let output = repository.churngate(&["run", "--quiet", &base, "--folder-file=.folder", "audit/churngate.yaml"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{:?} {said}", output.status.code());
        std::fs::read_to_string(Path::new(&repository.read(".folder")).join("report.md")).unwrap()
    };
    assert!(!report().contains("This change edits"));
    repository.commit(&[("tools/answer.sh", "cat >/dev/null\nprintf '{\"answer\": \"y\"}'\n")]);
    let told = report();
    assert!(told.contains("This change edits `tools/answer.sh`, which the rule"), "{told}");
}

#[test]
fn a_program_that_the_change_edits_is_given_no_keys() {
    let repository = with_a_program(", env: [KEY]");
    let base = format!("--base={}", repository.base);
    repository.commit(&[("tools/answer.sh", "printf %s \"$KEY\" >stolen\n")]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_churngate"));
    command.current_dir(repository.folder.path()).args(["run", "--quiet", &base, "audit/churngate.yaml"]);
    let output = command.env("KEY", "secret").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("edits `tools/answer.sh`") && said.contains("hint:"), "{said}");
    assert!(!repository.folder.path().join("stolen").exists());
}

/// Runs an audit of a spec in `audit/` with a key; the exit code, and what it said.
fn with_a_key(repository: &Repository) -> (Option<i32>, String) {
    let base = format!("--base={}", repository.base);
    let mut command = Command::new(env!("CARGO_BIN_EXE_churngate"));
    command.current_dir(repository.folder.path()).args(["run", "--quiet", &base, "audit/churngate.yaml"]);
    let output = command.env("KEY", "secret").output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_program_that_the_change_edits_is_not_started_beside_any_key() {
    let mut repository = with_a_program("");
    let run = |repository: &Repository, name: &str, value: &str| {
        let base = format!("--base={}", repository.base);
        let mut command = Command::new(env!("CARGO_BIN_EXE_churngate"));
        command.current_dir(repository.folder.path()).args(["run", "--quiet", &base, "audit/churngate.yaml"]);
        command.env_remove("GITHUB_TOKEN").env_remove("GH_TOKEN").env(name, value);
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    repository.commit(&[("tools/answer.sh", &format!("{THIEF}cat >/dev/null\nprintf '{{\"answer\": \"x\"}}'\n"))]);
    for name in ["GITHUB_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"] {
        let (code, said) = run(&repository, name, "secret");
        assert!(code == Some(2) && said.contains(&format!("`{name}` would be within its reach")), "{said}");
        assert!(said.contains("edits `tools/answer.sh`") && said.contains("hint:"), "{said}");
    }
    assert!(!repository.folder.path().join("stolen").exists());
    // An empty variable is no key, and a key that nothing names is not known.
    for (name, value) in [("GITHUB_TOKEN", ""), ("KEY", "secret")] {
        let (code, said) = run(&repository, name, value);
        assert!(matches!(code, Some(0 | 1 | 3)), "{name}: {said}");
    }
    // The key of another part of the audit is as near as one's own.
    let judge = "judge: { openai: { model: m, base_url: \"http://127.0.0.1:9/v1\", key_env: KEY } }";
    let spec = repository.read("audit/churngate.yaml").replace("judge: { embedded: {} }", judge);
    repository.base = repository.commit(&[("audit/churngate.yaml", &spec)]);
    repository.commit(&[("tools/answer.sh", THIEF)]);
    let (code, said) = with_a_key(&repository);
    assert!(code == Some(2) && said.contains("`KEY` would be within its reach"), "{said}");
}

#[test]
fn a_program_that_is_older_than_the_bases_is_not_started_beside_a_key_and_is_not_called_edited() {
    let mut repository = with_a_program(", env: [KEY]");
    let fork = repository.base.clone();
    repository.base = repository.commit(&[("tools/answer.sh", "cat >/dev/null\nprintf '{\"answer\": \"y\"}'\n")]);
    git(repository.folder.path(), &["checkout", "--quiet", "--detach", &fork]);
    repository.commit(&[ANOTHER_DOCUMENT]);
    let (code, said) = with_a_key(&repository);
    assert!(code == Some(2) && said.contains("this branch is behind in `tools/answer.sh`"), "{said}");
    assert!(said.contains("hint: merge the base branch into this one"), "{said}");
}

/// A program that would take the key.
const THIEF: &str = "printf %s \"$KEY\" >stolen\n";

#[cfg(unix)]
#[test]
fn a_program_behind_a_link_is_given_no_keys_either() {
    for (link, target, path) in [("scripts", "tools", "scripts/answer.sh"), ("answer", "tools/answer.sh", "answer")] {
        let mut repository = with_a_program(", env: [KEY]");
        std::os::unix::fs::symlink(target, repository.folder.path().join(link)).unwrap();
        let spec = repository.read("audit/churngate.yaml").replace("tools/answer.sh", path);
        repository.base = repository.commit(&[("audit/churngate.yaml", &spec)]);
        let (code, said) = with_a_key(&repository);
        assert!(code != Some(2), "nothing is edited yet: {said}");
        repository.commit(&[("tools/answer.sh", THIEF)]);
        let (code, said) = with_a_key(&repository);
        assert!(code == Some(2) && said.contains(&format!("edits `{path}`")), "{said}");
        assert!(!repository.folder.path().join("stolen").exists());
    }
}

#[test]
fn a_program_in_a_submodule_that_the_change_moves_on_is_given_no_keys_either() {
    let mut repository = with_a_program(", env: [KEY]");
    let folder = repository.folder.path().to_owned();
    let spec = repository.read("audit/churngate.yaml").replace("tools/", "sub/deep/");
    let submodule = Repository { folder: tempfile::tempdir_in(&folder).unwrap(), base: String::new() };
    git(submodule.folder.path(), &["init", "--quiet"]);
    submodule.commit(&[("deep/answer.sh", "cat >/dev/null\nprintf '{\"answer\": \"x\"}'\n")]);
    let spec = spec.replace("sub/", &format!("{}/", submodule.folder.path().file_name().unwrap().to_str().unwrap()));
    repository.base = repository.commit(&[("audit/churngate.yaml", &spec)]);
    repository.commit(&[("corpus/a.md", "Since version 13 Chrome supports widgets.")]);
    let (code, said) = with_a_key(&repository);
    assert!(code != Some(2), "nothing of the submodule is edited yet: {said}");
    submodule.commit(&[("deep/answer.sh", THIEF)]);
    repository.commit(&[]);
    let (code, said) = with_a_key(&repository);
    assert!(code == Some(2) && said.contains("/deep/answer.sh`, which the rule"), "{said}");
    assert!(!folder.join("stolen").exists());
}

#[test]
fn a_corpus_or_a_rule_in_a_submodule_is_said_to_lie_there() {
    let repository = Repository::whole();
    let submodule = Repository { folder: tempfile::tempdir_in(repository.folder.path()).unwrap(), base: String::new() };
    git(submodule.folder.path(), &["init", "--quiet"]);
    submodule.commit(&[("docs/a.md", "Since version 12."), ("questions.jsonl", QUESTIONS)]);
    let name = submodule.folder.path().file_name().unwrap().to_str().unwrap();
    for path in [format!("{name}/docs"), name.to_owned(), format!("{name}/docs/a.md")] {
        let spec = SPEC.replace("git: base, path: corpus", &format!("git: base, path: {path}"));
        repository.commit(&[("churngate.yaml", &spec)]);
        let output = repository.churngate(&["check"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && said.contains("it lies in a submodule"), "{path}: {said}");
        assert!(said.contains(&format!("no file of `{path}`")) && said.contains("name it by `path` alone"), "{said}");
    }
    let spec = SPEC.replace("file: questions.jsonl", &format!("file: {name}/questions.jsonl"));
    let base = repository.commit(&[("churngate.yaml", &spec)]);
    let output = repository.churngate(&["check", &format!("--base={base}")]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && said.contains("it lies in a submodule"), "{said}");
}

#[test]
fn a_change_that_removes_the_specs_folder_is_judged_by_the_rule_that_was_there() {
    let spec = SPEC.replace("path: corpus", "path: ../corpus").replace(", prompt: prompt.txt", "");
    for (place, corpus) in [("audit", "../corpus"), ("deep/audit", "docs")] {
        let (path, questions) = (format!("{place}/churngate.yaml"), format!("{place}/questions.jsonl"));
        let spec = spec.replace("../corpus", corpus);
        let repository = Repository::new(&[(&path, &spec), (&questions, QUESTIONS), ("deep/audit/docs/a.md", "x")]);
        std::fs::remove_dir_all(repository.folder.path().join(place)).unwrap();
        repository.commit(&[]);
        let output = repository.churngate(&["run", &format!("--base={}", repository.base), &path]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("snapshot `new`") && said.contains("does not exist"), "{said}");
        let folder = camino::Utf8Path::from_path(repository.folder.path()).unwrap();
        let called = churngate::run::called(&folder.join(&path), Some(&repository.base)).unwrap();
        assert_eq!((called.name.as_str(), called.exploratory), ("rule", false));
    }
}

#[test]
fn a_run_that_the_change_brings_along_is_refused() {
    let repository = Repository::whole();
    let (code, said) = repository.audit();
    assert!(matches!(code, Some(0 | 1 | 3)), "{said}");
    // What this tool made is not committed by chance: it hides from git.
    assert_eq!(git(repository.folder.path(), &["status", "--porcelain", "--", ".churngate"]), "");
    assert!(matches!(repository.audit().0, Some(0 | 1 | 3)), "a run of one's own is gone on with");

    let folder = repository.read(".folder");
    git(repository.folder.path(), &["add", "--force", &format!("{folder}/judgments.jsonl")]);
    repository.commit(&[]);
    let base = format!("--base={}", repository.base);
    let refused = |spec: &str| {
        let output = repository.churngate(&["run", "--quiet", &base, spec]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(5), "{said}");
        assert!(said.contains("is committed") && said.contains("`--runs`"), "{said}");
    };
    refused("churngate.yaml");
    #[cfg(unix)]
    {
        let runs = repository.folder.path().join(".churngate");
        std::fs::rename(&runs, repository.folder.path().join("made-up")).unwrap();
        std::os::unix::fs::symlink("made-up", &runs).unwrap();
        git(repository.folder.path(), &["add", "--force", "made-up"]);
        repository.commit(&[]);
        refused("churngate.yaml");
    }
    let elsewhere = tempfile::tempdir().unwrap();
    let runs = format!("--runs={}", elsewhere.path().display());
    assert!(matches!(repository.churngate(&["run", "--quiet", &base, &runs]).status.code(), Some(0 | 1 | 3)));
}

#[test]
fn the_base_of_a_snapshot_is_the_merge_base() {
    let repository = Repository::whole();
    repository.commit(&[("corpus/c.md", "One more document.")]);
    let checked = repository.churngate(&["check", &format!("--base={}", repository.base)]);
    let said = String::from_utf8_lossy(&checked.stdout).into_owned();
    assert!(checked.status.success(), "{said}{}", String::from_utf8_lossy(&checked.stderr));
    assert!(said.contains("2 documents") && said.contains("3 documents"), "{said}");
    // Without a pull request, `base` is what was last committed.
    repository.write("corpus/d.md", "Not committed yet.");
    let checked = repository.churngate(&["check"]);
    let said = String::from_utf8_lossy(&checked.stdout).into_owned();
    assert!(said.contains("3 documents") && said.contains("4 documents"), "{said}");
}

#[test]
fn a_repository_without_a_commit_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "--quiet"]);
    let repository = Repository { folder, base: String::new() };
    for (name, text) in [
        ("corpus/a.md", "Since version 12."),
        ("churngate.yaml", SPEC),
        ("questions.jsonl", QUESTIONS),
        ("prompt.txt", "{{question}} {{evidence}}"),
    ] {
        repository.write(name, text);
    }
    let output = repository.churngate(&["check"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("churngate.yaml:5:15") && said.contains("help: commit something first"), "{said}");
}

#[test]
fn a_base_that_is_not_there_says_what_to_do() {
    let repository = Repository::whole();
    let output = repository.churngate(&["run", "--base", &"d".repeat(40)]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("hint:"), "{said}");
}

#[test]
fn a_branch_that_the_clone_has_of_its_remote_alone_is_named_as_such() {
    let origin = Repository::new(&[("questions.jsonl", QUESTIONS), ("corpus/c.md", "One more.")]);
    let repository = Repository { folder: tempfile::tempdir().unwrap(), base: String::new() };
    // As actions/checkout does it: a commit without a branch, and the remote's branches.
    let from = format!("file://{}", origin.folder.path().display());
    git(repository.folder.path(), &["init", "--quiet", "--initial-branch=other"]);
    git(repository.folder.path(), &["remote", "add", "origin", &from]);
    git(repository.folder.path(), &["fetch", "--quiet", "origin", "+refs/heads/*:refs/remotes/origin/*"]);
    git(repository.folder.path(), &["checkout", "--quiet", "--detach", "origin/main"]);
    let spec =
        |revision: &str| SPEC.replace("git: base", &format!("git: {revision}")).replace(", prompt: prompt.txt", "");
    repository.write("churngate.yaml", &spec("main"));
    let output = repository.churngate(&["check"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("no commit `main`") && said.contains("`git: base`") && said.contains("`origin/main`"),
        "{said}"
    );
    for revision in ["base", "origin/main"] {
        repository.write("churngate.yaml", &spec(revision));
        let output = repository.churngate(&["check"]);
        assert!(output.status.success(), "{revision}: {}", String::from_utf8_lossy(&output.stderr));
    }
    repository.write("churngate.yaml", &spec("nowhere"));
    let output = repository.churngate(&["check"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("help: fetch it first"), "{output:?}");
}

#[test]
fn init_writes_what_check_accepts_and_overwrites_nothing() {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "--quiet"]);
    let repository = Repository { folder, base: String::new() };
    let none = repository.churngate(&["init"]);
    assert_eq!(none.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&none.stderr).contains("--corpus"));
    repository.commit(&[("docs/a.md", "A document."), ("README.md", "x")]);
    let output = repository.churngate(&["init"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(repository.read("questions.jsonl").lines().count(), 10);
    assert!(repository.read(".github/workflows/churngate.yml").contains("permissions: {}"));
    let checked = repository.churngate(&["check"]);
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    // The report says by which name its run is downloaded: that under which the workflow uploads it.
    let whole = Repository::whole();
    whole.audit();
    let report = whole.read(&format!("{}/report.md", whole.read(".folder")));
    let name = report.split_once("gh run download RUN --name ").unwrap().1.split_once(' ').unwrap().0;
    let workflow = repository.read(".github/workflows/churngate.yml");
    let (_, upload) = workflow.split_once("actions/upload-artifact@").unwrap();
    assert!(
        upload.contains(&format!("name: {name}\n")) && upload.contains("steps.audit.outputs.run-folder"),
        "{upload}"
    );
    assert!(upload[..40].bytes().all(|byte| byte.is_ascii_hexdigit()), "{upload}");
    lint(&repository.folder.path().join(".github/workflows/churngate.yml"));
    let before = repository.read("churngate.yaml");
    std::fs::remove_file(repository.folder.path().join("questions.jsonl")).unwrap();
    assert_eq!(repository.churngate(&["init"]).status.code(), Some(2));
    assert_eq!(repository.read("churngate.yaml"), before);
    assert!(!repository.folder.path().join("questions.jsonl").exists(), "either all or nothing");
}

/// A spec whose engine is a program that answers with the index it was asked about; the change names the new index.
fn with_an_index(new: &str) -> Repository {
    let spec = SPEC
        .replace("old: { git: base, path: corpus }", "old: { index: docs_v41 }")
        .replace("new: { path: corpus }", new)
        .replace("bm25: {}", "command: { argv: [sh, retrieve.sh] }")
        .replace(", prompt: prompt.txt", "");
    let program = "read -r line\nindex=${line#*\\\"index\\\":\\\"}\nindex=${index%%\\\"*}\n\
        printf '[{\"id\": \"d\", \"text\": \"%s\"}]' \"$index\"\n";
    Repository::new(&[("churngate.yaml", &spec), ("questions.jsonl", QUESTIONS), ("retrieve.sh", program)])
}

#[test]
fn a_change_names_the_new_index_in_the_file_that_the_base_names() {
    let repository = with_an_index("new: { from: index.yaml }");
    repository.commit(&[("index.yaml", "index: docs_v42\n")]);
    let (code, report) = repository.audit();
    assert!(matches!(code, Some(0 | 1 | 3)), "{code:?} {report}");
    let whole = || repository.read(&format!("{}/report.md", repository.read(".folder")));
    assert!(whole().contains("index=docs_v42") && whole().contains("index=docs_v41"), "{}", whole());
    assert!(!report.contains("This change edits"), "naming the index is the change's own right: {report}");
    let first = repository.read(".folder");
    repository.commit(&[("index.yaml", "index: docs_v43\n")]);
    assert!(matches!(repository.audit().0, Some(0 | 1 | 3)));
    assert!(whole().contains("index=docs_v43"), "{}", whole());
    assert_ne!(first, repository.read(".folder"), "another index is another audit");
}

#[test]
fn what_a_change_names_is_a_plain_name_and_nothing_else() {
    let repository = with_an_index("new: { from: index.yaml }");
    let refused = |words: &str| {
        let (code, said) = repository.audit();
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(words) && !said.contains("top secret"), "{words}: {said}");
    };
    refused("it does not exist");
    for value in ["https://evil.example/docs", "../other", "docs/_all", "'{{question}}'", "docs_v42?x=1", "'*,-x'"] {
        repository.commit(&[("index.yaml", &format!("index: {value}\n"))]);
        refused("is not a plain name");
    }
    repository.commit(&[("index.yaml", "index: docs_v42\nurl: other\n")]);
    refused("`index`, `url`");
    repository.commit(&[("index.yaml", "[docs_v42]\n")]);
    refused("expected a mapping");
    #[cfg(unix)]
    {
        let secret = tempfile::tempdir().unwrap();
        std::fs::write(secret.path().join("secret"), "top secret: 'a b'").unwrap();
        std::fs::remove_file(repository.folder.path().join("index.yaml")).unwrap();
        std::os::unix::fs::symlink(secret.path().join("secret"), repository.folder.path().join("index.yaml")).unwrap();
        refused("is a symbolic link");
    }
}

#[test]
fn the_command_line_stands_for_a_file_that_is_not_there() {
    let repository = with_an_index("new: { from: index.yaml }");
    let checked = repository.churngate(&["check", "--new", "index=docs_v42"]);
    assert!(checked.status.success(), "{checked:?}");
    assert!(String::from_utf8_lossy(&checked.stdout).contains("docs_v42"), "{checked:?}");
    let other = repository.churngate(&["check", "--new", "alias=docs_v42"]);
    assert_eq!(other.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&other.stderr).contains("it does not exist"), "{other:?}");
}

#[test]
fn the_command_line_names_the_new_index() {
    let repository = with_an_index("new: { index: docs_v42 }");
    let checked = |arguments: &[&str]| {
        let output = repository.churngate(&[&["check"][..], arguments].concat());
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        (output.status.code(), said)
    };
    let (code, said) = checked(&["--new=index=docs_v50"]);
    assert!(code == Some(0) && said.contains("index=docs_v50") && said.contains("index=docs_v41"), "{said}");
    for (bad, words) in [
        ("--new=index", "NAME=VALUE"),
        ("--new=host=evil", "has no variable `host`"),
        ("--new=index=https://evil.example", "is not a plain name"),
        ("--new=index=../x", "is not a plain name"),
    ] {
        let (code, said) = checked(&[bad]);
        assert!(code == Some(2) && said.contains(words), "{bad}: {said}");
    }
    let (code, said) =
        (Repository::whole().churngate(&["check", "--new=index=x"]).status.code(), "a path has no variables");
    assert_eq!(code, Some(2), "{said}");
}

/// The workflow that was written, by the linters of scripts/lint-workflows.
fn lint(workflow: &Path) {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/github-tools/venv/bin");
    if !tools.join("actionlint").exists() {
        assert!(std::env::var_os("CHURNGATE_REQUIRE_ALL").is_none(), "scripts/setup-github-tools has not been run");
        return;
    }
    for arguments in [&["actionlint"][..], &["check-jsonschema", "--builtin-schema", "vendor.github-workflows"]] {
        let (program, rest) = arguments.split_first().unwrap();
        let output = Command::new(tools.join(program)).args(rest).arg(workflow).output().unwrap();
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success(), "{program}: {said}");
    }
}

#[test]
fn init_keeps_questions_and_says_what_is_left_to_do() {
    let repository = Repository::new(&[("questions.jsonl", QUESTIONS), ("sub/docs/a.md", "A document.")]);
    let init = |arguments: &[&str]| {
        let output = repository.churngate(&[&["init"][..], arguments].concat());
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        (output.status.code(), said)
    };
    let (code, said) = init(&["--corpus=nope"]);
    assert!(
        code == Some(2) && said.contains("has no such folder or file") && said.contains("hint: name one"),
        "{said}"
    );
    let (code, said) = init(&[]);
    assert!(code == Some(0) && said.contains("kept ") && said.contains("OWNER/churngate@000"), "{said}");
    assert!(!said.contains("root alone"), "{said}");
    assert_eq!(repository.read("questions.jsonl"), QUESTIONS);
    assert!(repository.churngate(&["check"]).status.success(), "the spec names the questions that were there");
    let (code, said) = init(&["sub"]);
    assert!(
        code == Some(0) && said.contains("move `sub/.github`") && said.contains("`working-directory: sub`"),
        "{said}"
    );
}

#[test]
fn a_spec_that_is_no_utf_8_names_the_line() {
    let repository = Repository::whole();
    let place = repository.folder.path().join("churngate.yaml");
    std::fs::write(place, [SPEC.as_bytes(), b"# caf\xe9\n"].concat()).unwrap();
    let output = repository.churngate(&["check"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let line = format!("line {}: it is not UTF-8", SPEC.lines().count() + 1);
    assert!(output.status.code() == Some(2) && said.contains(&line), "{said}");
}

#[test]
fn init_begins_with_the_rule_for_the_kind_of_answers() {
    for (kind, lines, exact) in [("short", 3, true), ("paragraph", 2, false)] {
        let repository = Repository::new(&[("docs/a.md", "A document.")]);
        let output = repository.churngate(&["init", "--answers", kind, "--corpus=docs"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let spec = churngate::spec::parse(&repository.read("churngate.yaml"), "churngate.yaml").unwrap();
        assert_eq!(spec.gate.incompatible_when.len(), lines, "{kind}");
        let kernels: Vec<_> = spec.gate.incompatible_when.iter().map(|line| line.kernel).collect();
        assert_eq!(kernels.contains(&churngate::model::Kernel::Exact), exact, "{kind}");
        let checked = repository.churngate(&["check"]);
        assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    }
}

/// A folder outside of the repository with what nobody may publish.
#[cfg(unix)]
fn outside() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("secret.md"), "Since version 99 the secret supports widgets.").unwrap();
    std::fs::write(folder.path().join("secret.yaml"), SPEC.replace("3pp", "77pp")).unwrap();
    folder
}

/// Puts a link in the place of whatever is there.
#[cfg(unix)]
fn link(repository: &Repository, name: &str, target: impl AsRef<Path>) {
    let place = repository.folder.path().join(name);
    if place.is_dir() {
        std::fs::remove_dir_all(&place).unwrap();
    } else if place.exists() {
        std::fs::remove_file(&place).unwrap();
    }
    std::os::unix::fs::symlink(target, place).unwrap();
    repository.commit(&[]);
}

#[cfg(unix)]
#[test]
fn no_link_of_a_change_leads_the_corpus_out_of_the_checkout() {
    let secret = outside();
    let repository = Repository::whole();
    link(&repository, "corpus", secret.path());
    let (code, said) = repository.audit();
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("snapshot `new`: `corpus` is a symbolic link") && said.contains("help: name the"), "{said}");
    assert!(!said.contains("version 99"), "{said}");
}

#[cfg(unix)]
#[test]
fn what_a_change_puts_behind_links_is_told_as_links_and_not_read() {
    let secret = outside();
    let repository = Repository::whole();
    link(&repository, "churngate.yaml", secret.path().join("secret.yaml"));
    link(&repository, "questions.jsonl", secret.path().join("secret.yaml"));
    let (code, report) = repository.audit();
    assert!(matches!(code, Some(0 | 1 | 3)), "{code:?} {report}");
    assert_eq!(report.matches("a symbolic link takes its place").count(), 2, "{report}");
    assert!(!report.contains("77pp"), "{report}");
}

#[cfg(unix)]
#[test]
fn a_rule_that_nobody_agreed_to_reads_nothing_through_links_or_outside_of_the_repository() {
    let secret = outside();
    let name = secret.path().file_name().unwrap().to_str().unwrap();
    let refused = |words: &str, prepare: &dyn Fn(&Repository)| {
        let repository = Repository::new(&[("README.md", "x")]);
        let prompt = churngate::freeze::prompts::ANSWER;
        repository.commit(&[("churngate.yaml", SPEC), ("questions.jsonl", QUESTIONS), ("prompt.txt", prompt)]);
        prepare(&repository);
        let (code, said) = repository.audit();
        assert_eq!(code, Some(2), "{words}: {said}");
        let remedy = said.contains("hint: ") || said.contains("help: ");
        assert!(said.contains(words) && remedy, "{words}: {said}");
        assert!(!said.contains("version 99") && !said.contains("77pp"), "{said}");
    };
    for file in ["churngate.yaml", "questions.jsonl", "prompt.txt"] {
        refused(&format!("`{file}` is a symbolic link"), &|repository| {
            link(repository, file, secret.path().join("secret.yaml"));
        });
    }
    let spec = |from: &str, to: &str| {
        let spec = SPEC.replace(from, to);
        assert_ne!(spec, SPEC);
        move |repository: &Repository| {
            repository.commit(&[("churngate.yaml", &spec)]);
        }
    };
    let out = format!("../{name}/secret.yaml");
    refused("outside of the repository", &spec("file: questions.jsonl", &format!("file: {out}")));
    refused("outside of the repository", &spec("prompt: prompt.txt", &format!("prompt: {out}")));
    refused("outside of the repository", &spec("bm25: {}", &format!("preset: {out}")));
    refused("outside of the repository", &spec("new: { path: corpus }", &format!("new: {{ path: ../{name} }}")));
}

#[cfg(unix)]
#[test]
fn a_link_in_the_place_of_the_specs_folder_leads_to_no_other_rule() {
    let spec = SPEC.replace("path: corpus", "path: ../corpus").replace(", prompt: prompt.txt", "");
    let loose = spec.replace("inconclusive: fail", "inconclusive: pass");
    let repository = Repository::new(&[
        ("audit/churngate.yaml", &spec),
        ("audit/questions.jsonl", QUESTIONS),
        ("loose/churngate.yaml", &loose),
        ("loose/questions.jsonl", QUESTIONS),
    ]);
    let run = || {
        let output =
            repository.churngate(&["run", "--quiet", &format!("--base={}", repository.base), "audit/churngate.yaml"]);
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    repository.commit(&[("corpus/a.md", "Since version 13 Chrome supports widgets.")]);
    assert!(matches!(run().0, Some(1 | 3)), "{:?}", run());
    link(&repository, "audit", "loose");
    let (code, said) = run();
    assert!(code == Some(2) && said.contains("`audit` is a symbolic link"), "{code:?} {said}");
}

#[cfg(unix)]
#[test]
fn a_link_on_the_way_to_the_working_folder_ends_as_one_on_the_way_to_the_spec() {
    let spec = SPEC.replace("path: corpus", "path: docs").replace(", prompt: prompt.txt", "");
    let packages = ["packages/a", "packages/b", "others/a"];
    let files: Vec<(String, &str)> = packages
        .iter()
        .flat_map(|package| {
            let files =
                [("churngate.yaml", spec.as_str()), ("questions.jsonl", QUESTIONS), ("docs/a.md", "Since version 12.")];
            files.map(|(name, text)| (format!("{package}/{name}"), text))
        })
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    let repository = Repository::new(&files);
    let base = format!("--base={}", repository.base);
    // As a shell comes to a folder, which tells by `PWD` how it did.
    let from = |top: &Path, folder: &str, spec: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_churngate"));
        let folder = top.join(folder);
        command.current_dir(&folder).env("PWD", &folder).args(["run", "--quiet", &base, spec]);
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let top = repository.folder.path();
    let beside = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(top, beside.path().join("way")).unwrap();
    for (link_at, target) in [("packages/a", "b"), ("packages", "others")] {
        for (code, said) in [
            from(top, "packages/a", "churngate.yaml"),
            from(&beside.path().join("way"), "packages/a", "churngate.yaml"),
        ] {
            assert!(code != Some(2), "the way to the repository is its owner's: {said}");
        }
        link(&repository, link_at, target);
        let words = format!("`{link_at}` is a symbolic link");
        for (code, said) in [from(top, "", "packages/a/churngate.yaml"), from(top, "packages/a", "churngate.yaml")] {
            assert!(code == Some(2) && said.contains(&words) && said.contains("hint: "), "{code:?} {said}");
        }
        git(top, &["reset", "--quiet", "--hard", &repository.base]);
    }
}

#[cfg(unix)]
#[test]
fn a_rule_that_is_a_link_at_the_base_is_told_as_one() {
    let mut repository = Repository::whole();
    repository.write("kept/questions.jsonl", QUESTIONS);
    link(&repository, "questions.jsonl", "kept/questions.jsonl");
    repository.base = repository.commit(&[]);
    let (code, said) = repository.audit();
    assert!(code == Some(2) && said.contains("`questions.jsonl` is a symbolic link"), "{code:?} {said}");
}

#[cfg(unix)]
#[test]
fn a_database_behind_a_link_is_not_opened() {
    let secret = outside();
    let spec = SPEC
        .replace("old: { git: base, path: corpus }", "old: { table: docs_v41 }")
        .replace("new: { path: corpus }", "new: { table: docs_v42 }")
        .replace(
            "bm25: {}",
            "sql: { sqlite: { file: docs.db }, query: \"SELECT id, text FROM {table} WHERE :question <> ''\" }",
        )
        .replace(", prompt: prompt.txt", "");
    let repository = Repository::new(&[("churngate.yaml", &spec), ("questions.jsonl", QUESTIONS)]);
    link(&repository, "docs.db", secret.path().join("secret.md"));
    let (code, said) = repository.audit();
    assert!(code == Some(2) && said.contains("`docs.db` is a symbolic link"), "{code:?} {said}");
}
