//! What the judge's second pass and the second judge came to, from their ledgers and the observations of their samples.

use super::found::{self, Texts};
use super::replica::{self, Answered};
use super::tally::Tally;
use super::{machinery, recompute};
use crate::analyze::{Compared, Diagnostics, OtherLabels, Sampled, SecondJudge, SelfConsistency};
use crate::freeze::Protocol;
use crate::judge::Judging;
use crate::ledger;
use crate::ledger::record::{Outcome, Packet, Record, Verdict};
use crate::ledger::stage::{Again, Second};
use crate::model::{Failure, Fraction, Observation, QuestionId};
use crate::report::Ledger;
use camino::Utf8Path;
use std::collections::{BTreeMap, BTreeSet};

/// What a ledger of judgments says.
#[derive(Default)]
pub(super) struct Read {
    /// The labels of each question's pairs.
    pub labels: OtherLabels,
    packets: BTreeMap<QuestionId, Packet>,
    models: BTreeSet<String>,
}

/// The diagnostics that the protocol asks for; nothing where it asks for none. `observed` are the observations of at least all
/// sampled questions, `answered` what a second generator gave; `tally` counts the calls.
///
/// # Errors
/// A ledger is damaged, or the statistics refuse what it says: class
/// [`FailureClass::Evidence`](crate::model::FailureClass::Evidence).
pub(super) fn diagnostics(
    protocol: &Protocol,
    folder: &Utf8Path,
    texts: &Texts,
    observed: &[Observation],
    answered: &Answered,
    tally: &mut Tally,
) -> Result<Option<Diagnostics>, Failure> {
    let diagnostics = Diagnostics {
        self_consistency: self_consistency(protocol, folder, texts, observed, tally)?,
        second_judge: second_judge(protocol, folder, texts, observed, tally)?,
        replication: replica::replication(protocol, folder, texts, observed, answered, tally)?,
    };
    Ok(Some(diagnostics).filter(|diagnostics| *diagnostics != Diagnostics::default()))
}

fn self_consistency(
    protocol: &Protocol,
    folder: &Utf8Path,
    texts: &Texts,
    observed: &[Observation],
    tally: &mut Tally,
) -> Result<Option<SelfConsistency>, Failure> {
    if protocol.spec.judge.again.is_none() {
        return Ok(None);
    }
    let read = read::<Again>(folder, Ledger::Again, texts, tally)?;
    let observed = of_sample(observed, &protocol.samples.again);
    let compared = Compared::new(&observed, &read.labels);
    let sample = sampled(protocol, protocol.samples.again.len(), &compared);
    let settings = recompute::settings(protocol);
    let labels = sample.why.is_none().then(|| compared.flips(&settings, protocol.seeds.diagnostics));
    Ok(Some(SelfConsistency { sample, labels }))
}

fn second_judge(
    protocol: &Protocol,
    folder: &Utf8Path,
    texts: &Texts,
    observed: &[Observation],
    tally: &mut Tally,
) -> Result<Option<SecondJudge>, Failure> {
    let Some(spec) = &protocol.spec.judge.second else { return Ok(None) };
    let read = read::<Second>(folder, Ledger::Second, texts, tally)?;
    let observed = of_sample(observed, &protocol.samples.second);
    let compared = Compared::new(&observed, &read.labels);
    let sample = sampled(protocol, protocol.samples.second.len(), &compared);
    let settings = recompute::settings(protocol);
    let opinions = || compared.opinions(&settings, protocol.seeds.diagnostics).map_err(recompute::refused);
    Ok(Some(SecondJudge {
        judge: machinery::judge(&spec.backend),
        served_models: read.models.into_iter().collect(),
        labels: if sample.why.is_none() { Some(opinions()?) } else { None },
        sample,
    }))
}

fn of_sample<'a>(observed: &'a [Observation], sample: &BTreeSet<QuestionId>) -> Vec<&'a Observation> {
    observed.iter().filter(|observation| sample.contains(&observation.id)).collect()
}

/// What the figures rest on, and why there are none: nothing to compare, or more packets without labels than the spec tolerates.
fn sampled(protocol: &Protocol, questions: usize, compared: &Compared<'_>) -> Sampled {
    let Compared { packets, unjudged, .. } = compared;
    let sample = weighed(protocol, questions, *packets, *unjudged);
    let nothing = match *packets {
        0 => Some("there is no packet among the sample's questions".to_owned()),
        all if *unjudged >= all => Some("no packet among the sample's questions has a judgment".to_owned()),
        _ => None,
    };
    Sampled { why: nothing.or(sample.why), ..sample }
}

/// The same, whatever the packets are of.
pub(super) fn weighed(protocol: &Protocol, questions: usize, packets: u64, unjudged: u64) -> Sampled {
    let share = Fraction { numerator: i64::try_from(unjudged).unwrap_or(i64::MAX), denominator: packets.max(1) };
    let too_many = share.compare(protocol.spec.tolerance.invalid_cells).is_gt();
    let why = too_many.then(|| {
        format!("{unjudged} of {packets} packets have no judgment, more than `tolerance.invalid_cells` allows")
    });
    Sampled { questions: questions as u64, packets, unjudged, why }
}

/// Reads a ledger once.
pub(super) fn read<S: Judging>(
    folder: &Utf8Path,
    ledger: Ledger,
    texts: &Texts,
    tally: &mut Tally,
) -> Result<Read, Failure> {
    let mut read = Read::default();
    for record in ledger::read::<S>(folder)? {
        let (seq, record) = record?;
        tally.side(ledger, seq, &record);
        match record {
            Record::Note(packet) => {
                read.packets.insert(packet.question.clone(), packet);
            }
            Record::Outcome(Outcome { of, verdict: Verdict::Accepted(judgment), served_model, .. }) => {
                let packet = read.packets.get(&of).ok_or_else(|| found::unfit(&of, "a judgment without its packet"))?;
                let labels = found::labels(packet, &judgment, |digest| texts.answer(digest))?;
                read.labels.entry(of).or_default().extend(labels);
                read.models.extend(served_model);
            }
            Record::Attempt(_) | Record::Outcome(_) => {}
        }
    }
    Ok(read)
}
