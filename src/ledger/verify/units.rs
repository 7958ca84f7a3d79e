//! Which units of work are open and which are done, in a few bytes each.

use crate::ledger::Damage;
use crate::model::Digest;
use std::collections::{HashMap, hash_map::Entry};
use std::hash::{BuildHasher as _, Hash, RandomState};

/// Stands for a unit of work: 128 bits under keys that differ from one process to the next, so that no ledger can be
/// made whose units collide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Print(u64, u64);

impl Print {
    /// As two words.
    pub(super) const fn words(self) -> [u64; 2] {
        [self.0, self.1]
    }

    /// From two words.
    pub(super) const fn from_words([one, other]: [u64; 2]) -> Self {
        Self(one, other)
    }

    /// As a key to sort by.
    pub(super) fn key(self) -> u128 {
        u128::from(self.0) << 64 | u128::from(self.1)
    }
}

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Half(u128);

impl Half {
    pub(super) fn of(digest: &Digest) -> Self {
        let (half, _) = digest.as_bytes().split_first_chunk::<16>().unwrap_or((&[0; 16], &[]));
        Self(u128::from_le_bytes(*half))
    }

    /// As two words.
    #[expect(clippy::cast_possible_truncation, reason = "each word is one half of it")]
    pub(super) const fn words(self) -> [u64; 2] {
        [self.0 as u64, (self.0 >> 64) as u64]
    }

    /// From two words.
    pub(super) fn from_words([low, high]: [u64; 2]) -> Self {
        Self(u128::from(high) << 64 | u128::from(low))
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
