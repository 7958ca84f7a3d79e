//! Clusters of questions (of one source, one session): clusters are resampled, and D* is a ratio of two sums.
//!
//! Cluster g contributes `S_g`, the sum of its contrasts in lattice units, and `n_g` questions. The law of the pair of
//! resampled sums is the G-fold convolution of the clusters' frequencies on a plane, by one two-dimensional Fourier transform;
//! the quantiles of their ratio are read off it. Where the plane would not fit memory, a quantile is found by bisection over t,
//! each step of which is one convolution on a line, `P(D* <= t) = P(sum (S_g - units t n_g) <= 0)`. Neither is drawn.

use super::AnalyzeError;
use super::dirichlet;
use super::figures::ClusterBounds;
use super::lattice::fraction;
use super::line;
use super::outlook::Resampled;
use super::plane::Plane;
use super::quantile::{Level, Levels};
use super::round::significant;
use super::settings::Settings;
use crate::model::{Fraction, Kernel};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// How many clusters have this sum of contrasts (lattice units) and this many questions.
pub type ClusterRows = BTreeMap<(i64, i64), u64>;

/// The law of `D* = sum S_g / (units sum n_g)` over resampled clusters.
#[derive(Clone, Debug)]
pub struct Ratio {
    /// Possible pairs of sums with their probabilities, by ascending ratio.
    outcomes: Vec<((i64, i64), f64)>,
    units: u64,
}

impl Ratio {
    /// Resamples all clusters with replacement; `units` is how many lattice units make 1.
    ///
    /// # Errors
    /// [`AnalyzeError::NoQuestions`] without clusters, [`AnalyzeError::TooLarge`] where the plane would not fit memory.
    ///
    /// ```
    /// use churngate::analyze::cluster::Ratio;
    /// // Three clusters of two questions each, one of which has one stable flip: P(D* <= 0) = (2/3)^3.
    /// let ratio = Ratio::new(&[((0, 2), 2), ((4, 2), 1)].into(), 4)?;
    /// assert!((ratio.at_most(0, 1) - 8.0 / 27.0).abs() < 1e-12);
    /// # Ok::<(), churngate::analyze::AnalyzeError>(())
    /// ```
    pub fn new(rows: &ClusterRows, units: u64) -> Result<Self, AnalyzeError> {
        if rows.values().sum::<u64>() == 0 {
            return Err(AnalyzeError::NoQuestions);
        }
        let plane = Plane::resample(rows).ok_or(AnalyzeError::TooLarge)?;
        let mut outcomes: Vec<((i64, i64), f64)> =
            plane.outcomes().filter(|((_, questions), _)| *questions > 0).collect();
        outcomes.sort_by(|(one, _), (other, _)| by_ratio(*one, *other));
        Ok(Self { outcomes, units })
    }

    /// P(D* <= numerator / denominator), for a positive denominator.
    #[must_use]
    pub fn at_most(&self, numerator: i64, denominator: i64) -> f64 {
        let units = i128::from(self.units);
        let within = |(sum, questions): (i64, i64)| {
            i128::from(sum) * i128::from(denominator) <= i128::from(numerator) * units * i128::from(questions)
        };
        self.outcomes.iter().take_while(|(pair, _)| within(*pair)).map(|(_, mass)| mass).sum()
    }

    /// The smallest possible ratio t with P(D* <= t) >= level, as an exact fraction.
    ///
    /// # Errors
    /// [`AnalyzeError::TooLarge`] where the denominator does not fit.
    pub fn quantile(&self, level: Level) -> Result<Fraction, AnalyzeError> {
        let mut sum = 0.0;
        let reached = self.outcomes.iter().find(|(_, mass)| {
            sum += mass;
            level.is_reached(sum)
        });
        let ((total, questions), _) = reached.or(self.outcomes.last()).ok_or(AnalyzeError::NoQuestions)?;
        fraction(*total, self.units, questions.unsigned_abs())
    }
}

/// The smallest t on a grid with `P(D* <= t) >= level`, for clusters of any sizes: one convolution a step of a bisection.
///
/// The grid is of hundredths of a percentage point; the true quantile lies less than a step and a thousandth of a standard error
/// below.
///
/// ```
/// use churngate::analyze::{cluster::grid_quantile, quantile::Level};
/// // Two clusters in three have no flip, one has one flip in two questions: P(D* <= 0) = (2/3)^3, about 30%.
/// let rows = [((0, 2), 2), ((4, 2), 1)].into();
/// let at = |share: u64| grid_quantile(&rows, 4, Level::from_units(2_000_000 * share)).value();
/// assert_eq!((at(29), at(31)), (0.0, 0.1667)); // 1/6, rounded up to the grid
/// ```
#[must_use]
pub fn grid_quantile(rows: &ClusterRows, units: u64, level: Level) -> Fraction {
    line::quantile(rows, units.cast_signed(), level)
}

/// Ascending ratio; equal ratios in a fixed order.
fn by_ratio(one: (i64, i64), other: (i64, i64)) -> Ordering {
    let left = i128::from(one.0) * i128::from(other.1);
    let right = i128::from(other.0) * i128::from(one.1);
    left.cmp(&right).then(one.cmp(&other))
}

/// The clusters met so far: what they hold grows with their number, and with nothing else.
#[derive(Clone, Debug, Default)]
pub struct Clusters {
    named: BTreeMap<String, Named>,
    /// Questions without a cluster by their contrasts: each is a cluster of its own.
    single: BTreeMap<[i64; 2], u64>,
    /// How many of those were asked.
    single_asked: u64,
    /// Further questions that were left out, by cluster.
    left_out: BTreeMap<Option<String>, u64>,
}

/// What is summed up of the questions of one cluster.
#[derive(Clone, Copy, Debug, Default)]
struct Named {
    /// Their contrasts under the exact and the semantic kernel.
    sums: [i64; 2],
    questions: i64,
    /// How many of them were asked.
    asked: i64,
}

impl Clusters {
    /// Takes one question: its cluster and, where it was asked, its contrasts under the exact and the semantic kernel, in
    /// lattice units.
    pub fn take(&mut self, cluster: Option<&str>, contrasts: Option<[i64; 2]>) {
        let asked = contrasts.is_some();
        let contrasts = contrasts.unwrap_or_default();
        let Some(cluster) = cluster else {
            *self.single.entry(contrasts).or_default() += 1;
            self.single_asked += u64::from(asked);
            return;
        };
        if !self.named.contains_key(cluster) {
            self.named.insert(cluster.to_owned(), Named::default());
        }
        if let Some(named) = self.named.get_mut(cluster) {
            named.sums = [named.sums[0] + contrasts[0], named.sums[1] + contrasts[1]];
            named.questions += 1;
            named.asked += i64::from(asked);
        }
    }

    /// Takes a question that was left out, which the upper bound takes for wholly changed.
    pub fn leave_out(&mut self, cluster: Option<&str>) {
        *self.left_out.entry(cluster.map(str::to_owned)).or_default() += 1;
    }

    /// The bounds of one kernel over clusters; absent where no question names its cluster. One cluster around all
    /// questions has bounds without width, and is too few for any line of a rule. Of a kernel that is blind the upper bound takes each asked question for wholly changed.
    ///
    /// # Errors
    /// Those of [`Ratio::new`].
    pub fn bounds(
        &self,
        kernel: Kernel,
        units: u64,
        is_blind: bool,
        settings: &Settings,
    ) -> Result<Option<ClusterBounds>, AnalyzeError> {
        if self.named.is_empty() {
            return Ok(None);
        }
        let rows = self.rows(kernel);
        let levels = Levels::of(settings.confidence);
        let plane = match Ratio::new(&rows, units) {
            Err(AnalyzeError::TooLarge) => None,
            other => Some(other?),
        };
        let at = |level| match &plane {
            Some(ratio) => ratio.quantile(level),
            None => Ok(grid_quantile(&rows, units, level)),
        };
        Ok(Some(ClusterBounds {
            clusters: rows.values().sum(),
            asked: self.single_asked + self.named.values().map(|named| u64::from(named.asked > 0)).sum::<u64>(),
            exact: plane.is_some(),
            size: significant(mean_size(&rows)),
            spread: significant(spread(&rows, units)),
            lower_bound: at(levels.lower)?,
            interval: (at(levels.low)?, at(levels.high)?),
            upper_bound: significant(upper_bound(
                &self.worst(kernel, units, is_blind),
                units,
                settings.confidence.alpha(),
            )),
        }))
    }

    /// The clusters of one kernel as they are resampled; absent where bounds over them are.
    pub(super) fn resampled(&self, kernel: Kernel, units: u64) -> Option<Resampled> {
        let seen = (!self.named.is_empty()).then(|| self.rows(kernel))?;
        Some(Resampled { seen, worst: self.worst(kernel, units, false) })
    }

    fn rows(&self, kernel: Kernel) -> ClusterRows {
        let mut rows = ClusterRows::new();
        for (contrasts, count) in &self.single {
            *rows.entry((of_kernel(*contrasts, kernel), 1)).or_default() += count;
        }
        for Named { sums, questions, .. } in self.named.values() {
            *rows.entry((of_kernel(*sums, kernel), *questions)).or_default() += 1;
        }
        rows
    }

    /// The same where each question counts as wholly changed in which nothing could be seen: those left out, and, where the
    /// kernel is blind, all that were asked.
    fn worst(&self, kernel: Kernel, units: u64, is_blind: bool) -> ClusterRows {
        let mut all = if is_blind { self.with_asked_changed(units.cast_signed()) } else { self.clone() };
        for (cluster, count) in &self.left_out {
            for _ in 0..*count {
                all.take(cluster.as_deref(), Some([units.cast_signed(); 2]));
            }
        }
        all.rows(kernel)
    }

    fn with_asked_changed(&self, units: i64) -> Self {
        let spared = self.single.values().sum::<u64>() - self.single_asked;
        let mut all = self.clone();
        all.single = [([units; 2], self.single_asked), ([0; 2], spared)].into();
        for named in all.named.values_mut() {
            named.sums = [named.asked * units; 2];
        }
        all
    }
}

/// `sum n_g^2 / sum n_g`.
#[expect(clippy::cast_precision_loss, reason = "numbers of questions are far below 2^53")]
fn mean_size(rows: &ClusterRows) -> f64 {
    let weighed =
        |power| rows.iter().map(|((_, questions), count)| (*questions as f64).powi(power) * *count as f64).sum::<f64>();
    weighed(2) / weighed(1)
}

/// `sqrt(sum (S_g - D n_g)^2 / N)`: what the delta method gives a ratio of two sums over independent clusters.
#[expect(clippy::cast_precision_loss, reason = "lattice values are far below 2^53")]
fn spread(rows: &ClusterRows, units: u64) -> f64 {
    let each =
        || rows.iter().map(|((sum, questions), count)| (*sum as f64 / units as f64, *questions as f64, *count as f64));
    let all: f64 = each().map(|(_, questions, count)| questions * count).sum();
    let churn = each().map(|(sum, _, count)| sum * count).sum::<f64>() / all;
    let squares: f64 = each().map(|(sum, questions, count)| (sum - churn * questions).powi(2) * count).sum();
    (squares / all).sqrt()
}

const fn of_kernel([exact, semantic]: [i64; 2], kernel: Kernel) -> i64 {
    match kernel {
        Kernel::Exact => exact,
        Kernel::Semantic => semantic,
    }
}

/// The Dirichlet bound with one weight a cluster: the t with `P(sum_g (S_g - t n_g) G_g + (1 - t) n_max G_0 <= 0) = 1 - alpha`.
/// With clusters of equal size it is the bound of the mean of cluster means; an unseen cluster is taken as large as the
/// largest seen and wholly flipped.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "lattice values are far below 2^53")]
pub fn upper_bound(rows: &ClusterRows, units: u64, alpha: f64) -> f64 {
    let largest = rows.keys().map(|(_, questions)| *questions).max().unwrap_or(1) as f64;
    let scaled: Vec<dirichlet::Weighted> = rows
        .iter()
        .map(|((sum, questions), count)| dirichlet::Weighted {
            sum: *sum as f64 / units as f64 / largest,
            weight: *questions as f64 / largest,
            count: *count as f64,
        })
        .collect();
    dirichlet::upper_ratio(&scaled, 1.0, alpha)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(questions: &[(Option<&str>, Option<[i64; 2]>)]) -> Option<ClusterBounds> {
        let mut clusters = Clusters::default();
        for (cluster, contrasts) in questions {
            clusters.take(*cluster, *contrasts);
        }
        clusters.bounds(Kernel::Semantic, 4, false, &Settings::default()).unwrap()
    }

    #[test]
    fn questions_without_any_cluster_have_no_bounds_and_one_cluster_has_those_of_one_event() {
        let flip = Some([4, 4]);
        let one = bounds(&[(Some("a"), flip), (Some("a"), flip)]).unwrap();
        assert_eq!((one.clusters, one.asked), (1, 1));
        assert_eq!(bounds(&[(None, flip), (None, flip)]), None);
        assert_eq!(bounds(&[]), None);
        assert_eq!(bounds(&[(Some("a"), flip), (None, None)]).unwrap().clusters, 2);
        assert_eq!(bounds(&[(Some("a"), flip), (Some("b"), None)]).unwrap().clusters, 2);
    }

    #[test]
    fn the_spread_over_clusters_of_one_question_is_that_of_questions_and_grows_with_their_size() {
        let alone: ClusterRows = [((4, 1), 40), ((0, 1), 360)].into();
        assert!((spread(&alone, 4) - (0.1_f64 * 0.9).sqrt()).abs() < 1e-12 && mean_size(&alone) <= 1.0);
        // Two of twenty clusters of ten flip.
        let tens: ClusterRows = [((40, 10), 2), ((0, 10), 18)].into();
        assert!((spread(&tens, 4) - (0.9_f64).sqrt()).abs() < 1e-12);
        assert!((mean_size(&tens) - 10.0).abs() < 1e-12);
        assert!((mean_size(&[((0, 1), 10), ((0, 10), 1)].into()) - 5.5).abs() < 1e-12);
    }

    #[test]
    fn clusters_count_as_asked_where_any_of_their_questions_was() {
        let flip = Some([4, 4]);
        let found =
            bounds(&[(Some("a"), flip), (Some("a"), None), (Some("b"), None), (None, Some([0; 2])), (None, None)]);
        assert_eq!(found.map(|found| (found.clusters, found.asked)), Some((4, 2)));
    }
}
