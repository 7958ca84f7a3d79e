//! The soft kernel: a bounded similarity of two answers in place of a yes or no. For diagnosis; no rule can name it.
//!
//! The estimator is that of the other kernels, `d = w - c`, with similarities in [0, 1] in the place of agreement, and `2d` is the
//! unbiased squared maximum mean discrepancy for any such kernel (Gretton et al. 2012, Lemma 6). Its contrasts lie on no lattice. For the
//! bootstrap they are rounded to hundredths, and what rounding took from their mean is given back: the law is exact in its
//! mean, and off by less than a hundredth of its standard error in its spread.

use super::AnalyzeError;
use super::bootstrap::Contrasts;
use super::comparison::Asked;
use super::dirichlet;
use super::figures::SoftFigures;
use super::lattice::Repeats;
use super::quantile::{Level, Levels};
use super::round::significant;
use super::settings::Settings;
use super::sum::{Pmf, Sum};
use crate::model::{Answer, QuestionId};

/// Steps that contrasts are rounded to for the bootstrap.
const STEPS: f64 = 100.0;
/// Finer steps, rounded up to, for the upper bound.
const FINE: f64 = 1_000.0;

/// The similarity of every unordered pair of answers of one question: the old snapshot's answers first, then the new one's.
#[derive(Clone, Debug, PartialEq)]
pub struct Similarities {
    repeats: Repeats,
    of: Vec<f64>,
}

/// Mean similarities of one question.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Means {
    /// Over the pairs of old answers.
    pub old: f64,
    /// Over the pairs of new answers.
    pub new: f64,
    /// Over the pairs of an old and a new answer.
    pub cross: f64,
}

impl Means {
    /// The mean of both snapshots with equal weights.
    #[must_use]
    pub const fn within(&self) -> f64 {
        f64::midpoint(self.old, self.new)
    }

    /// The contrast d = w - c.
    #[must_use]
    pub const fn contrast(&self) -> f64 {
        self.within() - self.cross
    }
}

impl Similarities {
    /// Asks for every pair `(i, j)` with `i < j` of the pooled answers.
    ///
    /// # Errors
    /// The first error that `similarity` gives.
    ///
    /// ```
    /// use churngate::analyze::{lattice::Repeats, soft::Similarities};
    /// let kernel = [[1.0, 0.9, 0.2, 0.3], [0.9, 1.0, 0.25, 0.35], [0.2, 0.25, 1.0, 0.8], [0.3, 0.35, 0.8, 1.0]];
    /// let answers = Similarities::build(Repeats { old: 2, new: 2 }, |i, j| Ok::<_, ()>(kernel[i][j]))?;
    /// assert!((answers.means().contrast() - 0.575).abs() < 1e-12);
    /// assert!(answers.splits().iter().sum::<f64>().abs() < 1e-12); // labels that mean nothing average to zero
    /// # Ok::<(), ()>(())
    /// ```
    pub fn build<E>(repeats: Repeats, mut similarity: impl FnMut(usize, usize) -> Result<f64, E>) -> Result<Self, E> {
        let answers = (repeats.old + repeats.new) as usize;
        let mut of = Vec::with_capacity(answers * answers.saturating_sub(1) / 2);
        for i in 0..answers {
            for j in i + 1..answers {
                of.push(similarity(i, j)?);
            }
        }
        Ok(Self { repeats, of })
    }

    /// The means as observed.
    #[must_use]
    pub fn means(&self) -> Means {
        self.means_where(|answer| answer < self.repeats.old as usize)
    }

    /// The contrast of every way to split the answers into as many old and new ones, in the order of their first answers: for
    /// two repeats the three ways to pair four answers. Meant for few answers.
    #[must_use]
    pub fn splits(&self) -> Vec<f64> {
        let swapped = self.repeats.old == self.repeats.new;
        let chosen = (0..1_u64 << self.answers()).filter(|set| set.count_ones() == self.repeats.old);
        // Where both sides are as large, a split and its mirror are one.
        let distinct = chosen.filter(|set| !swapped || set & 1 == 1);
        distinct.map(|set| self.means_where(|answer| set >> answer & 1 == 1).contrast()).collect()
    }

    const fn answers(&self) -> usize {
        (self.repeats.old + self.repeats.new) as usize
    }

    fn means_where(&self, is_old: impl Fn(usize) -> bool) -> Means {
        let (mut sums, mut similarities) = (Means::default(), self.of.iter());
        for i in 0..self.answers() {
            for (j, similarity) in (i + 1..self.answers()).zip(similarities.by_ref()) {
                match (is_old(i), is_old(j)) {
                    (true, true) => sums.old += similarity,
                    (false, false) => sums.new += similarity,
                    _ => sums.cross += similarity,
                }
            }
        }
        let (old, new) = (f64::from(self.repeats.old), f64::from(self.repeats.new));
        Means {
            old: sums.old / (old * (old - 1.0) / 2.0),
            new: sums.new / (new * (new - 1.0) / 2.0),
            cross: sums.cross / (old * new),
        }
    }
}

/// The means of the asked questions, once one of them has a similarity. Before that, questions whose answers are all one
/// text are counted, and nothing else is kept.
#[derive(Clone, Debug)]
pub enum Soft {
    /// No question has a similarity so far.
    None {
        /// Questions whose answers are all one text.
        equal: usize,
        /// The first one that would need a similarity.
        lacking: Option<QuestionId>,
    },
    /// One has.
    Some(Vec<Means>),
}

impl Default for Soft {
    fn default() -> Self {
        Self::None { equal: 0, lacking: None }
    }
}

impl Soft {
    /// Takes one asked question.
    ///
    /// # Errors
    /// [`AnalyzeError::NotASimilarity`] where one is no number from 0 to 1, [`AnalyzeError::MissingSimilarity`] where two answers
    /// that differ have none and others do.
    pub fn take(&mut self, asked: &Asked<'_>) -> Result<(), AnalyzeError> {
        match self {
            Self::Some(all) => all.push(means(asked)?),
            Self::None { equal, lacking } if asked.observation.similarities.is_empty() => {
                let alike = asked
                    .old
                    .answers
                    .iter()
                    .chain(&asked.new.answers)
                    .all(|answer| asked.old.answers.first() == Some(answer));
                *equal += usize::from(alike);
                if !alike && lacking.is_none() {
                    *lacking = Some(asked.observation.id.clone());
                }
            }
            Self::None { lacking: Some(question), .. } => {
                return Err(AnalyzeError::MissingSimilarity { question: question.clone() });
            }
            Self::None { equal, lacking: None } => {
                let mut all = vec![Means { old: 1.0, new: 1.0, cross: 1.0 }; *equal];
                all.push(means(asked)?);
                *self = Self::Some(all);
            }
        }
        Ok(())
    }

    /// The soft figures; absent where no asked question has a similarity. Where the law of the sum does not fit memory, what
    /// follows from it is absent, and it is told why: no rule reads it, and the other kernels' laws are much smaller.
    #[must_use]
    pub fn finish(&self, unchanged: u64, settings: &Settings) -> Option<SoftFigures> {
        match self {
            Self::None { .. } => None,
            Self::Some(means) => Some(figures(means, unchanged, settings)),
        }
    }
}

fn means(asked: &Asked<'_>) -> Result<Means, AnalyzeError> {
    let observation = asked.observation;
    if observation.similarities.values().any(|similarity| !(0.0..=1.0).contains(similarity)) {
        return Err(AnalyzeError::NotASimilarity { question: observation.id.clone() });
    }
    let pooled: Vec<&Answer> = asked.old.answers.iter().chain(&asked.new.answers).collect();
    let missing = || AnalyzeError::MissingSimilarity { question: observation.id.clone() };
    let of = |i: usize, j: usize| observation.similarity(pooled[i], pooled[j]).ok_or_else(missing);
    Ok(Similarities::build(asked.semantic.repeats(), of)?.means())
}

fn figures(means: &[Means], unchanged: u64, settings: &Settings) -> SoftFigures {
    let contrasts: Vec<f64> = means.iter().map(Means::contrast).collect();
    let (asked, all) = (float(means.len() as u64), float(means.len() as u64 + unchanged));
    let over_asked = |of: fn(&Means) -> f64| significant(means.iter().map(of).sum::<f64>() / asked);
    let churn = contrasts.iter().sum::<f64>() / all;
    let squares = contrasts.iter().map(|contrast| (contrast - churn).powi(2)).sum::<f64>();
    let law = Bounds::of(Law::new(&contrasts, unchanged), &Levels::of(settings.confidence));
    SoftFigures {
        within_old: over_asked(|means| means.old),
        within_new: over_asked(|means| means.new),
        within: over_asked(Means::within),
        cross: over_asked(|means| means.cross),
        churn: significant(churn),
        spread: significant(((squares + float(unchanged) * churn * churn) / all).sqrt()),
        lower_bound: law.lower,
        interval: law.interval,
        upper_bound: significant(upper_bound(&contrasts, unchanged, settings.confidence.alpha())),
        why: law.why,
    }
}

/// What follows from the law, as far as there is one.
#[derive(Debug, PartialEq)]
struct Bounds {
    lower: Option<f64>,
    interval: Option<(f64, f64)>,
    why: Option<String>,
}

impl Bounds {
    fn of(law: Result<Law, AnalyzeError>, levels: &Levels) -> Self {
        match law {
            Ok(law) => {
                let at = |level| significant(law.quantile(level));
                Self { lower: Some(at(levels.lower)), interval: Some((at(levels.low), at(levels.high))), why: None }
            }
            Err(error) => Self { lower: None, interval: None, why: Some(error.to_string()) },
        }
    }
}

/// The law of the mean of rounded contrasts, and how far rounding moved it.
struct Law {
    sum: Sum,
    questions: f64,
    moved: f64,
}

impl Law {
    fn new(contrasts: &[f64], unchanged: u64) -> Result<Self, AnalyzeError> {
        let counted = counted(contrasts.iter().copied().map(nearest_step), unchanged);
        let rounded = contrasts.iter().map(|contrast| nearest_step(*contrast) / STEPS - contrast).sum();
        Self::of_counted(&counted, rounded)
    }

    /// `rounded` is by how much rounding raised the sum of the contrasts.
    fn of_counted(counted: &Contrasts, rounded: f64) -> Result<Self, AnalyzeError> {
        let questions = counted.values().sum();
        let sum = Sum::repeated(Pmf::from_counts(counted), questions)?;
        Ok(Self { sum, questions: float(questions), moved: rounded / float(questions) })
    }

    #[expect(clippy::cast_precision_loss, reason = "sums of hundredths are far below 2^53")]
    fn quantile(&self, level: Level) -> f64 {
        self.sum.quantile(level) as f64 / STEPS / self.questions - self.moved
    }
}

#[expect(clippy::cast_precision_loss, reason = "thousandths of contrasts are small")]
fn upper_bound(contrasts: &[f64], unchanged: u64, alpha: f64) -> f64 {
    // A contrast that is a whole number of thousandths but for rounding is not rounded up to the next.
    let counted = counted(contrasts.iter().map(|contrast| (contrast * FINE - 1e-9).ceil()), unchanged);
    let values: Vec<(f64, u64)> = counted.iter().map(|(value, count)| (*value as f64 / FINE, *count)).collect();
    dirichlet::upper(&values, 1.0, alpha)
}

/// The nearest whole number of steps, halves up. A contrast is taken to a millionth of a step first, so that the rounding
/// errors of its sum do not decide a half.
fn nearest_step(contrast: f64) -> f64 {
    ((contrast * STEPS * 1e6).round() / 1e6 + 0.5).floor()
}

#[expect(clippy::cast_possible_truncation, reason = "steps of contrasts are small integers")]
fn counted(steps: impl Iterator<Item = f64>, unchanged: u64) -> Contrasts {
    let mut counted = Contrasts::new();
    for step in steps {
        *counted.entry(step as i64).or_default() += 1;
    }
    if unchanged > 0 {
        *counted.entry(0).or_default() += unchanged;
    }
    counted
}

#[expect(clippy::cast_precision_loss, reason = "numbers of questions are far below 2^53")]
const fn float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::bootstrap::Bootstrap;

    #[test]
    fn bounds_whose_law_does_not_fit_memory_are_absent_where_that_of_the_gate_fits() {
        let levels = Levels::of(Settings::default().confidence);
        // Half of so many questions are whole flips one way, half the other way.
        let even = |step: i64, half: u64| Contrasts::from([(-step, half), (step, half)]);
        let (large, small) = (10_000_000, 1_000_000);
        assert!(Bootstrap::new(&even(4, large), 4).is_ok(), "two repeats have four units");
        let none = Bounds::of(Law::of_counted(&even(100, large), 0.0), &levels);
        assert_eq!(none, Bounds { lower: None, interval: None, why: Some(AnalyzeError::TooLarge.to_string()) });
        let some = Bounds::of(Law::of_counted(&even(100, small), 0.0), &levels);
        let (low, high) = some.interval.unwrap();
        assert!(low < 0.0 && 0.0 < high && some.lower.unwrap() > low && some.why.is_none(), "{some:?}");
    }
}
