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

    /// Whether repeats agree within each side and disagree across; otherwise what stands in the way of saying what moved them.
    fn stable(&self, same: &dyn Fn(&Answer, &Answer) -> bool) -> Result<(), Finding> {
        let agree = |answers: &[Answer]| answers.iter().all(|one| answers.iter().all(|other| same(one, other)));
        let across = || self.old.iter().flat_map(|old| self.new.iter().map(move |new| same(old, new)));
        if across().all(|same| same) {
            return Err(Finding::NoFlip);
        }
        let stable = agree(self.old) && agree(self.new) && across().all(|same| !same);
        if stable { Ok(()) } else { Err(Finding::Unstable) }
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

    /// The class that its step leads to where its change alone decides: undone, back to the old answer; made, on to the new one.
    const fn aim(&self) -> Class {
        match (self.step.base, self.step.change) {
            (Base::New, Some(_)) | (Base::Old, None) => Class::Old,
            (Base::Old, Some(_)) | (Base::New, None) => Class::New,
        }
    }

    fn is_whole(&self, repeats: usize) -> bool {
        self.classes.len() >= repeats
    }

    fn reaches(&self, repeats: usize) -> bool {
        self.is_whole(repeats) && self.classes.iter().all(|class| *class == self.aim())
    }

    fn reaches_in_part(&self, repeats: usize) -> bool {
        !self.reaches(repeats) && self.count(self.aim()) > 0
    }
}

/// What the answers show by one kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// Old and new answers are the same: nothing flipped.
    NoFlip,
    /// The run's own repeats disagree, so that no change can be told from noise.
    Unstable,
    /// The bases as they are were asked again and have no answer in every repeat: what the rest shows rests on nothing yet.
    Open,
    /// The bases as they are do not give the run's answers any more, so that no change can be told from noise, or from a generator
    /// that is another one by now.
    Drifted,
    /// The bases give the run's answers, and this is what the changes do. Numbers are those of changes.
    Told {
        /// Undone alone they bring the old answer back, and made alone they give the new one.
        decide: Vec<usize>,
        /// Undone alone they bring the old answer back; made alone they do not give the new one.
        return_alone: Vec<usize>,
        /// Made alone they give the new answer; undone alone they do not bring the old one back.
        move_alone: Vec<usize>,
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
        if let Err(finding) = sides.stable(same) {
            return finding;
        }
        let bases: Vec<&Row> = rows.iter().filter(|row| row.step.change.is_none()).collect();
        if bases.len() < 2 || !bases.iter().all(|row| row.is_whole(repeats)) {
            return Self::Open;
        }
        if !bases.iter().all(|row| row.reaches(repeats)) {
            return Self::Drifted;
        }
        told(rows, changes, repeats)
    }
}

fn told(rows: &[Row], changes: usize, repeats: usize) -> Finding {
    let (mut decide, mut return_alone, mut move_alone) = (Vec::new(), Vec::new(), Vec::new());
    let (mut in_part, mut open) = (Vec::new(), Vec::new());
    for change in 0..changes {
        let of = |base| rows.iter().find(|row| row.step == Step { base, change: Some(change) });
        let (undone, made) = (of(Base::New), of(Base::Old));
        let reaches = |row: Option<&Row>| row.is_some_and(|row| row.reaches(repeats));
        match (reaches(undone), reaches(made)) {
            (true, true) => decide.push(change),
            (true, false) => return_alone.push(change),
            (false, true) => move_alone.push(change),
            (false, false) => {}
        }
        if [undone, made].into_iter().flatten().any(|row| row.reaches_in_part(repeats)) {
            in_part.push(change);
        }
        if [undone, made].iter().any(|row| row.is_none_or(|row| !row.is_whole(repeats))) {
            open.push(change);
        }
    }
    Finding::Told { decide, return_alone, move_alone, in_part, open }
}
