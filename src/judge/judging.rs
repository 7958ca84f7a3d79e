//! The ledgers of judgments: whose they are, in which order answers are shown, and what a missing label means there.

use super::packet::Orders;
use crate::freeze::Protocol;
use crate::http::{Place, Remedy, Served};
use crate::ledger::record::{AnswersRecord, JudgmentsRecord, Outcome, Record, Verdict};
use crate::ledger::stage::{Again, Judgments, ReplicaJudgments, Second, Stage};
use crate::ledger::{self, Recorded};
use crate::model::{Failure, ServedModels, StageName};
use camino::Utf8Path;

/// Takes the model that a server named beside a reply, and the reply's id.
pub type Said<'a> = dyn FnMut(Option<&str>, Option<&str>) -> Result<(), Failure> + 'a;

/// A ledger of judgments.
pub trait Judging: Recorded + Stage<Record = JudgmentsRecord, Before: Recorded<Record = AnswersRecord>> {
    /// What progress calls it.
    const STAGE: StageName;
    /// What messages call the judge.
    const WHOSE: &'static str;
    /// Whether the verdict rests on it. A diagnosis is sealed with whatever labels it lacks, and says so in place of a figure.
    const DECIDES: bool;
    /// The files of earlier ledgers in which the same judge's server said something.
    const BEFORE: &'static [&'static str] = &[];

    /// The order in which answers are shown.
    #[must_use]
    fn orders(protocol: &Protocol) -> Orders {
        Orders { first: protocol.seeds.packets, again: None }
    }

    /// What the judge's server says beside accepted judgments: nothing yet.
    #[must_use]
    fn served(rule: ServedModels, place: Place) -> Served {
        Served::by(Self::WHOSE, Self::remedy(place), rule)
    }

    /// What is to be done where its replies cannot stand beside each other, those of earlier ledgers included.
    #[must_use]
    fn remedy(place: Place) -> Remedy {
        Remedy { spoiled: Self::FILE, with: Self::BEFORE.to_vec(), place }
    }

    /// Shows what the same judge's server said in earlier ledgers: it must not have changed its model, nor give a reply of
    /// those again.
    ///
    /// # Errors
    /// A ledger is damaged, or those of `each`.
    fn said_before(_folder: &Utf8Path, _each: &mut Said<'_>) -> Result<(), Failure> {
        Ok(())
    }
}

impl Judging for Judgments {
    const STAGE: StageName = StageName::Judge;
    const WHOSE: &'static str = "judge";
    const DECIDES: bool = true;
}

impl Judging for Again {
    const STAGE: StageName = StageName::JudgeAgain;
    const WHOSE: &'static str = "judge";
    const DECIDES: bool = false;
    const BEFORE: &'static [&'static str] = &[Judgments::FILE];

    fn orders(protocol: &Protocol) -> Orders {
        Orders { first: protocol.seeds.packets, again: Some(protocol.seeds.packets_again) }
    }

    fn said_before(folder: &Utf8Path, each: &mut Said<'_>) -> Result<(), Failure> {
        said::<Judgments>(folder, each)
    }
}

/// The second judge is shown the very packets that the first one was: their order makes no difference between the two.
impl Judging for Second {
    const STAGE: StageName = StageName::JudgeSecond;
    const WHOSE: &'static str = "second judge";
    const DECIDES: bool = false;
}

/// Answers of a second generator, judged by the verdict's judge.
impl Judging for ReplicaJudgments {
    const STAGE: StageName = StageName::JudgeReplica;
    const WHOSE: &'static str = "judge";
    const DECIDES: bool = false;
    const BEFORE: &'static [&'static str] = &[Judgments::FILE, Again::FILE];

    fn said_before(folder: &Utf8Path, each: &mut Said<'_>) -> Result<(), Failure> {
        said::<Judgments>(folder, each)?;
        if folder.join(Again::FILE).exists() { said::<Again>(folder, each) } else { Ok(()) }
    }
}

/// Shows what stands beside the accepted judgments of a ledger.
fn said<S: Judging>(folder: &Utf8Path, each: &mut Said<'_>) -> Result<(), Failure> {
    for record in ledger::read::<S>(folder)? {
        if let Record::Outcome(Outcome { verdict: Verdict::Accepted(_), served_model, response_id, .. }) = record?.1 {
            each(served_model.as_deref(), response_id.as_deref())?;
        }
    }
    Ok(())
}
