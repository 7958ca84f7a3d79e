//! Which answers of one question agree, under one kernel: a symmetric 0/1 matrix over the pooled answers.

use super::lattice::{Agreeing, Repeats};

/// The agreement of every unordered pair of answers: the old snapshot's answers first, then the new one's.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edges {
    repeats: Repeats,
    same: Vec<bool>,
}

impl Edges {
    /// Asks for every pair `(i, j)` with `i < j` of the pooled answers.
    ///
    /// # Errors
    /// The first error that `same` gives.
    pub fn build<E>(repeats: Repeats, mut same: impl FnMut(usize, usize) -> Result<bool, E>) -> Result<Self, E> {
        let answers = (repeats.old + repeats.new) as usize;
        let mut edges = Vec::with_capacity(answers * (answers - 1) / 2);
        for i in 0..answers {
            for j in i + 1..answers {
                edges.push(same(i, j)?);
            }
        }
        Ok(Self { repeats, same: edges })
    }

    /// The answers of both snapshots.
    #[must_use]
    pub const fn answers(&self) -> usize {
        (self.repeats.old + self.repeats.new) as usize
    }

    /// The repeats of both snapshots.
    #[must_use]
    pub const fn repeats(&self) -> Repeats {
        self.repeats
    }

    /// Whether two answers agree; an answer agrees with itself.
    #[must_use]
    pub fn agree(&self, i: usize, j: usize) -> bool {
        let (low, high) = if i < j { (i, j) } else { (j, i) };
        if low == high {
            return true;
        }
        let before = low * (2 * self.answers() - low - 1) / 2;
        self.same.get(before + high - low - 1).copied().unwrap_or(false)
    }

    /// The agreeing pairs where the answers for which `is_old` holds are the old ones.
    pub(super) fn count(&self, is_old: impl Fn(usize) -> bool) -> Agreeing {
        let mut agreeing = Agreeing::default();
        let mut edges = self.same.iter();
        for i in 0..self.answers() {
            for (j, _) in (i + 1..self.answers()).zip(edges.by_ref()).filter(|(_, same)| **same) {
                match (is_old(i), is_old(j)) {
                    (true, true) => agreeing.old += 1,
                    (false, false) => agreeing.new += 1,
                    _ => agreeing.cross += 1,
                }
            }
        }
        agreeing
    }

    /// The agreeing pairs as observed.
    ///
    /// ```
    /// use churngate::analyze::{edges::Edges, lattice::{Agreeing, Repeats}};
    /// let answers = ["x", "x", "x", "y"];
    /// let same = |i: usize, j: usize| Ok::<bool, ()>(answers[i] == answers[j]);
    /// let edges = Edges::build(Repeats { old: 2, new: 2 }, same)?;
    /// assert_eq!(edges.agreeing(), Agreeing { old: 1, new: 0, cross: 2 });
    /// # Ok::<(), ()>(())
    /// ```
    #[must_use]
    pub fn agreeing(&self) -> Agreeing {
        self.count(|answer| answer < self.repeats.old as usize)
    }

    /// Whether the repeats agree within each snapshot and no pair agrees across.
    #[must_use]
    pub fn is_stable_flip(&self) -> bool {
        let old = |answer| answer < self.repeats.old as usize;
        self.pairs().all(|(i, j)| self.agree(i, j) == (old(i) == old(j)))
    }

    /// Whether it is `ab|ab`: two repeats on either side that agree with none of their own side, and each with exactly one of the
    /// other. Labels that are not transitive may have two agreeing pairs across that share an answer; under them no flip is half
    /// as likely.
    pub(super) fn is_swap(&self) -> bool {
        let agreeing = |one: usize| (0..self.answers()).filter(move |other| self.agree(one, *other));
        let of_old = |answer: usize| answer < self.repeats.old as usize;
        self.repeats == Repeats { old: 2, new: 2 }
            && (0..self.answers()).all(|one| {
                let others: Vec<usize> = agreeing(one).filter(|other| *other != one).collect();
                matches!(others[..], [other] if of_old(other) != of_old(one))
            })
    }

    /// The sizes of the classes of agreeing answers, or `None` where the labels are not transitive.
    pub(super) fn classes(&self) -> Option<Vec<u32>> {
        let mut class_of = vec![usize::MAX; self.answers()];
        let mut sizes: Vec<u32> = Vec::new();
        for i in 0..self.answers() {
            let leader = (0..i).find(|&j| self.agree(j, i));
            let class = leader.map_or(sizes.len(), |leader| class_of[leader]);
            class_of[i] = class;
            match sizes.get_mut(class) {
                Some(size) => *size += 1,
                None => sizes.push(1),
            }
        }
        let transitive = self.pairs().all(|(i, j)| self.agree(i, j) == (class_of[i] == class_of[j]));
        transitive.then_some(sizes)
    }

    /// The same answers with other agreement.
    pub(super) fn relabelled(&self, same: impl Fn(usize, usize) -> bool) -> Self {
        Self { repeats: self.repeats, same: self.pairs().map(|(i, j)| same(i, j)).collect() }
    }

    /// All unordered pairs of answers.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        let answers = self.answers();
        (0..answers).flat_map(move |i| (i + 1..answers).map(move |j| (i, j)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_all_labels_of_four_answers_two_are_a_swap() {
        let pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
        let swaps: Vec<Vec<(usize, usize)>> = (0_u32..1 << pairs.len())
            .map(|bits| {
                pairs.iter().enumerate().filter(|(place, _)| bits >> place & 1 == 1).map(|(_, pair)| *pair).collect()
            })
            .filter(|agreeing: &Vec<(usize, usize)>| {
                let same = |i: usize, j: usize| Ok::<_, ()>(agreeing.contains(&(i, j)));
                Edges::build(Repeats { old: 2, new: 2 }, same).expect("answers").is_swap()
            })
            .collect();
        assert_eq!(swaps, [vec![(0, 3), (1, 2)], vec![(0, 2), (1, 3)]]);
    }
}
