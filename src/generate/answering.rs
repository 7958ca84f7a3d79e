//! The ledgers of answers: whose they are, and what a missing answer means there.

use crate::http::{Place, Remedy, Served};
use crate::ledger::Recorded;
use crate::ledger::record::AnswersRecord;
use crate::ledger::stage::{self, Answers, Counterfactuals, Evidence, ReplicaAnswers, Stage};
use crate::model::{ServedModels, StageName};

/// A ledger of answers.
pub trait Answering: Recorded + Stage<Record = AnswersRecord, Before = Evidence> {
    /// What progress calls it.
    const STAGE: StageName;
    /// What messages call the generator.
    const WHOSE: &'static str;
    /// Whether the verdict rests on it. A diagnosis is about a sample of the questions, and is sealed with whatever answers it
    /// lacks: it says so in place of a figure.
    const DECIDES: bool;

    /// What servers say beside accepted answers: nothing yet.
    #[must_use]
    fn served(rule: ServedModels, place: Place) -> Served {
        Served::by(Self::WHOSE, Self::remedy(place), rule)
    }

    /// What is to be done where they cannot stand beside each other.
    #[must_use]
    fn remedy(place: Place) -> Remedy {
        Remedy { spoiled: Self::FILE, with: stage::continued_by::<Self>(), place }
    }
}

impl Answering for Answers {
    const STAGE: StageName = StageName::Generate;
    const WHOSE: &'static str = "generator";
    const DECIDES: bool = true;
}

impl Answering for ReplicaAnswers {
    const STAGE: StageName = StageName::Replicate;
    const WHOSE: &'static str = "second generator";
    const DECIDES: bool = false;
}

/// They are compared with the run's own: a server that has changed its model since is told beside them, and stops nothing.
impl Answering for Counterfactuals {
    const STAGE: StageName = StageName::Explain;
    const WHOSE: &'static str = "generator";
    const DECIDES: bool = false;

    fn remedy(_: Place) -> Remedy {
        Remedy { spoiled: Self::FILE, with: Vec::new(), place: Place::Explanation }
    }
}
