//! Counts what of a corpus is not read, the same way for a folder, a tree of git and an archive.

use super::folder;
use crate::model::{Digest, PassedOver};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Endings that are counted by name.
const ENDINGS: usize = 12;
/// Letters and digits of an ending that is named.
const LONGEST: usize = 10;
/// Git's own folder, which is no part of what it keeps.
const GIT: &str = ".git";

/// Entries that are no documents, as they come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    endings: BTreeMap<String, u64>,
    others: u64,
    /// Hidden names, by half their digests: small for any archive.
    hidden: BTreeSet<[u8; 16]>,
    links: u64,
}

impl Tally {
    /// Takes a file that is no document. `path` lies within the corpus, with `/` between its parts.
    pub(super) fn file(&mut self, path: &str) {
        if folder::is_hidden(path) {
            self.hidden(path);
        } else if let Some(ending) = ending(path) {
            *self.endings.entry(ending).or_default() += 1;
        } else {
            self.others += 1;
        }
    }

    /// Takes a symbolic link or a submodule.
    pub(super) fn link(&mut self, path: &str) {
        if folder::is_hidden(path) { self.hidden(path) } else { self.links += 1 }
    }

    /// Takes what lies at or below a hidden name: counted once, by the first hidden part.
    pub(super) fn hidden(&mut self, path: &str) {
        let parts: Vec<&str> = path.split('/').collect();
        let Some(at) = parts.iter().position(|part| part.starts_with('.')) else { return };
        if parts[at] != GIT {
            let mut key = [0; 16];
            key.copy_from_slice(&Digest::of(parts[..=at].join("/").as_bytes()).as_bytes()[..16]);
            self.hidden.insert(key);
        }
    }

    /// What was counted; nothing where there was nothing.
    pub(super) fn finish(self) -> Option<PassedOver> {
        let mut endings: Vec<(String, u64)> = self.endings.into_iter().collect();
        endings.sort_by(|one, other| (Reverse(one.1), &one.0).cmp(&(Reverse(other.1), &other.0)));
        let rest = endings.split_off(endings.len().min(ENDINGS));
        let others = self.others + rest.iter().map(|(_, count)| count).sum::<u64>();
        let passed = PassedOver { endings, others, hidden: self.hidden.len() as u64, links: self.links };
        (passed.total() > 0).then_some(passed)
    }
}

/// A plain ending with its dot, in lower case. An ending comes from whoever wrote the corpus: another one is none.
fn ending(path: &str) -> Option<String> {
    let (_, ending) = path.rsplit('/').next()?.rsplit_once('.')?;
    let plain = (1..=LONGEST).contains(&ending.len()) && ending.bytes().all(|byte| byte.is_ascii_alphanumeric());
    plain.then(|| format!(".{}", ending.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_come_with_most_files_first_and_the_rest_as_others() {
        let mut tally = Tally::default();
        for path in ["a.PDF", "b/c.pdf", "d.bin", "LICENSE", "e.::error", "f.a b", "g."] {
            tally.file(path);
        }
        for number in 0..ENDINGS {
            tally.file(&format!("x.z{number:02}"));
        }
        let passed = tally.finish().unwrap();
        let named: Vec<&str> = passed.endings.iter().map(|(ending, _)| ending.as_str()).take(3).collect();
        assert_eq!(named, [".pdf", ".bin", ".z00"]);
        assert_eq!((passed.endings.len(), passed.endings[0].1, passed.others), (ENDINGS, 2, 6));
        assert_eq!(passed.total(), 19);
    }

    #[test]
    fn a_hidden_folder_counts_once_and_that_of_git_never() {
        let mut tally = Tally::default();
        tally.hidden(".github");
        for path in [".github/a.md", ".github/b/c.md", "docs/.cache/x", ".env", ".git/config", "vendor/.git/HEAD"] {
            tally.file(path);
        }
        tally.link("docs/.cache/link");
        tally.link("docs/link");
        let passed = tally.finish().unwrap();
        assert_eq!((passed.hidden, passed.links, passed.total()), (3, 1, 4));
        assert_eq!(Tally::default().finish(), None);
    }
}
