//! Cells that were given up: from when on a generator counts as out of order, so that the others do not wait for it as well.
//!
//! Questions are counted and not cells, since one that never gets an answer lacks all of its cells. What failed before says
//! nothing of a generator that has answers on record: it is asked for last, and weighed at the end.

use super::outcomes::is_of_content;
use crate::http::SILENT;
use crate::model::{Cell, Fraction, PercentagePoints, QuestionId};
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What an audit asks for, and what earlier processes made of it.
#[derive(Debug)]
pub struct Before {
    /// Questions that are asked, those included whose cells are filled.
    pub questions: u64,
    /// Whether any cell holds an answer.
    pub has_answers: bool,
    /// Questions with a cell that was asked for and holds none.
    pub failed: BTreeSet<QuestionId>,
    /// The share of the questions that may be left out; nothing where that is not asked of this ledger.
    pub tolerated: Option<PercentagePoints>,
}

/// What became of cells in this process.
#[derive(Debug)]
pub struct GivenUp {
    before: Before,
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    has_answered: bool,
    has_replied: bool,
    cells: u64,
    /// Questions that say something of the generator.
    questions: BTreeSet<QuestionId>,
    /// Questions that failed before, beside answers on record.
    again: BTreeSet<QuestionId>,
}

impl GivenUp {
    /// None yet.
    #[must_use]
    pub fn after(before: Before) -> Self {
        Self { before, counts: Mutex::default() }
    }

    /// Cells in the order in which they are asked for: questions of which none failed before come first, and one cell of each
    /// of the first so many questions before all others, so that no question fills the opening alone.
    #[must_use]
    pub fn queued(&self, cells: Vec<Cell>, ahead: usize) -> Vec<Cell> {
        let (failed, fresh): (Vec<_>, Vec<_>) =
            cells.into_iter().partition(|cell| self.before.failed.contains(&cell.question));
        [fresh, failed].into_iter().flat_map(|cells| one_each_first(cells, ahead)).collect()
    }

    /// Counts an answer.
    pub fn answered(&self) {
        self.counts().has_answered = true;
    }

    /// Counts a cell of this question whose last attempt came to this. Returns how many were given up, where the generator counts
    /// as out of order.
    pub fn give_up(&self, question: &QuestionId, reason: &str) -> Option<u64> {
        let mut counts = self.counts();
        counts.cells += 1;
        counts.has_replied |= is_of_content(reason);
        let is_again = self.before.has_answers && self.before.failed.contains(question);
        let of = if is_again { &mut counts.again } else { &mut counts.questions };
        of.insert(question.clone());
        // One that replies, and has answered others before, is there.
        let is_there = counts.has_answered || counts.has_replied && self.before.has_answers;
        let few = u64::from(SILENT);
        let is_silent = counts.questions.len() as u64 >= self.before.questions.min(few);
        let stops = !is_there && counts.cells >= few && (is_silent || self.cannot_stand(&counts));
        stops.then_some(counts.cells)
    }

    /// Whether no audit can stand without the questions that were given up, whatever else is answered.
    fn cannot_stand(&self, counts: &Counts) -> bool {
        let questions = counts.questions.union(&counts.again).count() as u64;
        let numerator = i64::try_from(questions).unwrap_or(i64::MAX);
        let share = Fraction { numerator, denominator: self.before.questions.max(1) };
        questions >= SILENT.into() && self.before.tolerated.is_some_and(|tolerated| share.compare(tolerated).is_gt())
    }

    /// A panic elsewhere leaves numbers that are still good.
    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn one_each_first(cells: Vec<Cell>, ahead: usize) -> impl Iterator<Item = Cell> {
    let mut seen = BTreeSet::new();
    let (first, rest): (Vec<_>, Vec<_>) =
        cells.into_iter().partition(|cell| seen.len() < ahead && seen.insert(cell.question.clone()));
    first.into_iter().chain(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::SnapshotName;

    fn question(number: usize) -> QuestionId {
        QuestionId(format!("q{number}"))
    }

    /// The audit has so many questions, and of these some failed before.
    fn given_up(questions: u64, has_answers: bool, failed: std::ops::Range<usize>, tolerated: Option<&str>) -> GivenUp {
        let tolerated = tolerated.map(|points| points.parse().unwrap());
        GivenUp::after(Before { questions, has_answers, failed: failed.map(question).collect(), tolerated })
    }

    /// At which cell the generator counts as out of order, from 1, where these questions are given up with so many cells each.
    fn stops(given_up: &GivenUp, questions: std::ops::Range<usize>, cells: usize, reason: &str) -> Option<usize> {
        let mut all = questions.flat_map(|number| (0..cells).map(move |_| question(number)));
        all.position(|question| given_up.give_up(&question, reason).is_some()).map(|at| at + 1)
    }

    #[test]
    fn ten_questions_without_an_answer_are_an_outage_and_one_with_many_cells_is_none() {
        for reason in ["server-error", "empty-body", "answer-malformed"] {
            assert_eq!(stops(&given_up(60, false, 0..0, None), 0..20, 1, reason), Some(10), "{reason}");
            assert_eq!(stops(&given_up(60, false, 0..0, None), 0..9, 16, reason), None, "{reason}");
            assert_eq!(stops(&given_up(4, false, 0..0, None), 0..4, 4, reason), Some(13), "all there are: {reason}");
            assert_eq!(stops(&given_up(4, false, 0..0, None), 0..3, 16, reason), None, "{reason}");
        }
    }

    #[test]
    fn a_generator_that_answered_before_and_is_silent_now_is_out_of_order() {
        assert_eq!(stops(&given_up(60, true, 40..60, None), 0..40, 1, "server-error"), Some(10));
        assert_eq!(stops(&given_up(60, true, 0..0, None), 0..40, 1, "answer-malformed"), None, "it replies");
    }

    #[test]
    fn what_failed_before_is_weighed_at_the_end_unless_the_audit_cannot_stand_without_it() {
        for (tolerated, at) in [(None, None), (Some("25pp"), None), (Some("20pp"), Some(4 * 12 + 1))] {
            let at_end = given_up(60, true, 0..15, tolerated);
            assert_eq!(stops(&at_end, 0..15, 4, "server-error"), at, "{tolerated:?}");
        }
        assert_eq!(
            stops(&given_up(60, false, 0..60, None), 0..60, 1, "server-error"),
            Some(10),
            "nothing was answered"
        );
    }

    #[test]
    fn after_one_answer_nothing_stops() {
        let given_up = given_up(60, false, 0..0, Some("0pp"));
        given_up.answered();
        assert_eq!(stops(&given_up, 0..60, 4, "server-error"), None);
    }

    #[test]
    fn questions_that_did_not_fail_come_first_and_one_cell_of_each_before_all_others() {
        let cell = |number, repeat| Cell { question: question(number), snapshot: SnapshotName("old".into()), repeat };
        let cells = (0..4).flat_map(|number| (0..3).map(move |repeat| cell(number, repeat))).collect();
        let queued = given_up(4, true, 0..1, None).queued(cells, 2);
        let places: Vec<(String, u32)> = queued.into_iter().map(|cell| (cell.question.0, cell.repeat)).collect();
        let expected = [(1, 0), (2, 0), (1, 1), (1, 2), (2, 1), (2, 2), (3, 0), (3, 1), (3, 2), (0, 0), (0, 1), (0, 2)];
        assert_eq!(places, expected.map(|(number, repeat)| (format!("q{number}"), repeat)));
    }
}
