//! The placebo: the old snapshot rebuilt unchanged. How much the rebuild alone churns, and how much more the new snapshot
//! does. It can neither rescue nor sink the gate.

use super::AnalyzeError;
use super::accumulator::{contrasts, kernels};
use super::bootstrap::{Bootstrap, Contrasts};
use super::cluster::Clusters;
use super::comparison::{Asked, Comparison};
use super::figures::{Beyond, Placebo};
use super::kernel::Counts;
use super::lattice::{self, Lattice, fraction};
use super::overlap::Turnover;
use super::scoring::Scoring;
use super::settings::Settings;
use super::stream::Rows;
use crate::model::{Kernel, Observation, SnapshotName};
use std::collections::BTreeMap;

/// How many asked questions have which contrast between old and new, and which between old and placebo.
type Both = BTreeMap<(i64, i64), u64>;

/// What is counted between old and placebo.
///
/// ```
/// use churngate::{analyze::{Settings, analyze}, run::outside::parse};
/// let file = r#"{"id": "q1", "answers": {"old": ["x", "x"], "new": ["y", "y"], "placebo": ["x", "y"]}, "labels": [["x", "y", "different"]]}"#;
/// let analysis = analyze(&parse(file, "answers.jsonl")?, &Settings { placebo: true, ..Settings::default() })?;
/// let placebo = analysis.placebo.unwrap();
/// // Within old 1, within placebo 0, across 1/2: the rebuild alone shows nothing, and the new snapshot a whole flip.
/// assert_eq!((placebo.kernels[1].churn.value(), placebo.beyond[1].churn.value()), (0.0, 1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Rebuild {
    settings: Settings,
    comparison: Comparison,
    exact: Counts,
    semantic: Counts,
    rows: Rows,
    clusters: Clusters,
    turnover: Turnover,
    both: [Both; 2],
}

impl Rebuild {
    /// Nothing is counted yet; nothing will be where no placebo was asked.
    #[must_use]
    pub fn new(settings: &Settings) -> Option<Self> {
        let settings = Settings { new: SnapshotName::placebo(), between: Vec::new(), ..settings.clone() };
        settings.placebo.then(|| Self {
            comparison: Comparison::new(&settings.old, &settings.new),
            settings,
            exact: Counts::default(),
            semantic: Counts::default(),
            rows: Rows::new(),
            clusters: Clusters::default(),
            turnover: Turnover::default(),
            both: [Both::new(), Both::new()],
        })
    }

    /// Takes the next question; `ends` is what old and new came to, where it was asked.
    ///
    /// # Errors
    /// Those of [`Comparison::take`] and [`Turnover::take`], for old and placebo.
    pub fn take(
        &mut self,
        observation: &Observation,
        scoring: Scoring<'_>,
        ends: Option<&(Asked<'_>, Lattice)>,
    ) -> Result<(), AnalyzeError> {
        let mut of_rebuilt = None;
        let mut is_flip = false;
        if let Some((asked, lattice)) = self.comparison.take(observation, scoring)? {
            self.exact.take(&asked.exact, lattice);
            self.semantic.take(&asked.semantic, lattice);
            let contrasts = contrasts(&asked, lattice);
            *self.rows.entry(contrasts.into()).or_default() += 1;
            of_rebuilt = Some(contrasts);
            is_flip = asked.is_flip();
        }
        if let Some((asked, lattice)) = ends {
            let pairs = contrasts(asked, *lattice).into_iter().zip(of_rebuilt.unwrap_or_default());
            for (both, pair) in self.both.iter_mut().zip(pairs) {
                *both.entry(pair).or_default() += 1;
            }
        }
        self.clusters.take(observation.cluster.as_deref(), of_rebuilt);
        self.turnover.take(observation, &self.settings, is_flip)
    }

    /// The figures between old and placebo, and what `ends`, the comparison of old and new, shows beyond them. Where sums or laws
    /// are beyond what can be computed exactly, figures are absent, and it is told why: the gate reads none of them, and its own
    /// may be fine.
    #[must_use]
    pub fn finish(&self, ends: &Comparison) -> Placebo {
        let counts = [&self.exact, &self.semantic];
        let figures = kernels(&self.comparison, counts, &self.rows, &self.clusters, &self.settings);
        let beyond = self.beyond_by_kernel(ends);
        let why = figures.as_ref().err().or(beyond.as_ref().err()).map(ToString::to_string);
        Placebo {
            kernels: figures.unwrap_or_default(),
            beyond: beyond.unwrap_or_default(),
            overlap: self.turnover.finish(),
            why,
        }
    }

    fn beyond_by_kernel(&self, ends: &Comparison) -> Result<Vec<Beyond>, AnalyzeError> {
        let [exact, semantic] = &self.both;
        Ok(vec![self.beyond(ends, Kernel::Exact, exact)?, self.beyond(ends, Kernel::Semantic, semantic)?])
    }

    /// The difference of the two contrasts of every question, as one contrast: both have the old answers in common, and what
    /// these vary by is subtracted.
    fn beyond(&self, ends: &Comparison, kernel: Kernel, both: &Both) -> Result<Beyond, AnalyzeError> {
        let units = match (ends.lattice, self.comparison.lattice) {
            (Some(of_ends), Some(of_rebuilt)) => lattice::common(of_ends, of_rebuilt)?,
            _ => 1,
        };
        let scale = |comparison: &Comparison| (units / comparison.units()).cast_signed();
        let (of_ends, of_rebuilt) = (scale(ends), scale(&self.comparison));
        let mut differences = Contrasts::new();
        for ((new, placebo), count) in both {
            *differences.entry(new * of_ends - placebo * of_rebuilt).or_default() += count;
        }
        if ends.unchanged > 0 {
            *differences.entry(0).or_default() += ends.unchanged;
        }
        let sum = differences.iter().map(|(value, count)| value * count.cast_signed()).sum();
        let interval = Bootstrap::new(&differences, units)?.bounds(self.settings.confidence)?.interval;
        Ok(Beyond { kernel, churn: fraction(sum, units, ends.questions())?, interval })
    }
}

#[cfg(test)]
mod tests {
    use crate::analyze::{Analysis, Settings, analyze};
    use crate::model::{Answer, Label, Observation, QuestionId, SnapshotAnswers, SnapshotName};
    use std::collections::BTreeMap;

    /// Two old answers, these many new ones and these many of the placebo, which says something else.
    fn analysis(new: usize, placebo: Option<usize>) -> Analysis {
        let answer = |text: &str| Answer::parse(text, 512).unwrap();
        let side = |snapshot, text, repeats| SnapshotAnswers {
            snapshot,
            answers: vec![answer(text); repeats],
            evidence: None,
            cited: Vec::new(),
        };
        let mut snapshots = vec![side(SnapshotName::old(), "x", 2), side(SnapshotName::new_snapshot(), "x", new)];
        snapshots.extend(placebo.map(|repeats| side(SnapshotName::placebo(), "y", repeats)));
        let observation = Observation {
            id: QuestionId("q1".to_owned()),
            cluster: None,
            tags: Vec::new(),
            snapshots,
            judgments: BTreeMap::from([((answer("x"), answer("y")), Label::Different)]),
            similarities: BTreeMap::new(),
            gold: Vec::new(),
            unchanged: false,
        };
        analyze(&[observation], &Settings { placebo: placebo.is_some(), ..Settings::default() }).unwrap()
    }

    #[test]
    fn figures_of_the_placebo_that_cannot_be_computed_are_absent_and_end_no_audit() {
        // Each pair of snapshots has its lattice, and the finest that both lie on has nine million units.
        let (with, without) = (analysis(89, Some(97)), analysis(89, None));
        let placebo = with.placebo.clone().unwrap();
        assert_eq!((placebo.kernels.len(), placebo.kernels[1].stable_flips), (2, 1));
        assert!(placebo.beyond.is_empty());
        let why = placebo.why.unwrap();
        assert!(why.starts_with("89 and 97 repeats make too fine a lattice"), "{why}");
        assert_eq!(Analysis { placebo: None, ..with }, without, "the gate's own figures are what they are without it");
        let whole = analysis(97, Some(97)).placebo.unwrap();
        assert_eq!((whole.beyond.len(), whole.why), (2, None));
    }
}
