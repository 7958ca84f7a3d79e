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

/// Writes a spec, a workflow and, where there are no questions yet, ten example ones. Overwrites nothing: where the spec or the
/// workflow is there already, none is written.
pub fn init(arguments: &InitArguments) -> Result<u8, Failure> {
    let folder = &arguments.folder;
    let corpus = corpus(arguments)?;
    let gate = match arguments.answers {
        AnswerKind::Short => SHORT,
        AnswerKind::Paragraph => PARAGRAPH,
    };
    let questions = folder.join("questions.jsonl");
    let kept = fs::symlink_metadata(&questions).is_ok();
    let mut files = vec![
        (folder.join("churngate.yaml"), SPEC.replace("CORPUS", &corpus).replace("GATE", gate)),
        (folder.join(".github/workflows/churngate.yml"), WORKFLOW.to_owned()),
    ];
    if !kept {
        files.push((questions.clone(), QUESTIONS.to_owned()));
    }
    if let Some((path, _)) = files.iter().find(|(path, _)| fs::symlink_metadata(path).is_ok()) {
        return Err(Failure::new(FailureClass::Usage, format!("failed to write `{path}`: it exists already"))
            .with_hint("move it away, or name another folder"));
    }
    for (path, text) in &files {
        write(path, text)?;
        output::line(&format!("wrote {path}"))?;
    }
    say_what_is_next(folder, &questions, kept)?;
    Ok(0)
}

fn say_what_is_next(folder: &Utf8Path, questions: &Utf8Path, kept: bool) -> Result<(), Failure> {
    if kept {
        output::line(&format!("kept {questions}, which the spec names"))?;
    } else {
        output::line("next: put your own questions into questions.jsonl")?;
    }
    output::line("next: run `churngate check`")?;
    output::line(
        "next: in the workflow, put the owner and the commit of a release in the place of `OWNER/churngate@000...`",
    )?;
    if is_below_a_repository(folder) {
        output::warn(&format!(
            "GitHub runs workflows from the repository's root alone: move `{folder}/.github` there, and add \
             `working-directory: {folder}` beside `spec`"
        ));
    }
    Ok(())
}

/// Whether the folder lies in a repository and is not its root.
fn is_below_a_repository(folder: &Utf8Path) -> bool {
    let Ok(folder) = folder.canonicalize_utf8() else { return false };
    let is_root = |place: &Utf8Path| place.join(".git").symlink_metadata().is_ok();
    !is_root(&folder) && folder.ancestors().skip(1).any(is_root)
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
        Some(corpus) if plain(&corpus) => {
            let message =
                format!("failed to use `{corpus}` as the corpus: `{}` has no such folder or file", arguments.folder);
            Err(Failure::new(FailureClass::Usage, message)
                .with_hint("name one that is there, by its path in that folder"))
        }
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
