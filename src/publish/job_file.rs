//! A file of the job's, which is written before the server is told anything, and once more when it was.

use camino::Utf8Path;
use fs_err as fs;
use std::io::{self, Seek as _, Write as _};

/// A file, and where our part of it begins: others may have written before.
#[derive(Debug)]
pub(super) struct JobFile<'a> {
    path: &'a Utf8Path,
    begin: u64,
}

impl<'a> JobFile<'a> {
    pub(super) fn open(path: &'a Utf8Path) -> Self {
        Self { path, begin: fs::metadata(path).map_or(0, |found| found.len()) }
    }

    /// Bytes that others have written.
    pub(super) const fn begin(&self) -> u64 {
        self.begin
    }

    /// Writes our part, in the place of what we wrote before.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn write(&self, text: &str) -> io::Result<()> {
        let mut file = fs::OpenOptions::new().create(true).write(true).truncate(false).open(self.path)?;
        if file.metadata()?.len() > self.begin {
            file.set_len(self.begin)?;
        }
        file.seek(io::SeekFrom::End(0))?;
        file.write_all(text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_again_takes_the_place_of_our_own_alone() {
        let kept = tempfile::tempdir().unwrap();
        let path = camino::Utf8PathBuf::from_path_buf(kept.path().join("summary")).unwrap();
        let new = JobFile::open(&path);
        new.write("ours, at length").unwrap();
        new.write("ours").unwrap();
        let later = JobFile::open(&path);
        later.write(", once").unwrap();
        later.write(", twice").unwrap();
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), later.begin()), ("ours, twice", 4));
        assert!(JobFile::open(&path.join("nowhere")).write("x").is_err());
    }
}
