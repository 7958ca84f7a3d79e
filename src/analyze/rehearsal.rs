//! What kinds of change would show: the joint law of a question's exact and semantic contrast, and audits drawn from it.
//!
//! Before anything is spent nobody knows how much the answers of a system vary. Two studies tell for two repeats: questions of
//! each agree with one another as theirs did, under no change, under a change of wording alone (same meanings, no word
//! kept) and under a change of every meaning.

use super::bootstrap::Contrasts;
use super::planning::Scenario;
use super::stream;

/// The contrasts of one question, exact and semantic, in quarters, and their probability.
pub type Joint = ((i64, i64), f64);

/// How the new snapshot differs from the old one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change {
    /// In nothing.
    Nothing,
    /// In the wording of every answer, and in no meaning.
    Wording,
    /// In the meaning of so many answers that D under the semantic kernel is this share of 1.
    Meaning(f64),
}

/// The contrasts of one audit, in quarters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drawn {
    /// Under the exact kernel.
    pub exact: Contrasts,
    /// Under the semantic kernel.
    pub semantic: Contrasts,
}

/// Probabilities are drawn as whole numbers out of 2^50.
const UNITS: f64 = 1_125_899_906_842_624.0;

const NQ_NOTHING: &[Joint] = &[
    ((-2, -2), 0.005_565_145_968),
    ((-2, 0), 0.039_169_415_74),
    ((-1, -2), 0.010_018_872_86),
    ((-1, -1), 0.003_359_232),
    ((-1, 0), 0.292_411_178_8),
    ((0, -2), 0.020_679_981_17),
    ((0, -1), 0.008_160_768),
    ((0, 0), 0.430_953_108_28),
    ((0, 2), 0.004_080_384),
    ((0, 4), 0.010_339_990_58),
    ((2, 0), 0.146_205_589_38),
    ((2, 2), 0.001_679_616),
    ((2, 4), 0.005_009_436_432),
    ((4, 0), 0.019_584_707_87),
    ((4, 4), 0.002_782_572_984),
];
const NQ_WORDING: &[Joint] = &[
    ((0, -2), 0.036_264),
    ((0, -1), 0.011_52),
    ((0, 0), 0.544_233_868),
    ((0, 2), 0.004_080_384),
    ((0, 4), 0.010_339_990_58),
    ((2, 0), 0.258_120_542_4),
    ((2, 2), 0.001_679_616),
    ((2, 4), 0.005_009_436_432),
    ((4, 0), 0.125_969_589_6),
    ((4, 4), 0.002_782_572_984),
];
const NQ_MEANING: &[Joint] = &[
    ((0, 0), 0.047_784),
    ((0, 2), 0.080_213_548_8),
    ((0, 4), 0.478_440_693_8),
    ((2, 2), 0.033_018_451_2),
    ((2, 4), 0.231_791_143_6),
    ((4, 4), 0.128_752_162_6),
];
const TQA_NOTHING: &[Joint] = &[
    ((-2, -2), 0.005_061_742_08),
    ((-2, 0), 0.064_134_442_24),
    ((-1, -2), 0.002_465_379_84),
    ((-1, 0), 0.107_535_859_2),
    ((0, -2), 0.001_568_878_08),
    ((0, 0), 0.728_850_547_8),
    ((0, 4), 0.000_784_439_04),
    ((2, 0), 0.053_767_929_6),
    ((2, 4), 0.001_232_689_92),
    ((4, 0), 0.032_067_221_12),
    ((4, 4), 0.002_530_871_04),
];
const TQA_WORDING: &[Joint] = &[
    ((0, -2), 0.009_096),
    ((0, 0), 0.173_841_015),
    ((0, 4), 0.000_784_439_04),
    ((2, 0), 0.278_879_602),
    ((2, 4), 0.001_232_689_92),
    ((4, 0), 0.533_635_383),
    ((4, 4), 0.002_530_871_04),
];
const TQA_MEANING: &[Joint] = &[
    ((0, 0), 0.009_096),
    ((0, 2), 0.008_441_664),
    ((0, 4), 0.166_183_790_1),
    ((2, 2), 0.018_966_336),
    ((2, 4), 0.261_145_955_8),
    ((4, 4), 0.536_166_254_1),
];

impl Scenario {
    /// The joint law of a question's contrasts. A changed meaning comes with weight `D / E[d | changed]`.
    ///
    /// ```
    /// use churngate::analyze::{planning::Scenario, rehearsal::Change};
    /// let law = Scenario::NaturalQuestionsLike.joint(Change::Meaning(0.05));
    /// let churn: f64 = law.iter().map(|((_, semantic), mass)| *semantic as f64 / 4.0 * mass).sum();
    /// assert!((churn - 0.05).abs() < 1e-9);
    /// ```
    #[must_use]
    pub fn joint(self, change: Change) -> Vec<Joint> {
        let (nothing, wording, meaning) = match self {
            Self::NaturalQuestionsLike => (NQ_NOTHING, NQ_WORDING, NQ_MEANING),
            Self::TriviaQaLike => (TQA_NOTHING, TQA_WORDING, TQA_MEANING),
        };
        let weighed =
            |law: &[Joint], weight: f64| law.iter().map(|(row, mass)| (*row, mass * weight)).collect::<Vec<Joint>>();
        match change {
            Change::Nothing => nothing.to_vec(),
            Change::Wording => wording.to_vec(),
            Change::Meaning(churn) => {
                let full: f64 = meaning.iter().map(|((_, semantic), mass)| quarters(*semantic) * mass).sum();
                let changed = (churn / full).clamp(0.0, 1.0);
                [weighed(meaning, changed), weighed(nothing, 1.0 - changed)].concat()
            }
        }
    }
}

/// Audits of this many questions, drawn from a law; the same arguments give the same audits.
///
/// ```
/// use churngate::analyze::rehearsal::audits;
/// let flips = audits(&[((4, 4), 0.25), ((0, 0), 0.75)], 100, 20);
/// let of = |place: usize| flips[place].semantic.get(&4).copied().unwrap_or(0);
/// assert!((0..20).all(|audit| (5..50).contains(&of(audit))));
/// ```
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "shares of 2^50")]
pub fn audits(law: &[Joint], questions: u64, audits: u32) -> Vec<Drawn> {
    let weights: Vec<u64> = law.iter().map(|(_, mass)| (mass * UNITS).round() as u64).collect();
    let audit = |drawn: &[u64]| {
        let mut audit = Drawn::default();
        for (((exact, semantic), _), times) in law.iter().zip(drawn).filter(|(_, times)| **times > 0) {
            *audit.exact.entry(*exact).or_default() += times;
            *audit.semantic.entry(*semantic).or_default() += times;
        }
        audit
    };
    stream::sample(&weights, questions, audits, [0; 32], audit)
}

#[expect(clippy::cast_precision_loss, reason = "small values")]
fn quarters(value: i64) -> f64 {
    value as f64 / 4.0
}
