//! One question after the other, until every figure can be told. What is kept are counts of distinct values, sums, and what
//! the figures themselves list (stable flips, tags, clusters): nothing by question.

use super::AnalyzeError;
use super::cited::Citing;
use super::cluster::{ClusterRows, Clusters};
use super::comparison::{Asked, Comparison};
use super::correctness::Marked;
use super::figures::{Alignment, Analysis, Flip, KernelFigures, Power, Trajectories};
use super::judged::Labels;
use super::kernel::{self, Counts};
use super::ladder::Ladder;
use super::lattice::Lattice;
use super::outlook::{Law, Resampled};
use super::overlap::Turnover;
use super::placebo::Rebuild;
use super::power::Clustered;
use super::round::significant;
use super::scoring::{QuestionScores, Scoring};
use super::settings::Settings;
use super::soft::Soft;
use super::stream::{self, Rows};
use super::subgroup::Tags;
use super::transitivity::Triples;
use super::{flips, power, randomisation};
use crate::model::{Kernel, Observation, SnapshotName};

/// The figures of an audit while its questions come in. The order of the questions decides nothing but the last digits of
/// sums of fractions.
///
/// ```
/// use churngate::{analyze::{Accumulator, Settings, analyze}, run::outside::parse};
/// let file = r#"{"id": "q1", "answers": {"old": ["x", "x"], "new": ["y", "y"]}, "labels": [["x", "y", "different"]]}"#;
/// let (questions, settings) = (parse(file, "answers.jsonl")?, Settings::default());
/// let mut accumulator = Accumulator::new(&settings)?;
/// assert!(accumulator.take(&questions[0])?); // a stable flip
/// assert_eq!(accumulator.finish()?, analyze(&questions, &settings)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Accumulator<'s> {
    settings: &'s Settings,
    ends: Comparison,
    exact: Counts,
    semantic: Counts,
    rows: Rows,
    clusters: Clusters,
    flips: Vec<Flip>,
    marked: Marked,
    turnover: Turnover,
    citing: Citing,
    tags: Tags,
    ladder: Ladder,
    trajectories: Option<Trajectories>,
    placebo: Option<Rebuild>,
    closed_book: Option<Alignment>,
    triples: Triples,
    soft: Soft,
    labels: Labels,
}

impl<'s> Accumulator<'s> {
    /// No question yet.
    ///
    /// # Errors
    /// Settings that name a snapshot twice, or no draws.
    pub fn new(settings: &'s Settings) -> Result<Self, AnalyzeError> {
        settings.check()?;
        Ok(Self {
            settings,
            ends: Comparison::new(&settings.old, &settings.new),
            exact: Counts::default(),
            semantic: Counts::default(),
            rows: Rows::new(),
            clusters: Clusters::default(),
            flips: Vec::new(),
            marked: Marked::default(),
            turnover: Turnover::default(),
            citing: Citing::default(),
            tags: Tags::default(),
            ladder: Ladder::new(settings),
            trajectories: Trajectories::new(settings),
            placebo: Rebuild::new(settings),
            closed_book: settings.closed_book.then(Alignment::default),
            triples: Triples::default(),
            soft: Soft::default(),
            labels: Labels::default(),
        })
    }

    /// Takes the next question; says whether it is a stable flip of the semantic kernel. That no question comes twice is for
    /// the caller to see to.
    ///
    /// # Errors
    /// Unequal repeats, a missing snapshot or judgment, or what else makes no audit.
    pub fn take(&mut self, observation: &Observation) -> Result<bool, AnalyzeError> {
        self.scored(observation, Scoring::Texts(self.settings.normalisation))
    }

    /// The same from recorded scores in place of texts.
    ///
    /// # Errors
    /// As [`Accumulator::take`], or an answer has no score.
    pub fn take_recorded(&mut self, observation: &Observation, scores: &QuestionScores) -> Result<bool, AnalyzeError> {
        self.scored(observation, Scoring::Recorded(scores))
    }

    /// Counts a question that lacks an answer or a judgment. It is in no figure but the upper bounds, which take it for wholly
    /// changed: what fails where answers change must not pass for what did not change.
    pub fn leave_out(&mut self, cluster: Option<&str>) {
        self.ends.left_out += 1;
        self.clusters.leave_out(cluster);
    }

    fn scored(&mut self, observation: &Observation, scoring: Scoring<'_>) -> Result<bool, AnalyzeError> {
        scoring.check(observation)?;
        let asked = self.ends.take(observation, scoring)?;
        let steps = self.ladder.take(observation, scoring)?;
        if let Some((asked, lattice)) = &asked {
            self.asked(asked, *lattice)?;
            if let Some(trajectories) = &mut self.trajectories {
                trajectories.take(asked, &steps, self.settings)?;
            }
        }
        if let Some(placebo) = &mut self.placebo {
            placebo.take(observation, scoring, asked.as_ref())?;
        }
        let contrasts = asked.as_ref().map(|(asked, lattice)| contrasts(asked, *lattice));
        self.clusters.take(observation.cluster.as_deref(), contrasts);
        self.tags.take(observation, asked.as_ref());
        let is_flip = asked.is_some_and(|(asked, _)| asked.is_flip());
        self.turnover.take(observation, self.settings, is_flip)?;
        Ok(is_flip)
    }

    fn asked(&mut self, asked: &Asked<'_>, lattice: Lattice) -> Result<(), AnalyzeError> {
        randomisation::testable(&asked.semantic, Kernel::Semantic, &asked.observation.id)?;
        self.exact.take(&asked.exact, lattice);
        self.semantic.take(&asked.semantic, lattice);
        *self.rows.entry(contrasts(asked, lattice).into()).or_default() += 1;
        self.marked.take(asked);
        self.triples.take(&asked.semantic, lattice);
        self.soft.take(asked)?;
        self.labels.take(asked.observation);
        self.citing.take(asked);
        if asked.is_flip() {
            self.flips.extend(flips::describe(asked));
            if let Some(alignment) = &mut self.closed_book {
                alignment.count(asked, &SnapshotName::closed_book())?;
            }
        }
        Ok(())
    }

    /// Every figure.
    ///
    /// # Errors
    /// There was no question, or sums and laws are beyond what can be computed exactly.
    pub fn finish(mut self) -> Result<Analysis, AnalyzeError> {
        if self.ends.questions() == 0 {
            return Err(AnalyzeError::NoQuestions);
        }
        flips::sort(&mut self.flips);
        let repeats = self.ends.lattice.map_or((0, 0), |lattice| (lattice.repeats().old, lattice.repeats().new));
        let kernels = kernels(&self.ends, [&self.exact, &self.semantic], &self.rows, &self.clusters, self.settings)?;
        Ok(Analysis {
            questions: self.ends.questions(),
            asked: self.ends.asked,
            unchanged: self.ends.unchanged,
            left_out: self.ends.left_out,
            repeats,
            confidence: self.settings.confidence,
            power: Power { smallest_detectable: self.smallest_detectable(repeats, &kernels) },
            kernels,
            correctness: self.marked.finish()?,
            overlap: self.turnover.finish(),
            cited: self.citing.finish(),
            subgroups: self.tags.finish(&self.ends)?,
            ladder: self.ladder.finish(),
            transitivity: self.triples.finish(&self.ends),
            soft: self.soft.finish(self.ends.unchanged, self.settings),
            unknown: if self.ends.asked == 0 { None } else { Some(self.marked.unknown()?) },
            judged: self.labels.finish(),
            flips: self.flips,
            trajectories: self.trajectories,
            placebo: self.placebo.map(|placebo| placebo.finish(&self.ends)),
            closed_book: self.closed_book,
        })
    }

    /// What is resampled of either kernel, for what further questions would show.
    #[must_use]
    pub fn laws(&self) -> Vec<Law> {
        let law = |(kernel, counts): (Kernel, &Counts)| {
            let units = self.ends.units();
            let contrasts = counts.contrasts(self.ends.unchanged);
            let seen: ClusterRows = contrasts.into_iter().map(|(value, count)| ((value, 1), count)).collect();
            let mut worst = seen.clone();
            if self.ends.left_out > 0 {
                *worst.entry((units.cast_signed(), 1)).or_default() += self.ends.left_out;
            }
            let clusters = self.clusters.resampled(kernel, units);
            Law { kernel, units, by: [Resampled { seen, worst }].into_iter().chain(clusters).collect() }
        };
        [(Kernel::Exact, &self.exact), (Kernel::Semantic, &self.semantic)].map(law).into()
    }

    /// Nothing where the semantic lower bound says nothing, whatever it is.
    fn smallest_detectable(&self, repeats: (u32, u32), kernels: &[KernelFigures]) -> Option<f64> {
        let alpha = self.settings.confidence.alpha();
        let semantic = kernels.iter().find(|figures| figures.kernel == Kernel::Semantic)?;
        let clusters = semantic.clusters.as_ref();
        let asked = clusters.map_or(self.ends.asked, |clusters| clusters.asked.min(self.ends.asked));
        if semantic.degenerate || asked < power::fewest_for_lower_bound(repeats, 0.0, alpha) {
            return None;
        }
        let moments = kernel::moments(&self.semantic.contrasts(self.ends.unchanged), self.ends.units());
        let clustered = clusters.map(|clusters| Clustered { size: clusters.size, variance: clusters.spread.powi(2) });
        Some(significant(power::smallest_detectable(moments, clustered, alpha)))
    }
}

/// The figures of both kernels for two snapshots, from what was counted of them.
pub(super) fn kernels(
    comparison: &Comparison,
    [exact, semantic]: [&Counts; 2],
    rows: &Rows,
    clusters: &Clusters,
    settings: &Settings,
) -> Result<Vec<KernelFigures>, AnalyzeError> {
    let mut rows = rows.clone();
    if comparison.unchanged > 0 {
        *rows.entry((0, 0)).or_default() += comparison.unchanged;
    }
    let draws = stream::draw(&rows, settings.draws, settings.bootstrap_key);
    let of = |kernel, counts, draws: &[i64]| {
        let mut figures = kernel::figures(counts, comparison, kernel, draws, settings)?;
        figures.clusters = clusters.bounds(kernel, comparison.units(), figures.degenerate, settings)?;
        Ok::<_, AnalyzeError>(figures)
    };
    Ok(vec![of(Kernel::Exact, exact, &draws.exact)?, of(Kernel::Semantic, semantic, &draws.semantic)?])
}

/// The contrasts under the exact and the semantic kernel, in lattice units.
pub(super) fn contrasts(asked: &Asked<'_>, lattice: Lattice) -> [i64; 2] {
    [&asked.exact, &asked.semantic].map(|edges| lattice.contrast(edges.agreeing()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Answer, Digest, EvidenceKeys, Label, QuestionId, SnapshotAnswers};
    use std::collections::BTreeMap;

    /// One of twelve sorts of question, none of which is a stable flip.
    fn observation(number: u32) -> Observation {
        let answer = |text: &str| Answer::parse(text, 512).unwrap();
        let sides = [[["x", "x"], ["x", "y"]], [["x", "y"], ["y", "x"]], [["y", "y"], ["x", "y"]]];
        let [old, new] = sides[number as usize % 3];
        let evidence = |from: u32| EvidenceKeys {
            ids: vec![format!("d{}", (number + from) % 4)],
            urls: vec![None],
            contents: vec![Digest::of(b"text")],
        };
        let side = |snapshot, answers: [&str; 2], evidence: EvidenceKeys| SnapshotAnswers {
            snapshot,
            answers: answers.map(answer).into(),
            cited: vec![Some(evidence.clone()), None],
            evidence: Some(evidence),
        };
        Observation {
            id: QuestionId(format!("q{number}")),
            cluster: None,
            tags: vec![format!("tag {}", number % 2)],
            snapshots: vec![
                side(SnapshotName::old(), old, evidence(0)),
                side(SnapshotName::new_snapshot(), new, evidence(1)),
            ],
            judgments: BTreeMap::from([((answer("x"), answer("y")), Label::Different)]),
            similarities: BTreeMap::new(),
            gold: vec!["x".to_owned()],
            unchanged: false,
        }
    }

    /// What is kept of so many questions, but for the figures of numbers.
    fn kept(questions: u32) -> String {
        let settings = Settings::default();
        let mut accumulator = Accumulator::new(&settings).unwrap();
        for number in 0..questions {
            assert!(!accumulator.take(&observation(number)).unwrap());
        }
        format!("{accumulator:?}").chars().filter(|c| !c.is_ascii_digit()).collect()
    }

    #[test]
    fn what_is_kept_is_the_same_for_sixty_questions_and_for_six_thousand() {
        assert_eq!(kept(60), kept(6_000));
    }
}
