//! Evidences that lie one change, or several, away from the old or the new one.

use super::changes::{Change, Difference};
use crate::model::{Document, Evidence};

/// Where a step begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Base {
    /// At the old evidence, where changes are made.
    Old,
    /// At the new evidence, where changes are undone.
    New,
}

/// One evidence to be asked with: a base with one change made or undone, or a base as it is, to see whether it still gives the
/// answers of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Where it begins.
    pub base: Base,
    /// The number of the change that is made or undone; none where the base is left as it is.
    pub change: Option<usize>,
}

impl Difference {
    /// The bases as they are, then each of the first `most` changes undone and made.
    #[must_use]
    pub fn steps(&self, most: usize) -> Vec<Step> {
        let both = |change: Option<usize>| [Base::New, Base::Old].map(|base| Step { base, change });
        let changes = (0..self.changes().len().min(most)).flat_map(|change| both(Some(change)));
        both(None).into_iter().chain(changes).collect()
    }

    /// The evidence of a step.
    #[must_use]
    pub fn evidence(&self, step: Step) -> Evidence {
        let change: Vec<Change> =
            step.change.and_then(|change| self.changes().get(change)).copied().into_iter().collect();
        match step.base {
            Base::Old => self.made(&change),
            Base::New => self.undone(&change),
        }
    }

    /// The new evidence with these changes undone. All of them undone give the old evidence.
    #[must_use]
    pub fn undone(&self, changes: &[Change]) -> Evidence {
        let changes: Vec<Change> = changes.iter().map(|change| change.mirrored()).collect();
        self.mirrored().made(&changes)
    }

    /// The old evidence with these changes made. All of them made give the new evidence.
    ///
    /// A document that went is taken out, and those behind it move up. One that was edited is replaced where it stands. The order
    /// is changed among the places of the documents that both evidences have, and no other document moves. At last what came is put at
    /// the rank that it has in the new evidence, or at the end where there are fewer documents, and those behind it move down.
    #[must_use]
    pub fn made(&self, changes: &[Change]) -> Evidence {
        let mut slots: Vec<Option<&Document>> = self.old().documents.iter().map(Some).collect();
        for ((slot, _), (old, new)) in self.pairs().iter().zip(self.in_order(changes)) {
            let edited = changes.contains(&Change::Edited { old, new });
            let from = if edited { self.new_evidence().documents.get(new) } else { self.old().documents.get(old) };
            put(&mut slots, *slot, from);
        }
        for change in changes {
            if let Change::Left { old } = change {
                put(&mut slots, *old, None);
            }
        }
        let mut documents: Vec<Document> = slots.into_iter().flatten().cloned().collect();
        let mut came: Vec<usize> = changes.iter().filter_map(|change| place_of_new(*change)).collect();
        came.sort_unstable();
        for place in came {
            if let Some(document) = self.new_evidence().documents.get(place) {
                documents.insert(place.min(documents.len()), document.clone());
            }
        }
        Evidence { documents }
    }

    /// The documents that both have, in the order in which they are to stand.
    fn in_order(&self, changes: &[Change]) -> Vec<(usize, usize)> {
        let mut pairs = self.pairs().to_vec();
        if changes.contains(&Change::Reordered) {
            pairs.sort_unstable_by_key(|(_, new)| *new);
        }
        pairs
    }
}

fn put<'a>(slots: &mut [Option<&'a Document>], place: usize, document: Option<&'a Document>) {
    if let Some(slot) = slots.get_mut(place) {
        *slot = document;
    }
}

const fn place_of_new(change: Change) -> Option<usize> {
    match change {
        Change::Came { new } => Some(new),
        Change::Left { .. } | Change::Edited { .. } | Change::Reordered => None,
    }
}
