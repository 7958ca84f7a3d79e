//! Which units of work are open and which are done, in a few bytes each.

use crate::ledger::Damage;
use crate::model::{Digest, QuestionId};
use std::collections::{HashMap, hash_map::Entry};
use std::hash::{BuildHasher as _, DefaultHasher, Hash, Hasher as _, RandomState};

/// The share of the questions that one pass looks at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    /// Which pass, from 0.
    pub pass: u64,
    /// How many passes there are, at least 1.
    pub passes: u64,
}

impl Share {
    /// Whether the question belongs to it.
    pub(super) fn holds(&self, question: &QuestionId) -> bool {
        if self.passes == 1 {
            return true;
        }
        let mut hasher = DefaultHasher::new();
        question.hash(&mut hasher);
        hasher.finish() % self.passes == self.pass
    }
}

/// Stands for a unit of work: 128 bits under keys that differ from one process to the next, so that no ledger can be
/// made whose units collide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Print(u64, u64);

/// Makes prints.
#[derive(Clone, Default)]
pub(super) struct Prints {
    one: RandomState,
    other: RandomState,
}

impl Prints {
    pub(super) fn of(&self, unit: &impl Hash) -> Print {
        Print(self.one.hash_one(unit), self.other.hash_one(unit))
    }
}

/// Half of a digest: no second text is known, nor can one be found, that shares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Half([u8; 16]);

impl Half {
    pub(super) fn of(digest: &Digest) -> Self {
        let mut half = [0; 16];
        half.copy_from_slice(&digest.as_bytes()[..16]);
        Self(half)
    }
}

/// Attempts and outcomes of one ledger. `V` is what is remembered of an accepted unit.
pub(super) struct Units<V> {
    open: HashMap<u64, Print>,
    accepted: HashMap<Print, V>,
}

impl<V> Default for Units<V> {
    fn default() -> Self {
        Self { open: HashMap::new(), accepted: HashMap::new() }
    }
}

impl<V> Units<V> {
    /// Takes an attempt.
    ///
    /// # Errors
    /// The unit is done already.
    pub(super) fn attempt(&mut self, seq: u64, unit: Print) -> Result<(), Damage> {
        if self.accepted.contains_key(&unit) {
            return Err(Damage::AttemptAfterAccepted);
        }
        self.open.insert(seq, unit);
        Ok(())
    }

    /// Takes an outcome; `accepted` is what it leaves where it was accepted.
    ///
    /// # Errors
    /// It has no open attempt of the same unit, or the unit is done already.
    pub(super) fn outcome(&mut self, attempt: u64, unit: Print, accepted: Option<V>) -> Result<(), Damage> {
        if self.open.remove(&attempt) != Some(unit) {
            return Err(Damage::NoAttempt { attempt });
        }
        let Some(value) = accepted else { return Ok(()) };
        match self.accepted.entry(unit) {
            Entry::Occupied(_) => Err(Damage::AcceptedTwice),
            Entry::Vacant(vacant) => {
                vacant.insert(value);
                Ok(())
            }
        }
    }

    /// What an accepted unit left.
    pub(super) fn accepted(&self, unit: Print) -> Option<&V> {
        self.accepted.get(&unit)
    }
}
