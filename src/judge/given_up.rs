//! Packets that were given up: from when on a judge counts as out of order, so that the others do not wait for it as well.
//!
//! A judge that is silent has an outage. One that replies and does not judge is there: what it refuses it refuses for good,
//! and a limit on such packets would end every later run at the same place.

use super::reply::{NO_JUDGMENT, REFUSED};
use crate::http::SILENT;
use crate::model::{Fraction, PercentagePoints};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What the packets are judged for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Purpose {
    /// The verdict of an audit of so many questions, of whose packets so large a share may stay without a judgment.
    Verdict { questions: u64, tolerated: PercentagePoints },
    /// A part of an audit: what may be missing is asked of the whole.
    Part,
    /// A diagnosis, which no verdict rests on.
    Diagnosis,
}

/// What became of packets so far.
#[derive(Debug)]
pub(super) struct GivenUp {
    purpose: Purpose,
    /// Whether an earlier process has a judgment on record.
    judged_before: bool,
    counts: Mutex<Counts>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    judged: u64,
    refused: u64,
    unread: u64,
    silent: u64,
    /// Those of the silent ones that failed before, beside judgments on record.
    again: u64,
}

impl GivenUp {
    /// None yet.
    pub(super) fn none(purpose: Purpose, judged_before: bool) -> Self {
        Self { purpose, judged_before, counts: Mutex::default() }
    }

    /// Counts a judgment.
    pub(super) fn judged(&self) {
        self.counts().judged += 1;
    }

    /// Counts a packet whose last attempt came to this. One that failed before says nothing of a judge that has judged others: it is
    /// asked for last, and weighed at the end. Returns how many were given up, where the judge counts as out of order.
    pub(super) fn give_up(&self, reason: &str, failed_before: bool) -> Option<u64> {
        let mut counts = self.counts();
        *match reason {
            REFUSED => &mut counts.refused,
            _ if NO_JUDGMENT.contains(&reason) => &mut counts.unread,
            _ => &mut counts.silent,
        } += 1;
        counts.again += u64::from(failed_before && self.judged_before);
        let Counts { judged, refused, unread, silent, again } = *counts;
        drop(counts);
        let all = refused + unread + silent;
        let is_outage = silent.saturating_sub(again) >= SILENT.into() || self.exceeds(silent);
        let is_silent = judged + refused + unread == 0 && is_outage;
        let is_of_no_use = judged == 0 && !self.judged_before && self.cannot_stand(all, refused);
        (all >= SILENT.into() && (is_silent || is_of_no_use)).then_some(all)
    }

    /// Whether nothing can come of the packets that are left, so many having been given up.
    fn cannot_stand(&self, all: u64, refused: u64) -> bool {
        match self.purpose {
            Purpose::Verdict { .. } => self.exceeds(all),
            Purpose::Part => false,
            Purpose::Diagnosis => refused == 0,
        }
    }

    /// Whether so many packets are more than a verdict can lack.
    fn exceeds(&self, packets: u64) -> bool {
        let Purpose::Verdict { questions, tolerated } = self.purpose else { return false };
        let numerator = i64::try_from(packets).unwrap_or(i64::MAX);
        // No audit has more packets than questions.
        Fraction { numerator, denominator: questions.max(1) }.compare(tolerated).is_gt()
    }

    /// A panic elsewhere leaves numbers that are still good.
    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROSE: &str = "judgment-not-labels";

    fn whole(tolerated: &str) -> Purpose {
        Purpose::Verdict { questions: 1_000, tolerated: tolerated.parse().unwrap() }
    }

    /// At which of these packets the judge counts as out of order, from 1.
    fn stops(given_up: &GivenUp, reasons: &[&[&str]]) -> Option<usize> {
        reasons.concat().iter().position(|reason| given_up.give_up(reason, false).is_some()).map(|at| at + 1)
    }

    #[test]
    fn a_silent_judge_is_out_of_order_whatever_it_judges_for_and_whatever_is_on_record() {
        for purpose in [whole("100pp"), Purpose::Part, Purpose::Diagnosis] {
            for judged_before in [false, true] {
                let given_up = GivenUp::none(purpose, judged_before);
                assert_eq!(stops(&given_up, &[&["timed-out"; 12]]), Some(10), "{purpose:?}");
            }
        }
    }

    #[test]
    fn one_that_refuses_is_there() {
        for (purpose, at) in [(Purpose::Part, None), (Purpose::Diagnosis, None), (whole("2pp"), Some(21))] {
            assert_eq!(stops(&GivenUp::none(purpose, false), &[&[REFUSED; 40]]), at, "{purpose:?}");
        }
        assert_eq!(
            stops(&GivenUp::none(whole("0.1pp"), false), &[&[REFUSED; 40]]),
            Some(10),
            "never at the first ones"
        );
        assert_eq!(stops(&GivenUp::none(whole("2pp"), true), &[&[REFUSED; 40]]), None, "others were judged before");
    }

    #[test]
    fn packets_without_a_reply_beside_refused_ones_are_no_outage_of_the_judge() {
        let mixed: &[&[&str]] = &[&["timed-out"; 9], &[REFUSED], &["timed-out"; 20]];
        for (purpose, at) in [(Purpose::Part, None), (Purpose::Diagnosis, None), (whole("2pp"), Some(21))] {
            assert_eq!(stops(&GivenUp::none(purpose, false), mixed), at, "{purpose:?}");
        }
    }

    #[test]
    fn one_that_writes_prose_throughout_is_of_no_use_to_a_diagnosis() {
        for (purpose, at) in [(Purpose::Part, None), (Purpose::Diagnosis, Some(10)), (whole("2pp"), Some(21))] {
            assert_eq!(stops(&GivenUp::none(purpose, false), &[&[PROSE; 40]]), at, "{purpose:?}");
        }
        assert_eq!(stops(&GivenUp::none(Purpose::Diagnosis, true), &[&[PROSE; 40]]), None);
    }

    #[test]
    fn what_failed_before_is_weighed_at_the_end_unless_no_verdict_can_stand_without_it() {
        for (purpose, judged_before, at) in [
            (whole("25pp"), true, None),
            (whole("2pp"), true, Some(21)),
            (Purpose::Part, true, None),
            (Purpose::Diagnosis, true, None),
            (whole("25pp"), false, Some(10)),
        ] {
            let given_up = GivenUp::none(purpose, judged_before);
            let stopped = (1..=40).find(|_| given_up.give_up("server-error", true).is_some());
            assert_eq!(stopped, at, "{purpose:?} {judged_before}");
        }
    }

    #[test]
    fn after_one_judgment_nothing_stops() {
        for purpose in [whole("0pp"), Purpose::Part, Purpose::Diagnosis] {
            let given_up = GivenUp::none(purpose, false);
            given_up.judged();
            assert_eq!(stops(&given_up, &[&["timed-out"; 40], &[PROSE; 40]]), None, "{purpose:?}");
        }
    }
}
