//! Labels that are not transitive: how often, and what two repairs would make of D̂. Raw labels are what counts.

use super::comparison::Comparison;
use super::edges::Edges;
use super::figures::Transitivity;
use super::lattice::{Lattice, fraction};

/// Counts over the semantic labels of the asked questions.
///
/// ```
/// use churngate::{analyze::{Settings, analyze}, run::outside::parse};
/// let file = r#"{"id": "q1", "answers": {"old": ["x", "x"], "new": ["y", "z"]}, "labels": [["x", "y", "same"], ["x", "z", "same"], ["y", "z", "different"]]}"#;
/// let analysis = analyze(&parse(file, "answers.jsonl")?, &Settings::default())?;
/// let transitivity = analysis.transitivity;
/// assert_eq!((transitivity.triples, transitivity.broken), (4, 2)); // x, y and z twice
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Triples {
    linked: u64,
    open: u64,
    /// Sums of contrasts under both repairs, in lattice units.
    components: i64,
    complete_link: i64,
}

impl Triples {
    /// Takes one asked question.
    pub fn take(&mut self, edges: &Edges, lattice: Lattice) {
        let (linked, open) = linked_triples(edges);
        self.linked += linked;
        self.open += open;
        self.components += lattice.contrast(components(edges).agreeing());
        self.complete_link += lattice.contrast(complete_link(edges).agreeing());
    }

    /// The figures. Where a mean does not fit, it is absent, and it is told why: no rule reads it.
    #[must_use]
    pub fn finish(self, comparison: &Comparison) -> Transitivity {
        let churn = |sum| fraction(sum, comparison.units(), comparison.questions());
        let (components, complete_link) = (churn(self.components), churn(self.complete_link));
        let why = components.as_ref().err().or(complete_link.as_ref().err()).map(ToString::to_string);
        Transitivity {
            triples: self.linked,
            broken: self.open,
            churn_components: components.ok(),
            churn_complete_link: complete_link.ok(),
            why,
        }
    }
}

/// Triples with at least two agreeing pairs, and those among them with exactly two.
///
/// ```
/// use churngate::analyze::{edges::Edges, lattice::Repeats, transitivity::linked_triples};
/// // 0 = 1, 0 = 2, 2 = 3, and no other pair.
/// let same = |i: usize, j: usize| Ok::<bool, ()>([(0, 1), (0, 2), (2, 3)].contains(&(i, j)));
/// let edges = Edges::build(Repeats { old: 2, new: 2 }, same)?;
/// assert_eq!(linked_triples(&edges), (2, 2));
/// # Ok::<(), ()>(())
/// ```
#[must_use]
pub fn linked_triples(edges: &Edges) -> (u64, u64) {
    let (mut linked, mut open) = (0, 0);
    for (i, j) in edges.pairs() {
        for k in j + 1..edges.answers() {
            let agreeing = [(i, j), (i, k), (j, k)].into_iter().filter(|(a, b)| edges.agree(*a, *b)).count();
            linked += u64::from(agreeing >= 2);
            open += u64::from(agreeing == 2);
        }
    }
    (linked, open)
}

/// Answers linked by any chain of agreeing pairs agree.
#[must_use]
pub fn components(edges: &Edges) -> Edges {
    let mut class: Vec<usize> = (0..edges.answers()).collect();
    for (i, j) in edges.pairs().filter(|(i, j)| edges.agree(*i, *j)) {
        let (kept, gone) = (class[i].min(class[j]), class[i].max(class[j]));
        class.iter_mut().filter(|class| **class == gone).for_each(|class| *class = kept);
    }
    by_class(edges, &class)
}

/// Each answer joins the first class all of whose members agree with it, or opens a new one.
#[must_use]
pub fn complete_link(edges: &Edges) -> Edges {
    let mut class: Vec<usize> = Vec::new();
    for answer in 0..edges.answers() {
        let fits = |candidate: usize| {
            (0..answer).filter(|member| class[*member] == candidate).all(|member| edges.agree(member, answer))
        };
        let chosen = (0..answer).find(|candidate| class.contains(candidate) && fits(*candidate)).unwrap_or(answer);
        class.push(chosen);
    }
    by_class(edges, &class)
}

fn by_class(edges: &Edges, class: &[usize]) -> Edges {
    edges.relabelled(|i, j| class[i] == class[j])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::AnalyzeError;
    use crate::model::{Fraction, SnapshotName};

    #[test]
    fn a_mean_that_does_not_fit_is_absent_with_its_reason_beside_the_counts() {
        let triples = Triples { linked: 9, open: 2, components: 3, complete_link: 5 };
        let mut comparison = Comparison::new(&SnapshotName::old(), &SnapshotName::new_snapshot());
        comparison.asked = 8;
        let of = |numerator| Some(Fraction { numerator, denominator: 8 });
        let small = triples.finish(&comparison);
        assert_eq!((small.churn_components, small.churn_complete_link, small.why), (of(3), of(5), None));
        comparison.asked = u64::MAX;
        let large = triples.finish(&comparison);
        assert_eq!((large.triples, large.broken), (9, 2));
        assert_eq!((large.churn_components, large.churn_complete_link), (None, None));
        assert_eq!(large.why, Some(AnalyzeError::TooLarge.to_string()));
    }
}
