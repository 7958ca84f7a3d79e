//! `churngate init`.

use super::arguments::{AnswerKind, InitArguments};
use super::output;
use crate::model::{Failure, FailureClass};
use crate::retrieve::corpus::{Corpus, CorpusError};
use crate::spec::{self, SnapshotSource};
use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use fs_err as fs;
use std::io::Write as _;

const SPEC: &str = include_str!("init/churngate.yaml");
/// The name of the file that it is written to.
const FILE: &str = "churngate.yaml";
/// What an audit is called whose folder has no plain name.
const CORPUS: &str = "corpus";
/// Words that YAML takes for something else than text.
const YAML_WORDS: [&str; 9] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
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
    if !folder.is_dir() {
        let why = if folder.symlink_metadata().is_ok() { "it is no folder" } else { "it does not exist" };
        return Err(Failure::new(FailureClass::Usage, format!("failed to begin in `{folder}`: {why}"))
            .with_hint("name the folder of the repository, or make it first"));
    }
    let corpus = corpus(arguments)?;
    let gate = match arguments.answers {
        AnswerKind::Short => SHORT,
        AnswerKind::Paragraph => PARAGRAPH,
    };
    let questions = folder.join("questions.jsonl");
    let kept = fs::symlink_metadata(&questions).is_ok();
    let mut files = vec![
        (folder.join(FILE), named(&spec_text(&corpus, gate, kept), folder)),
        (folder.join(".github/workflows/churngate.yml"), WORKFLOW.to_owned()),
    ];
    if !kept {
        files.push((questions.clone(), QUESTIONS.to_owned()));
    }
    if let Some((path, _)) = files.iter().find(|(path, _)| fs::symlink_metadata(path).is_ok()) {
        return Err(Failure::new(FailureClass::Usage, format!("failed to write `{path}`: it exists already"))
            .with_hint("move it away, or name another folder"));
    }
    write_all(&files)?;
    say_what_is_next(folder, &questions, kept)?;
    Ok(0)
}

/// The spec of this corpus and rule; it speaks of example questions only where they are written beside it.
fn spec_text(corpus: &str, gate: &str, kept: bool) -> String {
    let questions = if kept { "" } else { "ten examples; " };
    SPEC.replace("CORPUS", corpus).replace("GATE", gate).replace("EXAMPLES", questions)
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
    if let Some(place) = place_in_repository(folder) {
        output::warn(&format!(
            "GitHub runs workflows from the repository's root alone: move `{place}/.github` there, and add \
             `working-directory: {place}` beside `spec`"
        ));
    }
    Ok(())
}

/// The spec with a name: that of its folder from the repository's root on, or, at the root, that of the repository's folder, where it
/// can be one.
fn named(text: &str, folder: &Utf8Path) -> String {
    let with = |name: &str| text.replacen("NAME", name, 1);
    let at_root = || Some(folder.canonicalize_utf8().ok()?.file_name()?.to_owned());
    let below = place_in_repository(folder).map(|place| place.as_str().replace(['/', '\\'], "-"));
    let name = below.or_else(at_root).unwrap_or_default();
    // What begins with a digit, or is a word of YAML's own, would read as another kind of value elsewhere.
    let is_text = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && !YAML_WORDS.iter().any(|word| word.eq_ignore_ascii_case(&name));
    let taken = is_text && spec::variables::is_plain(&name);
    with(if taken { &name } else { CORPUS })
}

/// The folder's path from the root of the repository that it lies in; `None` where it is that root, or lies in none.
fn place_in_repository(folder: &Utf8Path) -> Option<Utf8PathBuf> {
    let folder = folder.canonicalize_utf8().ok()?;
    let root = folder.ancestors().find(|place| place.join(".git").symlink_metadata().is_ok())?;
    folder.strip_prefix(root).ok().filter(|place| !place.as_str().is_empty()).map(Utf8Path::to_owned)
}

/// The corpus that the user names, or the first folder there is of the usual names: one that the spec can name and that holds a
/// document.
fn corpus(arguments: &InitArguments) -> Result<String, Failure> {
    let named = arguments.corpus.clone();
    let found = named.or_else(|| {
        let there = CORPORA.into_iter().find(|name| arguments.folder.join(name).is_dir());
        there.map(Utf8PathBuf::from)
    });
    let Some(corpus) = found else {
        return Err(Failure::new(FailureClass::Usage, "failed to find a corpus in this folder")
            .with_hint("name it: `churngate init --corpus FOLDER`"));
    };
    let refused = |why: &str, hint: &str| {
        Failure::new(FailureClass::Usage, format!("failed to use `{corpus}` as the corpus{why}")).with_hint(hint)
    };
    if !corpus.as_str().chars().all(|c| c.is_alphanumeric() || "-_./".contains(c)) {
        return Err(refused("", "name a folder or a JSONL file by letters, digits, `-`, `_`, `.` and `/`"));
    }
    let is_within = |part| matches!(part, Utf8Component::Normal(_) | Utf8Component::CurDir);
    if corpus.as_str().is_empty() || !corpus.components().all(is_within) {
        return Err(refused(": it is no path within the folder", "name it by its path from the folder of the spec"));
    }
    if !arguments.folder.join(&corpus).exists() {
        let why = format!(": `{}` has no such folder or file", arguments.folder);
        return Err(refused(&why, "name one that is there, by its path in that folder"));
    }
    if !holds_a_document(&corpus, &arguments.folder)? {
        return Err(refused(": it holds no document", "name a folder of text files, or a JSONL file of documents"));
    }
    Ok(corpus.into_string())
}

/// Whether an audit could read a document from it.
///
/// # Errors
/// The first one cannot be read.
fn holds_a_document(corpus: &Utf8Path, folder: &Utf8Path) -> Result<bool, Failure> {
    let first = || -> Result<bool, CorpusError> {
        let corpus = Corpus::open(&SnapshotSource::Path(corpus.to_owned()), folder)?;
        Ok(corpus.documents()?.next().transpose()?.is_some())
    };
    first().map_err(|error| {
        Failure::new(FailureClass::Usage, format!("failed to use `{corpus}` as the corpus: {error}"))
            .with_hint("name a folder of text files, or a file of JSON objects, one a line, that ends in `.jsonl`")
    })
}

/// Writes all of these, or leaves none of them.
fn write_all(files: &[(Utf8PathBuf, String)]) -> Result<(), Failure> {
    for (number, (path, text)) in files.iter().enumerate() {
        if let Err(failure) = write(path, text) {
            // The first error is the one to report; these are this call's own.
            files[..number].iter().for_each(|(path, _)| drop(fs::remove_file(path)));
            return Err(failure);
        }
    }
    files.iter().try_for_each(|(path, _)| output::line(&format!("wrote {path}")))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(folder: &Utf8Path, corpus: &str) -> InitArguments {
        InitArguments { folder: folder.to_owned(), corpus: Some(corpus.into()), answers: AnswerKind::Short }
    }

    #[test]
    fn only_a_corpus_that_check_accepts_is_taken() {
        let keep = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(keep.path()).unwrap();
        for (name, text) in [
            ("docs/a.md", "text"),
            ("d.jsonl", "{\"id\":\"a\",\"text\":\"x\"}\n"),
            ("README.md", "text"),
            ("pdf/a.pdf", "x"),
        ] {
            fs::create_dir_all(folder.join(name).parent().unwrap()).unwrap();
            fs::write(folder.join(name), text).unwrap();
        }
        fs::create_dir(folder.join("empty")).unwrap();
        for taken in ["docs", "./docs", "d.jsonl", "."] {
            assert_eq!(corpus(&asked(folder, taken)).unwrap(), taken);
        }
        let whole = folder.join("docs");
        for refused in ["README.md", "pdf", "empty", "nowhere", "../docs", whole.as_str(), "a b", ""] {
            let failure = corpus(&asked(folder, refused)).unwrap_err();
            assert_eq!(failure.class, FailureClass::Usage, "{refused}");
            assert!(failure.message.contains(&format!("`{refused}`")) && failure.hint.is_some(), "{failure}");
        }
    }

    #[test]
    fn all_files_are_written_or_none() {
        let keep = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(keep.path()).unwrap();
        let files = |names: [&str; 2]| names.map(|name| (folder.join(name), "text".to_owned()));
        fs::write(folder.join("file"), "theirs").unwrap();
        assert!(write_all(&files(["a/one", "file/two"])).is_err());
        assert!(!folder.join("a/one").exists() && fs::read_to_string(folder.join("file")).unwrap() == "theirs");
        assert!(write_all(&files(["a/one", "b/two"])).is_ok());
    }

    #[test]
    fn example_questions_are_spoken_of_only_where_they_are_written() {
        for (kept, said) in
            [(false, "questions.jsonl # ten examples; at least 59 "), (true, "questions.jsonl # at least 59 ")]
        {
            let keep = tempfile::tempdir().unwrap();
            let folder = Utf8Path::from_path(keep.path()).unwrap();
            fs::create_dir(folder.join("docs")).unwrap();
            fs::write(folder.join("docs/a.md"), "text").unwrap();
            if kept {
                fs::write(folder.join("questions.jsonl"), "{\"question\":\"Who?\"}\n").unwrap();
            }
            init(&asked(folder, "docs")).unwrap();
            let text = fs::read_to_string(folder.join(FILE)).unwrap();
            assert!(text.contains(said) && !text.contains("EXAMPLES"), "{text}");
        }
    }

    #[test]
    fn an_audit_is_called_after_its_folder_where_that_is_a_plain_name() {
        let keep = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(keep.path()).unwrap().canonicalize_utf8().unwrap();
        let text = SPEC.replace("CORPUS", "NAME").replace("GATE", SHORT);
        let called = |place: &str| {
            let folder = root.join(place);
            fs::create_dir_all(&folder).unwrap();
            let text = named(&text, &folder);
            assert!(text.contains("path: NAME"), "{text}");
            spec::parse(&text, FILE).unwrap().name
        };
        assert_eq!(called("docs-search"), "docs-search");
        for unfit in ["two words", "ümlaut", "true", "No", "12", "1e3"] {
            assert_eq!(called(unfit), CORPUS, "{unfit}");
        }
        fs::create_dir(root.join("docs-search/.git")).unwrap();
        assert_eq!(called("docs-search"), "docs-search");
        assert_eq!(called("docs-search/packages/a"), "packages-a");
        assert_eq!(called("docs-search/packages/b"), "packages-b");
    }

    #[test]
    fn a_folder_below_a_repository_is_named_from_its_root() {
        let keep = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(keep.path()).unwrap();
        fs::create_dir_all(root.join("packages/search")).unwrap();
        assert_eq!(place_in_repository(&root.join("packages")), None);
        fs::create_dir(root.join(".git")).unwrap();
        assert_eq!(place_in_repository(root), None);
        assert_eq!(place_in_repository(&root.join("packages/search")).unwrap(), "packages/search");
    }
}
