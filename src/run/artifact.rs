//! A run folder that somebody else filled, as a workflow's artifact brings it: nothing in it is believed before this.
//!
//! The archive is unpacked by whoever downloads it; what is checked here is what lies on the disk afterwards. Whoever made
//! the folder may have made up every ledger in it, so that even a run that verifies says only what its maker wanted it to.

use super::explain;
use crate::model::{Digest, Failure, FailureClass};
use camino::Utf8Path;

/// Bytes of all files at most: 1 GiB.
const MAX_BYTES: u64 = 1 << 30;
/// Files at most.
const MAX_FILES: u64 = 500_000;

/// The files of a run's own folder. Blobs lie in `blobs`.
const FILES: [&str; 24] = [
    "protocol.lock.json",
    "vectors.jsonl",
    "evidence.jsonl",
    "answers.jsonl",
    "judgments.jsonl",
    "judgments-again.jsonl",
    "judgments-second.jsonl",
    "answers-replica.jsonl",
    "judgments-replica.jsonl",
    "classes.jsonl",
    "export.json",
    "claims.json",
    "claims.md",
    "result.json",
    "diff.json",
    "report.md",
    "report.html",
    "report.json",
    "report.xml",
    "rule.json",
    "merged.json",
    "lock",
    ".gitignore",
    "blobs.journal",
];

/// Looks at every entry of the folder before any is read.
///
/// # Errors
/// A link, a device, a name that no run has, too many files or bytes, or the folder cannot be read.
pub fn check(folder: &Utf8Path) -> Result<(), Failure> {
    let mut seen = Seen::default();
    if !folder.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        return Err(refused(folder, "is no folder"));
    }
    for entry in entries(folder)? {
        let (path, kind) = entry?;
        match path.file_name() {
            Some("blobs") if kind.is_dir() => blobs(&path, &mut seen)?,
            Some(super::review::FOLDER) if kind.is_dir() => labels(&path, &mut seen)?,
            Some(explain::FOLDER) if kind.is_dir() => explanations(&path, &mut seen)?,
            Some(name) if FILES.contains(&name) => seen.file(&path, kind)?,
            _ => return Err(refused(&path, "is nothing that a run has")),
        }
    }
    Ok(())
}

/// Explanations, each in a folder of its own.
fn explanations(folder: &Utf8Path, seen: &mut Seen) -> Result<(), Failure> {
    for entry in entries(folder)? {
        let (of_one, kind) = entry?;
        if !kind.is_dir() {
            return Err(refused(&of_one, "is no explanation"));
        }
        for entry in entries(&of_one)? {
            let (path, kind) = entry?;
            match path.file_name() {
                Some("blobs") if kind.is_dir() => blobs(&path, seen)?,
                Some(name) if explain::FILES.contains(&name) => seen.file(&path, kind)?,
                _ => return Err(refused(&path, "is nothing that an explanation has")),
            }
        }
    }
    Ok(())
}

fn blobs(folder: &Utf8Path, seen: &mut Seen) -> Result<(), Failure> {
    for entry in entries(folder)? {
        let (path, kind) = entry?;
        if path.file_name().is_none_or(|name| name.parse::<Digest>().is_err()) {
            return Err(refused(&path, "is no name of a blob"));
        }
        seen.file(&path, kind)?;
    }
    Ok(())
}

/// Labels by hand, which nothing that is published reads.
fn labels(folder: &Utf8Path, seen: &mut Seen) -> Result<(), Failure> {
    for entry in entries(folder)? {
        let (path, kind) = entry?;
        if path.extension() != Some("jsonl") {
            return Err(refused(&path, "is no file of labels"));
        }
        seen.file(&path, kind)?;
    }
    Ok(())
}

#[derive(Default)]
struct Seen {
    files: u64,
    bytes: u64,
}

impl Seen {
    fn file(&mut self, path: &Utf8Path, kind: std::fs::FileType) -> Result<(), Failure> {
        if !kind.is_file() {
            return Err(refused(path, "is no regular file"));
        }
        let bytes = path.symlink_metadata().map_err(|error| refused(path, &error.kind().to_string()))?.len();
        self.files += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        match () {
            () if self.files > MAX_FILES => Err(refused(path, "is one file more than an artifact may have")),
            () if self.bytes > MAX_BYTES => Err(refused(path, "makes the artifact larger than 1 GiB")),
            () => Ok(()),
        }
    }
}

type Entry = Result<(camino::Utf8PathBuf, std::fs::FileType), Failure>;

fn entries(folder: &Utf8Path) -> Result<impl Iterator<Item = Entry>, Failure> {
    let failed = |error: &std::io::Error| {
        let why = if error.kind() == std::io::ErrorKind::InvalidData {
            "has a name that is not UTF-8"
        } else {
            "cannot be read"
        };
        refused(folder, why)
    };
    let listed = folder.read_dir_utf8().map_err(|error| failed(&error))?;
    Ok(listed.map(move |entry| {
        let entry = entry.map_err(|error| failed(&error))?;
        let kind = entry.file_type().map_err(|error| failed(&error))?;
        Ok((entry.path().to_owned(), kind))
    }))
}

fn refused(path: &Utf8Path, why: &str) -> Failure {
    Failure::new(FailureClass::Evidence, format!("the artifact is refused: `{path}` {why}")).with_hint(
        "publish nothing of it; a run folder holds ledgers, blobs, `result.json` and reports, all regular files",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use camino::Utf8PathBuf;

    fn folder() -> (tempfile::TempDir, Utf8PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        fs_err::create_dir(path.join("blobs")).unwrap();
        fs_err::write(path.join("result.json"), "{}").unwrap();
        fs_err::write(path.join("blobs").join(Digest::of(b"x").to_string()), "x").unwrap();
        (folder, path)
    }

    #[test]
    fn a_run_is_accepted_and_every_other_name_refused() {
        let (_kept, path) = folder();
        check(&path).unwrap();
        for strange in ["evil.sh", "blobs/evil", "blobs/..x", "RESULT.JSON", "answers.jsonl.bak", "shard.json"] {
            fs_err::write(path.join(strange), "x").unwrap();
            assert_eq!(check(&path).unwrap_err().class, FailureClass::Evidence, "{strange}");
            fs_err::remove_file(path.join(strange)).unwrap();
        }
        fs_err::create_dir(path.join("review")).unwrap();
        fs_err::write(path.join("review/default.jsonl"), "x").unwrap();
        check(&path).unwrap();
        fs_err::write(path.join("review/evil.sh"), "x").unwrap();
        assert!(check(&path).unwrap_err().message.contains("is no file of labels"));
        fs_err::remove_file(path.join("review/evil.sh")).unwrap();
        fs_err::create_dir(path.join("answers.jsonl")).unwrap();
        assert!(check(&path).unwrap_err().message.contains("no regular file"));
        assert!(check(&path.join("result.json")).is_err());
    }

    #[test]
    #[cfg(unix)]
    fn links_lead_nowhere() {
        let (_kept, path) = folder();
        for (place, target) in [("report.md", "/etc/passwd"), ("blobs/link", "/etc"), ("answers.jsonl", "result.json")]
        {
            let place = match place {
                "blobs/link" => path.join("blobs").join(Digest::of(b"y").to_string()),
                _ => path.join(place),
            };
            std::os::unix::fs::symlink(target, &place).unwrap();
            assert!(check(&path).unwrap_err().message.contains("no regular file"), "{place}");
            fs_err::remove_file(place).unwrap();
        }
        let (_other, elsewhere) = folder();
        fs_err::remove_dir_all(path.join("blobs")).unwrap();
        std::os::unix::fs::symlink(elsewhere.join("blobs"), path.join("blobs")).unwrap();
        assert!(check(&path).is_err());
    }

    #[test]
    fn what_is_too_large_is_not_read() {
        let (_kept, path) = folder();
        let file = fs_err::File::create(path.join("evidence.jsonl")).unwrap();
        file.set_len(MAX_BYTES).unwrap();
        assert!(check(&path).unwrap_err().message.contains("larger than 1 GiB"));
    }
}
