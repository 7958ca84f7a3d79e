//! What was checked out for a run and where its rule came from, kept beside its ledgers: what a reviewer has to know, and no
//! part of the protocol.

use super::files::{Files, Unread};
use crate::git;
use crate::model::{Failure, FailureClass};
use camino::Utf8Path;
use serde::{Deserialize, Serialize};

/// The file in the run folder.
pub(super) const FILE: &str = "rule.json";

/// More than any origin has, in bytes.
const LIMIT: u64 = 1 << 20;

/// What was checked out, and where the rule came from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// The commit that was checked out; nothing outside of a repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<Head>,
    /// The base commit that the rule was to be read from; nothing where it is the working tree's in any case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// What the working tree has otherwise than that commit.
    pub edited: Vec<Edit>,
    /// The file that the base commit does not have; then the rule is the working tree's own, and the verdict neither
    /// blocks nor passes.
    pub missing: Option<String>,
}

/// A commit that was checked out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// Its id.
    pub commit: String,
    /// Its parents, in order.
    pub parents: Vec<String>,
}

impl Head {
    /// What is checked out in the repository of a folder; nothing where git knows of no commit there.
    pub(super) fn of(folder: &Utf8Path) -> Option<Self> {
        let commit = git::resolve(folder, "HEAD").ok()?;
        let parents = git::parents(folder, &commit).ok()?;
        Some(Self { commit: commit.to_string(), parents: parents.iter().map(git::CommitId::to_string).collect() })
    }
}

/// Who made a difference from the base commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// The change.
    #[default]
    Change,
    /// The base, which moved on after the change began.
    Base,
    /// One of both: the clone does not have the history that would tell.
    Unknown,
}

impl By {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "shaped for `skip_serializing_if`")]
    const fn is_change(&self) -> bool {
        matches!(self, Self::Change)
    }
}

/// Something of the rule that is not as the base commit has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Edit {
    /// A part of the rule: the base's version counts.
    Rule {
        /// Its path.
        path: String,
        /// What would change, as it is told to people.
        change: String,
        /// Who changed it.
        #[serde(default, skip_serializing_if = "By::is_change")]
        by: By,
    },
    /// Something that the rule relies on and that is read as the change has it.
    Relied {
        /// Its path.
        path: String,
        /// Who changed it.
        #[serde(default, skip_serializing_if = "By::is_change")]
        by: By,
    },
}

/// What is said where nobody can tell the change from the base.
const UNKNOWN: &str = "this change edits it, or its branch is behind, which the history in this clone does not tell.";

impl Edit {
    /// A sentence or two about it. What the change would do comes last, since it may be long and is cut then.
    fn told(&self, commit: &str) -> String {
        match self {
            Self::Rule { path, change, by: By::Change } => format!(
                "This change edits {path} but is judged under the version of base commit {commit} all the same. It would \
                 change: {change}"
            ),
            Self::Rule { path, by: By::Base, .. } => {
                format!("This branch is behind: the version of {path} of base commit {commit} counts.")
            }
            Self::Rule { path, change, by: By::Unknown } => format!(
                "The version of {path} of base commit {commit} counts, and this change has another one: {UNKNOWN} It \
                 differs so: {change}"
            ),
            Self::Relied { path, by: By::Change } => format!(
                "This change edits {path}, which the rule of base commit {commit} relies on and which is read as this \
                 change has it."
            ),
            Self::Relied { path, by: By::Base } => format!(
                "This branch is behind in {path}, which the rule of base commit {commit} relies on and which is read as \
                 this branch has it."
            ),
            Self::Relied { path, by: By::Unknown } => format!(
                "The rule relies on {path}, which is not as base commit {commit} has it, and is read as it is here: {UNKNOWN}"
            ),
        }
    }
}

impl Origin {
    /// That of a rule which was to be read from a base commit.
    pub(super) fn of_base(folder: &Utf8Path, commit: &git::CommitId) -> Self {
        Self { head: Head::of(folder), commit: Some(commit.to_string()), ..Self::default() }
    }

    /// Whether the change edits something that is read as the change has it though the rule relies on it, such as the old corpus.
    #[must_use]
    pub fn edits_what_counts(&self) -> bool {
        self.edited.iter().any(|edit| matches!(edit, Edit::Relied { by: By::Change | By::Unknown, .. }))
    }

    /// Whether the verdict neither blocks nor passes.
    #[must_use]
    pub const fn is_exploratory(&self) -> bool {
        self.missing.is_some()
    }

    /// What has to be said before any figure.
    #[must_use]
    pub fn caveats(&self) -> Vec<String> {
        let commit: String = self.commit.iter().flat_map(|commit| commit.chars().take(12)).collect();
        match (&self.missing, self.edited.as_slice()) {
            (Some(missing), _) => vec![format!(
                "Exploratory: base commit {commit} has no {missing}, so the rule is this change's own, and the verdict \
                 neither blocks nor passes."
            )],
            (None, []) => Vec::new(),
            (None, edited) => edited.iter().map(|edit| edit.told(&commit)).collect(),
        }
    }
}

/// What was checked out for a run and where its rule came from; nothing where it was made outside of a repository.
///
/// # Errors
/// The record is damaged: class [`FailureClass::Evidence`].
pub fn origin(folder: &Utf8Path) -> Result<Option<Origin>, Failure> {
    let Some(bytes) = bytes(folder)? else { return Ok(None) };
    serde_json::from_slice(&bytes).map(Some).map_err(|_| {
        Failure::new(FailureClass::Evidence, format!("`{FILE}` in the run folder is damaged"))
            .with_hint("run the audit again: it is complete and only writes its reports anew")
    })
}

/// The record as it lies there; nothing where there is none.
///
/// # Errors
/// It cannot be read.
pub(super) fn bytes(folder: &Utf8Path) -> Result<Option<Vec<u8>>, Failure> {
    let (files, name) = (Files::Tree(folder), Utf8Path::new(FILE));
    match files.read(name, LIMIT) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(Unread::Missing) => Ok(None),
        Err(unread) => Err(files.failure("the run's record", name, unread)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_and_a_missing_rule_are_told() {
        let mut origin = Origin { commit: Some("a".repeat(40)), ..Origin::default() };
        assert!(origin.caveats().is_empty());
        let (path, change) = ("churngate.yaml".to_owned(), "name: a → b".to_owned());
        let by = By::Change;
        origin.edited = vec![Edit::Rule { path, change, by }, Edit::Relied { path: "old".to_owned(), by }];
        insta::assert_snapshot!(origin.caveats().join("\n"), @r"
        This change edits churngate.yaml but is judged under the version of base commit aaaaaaaaaaaa all the same. It would change: name: a → b
        This change edits old, which the rule of base commit aaaaaaaaaaaa relies on and which is read as this change has it.
        ");
        for edit in &mut origin.edited {
            let (Edit::Rule { by, .. } | Edit::Relied { by, .. }) = edit;
            *by = By::Base;
        }
        assert!(!origin.edits_what_counts());
        insta::assert_snapshot!(origin.caveats().join("\n"), @r"
        This branch is behind: the version of churngate.yaml of base commit aaaaaaaaaaaa counts.
        This branch is behind in old, which the rule of base commit aaaaaaaaaaaa relies on and which is read as this branch has it.
        ");
        for edit in &mut origin.edited {
            let (Edit::Rule { by, .. } | Edit::Relied { by, .. }) = edit;
            *by = By::Unknown;
        }
        assert!(origin.edits_what_counts());
        insta::assert_snapshot!(origin.caveats().join("\n"), @r"
        The version of churngate.yaml of base commit aaaaaaaaaaaa counts, and this change has another one: this change edits it, or its branch is behind, which the history in this clone does not tell. It differs so: name: a → b
        The rule relies on old, which is not as base commit aaaaaaaaaaaa has it, and is read as it is here: this change edits it, or its branch is behind, which the history in this clone does not tell.
        ");
        origin.missing = Some("churngate.yaml".to_owned());
        insta::assert_snapshot!(origin.caveats().join("\n"), @"Exploratory: base commit aaaaaaaaaaaa has no churngate.yaml, so the rule is this change's own, and the verdict neither blocks nor passes.");
    }

    #[test]
    fn a_damaged_record_is_an_error_and_none_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path()).unwrap();
        assert_eq!(origin(path).unwrap(), None);
        fs_err::write(path.join(FILE), "{").unwrap();
        assert_eq!(origin(path).unwrap_err().class, FailureClass::Evidence);
    }
}
