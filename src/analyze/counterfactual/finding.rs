//! How answers with other evidence compare with those of a run, and what that shows.

use super::step::{Base, Step};
use crate::model::Answer;

/// What an answer is, held against the run's own by one kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// The old answer.
    Old,
    /// The new answer.
    New,
    /// Both of them: the kernel does not tell them apart.
    Both,
    /// Neither, and it says that the system does not know.
    Unknown,
    /// Neither.
    Other,
}

/// The answers of a run to one question.
#[derive(Clone, Copy, Debug)]
pub struct Sides<'a> {
    /// From the old snapshot.
    pub old: &'a [Answer],
    /// From the new one.
    pub new: &'a [Answer],
}

impl Sides<'_> {
    /// What an answer is, where `same` says whether two answers are one.
    #[must_use]
    pub fn class(&self, answer: &Answer, same: &dyn Fn(&Answer, &Answer) -> bool) -> Class {
        let among = |answers: &[Answer]| answers.iter().any(|one| same(one, answer));
        match (among(self.old), among(self.new)) {
            (true, true) => Class::Both,
            (true, false) => Class::Old,
            (false, true) => Class::New,
            (false, false) if answer.is_unknown() => Class::Unknown,
            (false, false) => Class::Other,
        }
    }

    /// Whether there is one new answer, and no old one is it; otherwise what stands in the way of saying what moved the answer.
    fn flipped(&self, same: &dyn Fn(&Answer, &Answer) -> bool) -> Result<(), Finding> {
        let across = || self.old.iter().flat_map(|old| self.new.iter().map(move |new| same(old, new)));
        if across().all(|same| same) {
            return Err(Finding::NoFlip);
        }
        let one = self.new.iter().all(|one| self.new.iter().all(|other| same(one, other)));
        if one && across().all(|same| !same) { Ok(()) } else { Err(Finding::Unstable) }
    }
}

/// The answers to one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The step.
    pub step: Step,
    /// What each of its answers is; fewer than the repeats where some are not there.
    pub classes: Vec<Class>,
}

impl Row {
    /// How many of its answers are of this class.
    #[must_use]
    pub fn count(&self, class: Class) -> usize {
        self.classes.iter().filter(|one| **one == class).count()
    }

    fn is_whole(&self, repeats: usize) -> bool {
        self.classes.len() >= repeats
    }

    /// Whether all of its answers are the new one, or none of them is; nothing where some are.
    fn gives_the_new(&self) -> Option<bool> {
        match self.count(Class::New) {
            0 => Some(false),
            count if count == self.classes.len() => Some(true),
            _ => None,
        }
    }
}

/// What the answers show by one kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// Old and new answers are the same: nothing flipped.
    NoFlip,
    /// The run's repeats of the new snapshot disagree, or some agree with those of the old one, so that no change can be told from
    /// noise.
    Unstable,
    /// The bases as they are have no answer in every repeat: what the rest shows rests on nothing yet.
    Open,
    /// The new evidence as it is does not give the new answer in every repeat, or the old one gives it: no change can be told from
    /// noise, or from a generator that is another one by now.
    Drifted,
    /// The new answer comes with the new evidence and never with the old one, and this is what the changes do to it. Each change,
    /// by its number, stands in one list at most; those that stand in none do nothing that shows.
    Told {
        /// Undone alone they take the new answer away, and made alone they give it, each in every repeat.
        decide: Vec<usize>,
        /// Undone alone they take the new answer away in every repeat; made alone they do not give it in every repeat.
        needed: Vec<usize>,
        /// Made alone they give the new answer in every repeat; undone alone they do not take it away in every repeat.
        enough: Vec<usize>,
        /// They do so in some repeats and not in others.
        in_part: Vec<usize>,
        /// Not all of their answers are there.
        open: Vec<usize>,
    },
}

impl Finding {
    /// What these rows show of so many changes, each step asked so many times.
    #[must_use]
    pub fn of(
        sides: Sides<'_>,
        same: &dyn Fn(&Answer, &Answer) -> bool,
        rows: &[Row],
        changes: usize,
        repeats: usize,
    ) -> Self {
        if let Err(finding) = sides.flipped(same) {
            return finding;
        }
        let base = |base| rows.iter().find(|row| row.step == Step { base, change: None } && row.is_whole(repeats));
        let (Some(old), Some(new)) = (base(Base::Old), base(Base::New)) else { return Self::Open };
        if (old.gives_the_new(), new.gives_the_new()) != (Some(false), Some(true)) {
            return Self::Drifted;
        }
        told(rows, changes, repeats)
    }
}

fn told(rows: &[Row], changes: usize, repeats: usize) -> Finding {
    let (mut decide, mut needed, mut enough) = (Vec::new(), Vec::new(), Vec::new());
    let (mut in_part, mut open) = (Vec::new(), Vec::new());
    for change in 0..changes {
        let of = |base| {
            let step = Step { base, change: Some(change) };
            rows.iter().find(|row| row.step == step && row.is_whole(repeats)).map(Row::gives_the_new)
        };
        let (Some(undone), Some(made)) = (of(Base::New), of(Base::Old)) else {
            open.push(change);
            continue;
        };
        match (undone, made) {
            (Some(false), Some(true)) => decide.push(change),
            (Some(false), _) => needed.push(change),
            (_, Some(true)) => enough.push(change),
            (None, _) | (_, None) => in_part.push(change),
            (Some(true), Some(false)) => {}
        }
    }
    Finding::Told { decide, needed, enough, in_part, open }
}
