//! What preregistered diagnostics of the judge and of the generator came to. None of them moves the verdict.

use super::AnalyzeError;
use super::agreement::{JudgeAgreement, Table, compare};
use super::replication::{PairedChurn, Side};
use super::round::significant;
use super::settings::Settings;
use crate::model::{Answer, Kernel, Label, Observation, QuestionId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The diagnostics of one audit, each where its spec asks for it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Diagnostics {
    /// The same judge, asked again.
    pub self_consistency: Option<SelfConsistency>,
    /// A second judge.
    pub second_judge: Option<SecondJudge>,
    /// A second generator.
    pub replication: Option<Replication>,
}

/// Which questions a diagnosis rests on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sampled {
    /// Questions in the sample.
    pub questions: u64,
    /// Packets of them: those that the verdict's judge labelled as a whole, where these are labelled once more.
    pub packets: u64,
    /// Packets among these that were not labelled as a whole here.
    pub unjudged: u64,
    /// Why there are no figures, where there are none.
    pub why: Option<String>,
}

/// How far the labels of the same judge change where it is asked again, with the answers in another order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SelfConsistency {
    /// The sample.
    pub sample: Sampled,
    /// The figures; absent where too much is missing.
    pub labels: Option<LabelFlips>,
}

/// Labels that came out otherwise the second time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LabelFlips {
    /// Pairs that were labelled twice.
    pub pairs: u64,
    /// Those with another label the second time.
    pub flipped: u64,
    /// Two-sided percentile interval of `flipped / pairs` over resampled questions; absent without pairs.
    pub interval: Option<(f64, f64)>,
    /// Questions with pairs.
    pub questions: u64,
    /// Those of which any pair flipped.
    pub questions_flipped: u64,
}

/// How a second judge labels the same packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SecondJudge {
    /// Who it is.
    pub judge: String,
    /// The models that its server said it used.
    pub served_models: Vec<String>,
    /// The sample.
    pub sample: Sampled,
    /// The figures; absent where too much is missing.
    pub labels: Option<SecondOpinion>,
}

/// Two judges on the same questions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SecondOpinion {
    /// How their labels agree.
    pub agreement: JudgeAgreement,
    /// Semantic D̂ by the labels of either, on the sample's questions.
    pub churn: PairedChurn,
}

/// The same audit with a second generator, on a sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Replication {
    /// Who it is.
    pub generator: String,
    /// The models that its server said it used.
    pub served_models: Vec<String>,
    /// The sample; its packets are of the second generator's answers.
    pub sample: Sampled,
    /// Semantic D̂ of either generator over the same questions; absent where too much is missing.
    pub churn: Option<PairedChurn>,
    /// Exact D̂ over these very questions; absent likewise.
    pub exact: Option<PairedChurn>,
}

/// The labels of one question's pairs, keyed with the smaller text first.
pub type Labels = BTreeMap<(Answer, Answer), Label>;

/// The labels that another judging gave, by question.
pub type OtherLabels = BTreeMap<QuestionId, Labels>;

/// Observations with the labels of a judging of their pairs. Those that it did not label as a whole are left out.
#[derive(Debug)]
pub struct Compared<'a> {
    /// Labelled as a whole both times, or with nothing to label.
    pub both: Vec<(&'a Observation, Labels)>,
    /// Packets.
    pub packets: u64,
    /// Packets that were not labelled as a whole.
    pub unjudged: u64,
}

impl<'a> Compared<'a> {
    /// Puts together what is known of the questions of a sample.
    #[must_use]
    pub fn new(observations: &[&'a Observation], labels: &OtherLabels) -> Self {
        let mut compared = Self { both: Vec::new(), packets: 0, unjudged: 0 };
        for observation in observations {
            let other = labels.get(&observation.id).cloned().unwrap_or_default();
            let whole = observation.judgments.keys().all(|pair| other.contains_key(pair));
            compared.packets += u64::from(!observation.judgments.is_empty());
            if whole { compared.both.push((observation, other)) } else { compared.unjudged += 1 }
        }
        compared
    }

    /// The 2x2 table of each question with pairs.
    fn tables(&self) -> Vec<Table> {
        let of = |(observation, other): &(&Observation, Labels)| {
            let mut table = Table::default();
            for (pair, first) in &observation.judgments {
                let second = other.get(pair).unwrap_or(first);
                table.count(*first, *second);
            }
            table
        };
        self.both.iter().map(of).filter(|table| table.pairs() > 0).collect()
    }

    fn agreement(&self, settings: &Settings, key: [u8; 32]) -> JudgeAgreement {
        let JudgeAgreement { table, agreement, kappa, same_partition, questions, agreement_interval, kappa_interval } =
            compare(&self.tables(), settings.draws, key, settings.confidence.alpha());
        let rounded = |(low, high)| (significant(low), significant(high));
        JudgeAgreement {
            table,
            agreement: agreement.map(significant),
            kappa: kappa.map(significant),
            same_partition,
            questions,
            agreement_interval: agreement_interval.map(rounded),
            kappa_interval: kappa_interval.map(rounded),
        }
    }

    /// How far the same judge contradicts itself; `key` draws the questions behind the interval.
    #[must_use]
    pub fn flips(&self, settings: &Settings, key: [u8; 32]) -> LabelFlips {
        let JudgeAgreement { table, same_partition, questions, agreement_interval, .. } = self.agreement(settings, key);
        LabelFlips {
            pairs: table.pairs(),
            flipped: table.only_first + table.only_second,
            interval: agreement_interval.map(|(low, high)| (significant(1.0 - high), significant(1.0 - low))),
            questions,
            questions_flipped: questions - same_partition,
        }
    }

    /// Two judges on the same questions; `key` draws the questions behind the intervals of agreement.
    ///
    /// # Errors
    /// Those of [`PairedChurn::of`].
    pub fn opinions(&self, settings: &Settings, key: [u8; 32]) -> Result<SecondOpinion, AnalyzeError> {
        let first: Vec<Observation> = self.both.iter().map(|(observation, _)| (*observation).clone()).collect();
        let relabelled = |(observation, labels): &(&Observation, Labels)| Observation {
            judgments: labels.clone(),
            ..(*observation).clone()
        };
        let second: Vec<Observation> = self.both.iter().map(relabelled).collect();
        Ok(SecondOpinion {
            agreement: self.agreement(settings, key),
            churn: PairedChurn::of(Kernel::Semantic, Side::of(&first), Side::of(&second), settings)?,
        })
    }
}
