//! Bad input through the real binary: an error that names the place and the remedy, the right exit code, nothing spent.

mod harness;

use anyhow::Result;
use harness::{Workspace, code, stderr, stdout};
use std::process::Output;

/// Runs `check` and `run`; both must refuse alike, print nothing on standard output and leave no run behind.
fn refused(workspace: &Workspace, spec: &str) -> Result<String> {
    let mut texts = Vec::new();
    for command in ["check", "run"] {
        let output = workspace.churngate(&[command, spec])?;
        let text = stderr(&output);
        assert_eq!(code(&output)?, 2, "{command}: {text}");
        assert_eq!(stdout(&output), "");
        assert!(!text.contains("panicked"), "{text}");
        texts.push(text);
    }
    assert!(!workspace.path(".churngate").exists(), "something was begun");
    assert_eq!(texts[0], texts[1]);
    Ok(texts.swap_remove(0))
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
    mentions(&refused(&workspace, "churngate.yaml")?, &["no-such-revision", "hint"]);
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
