//! From the spec's path to a planned protocol: everything that can be known before anything is spent.

use crate::freeze::{self, Inputs, Protocol};
use crate::model::{Failure, FailureClass};
use crate::{retrieve, spec};
use camino::{Utf8Path, Utf8PathBuf};

/// The largest question file that is read, in bytes.
const MAX_QUESTIONS_BYTES: u64 = 1 << 30;
/// The largest spec, prompt or list of excluded ids that is read, in bytes.
const MAX_SMALL_BYTES: u64 = 16 << 20;

/// A planned audit and where its run is kept.
#[derive(Debug)]
pub struct Prepared {
    /// The protocol, not yet on disk.
    pub protocol: Protocol,
    /// The run's folder: named by the protocol's digest.
    pub folder: Utf8PathBuf,
}

/// Reads the spec and every file it names, resolves the snapshots and plans the protocol.
///
/// `runs` is where runs are kept; `.churngate` beside the spec where absent.
///
/// # Errors
/// Anything wrong with the spec, the questions or the snapshots: all of class [`FailureClass::Usage`] where the
/// user can mend it.
pub fn prepare(path: &Utf8Path, runs: Option<&Utf8Path>, tool_version: &'static str) -> Result<Prepared, Failure> {
    let spec_bytes = read("the spec", path, MAX_SMALL_BYTES)?;
    let text = std::str::from_utf8(&spec_bytes).map_err(|error| {
        Failure::new(
            FailureClass::Usage,
            format!("failed to read the spec `{path}`: byte {} is not UTF-8", error.valid_up_to()),
        )
        .with_hint("save the spec as UTF-8")
    })?;
    let spec = spec::parse(text, path.as_str())?;
    let base = path.parent().filter(|parent| !parent.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
    let small = |what: &str, file: &Utf8PathBuf| read(what, &base.join(file), MAX_SMALL_BYTES);
    let exclude_bytes = spec.questions.exclude.as_ref().map(|file| small("the excluded ids", file)).transpose()?;
    let prompt_bytes = spec.generate.prompt.as_ref().map(|file| small("the answer prompt", file)).transpose()?;
    let questions_bytes = read("the questions", &base.join(&spec.questions.file), MAX_QUESTIONS_BYTES)?;
    let snapshots = retrieve::resolve(&spec, base)?;
    let inputs = Inputs {
        questions_name: spec.questions.file.to_string(),
        base: base.to_owned(),
        spec,
        questions_bytes,
        exclude_bytes,
        prompt_bytes,
        snapshots,
        tool_version,
    };
    let protocol = freeze::plan(inputs)?;
    let runs = runs.map_or_else(|| base.join(".churngate"), Utf8Path::to_owned);
    Ok(Prepared { folder: runs.join(protocol.digest.to_string()), protocol })
}

/// Reads a whole file that the user named.
pub(super) fn read(what: &str, path: &Utf8Path, limit: u64) -> Result<Vec<u8>, Failure> {
    let failed = |reason: String| {
        Failure::new(FailureClass::Usage, format!("failed to read {what} `{path}`: {reason}"))
            .with_hint("check the path; paths in a spec are relative to the spec's own folder")
    };
    let metadata = fs_err::metadata(path).map_err(|error| failed(reason(&error)))?;
    if metadata.len() > limit {
        return Err(failed(format!("it has {} bytes, more than the {limit} that are accepted", metadata.len())));
    }
    fs_err::read(path).map_err(|error| failed(reason(&error)))
}

/// The cause alone, without the path that the message names already.
fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "it does not exist".to_owned(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        std::io::ErrorKind::IsADirectory => "it is a folder".to_owned(),
        kind => kind.to_string(),
    }
}
