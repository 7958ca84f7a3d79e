//! How git is called: which arguments always stand first, what its environment holds, what its failures mean.

use super::GitError;
use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use std::io;
use std::process::{Command, Output, Stdio};

/// What git says, in its untranslated words, where a folder is in no repository, and where it does not trust one.
const NOT_A_REPOSITORY: &str = "not a git repository";
const UNTRUSTED: &str = "dubious ownership";

/// `git -C folder subcommand`, with nothing of the caller's environment that changes what git reads. Git is started in the
/// nearest folder that exists: a commit may still have one that a change removes.
pub(super) fn git(folder: &Utf8Path, subcommand: &'static str) -> Command {
    let mut command = Command::new("git");
    command.args(["--no-replace-objects", "--literal-pathspecs", "-C"]).arg(nearest(folder)).arg(subcommand);
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.to_ascii_uppercase().starts_with("GIT_")) {
            command.env_remove(name);
        }
    }
    command.env("LC_ALL", "C").env("GIT_TERMINAL_PROMPT", "0").env("GIT_OPTIONAL_LOCKS", "0");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn nearest(folder: &Utf8Path) -> &Utf8Path {
    let mut places = folder.ancestors().filter(|place| place.is_dir());
    places.next().unwrap_or(Utf8Path::new("."))
}

/// A path that is relative to `folder`, as it is written from where git is started.
pub(super) fn from_there(folder: &Utf8Path, path: &Utf8Path) -> Utf8PathBuf {
    let there = nearest(folder);
    let gone = folder.strip_prefix(if there == "." { Utf8Path::new("") } else { there });
    let Some(gone) = gone.ok().filter(|gone| *gone != "" && *gone != ".") else { return path.to_owned() };
    let mut whole = Utf8PathBuf::new();
    for part in gone.components().chain(path.components()) {
        match part {
            Utf8Component::CurDir => {}
            Utf8Component::ParentDir if whole.file_name().is_some() => drop(whole.pop()),
            other => whole.push(other),
        }
    }
    whole
}

/// Runs a command to its end, whatever its exit code.
pub(super) fn run(command: &mut Command) -> Result<Output, GitError> {
    command.output().map_err(start_error)
}

/// The first line of a command's output, or what its failure means.
pub(super) fn line(folder: &Utf8Path, subcommand: &'static str, output: &Output) -> Result<String, GitError> {
    if !output.status.success() {
        return Err(failure(folder, subcommand, output));
    }
    let text = std::str::from_utf8(&output.stdout).map_err(|_| GitError::Unreadable { command: subcommand })?;
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

/// What a command that ended with an error means.
pub(super) fn failure(folder: &Utf8Path, command: &'static str, output: &Output) -> GitError {
    let said = String::from_utf8_lossy(&output.stderr);
    let folder = folder.to_owned();
    if said.contains(NOT_A_REPOSITORY) {
        GitError::NotARepository { folder }
    } else if said.contains(UNTRUSTED) {
        GitError::Untrusted { top: top(&folder) }
    } else {
        GitError::Failed { command, code: output.status.code().unwrap_or(-1) }
    }
}

/// The top of the repository that a folder lies in, by which git is told to trust it: its whole path.
fn top(folder: &Utf8Path) -> Utf8PathBuf {
    let folder = nearest(folder);
    let whole = folder.canonicalize_utf8().unwrap_or_else(|_| folder.to_owned());
    let top = whole.ancestors().find(|place| place.join(".git").symlink_metadata().is_ok());
    top.map_or_else(|| whole.clone(), Utf8Path::to_owned)
}

/// Why a command could not be started.
pub(super) fn start_error(error: io::Error) -> GitError {
    match error.kind() {
        io::ErrorKind::NotFound => GitError::Missing,
        _ => GitError::Io(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_a_folder_that_is_gone_are_written_from_the_nearest_one_that_exists() {
        let kept = tempfile::tempdir().unwrap();
        let outer = Utf8Path::from_path(kept.path()).unwrap();
        fs_err::create_dir(outer.join("there")).unwrap();
        let from = |folder: &str, path: &str| {
            (nearest(&outer.join(folder)).to_owned(), from_there(&outer.join(folder), path.into()))
        };
        let expected = |place: &str, path: &str| (outer.join(place), Utf8PathBuf::from(path));
        assert_eq!(from("there", "./a/../b"), expected("there", "./a/../b"));
        assert_eq!(from("there/gone/deep", "a.md"), expected("there", "gone/deep/a.md"));
        assert_eq!(from("there/gone", "../../corpus"), expected("there", "../corpus"));
        assert_eq!(from_there("no-such-folder".into(), "../a".into()), "a");
        assert_eq!(from_there("./no-such-folder".into(), "a".into()), "no-such-folder/a");
        assert_eq!(from_there(".".into(), "a".into()), "a");
    }

    #[cfg(unix)]
    #[test]
    fn a_repository_that_is_not_trusted_is_named_by_its_whole_path() {
        use std::os::unix::process::ExitStatusExt as _;
        let kept = tempfile::tempdir().unwrap();
        let outer = Utf8Path::from_path(kept.path()).unwrap().canonicalize_utf8().unwrap();
        fs_err::create_dir_all(outer.join("top/.git")).unwrap();
        fs_err::create_dir_all(outer.join("top/audit")).unwrap();
        let output = Output {
            status: std::process::ExitStatus::from_raw(128 << 8),
            stdout: Vec::new(),
            stderr: b"fatal: detected dubious ownership in repository".to_vec(),
        };
        for folder in ["top/audit", "top/audit/../audit/gone", "top"] {
            let hint = failure(&outer.join(folder), "rev-parse", &output).hint().unwrap();
            assert_eq!(hint, format!("git config --global --add safe.directory {outer}/top"), "{folder}");
        }
    }
}
