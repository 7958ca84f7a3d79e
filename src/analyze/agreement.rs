//! Two judges on the same pairs of answers: agreement, Cohen's kappa, exact partitions.

use super::stream;
use crate::model::Label;
use serde::{Deserialize, Serialize};

/// How two judges label pairs of answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Table {
    /// Both say that the answers mean the same.
    pub both_same: u64,
    /// Only the first judge says so.
    pub only_first: u64,
    /// Only the second judge says so.
    pub only_second: u64,
    /// Both say that they differ.
    pub both_different: u64,
}

/// Agreement of two judges over an audit, with intervals over questions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JudgeAgreement {
    /// The pairs of all questions.
    pub table: Table,
    /// The share of pairs with equal labels; absent without pairs.
    pub agreement: Option<f64>,
    /// Cohen's kappa; absent where both judges give one and the same label throughout.
    pub kappa: Option<f64>,
    /// Questions all of whose pairs have equal labels.
    pub same_partition: u64,
    /// Questions.
    pub questions: u64,
    /// Two-sided percentile interval of the agreement over resampled questions.
    pub agreement_interval: Option<(f64, f64)>,
    /// The same of kappa. A draw without kappa is left out.
    pub kappa_interval: Option<(f64, f64)>,
}

impl Table {
    /// Pairs of answers.
    #[must_use]
    pub const fn pairs(&self) -> u64 {
        self.both_same + self.only_first + self.only_second + self.both_different
    }

    /// Pairs with equal labels.
    #[must_use]
    pub const fn alike(&self) -> u64 {
        self.both_same + self.both_different
    }

    /// Counts a pair that the judges label so.
    pub const fn count(&mut self, first: Label, second: Label) {
        *match (first, second) {
            (Label::Same, Label::Same) => &mut self.both_same,
            (Label::Same, Label::Different) => &mut self.only_first,
            (Label::Different, Label::Same) => &mut self.only_second,
            (Label::Different, Label::Different) => &mut self.both_different,
        } += 1;
    }

    /// The share of equal labels; `None` without pairs.
    #[must_use]
    pub fn agreement(&self) -> Option<f64> {
        let [same, _, _, different] = self.shares()?;
        Some(same + different)
    }

    /// Cohen's kappa, `(p_o - p_e) / (1 - p_e)`; `None` where `p_e` is 1.
    ///
    /// ```
    /// use churngate::analyze::agreement::Table;
    /// let table = Table { both_same: 20, only_first: 5, only_second: 10, both_different: 15 };
    /// assert!((table.kappa().unwrap() - 0.4).abs() < 1e-12);
    /// ```
    #[must_use]
    pub fn kappa(&self) -> Option<f64> {
        let expected = self.expected()?;
        Some((self.agreement()? - expected) / (1.0 - expected))
    }

    /// The large-sample standard error of kappa (Fleiss, Cohen and Everitt 1969), which takes pairs as independent: for
    /// comparison with other programs. The interval over questions is the one to report.
    #[must_use]
    pub fn kappa_error(&self) -> Option<f64> {
        let [a, b, c, d] = self.shares()?;
        let (expected, kappa) = (self.expected()?, self.kappa()?);
        let (first, second) = (a + b, a + c);
        let rest = 1.0 - kappa;
        let equal = a * (1.0 - (first + second) * rest).powi(2) + d * (1.0 - (2.0 - first - second) * rest).powi(2);
        let unequal = rest.powi(2) * (b * (second + 1.0 - first).powi(2) + c * (1.0 - second + first).powi(2));
        let correction = (kappa - expected * rest).powi(2);
        let variance = (equal + unequal - correction) / ((1.0 - expected).powi(2) * float(self.pairs()));
        Some(variance.max(0.0).sqrt())
    }

    fn shares(&self) -> Option<[f64; 4]> {
        let pairs = self.pairs();
        let share = |count| float(count) / float(pairs);
        (pairs > 0).then(|| [self.both_same, self.only_first, self.only_second, self.both_different].map(share))
    }

    /// Agreement expected by chance; `None` where it is 1.
    fn expected(&self) -> Option<f64> {
        let pairs = self.pairs();
        let (first, second) = (self.both_same + self.only_first, self.both_same + self.only_second);
        if pairs == 0 || (first == pairs && second == pairs) || (first == 0 && second == 0) {
            return None;
        }
        let (first, second) = (float(first) / float(pairs), float(second) / float(pairs));
        Some(first * second + (1.0 - first) * (1.0 - second))
    }

    const fn add(&mut self, other: &Self, times: u64) {
        self.both_same += other.both_same * times;
        self.only_first += other.only_first * times;
        self.only_second += other.only_second * times;
        self.both_different += other.both_different * times;
    }
}

/// Agreement over questions, each with its own table. Intervals resample whole questions, because the pairs of one
/// question are not independent; `alpha` is their two-sided error.
///
/// ```
/// use churngate::analyze::agreement::{Table, compare};
/// let alike = Table { both_same: 3, both_different: 3, ..Table::default() };
/// let compared = compare(&[alike; 20], 2_000, [1; 32], 0.05);
/// assert_eq!((compared.kappa, compared.kappa_interval, compared.same_partition), (Some(1.0), Some((1.0, 1.0)), 20));
/// ```
#[must_use]
pub fn compare(questions: &[Table], draws: u32, key: [u8; 32], alpha: f64) -> JudgeAgreement {
    let mut rows = std::collections::BTreeMap::new();
    for question in questions {
        *rows.entry(*question).or_insert(0_u64) += 1;
    }
    let counts: Vec<u64> = rows.values().copied().collect();
    let total = |counts: &[u64]| {
        let mut table = Table::default();
        rows.keys().zip(counts).for_each(|(row, count)| table.add(row, *count));
        table
    };
    let resampled = stream::map(&counts, draws, key, total);
    let table = total(&counts);
    let unanimous = |question: &&Table| question.only_first == 0 && question.only_second == 0;
    JudgeAgreement {
        table,
        agreement: table.agreement(),
        kappa: table.kappa(),
        same_partition: questions.iter().filter(unanimous).count() as u64,
        questions: questions.len() as u64,
        agreement_interval: interval(resampled.iter().filter_map(Table::agreement).collect(), alpha),
        kappa_interval: interval(resampled.iter().filter_map(Table::kappa).collect(), alpha),
    }
}

/// The values at the ranks `ceil(alpha / 2 * B)` and `ceil((1 - alpha / 2) * B)` of B sorted values.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "ranks are between 0 and the number of draws"
)]
#[expect(clippy::cast_precision_loss, reason = "numbers of draws are far below 2^53")]
fn interval(mut values: Vec<f64>, alpha: f64) -> Option<(f64, f64)> {
    values.sort_by(f64::total_cmp);
    let at = |level: f64| {
        let rank = (level * values.len() as f64).ceil() as usize;
        values.get(rank.saturating_sub(1)).copied()
    };
    Some((at(alpha / 2.0)?, at(1.0 - alpha / 2.0)?))
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
const fn float(count: u64) -> f64 {
    count as f64
}
