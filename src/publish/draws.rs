//! Earlier draws of one audit on a pull request. Answers are drawn at random, and the rule's error rates hold for one draw: whoever
//! draws until an audit passes has it pass. So the comment's marker keeps what each draw came to.

use super::wording;
use crate::model::Digest;
use crate::report::{AuditResult, Verdict};
use std::fmt;

/// Draws that a marker keeps, the newest ones.
const KEPT: usize = 40;

/// What an audit came to once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draw {
    /// The first digits of the protocol's digest.
    pub protocol: String,
    /// The first digits of a digest of the heads of its ledgers: a run that is found again is no new draw.
    pub run: String,
    /// The verdict's word.
    pub verdict: String,
}

impl Draw {
    /// The draw that a result is of; none of what no chance is in: a replay, and a change that leaves the corpus as it is.
    pub(super) fn of(result: &AuditResult) -> Option<Self> {
        let unchanged = result.same_content && result.decision.verdict == Verdict::Inconclusive;
        if result.is_replay() || unchanged {
            return None;
        }
        let heads: Vec<String> = result.record.heads.iter().map(|(name, head)| format!("{name} {head}")).collect();
        Some(Self {
            protocol: result.protocol.short(),
            run: Digest::of(heads.join("\n").as_bytes()).short(),
            verdict: wording::word(result.decision.verdict).to_owned(),
        })
    }

    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('.').map(str::to_owned);
        let draw = Self { protocol: parts.next()?, run: parts.next()?, verdict: parts.next()? };
        let plain = |part: &String| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let whole = parts.next().is_none() && [&draw.protocol, &draw.run, &draw.verdict].into_iter().all(plain);
        whole.then_some(draw)
    }
}

impl fmt::Display for Draw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { protocol, run, verdict } = self;
        write!(f, "{protocol}.{run}.{verdict}")
    }
}

/// The draws on a pull request, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draws(Vec<Draw>);

impl Draws {
    /// Reads what a marker says. What is no draw is passed over.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        Self(text.split(',').filter_map(Draw::parse).collect())
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// These, and those of others that are not among them.
    pub(super) fn join(&mut self, others: &Self) {
        for draw in &others.0 {
            self.add(draw);
        }
    }

    /// The verdicts of the same protocol before this draw, the oldest first. Keeps the draw.
    pub(super) fn before(&mut self, draw: &Draw) -> Vec<String> {
        let earlier = self.0.iter().take_while(|other| !is_same(other, draw));
        let of_protocol = earlier.filter(|other| other.protocol == draw.protocol);
        let verdicts = of_protocol.map(|other| other.verdict.clone()).collect();
        self.add(draw);
        verdicts
    }

    fn add(&mut self, draw: &Draw) {
        if !self.0.iter().any(|other| is_same(other, draw)) {
            self.0.push(draw.clone());
        }
        let surplus = self.0.len().saturating_sub(KEPT);
        self.0.drain(..surplus);
    }
}

impl fmt::Display for Draws {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.iter().map(Draw::to_string).collect::<Vec<_>>().join(","))
    }
}

fn is_same(one: &Draw, other: &Draw) -> bool {
    (&one.protocol, &one.run) == (&other.protocol, &other.run)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::publish::fixtures::blocking;

    fn draw(protocol: &str, run: u32, verdict: &str) -> Draw {
        Draw { protocol: protocol.to_owned(), run: run.to_string(), verdict: verdict.to_owned() }
    }

    #[test]
    fn a_draw_knows_those_before_it_and_a_run_that_is_found_again_is_no_new_one() {
        let mut draws = Draws::default();
        assert!(draws.before(&draw("a", 1, "incompatible")).is_empty());
        assert!(draws.before(&draw("b", 2, "compatible")).is_empty(), "another protocol is another audit");
        assert_eq!(draws.before(&draw("a", 3, "compatible")), ["incompatible"]);
        assert_eq!(draws.before(&draw("a", 3, "compatible")), ["incompatible"], "it was found again");
        assert!(draws.before(&draw("a", 1, "incompatible")).is_empty());
        assert_eq!(draws.to_string(), "a.1.incompatible,b.2.compatible,a.3.compatible");
        assert_eq!(Draws::parse(&draws.to_string()), draws);
        let mut other = Draws::parse("a.1.incompatible,c.4.inconclusive,x,a.b,,a.b.c.d,a.-.c,a b.c.d");
        other.join(&draws);
        assert_eq!(other.to_string(), "a.1.incompatible,c.4.inconclusive,b.2.compatible,a.3.compatible");
    }

    #[test]
    fn the_newest_draws_are_kept() {
        let mut draws = Draws::default();
        for run in 0..200 {
            draws.before(&draw("a", run, "compatible"));
        }
        assert!(draws.to_string().ends_with("a.199.compatible") && draws.to_string().starts_with("a.160.compatible"));
    }

    #[test]
    fn the_heads_tell_one_draw_from_another_and_what_no_chance_is_in_is_none() {
        let result = blocking();
        let mut again = result.clone();
        assert_eq!(Draw::of(&again), Draw::of(&result));
        again.record.heads[0].1 = Digest::of(b"another");
        assert_ne!(Draw::of(&again), Draw::of(&result));
        again.record.replayed = Some(true);
        assert_eq!(Draw::of(&again), None);
        let mut unchanged = result;
        unchanged.same_content = true;
        assert!(Draw::of(&unchanged).is_some(), "it differs all the same");
        unchanged.decision.verdict = Verdict::Inconclusive;
        assert_eq!(Draw::of(&unchanged), None);
    }
}
