//! `churngate init`.

use super::arguments::{AnswerKind, InitArguments};
use super::output;
use crate::model::{Failure, FailureClass};
use camino::{Utf8Path, Utf8PathBuf};
use fs_err as fs;
use std::io::Write as _;

const SPEC: &str = include_str!("init/churngate.yaml");
const QUESTIONS: &str = include_str!("init/questions.jsonl");
const WORKFLOW: &str = include_str!("../../examples/workflows/gate.yml");

/// The published rule, for answers of a few words: both kernels have to see the churn.
const SHORT: &str = "\
  # For answers of a few words. For paragraphs, which never repeat word by word: churngate init --answers paragraph
  incompatible_when: # every line must hold to block
    - exact: { at_least: 3pp }
    - exact: { lower_bound_above: 0pp }
    - semantic: { lower_bound_above: 0pp }
";

/// The documented alternative for paragraphs: no two are the same word by word, so that `exact` sees no churn.
const PARAGRAPH: &str = "\
  # For answers of whole sentences, which never repeat word by word: meaning alone decides.
  incompatible_when: # every line must hold to block
    - semantic: { at_least: 3pp }
    - semantic: { lower_bound_above: 0pp }
";

/// Folders that usually hold a corpus, looked for in this order.
const CORPORA: [&str; 5] = ["corpus", "docs", "content", "knowledge", "documents"];

/// Writes a spec, ten example questions and a workflow. Overwrites nothing: either all three are new, or none is written.
pub fn init(arguments: &InitArguments) -> Result<u8, Failure> {
    let folder = &arguments.folder;
    let corpus = corpus(arguments)?;
    let gate = match arguments.answers {
        AnswerKind::Short => SHORT,
        AnswerKind::Paragraph => PARAGRAPH,
    };
    let files = [
        (folder.join("churngate.yaml"), SPEC.replace("CORPUS", &corpus).replace("GATE", gate)),
        (folder.join("questions.jsonl"), QUESTIONS.to_owned()),
        (folder.join(".github/workflows/churngate.yml"), WORKFLOW.to_owned()),
    ];
    if let Some((path, _)) = files.iter().find(|(path, _)| fs::symlink_metadata(path).is_ok()) {
        return Err(Failure::new(FailureClass::Usage, format!("failed to write `{path}`: it exists already"))
            .with_hint("move it away, or name another folder"));
    }
    for (path, text) in &files {
        write(path, text)?;
        output::line(&format!("wrote {path}"))?;
    }
    output::line("next: put your own questions into questions.jsonl, then run `churngate check`")?;
    Ok(0)
}

/// The corpus that the user names, or the first folder there is of the usual names.
fn corpus(arguments: &InitArguments) -> Result<String, Failure> {
    let plain = |path: &Utf8Path| path.as_str().chars().all(|c| c.is_alphanumeric() || "-_./".contains(c));
    let named = arguments.corpus.clone();
    let found = named.or_else(|| {
        let there = CORPORA.into_iter().find(|name| arguments.folder.join(name).is_dir());
        there.map(Utf8PathBuf::from)
    });
    match found {
        Some(corpus) if plain(&corpus) && arguments.folder.join(&corpus).exists() => Ok(corpus.into_string()),
        Some(corpus) => Err(Failure::new(FailureClass::Usage, format!("failed to use `{corpus}` as the corpus"))
            .with_hint("name a folder or a JSONL file by letters, digits, `-`, `_`, `.` and `/`")),
        None => Err(Failure::new(FailureClass::Usage, "failed to find a corpus in this folder")
            .with_hint("name it: `churngate init --corpus FOLDER`")),
    }
}

/// Writes a new file, never an existing one.
fn write(path: &Utf8Path, text: &str) -> Result<(), Failure> {
    let written = || -> std::io::Result<()> {
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::OpenOptions::new().write(true).create_new(true).open(path)?.write_all(text.as_bytes())
    };
    written().map_err(|error| Failure::new(FailureClass::Usage, format!("failed to write `{path}`: {}", error.kind())))
}
