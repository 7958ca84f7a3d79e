//! What changed between two evidences of one question, document by document.

use crate::model::{Document, Evidence};

/// One change from the old evidence to the new one. Places count from 0, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A document that the new evidence does not have any more.
    Left {
        /// Its place in the old evidence.
        old: usize,
    },
    /// A document that the old evidence did not have.
    Came {
        /// Its place in the new evidence.
        new: usize,
    },
    /// A document that both have, with another text, another URL or under another id.
    Edited {
        /// Its place in the old evidence.
        old: usize,
        /// Its place in the new evidence.
        new: usize,
    },
    /// The documents that both have stand in another order to one another. Places that move because others came or went are
    /// no change of order.
    Reordered,
}

impl Change {
    /// The same change seen from the new evidence to the old one.
    #[must_use]
    pub const fn mirrored(self) -> Self {
        match self {
            Self::Left { old } => Self::Came { new: old },
            Self::Came { new } => Self::Left { old: new },
            Self::Edited { old, new } => Self::Edited { old: new, new: old },
            Self::Reordered => Self::Reordered,
        }
    }

    /// The better of its places; the order of all comes last.
    fn place(self) -> usize {
        match self {
            Self::Left { old } => old,
            Self::Came { new } => new,
            Self::Edited { old, new } => old.min(new),
            Self::Reordered => usize::MAX,
        }
    }
}

/// Two evidences, and what changed from the one to the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    old: Evidence,
    new: Evidence,
    /// The places of each document that both have, by ascending place in the old evidence.
    pairs: Vec<(usize, usize)>,
    changes: Vec<Change>,
}

/// What makes two documents one, the surest sign first.
const SIGNS: [fn(&Document, &Document) -> bool; 3] =
    [|one, other| one == other, |one, other| one.id == other.id, |one, other| one.text == other.text];

impl Difference {
    /// Holds two evidences against one another. A document is known again where it is the same in all, else by its id, else by its
    /// text; where several could be meant, the first is.
    #[must_use]
    pub fn between(old: Evidence, new: Evidence) -> Self {
        let pairs = pairs(&old.documents, &new.documents);
        let changes = changes(&old.documents, &new.documents, &pairs);
        Self { old, new, pairs, changes }
    }

    /// The old evidence.
    #[must_use]
    pub const fn old(&self) -> &Evidence {
        &self.old
    }

    /// The new evidence.
    #[must_use]
    pub const fn new_evidence(&self) -> &Evidence {
        &self.new
    }

    /// The changes, those of the best places first, that of the order last. None where both evidences are the same.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// The places of each document that both have, changed or not, by ascending place in the old evidence.
    #[must_use]
    pub fn pairs(&self) -> &[(usize, usize)] {
        &self.pairs
    }

    /// How many documents are the same in both, wherever they stand.
    #[must_use]
    pub fn shared(&self) -> usize {
        let edited = self.changes.iter().filter(|change| matches!(change, Change::Edited { .. })).count();
        self.pairs.len() - edited
    }

    /// The same difference from the new evidence to the old one.
    #[must_use]
    pub fn mirrored(&self) -> Self {
        let mut pairs: Vec<_> = self.pairs.iter().map(|(old, new)| (*new, *old)).collect();
        pairs.sort_unstable();
        let changes = self.changes.iter().map(|change| change.mirrored()).collect();
        Self { old: self.new.clone(), new: self.old.clone(), pairs, changes }
    }
}

fn pairs(old: &[Document], new: &[Document]) -> Vec<(usize, usize)> {
    let mut free: Vec<bool> = vec![true; new.len()];
    let mut found: Vec<Option<usize>> = vec![None; old.len()];
    for sign in SIGNS {
        for (document, found) in old.iter().zip(&mut found).filter(|(_, found)| found.is_none()) {
            *found = new.iter().zip(&free).position(|(other, free)| *free && sign(document, other));
            if let Some(free) = found.and_then(|place| free.get_mut(place)) {
                *free = false;
            }
        }
    }
    found.into_iter().enumerate().filter_map(|(old, new)| Some((old, new?))).collect()
}

fn changes(old: &[Document], new: &[Document], pairs: &[(usize, usize)]) -> Vec<Change> {
    let left = (0..old.len()).filter(|place| pairs.iter().all(|(old, _)| old != place));
    let came = (0..new.len()).filter(|place| pairs.iter().all(|(_, new)| new != place));
    let edited = pairs.iter().filter(|(before, after)| old.get(*before) != new.get(*after));
    let mut changes: Vec<Change> = left
        .map(|old| Change::Left { old })
        .chain(edited.map(|(old, new)| Change::Edited { old: *old, new: *new }))
        .chain(came.map(|new| Change::Came { new }))
        .collect();
    changes.sort_by_key(|change| change.place());
    let reordered = pairs.windows(2).any(|two| two[0].1 > two[1].1);
    changes.extend(reordered.then_some(Change::Reordered));
    changes
}
