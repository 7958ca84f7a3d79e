//! Earlier draws of one audit on a pull request. Answers are drawn at random, and the rule's error rates hold for one draw: whoever
//! draws until an audit passes has it pass. So the comment's marker keeps what each draw came to.

use super::wording;
use crate::model::Digest;
use crate::report::{AuditResult, Verdict};
use std::fmt;

/// Draws that a marker keeps: the newest ones, and before all others those that block.
const KEPT: usize = 40;

/// The longest word of a draw; digests are cut to as much.
const WORD: usize = 12;

/// The word of a draw that blocks.
const INCOMPATIBLE: &str = wording::word(Verdict::Incompatible);

/// The word of what no chance is in: a change that leaves the corpus as it is.
const UNCHANGED: &str = "unchanged";

/// What an audit came to once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draw {
    /// The first digits of the digest of what was audited.
    pub audited: String,
    /// The first digits of a digest of the heads of its ledgers: a run that is found again is no new draw.
    pub run: String,
    /// The verdict's word, or `unchanged`.
    pub verdict: String,
}

impl Draw {
    /// The draw that a result is of; none of a replay.
    pub(super) fn of(result: &AuditResult) -> Option<Self> {
        if result.is_replay() {
            return None;
        }
        let unchanged = result.same_content && result.decision.verdict == Verdict::Inconclusive;
        let heads: Vec<String> = result.record.heads.iter().map(|(name, head)| format!("{name} {head}")).collect();
        Some(Self {
            audited: result.audited.unwrap_or(result.protocol).short(),
            run: Digest::of(heads.join("\n").as_bytes()).short(),
            verdict: if unchanged { UNCHANGED } else { wording::word(result.decision.verdict) }.to_owned(),
        })
    }

    /// Whether it says that the change must not pass.
    pub(super) fn blocks(&self) -> bool {
        self.verdict == INCOMPATIBLE
    }

    /// Whether another draw could have come to something else.
    pub(super) fn is_of_chance(&self) -> bool {
        self.verdict != UNCHANGED
    }

    /// What the line of its mark ends with.
    pub(super) fn signature(&self) -> String {
        format!(" [{}]", self.audited)
    }

    /// The draw that a mark which blocks is of, from its line. There is no room for the run in it.
    pub(super) fn signed(line: &str) -> Option<Self> {
        let (said, audited) = line.strip_suffix(']')?.rsplit_once(" [")?;
        said.starts_with(INCOMPATIBLE).then(|| Self::parse(&format!("{audited}.mark.{INCOMPATIBLE}")))?
    }

    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('.').map(str::to_owned);
        let draw = Self { audited: parts.next()?, run: parts.next()?, verdict: parts.next()? };
        let plain =
            |part: &String| (1..=WORD).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let whole = parts.next().is_none() && [&draw.audited, &draw.run, &draw.verdict].into_iter().all(plain);
        whole.then_some(draw)
    }
}

impl fmt::Display for Draw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { audited, run, verdict } = self;
        write!(f, "{audited}.{run}.{verdict}")
    }
}

/// The draws on a pull request, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draws(Vec<Draw>);

impl Draws {
    /// The most that a marker needs for them, in bytes.
    pub const ROOM: usize = " draws=".len() + KEPT * (3 * WORD + "..,".len());

    /// Reads what a marker says. What is no draw is passed over.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        text.split(',').filter_map(Draw::parse).collect()
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// These, and those that a commit's marks tell, before all others: a mark does not say which run it is of, so that it tells
    /// nothing where that may be one of these, or the run that this draw itself is of.
    pub(super) fn told_by(&mut self, marks: &Self, draw: &Draw) {
        let of_audit = |all: &Self| all.0.iter().find(|one| one.audited == draw.audited && one.blocks()).cloned();
        if let (Some(mark), None, false) = (of_audit(marks), of_audit(self), draw.blocks()) {
            self.0.insert(0, mark);
        }
    }

    /// These, and those of others that are not among them.
    pub(super) fn join(&mut self, others: &Self) {
        for draw in &others.0 {
            self.add(draw);
        }
    }

    /// Whether all of the others are among them.
    pub(super) fn hold(&self, others: &Self) -> bool {
        others.0.iter().all(|draw| self.0.iter().any(|own| is_same(own, draw)))
    }

    /// Those of the same audit besides this draw, the oldest first. Where it is published once more, they may have been drawn after it
    /// and were told before: whoever may choose which draw is told last may not choose the verdict.
    pub(super) fn others(&self, draw: &Draw) -> Vec<&Draw> {
        let others = self.0.iter().filter(|other| !is_same(other, draw));
        others.filter(|other| other.audited == draw.audited).collect()
    }

    /// Adds a draw, and drops one where they become too many.
    pub(super) fn add(&mut self, draw: &Draw) {
        if !self.0.iter().any(|other| is_same(other, draw)) {
            self.0.push(draw.clone());
        }
        if self.0.len() > KEPT {
            self.0.remove(self.dispensable());
        }
    }

    /// The oldest draw that holds nobody up; where there is none, the oldest beside which another one of its audit blocks.
    fn dispensable(&self) -> usize {
        let all = || self.0.iter().enumerate();
        let again = |(at, draw): (usize, &Draw)| all().any(|(other, one)| other != at && one.audited == draw.audited);
        let passing = all().find(|(_, draw)| !draw.blocks()).map(|(at, _)| at);
        passing.or_else(|| all().find(|one| again(*one)).map(|(at, _)| at)).unwrap_or(0)
    }
}

impl FromIterator<Draw> for Draws {
    fn from_iter<I: IntoIterator<Item = Draw>>(draws: I) -> Self {
        draws.into_iter().fold(Self::default(), |mut all, draw| {
            all.add(&draw);
            all
        })
    }
}

impl fmt::Display for Draws {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.iter().map(Draw::to_string).collect::<Vec<_>>().join(","))
    }
}

fn is_same(one: &Draw, other: &Draw) -> bool {
    (&one.audited, &one.run) == (&other.audited, &other.run)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::publish::fixtures::blocking;

    fn draw(audited: &str, run: u32, verdict: &str) -> Draw {
        Draw { audited: audited.to_owned(), run: run.to_string(), verdict: verdict.to_owned() }
    }

    #[test]
    fn a_draw_knows_the_others_and_a_run_that_is_found_again_is_no_new_one() {
        let mut draws = Draws::default();
        let mut others = |draw: Draw| {
            let verdicts: Vec<String> = draws.others(&draw).iter().map(|draw| draw.verdict.clone()).collect();
            draws.add(&draw);
            verdicts
        };
        assert!(others(draw("a", 1, "incompatible")).is_empty());
        assert!(others(draw("b", 2, "compatible")).is_empty(), "another content or rule is another audit");
        assert_eq!(others(draw("a", 3, "compatible")), ["incompatible"]);
        assert_eq!(others(draw("a", 3, "compatible")), ["incompatible"], "it was found again");
        assert_eq!(others(draw("a", 1, "incompatible")), ["compatible"], "it was told before this is told again");
        assert_eq!(draws.to_string(), "a.1.incompatible,b.2.compatible,a.3.compatible");
        assert_eq!(Draws::parse(&draws.to_string()), draws);
        let mut other = Draws::parse("a.1.incompatible,c.4.inconclusive,x,a.b,,a.b.c.d,a.-.c,a b.c.d");
        other.join(&draws);
        assert_eq!(other.to_string(), "a.1.incompatible,c.4.inconclusive,b.2.compatible,a.3.compatible");
    }

    #[test]
    fn the_newest_draws_are_kept_and_those_that_block_longest() {
        let draws: Draws = (0..200).map(|run| draw("a", run, "compatible")).collect();
        assert!(draws.to_string().ends_with("a.199.compatible") && draws.to_string().starts_with("a.160.compatible"));
        let blocking = draw("a", 0, "incompatible");
        for verdict in ["compatible", "inconclusive", "incompatible"] {
            let others = (0..200).map(|run| draw("b", run, verdict));
            let draws: Draws = std::iter::once(blocking.clone()).chain(others).collect();
            assert_eq!(draws.0.len(), 40, "{verdict}");
            assert_eq!(draws.others(&draw("a", 1, "compatible")), [&blocking], "{verdict}");
        }
    }

    #[test]
    fn a_marker_has_room_for_the_draws_of_the_longest_words() {
        let word = |run: u32| format!("{run:0>WORD$}");
        let longest = |run| Draw { audited: word(run), run: word(run), verdict: INCOMPATIBLE.to_owned() };
        let draws: Draws = (0..100).map(longest).collect();
        let marked = format!(" draws={draws}");
        assert!((marked.len()..marked.len() + 10).contains(&Draws::ROOM), "{}", marked.len());
        assert_eq!(Draws::parse(&draws.to_string()), draws);
        assert!(Draws::parse("0123456789abc.1.compatible").is_empty(), "longer words have no room");
    }

    #[test]
    fn a_mark_that_blocks_tells_its_draw_and_no_other_does() {
        let sign = draw("a", 1, "compatible").signature();
        let signed = |line: &str| Draw::signed(&format!("{line}{sign}"));
        let told = Draw::parse("a.mark.incompatible");
        assert_eq!(signed("incompatible: 1 stable flip of 2 que…"), told);
        for line in ["inconclusive: x", "compatible: x", "exploratory, incompatible: x", "no verdict: x", ""] {
            assert_eq!(signed(line), None, "{line}");
        }
        for line in ["incompatible", "incompatible [a.b]", "incompatible [a b]", "incompatible []", "incompatible[a]"] {
            assert_eq!(Draw::signed(line), None, "{line}");
        }
        // One that may be of a run which is known tells nothing new.
        let marks: Draws = told.into_iter().collect();
        for (known, drawn, expected) in [
            ("", "compatible", "a.mark.incompatible"),
            ("a.2.compatible,b.1.incompatible", "inconclusive", "a.mark.incompatible,a.2.compatible,b.1.incompatible"),
            ("a.2.incompatible", "compatible", "a.2.incompatible"),
            ("", "incompatible", ""),
        ] {
            let mut draws = Draws::parse(known);
            draws.told_by(&marks, &draw("a", 9, drawn));
            assert_eq!(draws.to_string(), expected, "{known}");
        }
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
        assert!(Draw::of(&unchanged).unwrap().is_of_chance(), "it differs all the same");
        unchanged.decision.verdict = Verdict::Inconclusive;
        assert!(!Draw::of(&unchanged).unwrap().is_of_chance());
    }
}
