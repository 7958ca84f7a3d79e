//! A folder of text files: which files are documents, and in which order they come.

use super::CorpusError;
use super::passed::Tally;
use camino::{Utf8Path, Utf8PathBuf};

/// Endings of files that are documents.
pub(in crate::retrieve) const ENDINGS: [&str; 7] = ["md", "markdown", "mdx", "txt", "text", "rst", "adoc"];

/// The documents of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Listing {
    /// Paths relative to the folder, with `/` between their parts, sorted by their bytes.
    pub files: Vec<String>,
    /// How many bytes they have together.
    pub bytes: u64,
    /// What is no document. Links are never followed.
    pub passed_over: Tally,
}

/// Whether a path within a folder, with `/` between its parts, is a document: by its ending, and with no part that
/// begins with a dot.
pub(super) fn is_document(path: &str) -> bool {
    let ending = path.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map(|(_, ending)| ending);
    ending.is_some_and(|ending| ENDINGS.iter().any(|known| known.eq_ignore_ascii_case(ending))) && !is_hidden(path)
}

/// Whether a part of the path begins with a dot.
pub(super) fn is_hidden(path: &str) -> bool {
    path.split('/').any(|part| part.starts_with('.'))
}

/// Walks a folder of the working tree. Follows no link, so the walk ends and stays inside.
pub(super) fn walk(root: &Utf8Path) -> Result<Listing, CorpusError> {
    let mut listing = Listing::default();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        visit(root, &folder, &mut folders, &mut listing)?;
    }
    listing.files.sort_unstable();
    Ok(listing)
}

fn visit(root: &Utf8Path, folder: &str, folders: &mut Vec<String>, listing: &mut Listing) -> Result<(), CorpusError> {
    let path = root.join(folder);
    let failed = |error| CorpusError::Io { path: path.to_string(), error };
    for entry in std::fs::read_dir(&path).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let kind = entry.file_type().map_err(failed)?;
        let name = entry.file_name();
        let shown = name.to_string_lossy();
        let Some(name) = name.to_str() else {
            if kind.is_dir() || is_document(&shown) {
                return Err(CorpusError::BadName(shown.into_owned()));
            }
            listing.passed_over.file(&within(folder, &shown));
            continue;
        };
        let inside = within(folder, name);
        if is_hidden(name) {
            listing.passed_over.hidden(&inside);
        } else if kind.is_symlink() {
            listing.passed_over.link(&inside);
        } else if kind.is_dir() {
            folders.push(inside);
        } else if kind.is_file() && is_document(&inside) {
            listing.bytes += entry.metadata().map_err(failed)?.len();
            listing.files.push(inside);
        } else {
            listing.passed_over.file(&inside);
        }
    }
    Ok(())
}

fn within(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// Where a listed file lies.
pub(super) fn place(root: &Utf8Path, file: &str) -> Utf8PathBuf {
    root.join(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_known_by_their_ending_and_hidden_ones_are_none() {
        for path in ["a.md", "a/b.TXT", "a.b.rst", "ä/ö.md"] {
            assert!(is_document(path), "{path}");
        }
        for path in ["md", "a.png", ".a.md", ".git/a.md", "a.md/b", "a/.b/c.md"] {
            assert!(!is_document(path), "{path}");
        }
    }
}
