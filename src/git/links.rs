//! Symbolic links on the way to a file, and ways that lead out of the repository. Whoever writes a change can commit a link to
//! any file of the machine that it is checked out on, so what is read for others to see is not read through one.

use super::{CommitId, EntryKind, GitError, tree};
use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

/// The first symbolic link on the way to `path`, which is relative to `folder`, as the way would be written: of all parts below
/// the repository's root, or, in no repository, below `folder`.
#[must_use]
pub fn link_on_the_way(folder: &Utf8Path, path: &Utf8Path) -> Option<Utf8PathBuf> {
    let way = Way::to(folder, path);
    let link = way.places.iter().find(|place| way.is_below_root(place) && place.is_symlink())?;
    Some(link.strip_prefix(&way.root).unwrap_or(link).to_owned())
}

/// Whether `path`, which is relative to `folder`, lies outside of the repository, or, in no repository, of `folder`.
#[must_use]
pub fn leads_out(folder: &Utf8Path, path: &Utf8Path) -> bool {
    let way = Way::to(folder, path);
    !way.end.starts_with(&way.root)
}

/// The same of a commit: the first part of `path`, which is relative to `folder`, that the commit has as a symbolic link.
///
/// # Errors
/// Git itself.
pub fn link_at(folder: &Utf8Path, commit: &CommitId, path: &Utf8Path) -> Result<Option<Utf8PathBuf>, GitError> {
    let ways = tree::entries_on_the_way(folder, commit, path)?;
    let links = ways.into_iter().filter(|entry| entry.kind == EntryKind::Link);
    let links = links.filter_map(|entry| String::from_utf8(entry.path).ok());
    Ok(links.min_by_key(String::len).map(Utf8PathBuf::from))
}

/// The root of the repository that the file at `path` lies in, and the way from there as it is written, be any part of it a link. In
/// no repository it is the file's folder.
#[must_use]
pub fn from_root(path: &Utf8Path) -> (Utf8PathBuf, Utf8PathBuf) {
    let folder = path.parent().unwrap_or(Utf8Path::new(""));
    let Way { root, end, places: _ } = Way::to(folder, Utf8Path::new(path.file_name().unwrap_or_default()));
    let whole = end.strip_prefix(&root).unwrap_or(&end).to_owned();
    (root, whole)
}

/// How a path is walked, part by part.
struct Way {
    /// The repository's root. Where one repository lies in another it is the outer one's, so that no part between them goes
    /// unseen.
    root: Utf8PathBuf,
    /// Every place on the way.
    places: Vec<Utf8PathBuf>,
    /// Where it ends if no part of it is a link.
    end: Utf8PathBuf,
}

impl Way {
    fn to(folder: &Utf8Path, path: &Utf8Path) -> Self {
        let mut places = Vec::new();
        // An absolute path does not lead through the working folder.
        let here = if folder.is_absolute() { Utf8PathBuf::new() } else { walked_here() };
        let here = walk(Utf8PathBuf::new(), &here, &mut places);
        let of_folder = walk(here, folder, &mut places);
        let is_repository = |place: &&Utf8Path| place.join(".git").symlink_metadata().is_ok();
        let root = of_folder.ancestors().filter(is_repository).last().unwrap_or(&of_folder).to_owned();
        let end = walk(of_folder, path, &mut places);
        Self { root, places, end }
    }

    fn is_below_root(&self, place: &Utf8Path) -> bool {
        place != self.root && place.starts_with(&self.root)
    }
}

/// The working folder by the way that led there: the system gives it without links, and the shell keeps them in `PWD`. Where that
/// is another folder, or none of it is text, the system's way counts, or none.
fn walked_here() -> Utf8PathBuf {
    let text = |path| Utf8PathBuf::from_path_buf(path).ok();
    let here = std::env::current_dir().ok().and_then(text).unwrap_or_default();
    let walked = std::env::var_os("PWD").and_then(|walked| text(walked.into()));
    walked.filter(|walked| is_way_to(walked, &here)).unwrap_or(here)
}

fn is_way_to(walked: &Utf8Path, here: &Utf8Path) -> bool {
    let straight = walked.is_absolute() && !walked.components().any(|part| part == Utf8Component::ParentDir);
    let real = |path: &Utf8Path| path.canonicalize_utf8().ok();
    straight && real(walked).is_some_and(|walked| real(here) == Some(walked))
}

/// Where `path` leads from `place`; every place that it comes through is kept.
fn walk(mut place: Utf8PathBuf, path: &Utf8Path, places: &mut Vec<Utf8PathBuf>) -> Utf8PathBuf {
    for part in path.components() {
        match part {
            Utf8Component::CurDir => {}
            Utf8Component::ParentDir => {
                if !place.pop() {
                    place.push("..");
                }
            }
            Utf8Component::Normal(_) | Utf8Component::RootDir | Utf8Component::Prefix(_) => place.push(part),
        }
        places.push(place.clone());
    }
    place
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// A repository in a folder that is reached through a link, with a folder, and links to it and out of it.
    fn repository() -> (tempfile::TempDir, Utf8PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let outer = Utf8Path::from_path(folder.path()).unwrap().canonicalize_utf8().unwrap();
        for name in ["real/.git", "real/docs/deep", "secret"] {
            fs_err::create_dir_all(outer.join(name)).unwrap();
        }
        fs_err::write(outer.join("real/docs/deep/a.md"), "x").unwrap();
        symlink(outer.join("real"), outer.join("way")).unwrap();
        symlink("docs", outer.join("real/linked")).unwrap();
        symlink("../../secret", outer.join("real/docs/out")).unwrap();
        symlink(".", outer.join("real/itself")).unwrap();
        (folder, outer)
    }

    #[test]
    fn links_below_the_root_are_found_wherever_they_stand_and_those_above_are_none_of_it() {
        let (_kept, outer) = repository();
        let found = |folder: &str, path: &str| link_on_the_way(&outer.join(folder), path.into()).map(String::from);
        assert_eq!(found("real", "docs/deep/a.md"), None);
        assert_eq!(found("way", "docs/deep/a.md"), None, "the way to the repository is its owner's");
        assert_eq!(found("way/docs", "../docs/nothing/there"), None);
        assert_eq!(found("real", "linked/deep/a.md").as_deref(), Some("linked"));
        assert_eq!(found("way/docs", "../linked").as_deref(), Some("linked"));
        assert_eq!(found("real", "docs/out/file").as_deref(), Some("docs/out"));
        assert_eq!(found("real/linked", "deep/a.md").as_deref(), Some("linked"), "the spec's folder counts");
        assert_eq!(found("real/linked/..", "docs").as_deref(), Some("linked"), "what is walked through counts");
        assert_eq!(found("real/itself", "docs").as_deref(), Some("itself"), "a link to a root is no root");
        assert_eq!(found("", "way").as_deref(), Some("way"), "in no repository the folder is the root");
    }

    #[test]
    fn a_path_leads_out_of_the_repository_and_not_of_a_folder_in_it() {
        let (_kept, outer) = repository();
        let out = |folder: &str, path: &str| leads_out(&outer.join(folder), path.into());
        assert!(!out("real/docs", "../docs/deep") && !out("real/docs", "..") && !out("real", "docs"));
        assert!(out("real/docs", "../../secret") && out("real", "../realm") && out("", "../x"));
    }

    #[test]
    fn the_way_from_the_root_is_as_it_is_written() {
        let (_kept, outer) = repository();
        let from = |path: &str| from_root(&outer.join(path));
        let expected = |root: &str, path: &str| (outer.join(root), Utf8PathBuf::from(path));
        assert_eq!(from("real/docs/./deep/../a.yaml"), expected("real", "docs/a.yaml"));
        assert_eq!(from("way/linked/a.yaml"), expected("way", "linked/a.yaml"));
        assert_eq!(from("real/gone/a.yaml"), expected("real", "gone/a.yaml"));
        assert_eq!(from("secret/a.yaml"), expected("secret", "a.yaml"));
    }

    #[test]
    fn only_a_straight_way_to_the_same_folder_is_taken_for_the_working_folder() {
        let (_kept, outer) = repository();
        let is_way = |walked: &str| is_way_to(&outer.join(walked), &outer.join("real/docs"));
        assert!(is_way("real/docs") && is_way("way/docs") && is_way("real/linked"));
        assert!(!is_way("real") && !is_way("real/docs/deep/..") && !is_way("gone"));
        assert!(!is_way_to(Utf8Path::new("docs"), &outer.join("real/docs")));
    }
}
