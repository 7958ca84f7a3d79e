//! How git is called: which arguments always stand first, what its environment holds, what its failures mean.

use super::GitError;
use camino::Utf8Path;
use std::io;
use std::process::{Command, Output, Stdio};

/// What git says, in its untranslated words, where a folder is in no repository, and where it does not trust one.
const NOT_A_REPOSITORY: &str = "not a git repository";
const UNTRUSTED: &str = "dubious ownership";

/// `git -C folder subcommand`, with nothing of the caller's environment that changes what git reads.
pub(super) fn git(folder: &Utf8Path, subcommand: &'static str) -> Command {
    let mut command = Command::new("git");
    command.args(["--no-replace-objects", "--literal-pathspecs", "-C"]).arg(folder).arg(subcommand);
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.to_ascii_uppercase().starts_with("GIT_")) {
            command.env_remove(name);
        }
    }
    command.env("LC_ALL", "C").env("GIT_TERMINAL_PROMPT", "0").env("GIT_OPTIONAL_LOCKS", "0");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
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
        GitError::Untrusted { folder }
    } else {
        GitError::Failed { command, code: output.status.code().unwrap_or(-1) }
    }
}

/// Why a command could not be started.
pub(super) fn start_error(error: io::Error) -> GitError {
    match error.kind() {
        io::ErrorKind::NotFound => GitError::Missing,
        _ => GitError::Io(error),
    }
}
