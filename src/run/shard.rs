//! A part of an audit, for the jobs of a matrix: a run of consecutive questions under the protocol of the whole.
//!
//! Questions are cut in selection order at whole rows of the design that orders the calls, so that every question keeps its
//! row, and within each shard every snapshot stands as often in each place as in the whole.

use super::files::{Files, MAX_SMALL_BYTES, Unread};
use crate::freeze::{Protocol, Selection, order};
use crate::model::{Digest, Failure, FailureClass};
use camino::Utf8Path;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// The file in a shard's folder that says which part it is. Written when its judgments are sealed.
pub(super) const FILE: &str = "shard.json";

/// Shards at most: the largest matrix of a workflow has 256 jobs.
const MOST: u32 = 1024;

/// Which part of how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shard {
    /// From 1.
    shard: u32,
    of: u32,
}

/// What a finished shard says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Finished {
    /// The protocol of the whole.
    pub protocol: Digest,
    /// Which part it is.
    pub part: Shard,
    /// The names and heads of its ledgers.
    #[serde(default)]
    pub heads: Vec<(String, Digest)>,
}

impl Finished {
    /// Whether these are the heads that its ledgers had when it was finished.
    ///
    /// # Errors
    /// They are others: class [`FailureClass::Evidence`].
    pub(super) fn must_have(&self, folder: &Utf8Path, heads: &[(String, Digest)]) -> Result<(), Failure> {
        if self.heads == heads {
            return Ok(());
        }
        let differs = |(name, head): &&(String, Digest)| !self.heads.iter().any(|(own, at)| own == name && at == head);
        let lacks = |(name, _): &&(String, Digest)| !heads.iter().any(|(there, _)| there == name);
        let message = match (self.heads.iter().find(lacks), heads.iter().find(differs)) {
            (Some((name, _)), _) => format!("the {name} ledger, of which `{}` was made, is missing", folder.join(FILE)),
            (None, Some((name, _))) => {
                format!("the {name} ledger in `{folder}` is not the one that `{FILE}` was made from")
            }
            (None, None) => format!("`{}` is damaged", folder.join(FILE)),
        };
        Err(Failure::new(FailureClass::Evidence, message)
            .with_hint("restore the shard from a copy, or delete its folder and run it again"))
    }
}

impl Shard {
    /// How many parts there are.
    #[must_use]
    pub const fn of(self) -> u32 {
        self.of
    }

    /// All parts of as many, in order.
    pub(super) fn all(of: u32) -> impl Iterator<Item = Self> {
        (1..=of).map(move |shard| Self { shard, of })
    }

    /// The name of its folder beside that of the whole.
    pub(super) fn folder(self, protocol: Digest) -> String {
        format!("{protocol}.shard-{}-of-{}", self.shard, self.of)
    }

    /// The places of its questions in selection order.
    ///
    /// # Errors
    /// It would have none.
    pub(super) fn places(self, protocol: &Protocol) -> Result<Range<usize>, Failure> {
        self.places_of(protocol.questions.len(), protocol)
    }

    /// The same where there are so many questions.
    fn places_of(self, questions: usize, protocol: &Protocol) -> Result<Range<usize>, Failure> {
        let rows = order::design(protocol.snapshots.len()).len().max(1);
        let cut = |parts: u32| match parts {
            parts if parts == self.of => questions,
            parts => (questions as u128 * u128::from(parts) / u128::from(self.of)) as usize / rows * rows,
        };
        let places = cut(self.shard - 1)..cut(self.shard);
        if places.is_empty() {
            let message = format!("shard {self} would have no question");
            let hint = format!("{questions} questions make at most {} shards", (questions / rows).max(1));
            return Err(Failure::new(FailureClass::Usage, message).with_hint(hint));
        }
        Ok(places)
    }

    /// The protocol with this part's questions alone; its digest, its lock and its seeds stay those of the whole.
    ///
    /// # Errors
    /// The part would have no question.
    pub(super) fn cut(self, mut protocol: Protocol) -> Result<Protocol, Failure> {
        let places = self.places(&protocol)?;
        protocol.questions = protocol.questions.drain(places).collect();
        protocol.is_part = true;
        Ok(protocol)
    }

    /// The same for questions that are given out one at a time.
    ///
    /// # Errors
    /// As [`Shard::cut`].
    pub(super) fn narrow(self, protocol: &mut Protocol, selection: &mut Selection) -> Result<(), Failure> {
        let questions = usize::try_from(selection.count()).unwrap_or(usize::MAX);
        selection.cut(self.places_of(questions, protocol)?);
        protocol.is_part = true;
        Ok(())
    }
}

impl FromStr for Shard {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wanted = "write it as `3/16`: the third of sixteen";
        let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<u32>().ok());
        let (shard, of) = text.split_once('/').ok_or(wanted)?;
        let (Some(Some(shard)), Some(Some(of))) = (number(shard), number(of)) else { return Err(wanted) };
        if shard < 1 || shard > of {
            return Err("shards are counted from 1 to their number");
        }
        if of > MOST {
            return Err("there are at most 1024 shards");
        }
        Ok(Self { shard, of })
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.shard, self.of)
    }
}

/// What a folder says of itself as a shard; nothing where it is none.
///
/// # Errors
/// The record is damaged: class [`FailureClass::Evidence`].
pub(super) fn read(folder: &Utf8Path) -> Result<Option<Finished>, Failure> {
    let (files, name) = (Files::Tree(folder), Utf8Path::new(FILE));
    let damaged = || Failure::new(FailureClass::Evidence, format!("`{}` is damaged", folder.join(FILE)));
    let bytes = match files.read(name, MAX_SMALL_BYTES) {
        Ok(bytes) => bytes,
        Err(Unread::Missing) => return Ok(None),
        Err(_) => return Err(damaged()),
    };
    let finished: Finished = serde_json::from_slice(&bytes).map_err(|_| damaged())?;
    let Shard { shard, of } = finished.part;
    if shard < 1 || shard > of || of > MOST { Err(damaged()) } else { Ok(Some(finished)) }
}

/// A shard alone has no result.
///
/// # Errors
/// The folder is one.
pub(super) fn refuse(folder: &Utf8Path) -> Result<(), Failure> {
    let Some(finished) = read(folder)? else { return Ok(()) };
    let message = format!("`{folder}` is shard {} of an audit and has no result of its own", finished.part);
    Err(Failure::new(FailureClass::Usage, message).with_hint("join all shards with `churngate merge`"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::freeze::{self, Inputs, ResolvedSnapshot};
    use crate::model::SnapshotName;

    #[test]
    fn shards_are_counted_from_one() {
        assert_eq!("3/16".parse::<Shard>().unwrap().to_string(), "3 of 16");
        for bad in ["", "3", "/", "0/4", "5/4", "1/0", "-1/4", "+1/4", "1/4/2", "a/b", "1/1025", "1/99999999999"] {
            assert!(bad.parse::<Shard>().is_err(), "{bad}");
        }
    }

    /// A protocol of this many questions over two snapshots and, where wanted, the closed book.
    fn protocol(questions: usize, closed_book: bool) -> Protocol {
        let text = format!(
            "version: 1\nname: t\nquestions: {{ file: q.jsonl }}\nsnapshots: {{ old: {{ path: a }}, new: {{ path: b }}, \
             closed_book: {closed_book} }}\nretrieve: {{ bm25: {{}} }}\ngenerate: {{ reader: {{}} }}\njudge: {{ embedded: {{}} }}\n"
        );
        let line = |number| format!("{{\"id\": \"q{number}\", \"question\": \"Question {number}?\"}}\n");
        let names = [SnapshotName::old(), SnapshotName::new_snapshot(), SnapshotName::closed_book()];
        let snapshot = |name| ResolvedSnapshot {
            name,
            physical: "a place".to_owned(),
            fingerprint: None,
            documents: None,
            passed_over: None,
        };
        freeze::plan(Inputs {
            spec: crate::spec::parse(&text, "t").unwrap(),
            base: ".".into(),
            questions_name: "q.jsonl".to_owned(),
            questions_bytes: (0..questions).map(line).collect::<Vec<_>>().concat().into_bytes(),
            exclude_bytes: None,
            only_bytes: None,
            prompt_bytes: None,
            snapshots: names.into_iter().take(if closed_book { 3 } else { 2 }).map(snapshot).collect(),
            tool_version: "0",
        })
        .unwrap()
    }

    #[test]
    fn every_cell_keeps_its_place_in_the_order_of_the_whole() {
        for (questions, closed_book, of) in
            [(41, false, 4), (40, true, 3), (12, true, 2), (120, false, 7), (9, false, 1)]
        {
            let whole = protocol(questions, closed_book);
            let shards: Vec<Protocol> =
                Shard::all(of).map(|shard| shard.cut(protocol(questions, closed_book)).unwrap()).collect();
            let joined: Vec<_> = shards.iter().flat_map(order::cells).collect();
            assert_eq!(joined, order::cells(&whole), "{questions} in {of}");
            for shard in &shards {
                assert_eq!((shard.digest, shard.lock_bytes()), (whole.digest, whole.lock_bytes()));
            }
            let sizes: Vec<usize> = shards.iter().map(|shard| shard.questions.len()).collect();
            let (least, most) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
            assert!(most - least <= 6, "{sizes:?}");
        }
    }

    #[test]
    fn a_shard_without_questions_is_refused() {
        let said = "1/9".parse::<Shard>().unwrap().cut(protocol(8, false)).err().unwrap();
        assert_eq!(said.hint.as_deref(), Some("8 questions make at most 4 shards"), "{said}");
    }
}
