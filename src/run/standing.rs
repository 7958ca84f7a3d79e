//! Whether a run can stand with what it lacks. The stages ask this before they seal; here it is asked of whatever lies in
//! the ledgers, so that neither joined shards nor a run that somebody cut short come to a verdict.

use super::collect::Collected;
use crate::freeze::Protocol;
use crate::generate::{Answering, Missing, intolerable};
use crate::http::{Place, Remedy, Served};
use crate::judge::Judging;
use crate::ledger;
use crate::ledger::record::{Outcome, Record, Verdict};
use crate::ledger::stage::{Again, Answers, Judgments, ReplicaAnswers, ReplicaJudgments, Second, Stage as _};
use crate::model::fisher::Share;
use crate::model::{Failure, FailureClass, Fraction};
use crate::retrieve;
use camino::Utf8Path;

/// Weighs missing cells and missing judgments against the spec's tolerance, whether each snapshot gave any document, and whether
/// each gave the same twice where the spec stops at anything else.
///
/// # Errors
/// They did not, or there are too many: class [`FailureClass::Incomplete`].
pub(super) fn check(protocol: &Protocol, collected: &Collected) -> Result<(), Failure> {
    let tolerance = protocol.spec.tolerance.invalid_cells;
    let left_out = Share { counted: collected.excluded - collected.unjudged, of: collected.questions };
    let cells = intolerable(&missing(protocol, collected), left_out, tolerance);
    let why = cells.or_else(|| {
        let share = Fraction {
            numerator: i64::try_from(collected.unjudged).unwrap_or(i64::MAX),
            denominator: collected.differing.max(1),
        };
        let nothing = collected.differing > 0 && collected.unjudged >= collected.differing;
        let too_many = nothing || share.compare(tolerance).is_gt();
        too_many.then(|| {
            let (unjudged, differing) = (collected.unjudged, collected.differing);
            format!("{unjudged} of {differing} packets of different answers have no judgment, more than is tolerated")
        })
    });
    let differing = || retrieve::differing(protocol.spec.retrieve.on_mismatch, collected.mismatched);
    let why = barren(protocol, collected).or_else(differing).or(why);
    why.map_or(Ok(()), |why| Err(Failure::new(FailureClass::Incomplete, why)))
}

/// Each shard may have too few questions to tell, and what was exported has no texts to check its evidence by.
fn barren(protocol: &Protocol, collected: &Collected) -> Option<String> {
    if protocol.spec.retrieve.is_within() {
        return None;
    }
    let asked = protocol.spec.snapshots.iter().map(|snapshot| &snapshot.name);
    retrieve::intolerable(collected.questions, asked.filter(|name| !collected.filled.contains(*name)))
}

fn missing(protocol: &Protocol, collected: &Collected) -> Vec<Missing> {
    let asked = collected.questions - collected.unchanged;
    let asked = asked * u64::from(protocol.spec.generate.repeats);
    let of = |name| asked.saturating_sub(collected.accepted.get(name).copied().unwrap_or(0));
    let snapshots = protocol.snapshots.iter().map(|snapshot| &snapshot.name);
    snapshots.map(|name| Missing { snapshot: name.to_string(), asked, lacking: of(name) }).collect()
}

/// Whether the servers of a run that nobody has looked at as a whole gave no response twice and named one model each, where the spec
/// wants one: of a merged one, each shard's process knew its own part alone. What one judge says in several ledgers is held
/// together.
///
/// # Errors
/// They did not: class [`FailureClass::Incomplete`].
pub(super) fn check_served(protocol: &Protocol, folder: &Utf8Path, place: Place) -> Result<(), Failure> {
    let spec = &protocol.spec;
    let rule = spec.tolerance.served_models;
    answered::<Answers>(&Answers::served(rule, place), spec.retrieve.is_within(), folder)?;
    let with = vec![Again::FILE, ReplicaJudgments::FILE];
    let judge = Served::by(Judgments::WHOSE, Remedy { with, ..Judgments::remedy(place) }, rule);
    judged::<Judgments>(&judge, folder)?;
    if spec.judge.again.is_some() {
        judged::<Again>(&judge, folder)?;
    }
    if spec.judge.second.is_some() {
        judged::<Second>(&Second::served(rule, place), folder)?;
    }
    if spec.replicate.is_some() {
        judged::<ReplicaJudgments>(&judge, folder)?;
        answered::<ReplicaAnswers>(&ReplicaAnswers::served(rule, place), false, folder)?;
    }
    Ok(())
}

/// Each snapshot of a black box is a system of its own, and may serve a model of its own.
fn answered<S: Answering>(served: &Served, is_within: bool, folder: &Utf8Path) -> Result<(), Failure> {
    for record in ledger::read::<S>(folder)? {
        let record = record?.1;
        let system = match &record {
            Record::Outcome(outcome) if is_within => outcome.of.snapshot.0.clone(),
            _ => String::new(),
        };
        said(served, &system, &record)?;
    }
    Ok(())
}

fn judged<S: Judging>(served: &Served, folder: &Utf8Path) -> Result<(), Failure> {
    for record in ledger::read::<S>(folder)? {
        said(served, "", &record?.1)?;
    }
    Ok(())
}

fn said<K, A, N>(served: &Served, system: &str, record: &Record<K, A, N>) -> Result<(), Failure> {
    match record {
        Record::Outcome(Outcome { verdict: Verdict::Accepted(_), served_model, response_id, .. }) => {
            served.take_of(system, served_model.as_deref(), response_id.as_deref())
        }
        _ => Ok(()),
    }
}
