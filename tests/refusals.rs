//! Bad input through the real binary: an error that names the place and the remedy, the right exit code, nothing spent.

mod harness;

use anyhow::{Context as _, Result};
use harness::{Workspace, code, stderr, stdout};
use std::process::Output;

/// Runs whatever prepares an audit; all of it must refuse alike, print nothing on standard output and leave no run behind.
fn refused(workspace: &Workspace, spec: &str) -> Result<String> {
    let mut texts = Vec::new();
    for command in ["check", "run", "diff"] {
        let output = workspace.churngate(&[command, spec])?;
        let text = stderr(&output);
        assert_eq!(code(&output)?, 2, "{command}: {text}");
        assert_eq!(stdout(&output), "");
        assert!(!text.contains("panicked"), "{text}");
        texts.push(text);
    }
    assert!(!workspace.path(".churngate").exists(), "something was begun");
    assert!(texts.iter().all(|text| *text == texts[0]), "{texts:?}");
    Ok(texts.swap_remove(0))
}

/// What is told of a spec that names files of these names, all of which are missing or cannot be read: each at its place.
fn told_at_once(workspace: &Workspace, spec: &str, names: &[&str]) -> Result<String> {
    workspace.write("churngate.yaml", spec)?;
    let text = refused(workspace, "churngate.yaml")?;
    for name in names {
        let at = spec.find(name).with_context(|| format!("the spec has no `{name}`"))?;
        let line = spec[..at].matches('\n').count() + 1;
        let column = spec[..at].rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        mentions(&text, &[&format!("churngate.yaml:{line}:{column}\n")]);
    }
    let problems = if names.len() == 1 { "1 problem".to_owned() } else { format!("{} problems", names.len()) };
    mentions(&text, &[&format!("read the spec `churngate.yaml`: {problems}\n")]);
    assert_eq!(text.matches("= help: ").count(), names.len(), "{text}");
    Ok(text)
}

fn mentions(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is missing in:\n{text}");
    }
}

#[test]
fn a_missing_spec_is_named() -> Result<()> {
    let text = refused(&Workspace::new()?, "nowhere.yaml")?;
    mentions(&text, &["nowhere.yaml", "does not exist", "hint"]);
    Ok(())
}

#[test]
fn an_unknown_key_is_named_with_place_and_nearest_key() -> Result<()> {
    let workspace = Workspace::quickstart()?;
    workspace.edit("churngate.yaml", |spec| spec.replace("repeats: 2", "repeets: 2"))?;
    let text = refused(&workspace, "churngate.yaml")?;
    mentions(&text, &["churngate.yaml", "repeets", "repeats"]);
    Ok(())
}

#[test]
fn missing_questions_and_corpus_are_named() -> Result<()> {
    for (part, other) in [("file: questions.jsonl", "file: gone.jsonl"), ("path: new.jsonl", "path: gone.jsonl")] {
        let workspace = Workspace::quickstart()?;
        workspace.edit("churngate.yaml", |spec| spec.replace(part, other))?;
        mentions(&refused(&workspace, "churngate.yaml")?, &["gone.jsonl"]);
    }
    Ok(())
}

/// What stands around the snapshots and the retrieval of a spec.
const AROUND: [&str; 2] = [
    "version: 1\nname: gone\nquestions: { file: gone.jsonl, select: { exclude: no-ids.txt, only: no-qrels.tsv } }\n",
    "generate: { reader: {}, prompt: no-prompt.txt }\njudge: { embedded: {} }\n",
];
/// The files named there.
const NAMED: [&str; 4] = ["gone.jsonl", "no-ids.txt", "no-qrels.tsv", "no-prompt.txt"];

#[test]
fn everything_that_a_spec_names_and_that_is_not_there_is_told_at_once() -> Result<()> {
    let corpora = "snapshots:\n  old: { git: v41, path: corpus }\n  new: { path: no-corpus }\n  placebo: { git: base, path: corpus }\n  \
                   between: [ { name: n2, path: no-rung.jsonl }, { name: n3, path: docs.tar/no-folder } ]\n";
    let databases = "snapshots: { old: { path: no-old.db }, new: { path: no-new.db } }\n";
    let tables = "snapshots: { old: { table: docs_1 }, new: { table: docs_2 } }\n";
    let in_file = "snapshots: { old: { index: docs_1 }, new: { from: no-index.yaml } }\n";
    let query = "query: \"SELECT id, text FROM {table} WHERE :question <> ''\" } }\n";
    let of_one = "query: \"SELECT id, text FROM docs WHERE :question <> ''\" } }\n";
    let preset = "retrieve: { preset: no-preset.yaml, base_url: 'http://localhost:9' }\n";
    for (snapshots, retrieve, names) in [
        (corpora, "retrieve: { bm25: {} }\n".to_owned(), &["v41", "no-corpus", "base", "no-rung", "docs.tar"][..]),
        (databases, format!("retrieve: {{ sql: {{ sqlite: {{}}, {of_one}"), &["no-old.db", "no-new.db"]),
        (tables, format!("retrieve: {{ sql: {{ sqlite: {{ file: no.db }}, {query}"), &["no.db"]),
        (in_file, "retrieve: { command: { argv: [cat] } }\n".to_owned(), &["no-index.yaml"]),
        (in_file, preset.to_owned(), &["no-preset.yaml"]),
    ] {
        let spec = [AROUND[0], snapshots, &retrieve, AROUND[1]].concat();
        told_at_once(&Workspace::new()?, &spec, &[&NAMED, names].concat())?;
    }
    Ok(())
}

#[test]
fn what_is_there_and_cannot_be_read_is_told_beside_what_is_not_there() -> Result<()> {
    let workspace = Workspace::new()?;
    workspace.write("gone.jsonl/a", "a folder")?;
    workspace.write("no-prompt.txt", b"\xff".as_slice())?;
    workspace.write("no-old.tar", "no archive")?;
    let snapshots = "snapshots: { old: { path: no-old.tar }, new: { path: no-new } }\nretrieve: { bm25: {} }\n";
    let spec = [AROUND[0], snapshots, AROUND[1]].concat();
    let text = told_at_once(&workspace, &spec, &[&NAMED[..], &["no-old.tar", "no-new"]].concat())?;
    mentions(&text, &["it is a folder", "line 1: it is not UTF-8", "is damaged", "`no-new` does not exist"]);
    Ok(())
}

#[cfg(unix)]
#[test]
fn programs_that_are_not_there_are_told_before_anything_is_spent() -> Result<()> {
    let workspace = Workspace::quickstart()?;
    workspace.write("folder/x", "x")?;
    workspace.write("plain.txt", "x")?;
    let spec = workspace.read("churngate.yaml")?;
    let spec = spec
        .replace("  bm25: {}", "  command: { argv: [./no-retriever] }")
        .replace("  reader: {}", "  command: { argv: [no-generator, --fast] }")
        .replace("  embedded: {}", "  command: { argv: [./folder] }\n  second: { command: { argv: [./plain.txt] } }")
        + "replicate: { command: { argv: [./no-replica] } }\n";
    workspace.write("churngate.yaml", &spec)?;
    let of_retrieval = ["churngate.yaml:10:21", "`./no-retriever`: it does not exist"];
    let of_others = [
        "`no-generator`: it is not on the path",
        "`./folder`: it is a folder",
        "`./plain.txt`: it may not be executed",
        "`./no-replica`: it does not exist",
    ];
    for (command, problems) in [("check", 5), ("run", 5), ("diff", 1)] {
        let output = workspace.churngate(&[command])?;
        let said = stderr(&output);
        assert_eq!((code(&output)?, stdout(&output)), (2, String::new()), "{said}");
        mentions(&said, &of_retrieval);
        assert_eq!(said.matches("= help: install it").count(), problems, "{said}");
        assert_eq!(of_others.iter().filter(|part| said.contains(**part)).count(), problems - 1, "{said}");
    }
    assert!(!workspace.path(".churngate").exists());
    Ok(())
}

#[test]
fn corpora_with_bad_lines_are_told_together_each_by_its_line() -> Result<()> {
    let workspace = Workspace::quickstart()?;
    workspace.write("old.jsonl", "{\"id\":\"a\",\"text\":\"x\"}\nnone\n")?;
    workspace.write("new.jsonl", "{\"id\":\"a\",\"text\":\"x\"}\n\n{\"id\":\"b\"}\n")?;
    let spec = workspace.read("churngate.yaml")?;
    let text = told_at_once(&workspace, &spec, &["old.jsonl", "new.jsonl"])?;
    insta::assert_snapshot!(text, @"
    error: read the spec `churngate.yaml`: 2 problems
    error[unread-file]: failed to read the corpus of snapshot `old`: `./old.jsonl`, line 2: is no JSON object
     --> churngate.yaml:7:16
      |
    7 |   old: { path: old.jsonl }
      |                ^^^^^^^^^
      |
      = help: each line is an object with an `id`, a `text` and, if there are any, a `title` and a `url`

    error[unread-file]: failed to read the corpus of snapshot `new`: `./new.jsonl`, line 3: has no `text`, `content` or `body` that is a string
     --> churngate.yaml:8:16
      |
    8 |   new: { path: new.jsonl }
      |                ^^^^^^^^^
      |
      = help: each line is an object with an `id`, a `text` and, if there are any, a `title` and a `url`
    ");
    Ok(())
}

#[test]
fn an_empty_question_file_is_no_verdict() -> Result<()> {
    let workspace = Workspace::quickstart()?;
    workspace.write("questions.jsonl", "\n\n")?;
    mentions(&refused(&workspace, "churngate.yaml")?, &["questions.jsonl"]);
    Ok(())
}

#[test]
fn duplicate_ids_are_refused_with_both_lines() -> Result<()> {
    let workspace = Workspace::quickstart()?;
    workspace.write(
        "questions.jsonl",
        "{\"id\":\"a\",\"question\":\"one?\"}\n{\"id\":\"b\",\"question\":\"two?\"}\n{\"id\":\"a\",\"question\":\"three?\"}\n",
    )?;
    mentions(&refused(&workspace, "churngate.yaml")?, &["questions.jsonl", "`a`", "1", "3"]);
    Ok(())
}

#[test]
fn a_binary_document_is_refused_by_name() -> Result<()> {
    let workspace = Workspace::quickstart()?;
    workspace.write("docs/fine.md", "Some text.")?;
    workspace.write("docs/broken.md", b"\x00\xff\xfe".as_slice())?;
    workspace.edit("churngate.yaml", |spec| spec.replace("new: { path: new.jsonl }", "new: { path: docs }"))?;
    mentions(&refused(&workspace, "churngate.yaml")?, &["broken.md"]);
    Ok(())
}

#[test]
fn an_empty_corpus_is_refused() -> Result<()> {
    let workspace = Workspace::quickstart()?;
    workspace.write("new.jsonl", "")?;
    mentions(&refused(&workspace, "churngate.yaml")?, &["new"]);
    Ok(())
}

#[test]
fn a_git_revision_that_does_not_exist_is_named() -> Result<()> {
    let workspace = Workspace::quickstart()?;
    let git = |arguments: &[&str]| -> Result<Output> {
        Ok(std::process::Command::new("git").args(arguments).current_dir(workspace.path(".")).output()?)
    };
    assert!(git(&["init", "-q"])?.status.success());
    workspace.edit("churngate.yaml", |spec| {
        spec.replace("old: { path: old.jsonl }", "old: { git: no-such-revision, path: old.jsonl }")
    })?;
    mentions(&refused(&workspace, "churngate.yaml")?, &["no-such-revision", "churngate.yaml:7:15", "help: "]);
    Ok(())
}

/// The quickstart with a generator behind a server.
fn with_server(workspace: &Workspace, base_url: &str) -> Result<()> {
    let server = format!("openai: {{ model: m, base_url: \"{base_url}\", key_env: CHURNGATE_TEST_KEY }}");
    workspace.edit("churngate.yaml", |spec| {
        spec.replace("reader: {}", &server)
            .replace("file: questions.jsonl", "file: questions.jsonl\n  select: { count: 3, seed: 1 }")
            .replace("repeats: 2", "repeats: 2\n  max_attempts: 2")
    })
}

#[test]
fn an_unset_key_is_named_before_anything_is_spent() -> Result<()> {
    let workspace = Workspace::quickstart()?;
    with_server(&workspace, "http://127.0.0.1:9/v1")?;
    let output = workspace.churngate(&["run", "churngate.yaml"])?;
    assert_eq!(code(&output)?, 2, "{}", stderr(&output));
    mentions(&stderr(&output), &["CHURNGATE_TEST_KEY", "not set"]);
    assert!(!workspace.path(".churngate").exists());
    Ok(())
}

#[test]
fn a_server_that_is_down_is_an_outage_and_the_run_can_be_resumed() -> Result<()> {
    let workspace = Workspace::quickstart()?;
    // Port 9 of the loopback interface: nothing listens there.
    with_server(&workspace, "http://127.0.0.1:9/v1")?;
    for _ in 0..2 {
        let output =
            workspace.command().env("CHURNGATE_TEST_KEY", "key-3141592").args(["run", "churngate.yaml"]).output()?;
        assert_eq!(code(&output)?, 4, "{}", stderr(&output));
        assert!(!stderr(&output).contains("key-3141592"));
        mentions(&stderr(&output), &["hint"]);
    }
    assert!(!workspace.run_folder()?.join("result.json").exists());
    Ok(())
}

#[test]
fn gold_of_a_wrong_form_is_refused_before_anything_is_spent() -> Result<()> {
    let workspace = Workspace::quickstart()?;
    workspace.write(
        "questions.jsonl",
        "{\"question\":\"A?\",\"answer\":\"x\"}\n{\"question\":\"B?\",\"answer\":{\"secret\":1}}\n",
    )?;
    for command in ["check", "run"] {
        let output = workspace.churngate(&[command, "churngate.yaml"])?;
        assert_eq!(code(&output)?, 2, "{}", stderr(&output));
        mentions(&stderr(&output), &["gold", "line 2", "hint"]);
        assert!(!stderr(&output).contains("secret") && !workspace.path(".churngate").exists());
    }
    Ok(())
}

#[test]
fn an_excluded_id_that_no_question_has_is_told() -> Result<()> {
    let workspace = Workspace::quickstart()?;
    workspace.write("never.txt", "no-such-question\n")?;
    workspace.edit("churngate.yaml", |spec| {
        spec.replace("file: questions.jsonl", "file: questions.jsonl\n  select: { exclude: never.txt, count: 2 }")
    })?;
    let note = "the excluded id `no-such-question` is not in the question file";
    let checked = workspace.churngate(&["check", "churngate.yaml"])?;
    mentions(&String::from_utf8_lossy(&checked.stdout), &[note]);
    let run = workspace.churngate(&["run", "churngate.yaml"])?;
    mentions(&stderr(&run), &[note]);
    Ok(())
}

#[test]
fn a_result_that_does_not_follow_from_its_ledgers_is_not_published() -> Result<()> {
    let workspace = Workspace::quickstart()?;
    assert_eq!(code(&workspace.churngate(&["run", "churngate.yaml"])?)?, 1);
    let folder = workspace.run_folder()?;
    let publish = || workspace.churngate(&["publish", &folder.display().to_string()]);
    let output = publish()?;
    assert_eq!(code(&output)?, 0, "{}", stderr(&output));
    assert!(!stderr(&output).contains("holds no ledgers"), "{}", stderr(&output));

    let written = std::fs::read_to_string(folder.join("result.json"))?;
    let forged = written.replacen("\"incompatible\"", "\"compatible\"", 1);
    assert_ne!(forged, written);
    std::fs::write(folder.join("result.json"), &forged)?;
    let output = publish()?;
    assert_eq!(code(&output)?, 5, "{}", stderr(&output));
    mentions(&stderr(&output), &["result.json", "does not follow from the ledgers", "hint"]);
    // Neither is one whose ledgers are there in part only.
    std::fs::write(folder.join("result.json"), &written)?;
    std::fs::remove_file(folder.join("evidence.jsonl"))?;
    assert_eq!(code(&publish()?)?, 5);

    for ledger in ["protocol.lock.json", "answers.jsonl", "judgments.jsonl"] {
        std::fs::remove_file(folder.join(ledger))?;
    }
    // A result alone is published only where somebody says so.
    let output = publish()?;
    assert_eq!(code(&output)?, 5, "{}", stderr(&output));
    mentions(&stderr(&output), &["holds no ledgers", "--unverified"]);
    let output = workspace.churngate(&["publish", "--unverified", &folder.display().to_string()])?;
    assert_eq!(code(&output)?, 0, "{}", stderr(&output));
    Ok(())
}

#[test]
fn check_shows_the_plan_of_an_engine_that_is_away_and_then_where_it_was_looked_for() -> Result<()> {
    let workspace = Workspace::new()?;
    // Nobody listens on a port that was just given back.
    let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    workspace.write("questions.jsonl", harness::questions_file(["A?"]))?;
    let spec = format!(
        "version: 1\nname: away\nquestions: {{ file: questions.jsonl }}\nsnapshots: {{ old: {{ index: a }}, new: {{ index: b }} }}\n\
         retrieve: {{ preset: elasticsearch, base_url: 'http://127.0.0.1:{port}' }}\ngenerate: {{ reader: {{}} }}\njudge: {{ embedded: {{}} }}\n"
    );
    workspace.write("churngate.yaml", spec)?;
    let output = workspace.churngate(&["check", "churngate.yaml"])?;
    assert_eq!(code(&output)?, 4);
    mentions(
        &stdout(&output),
        &["audit `away`: the spec is valid", "questions: 1, ", "no engine was asked", "run folder: "],
    );
    let address = format!("`127.0.0.1:{port}`");
    mentions(&stderr(&output), &[&address, "got no connection in 5 attempts (connect-failed)", "check `base_url`"]);
    Ok(())
}

#[test]
fn check_refuses_evidence_that_a_run_could_not_use_at_the_snapshot_s_own_place() -> Result<()> {
    let workspace = Workspace::new()?;
    workspace.write("questions.jsonl", harness::questions_file(["A?", "B?"]))?;
    workspace.write("old.jsonl", "{\"id\":\"q0\",\"documents\":[]}\n{\"id\":\"q1\",\"documents\":[]}\n")?;
    workspace.write("new.jsonl", "{\"id\":\"q0\",\"documents\":[]}\n{\"id\":\"q1\",\"documents\":1}\n")?;
    let spec = "version: 1\nname: away\nquestions: { file: questions.jsonl }\nsnapshots: { old: { path: old.jsonl }, new: { path: new.jsonl } }\n\
                retrieve: { file: {} }\ngenerate: { reader: {} }\njudge: { embedded: {} }\n";
    let text = told_at_once(&workspace, spec, &["new.jsonl"])?;
    mentions(
        &text,
        &["the evidence of snapshot `new`", "line 2: has no list `documents`", "each line is one question"],
    );
    workspace.write("new.jsonl", "{\"id\":\"q1\",\"documents\":[]}\n")?;
    let text = told_at_once(&workspace, spec, &["new.jsonl"])?;
    mentions(&text, &["has no line for 1 of the selected questions, first for `q0`", "an empty list of documents"]);
    Ok(())
}
