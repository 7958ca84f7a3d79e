//! Marks as words, for the temporary files in which they wait.

use super::marks::{Gist, Mark, Note};
use super::units::{Half, Print};
use std::io::{self, Read, Write};

/// A mark with its line and its question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Placed {
    /// The line of its ledger.
    pub line: u64,
    /// The question.
    pub question: Print,
    /// What is remembered.
    pub mark: Mark,
}

impl Placed {
    /// Writes it: the number of words, then the words.
    ///
    /// # Errors
    /// Those of the writer.
    pub(super) fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let mut words = vec![0, self.line];
        words.extend(self.question.words());
        put(&self.mark, &mut words);
        words[0] = words.len() as u64 - 1;
        words.iter().try_for_each(|word| to.write_all(&word.to_le_bytes()))
    }

    /// Reads the next one; `None` at the end.
    ///
    /// # Errors
    /// Those of the reader, and bytes that were not written here.
    pub(super) fn read(from: &mut impl Read) -> io::Result<Option<Self>> {
        let Some(count) = word(from)? else { return Ok(None) };
        let words = (0..count).map(|_| word(from)?.ok_or_else(strange)).collect::<io::Result<Vec<u64>>>()?;
        let mut words = words.into_iter();
        let placed = (|| Some(Self { line: words.next()?, question: print(&mut words)?, mark: take(&mut words)? }))();
        placed.map(Some).ok_or_else(strange)
    }
}

fn strange() -> io::Error {
    io::Error::from(io::ErrorKind::InvalidData)
}

fn word(from: &mut impl Read) -> io::Result<Option<u64>> {
    let mut bytes = [0; 8];
    match from.read_exact(&mut bytes) {
        Ok(()) => Ok(Some(u64::from_le_bytes(bytes))),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

fn put(mark: &Mark, words: &mut Vec<u64>) {
    match mark {
        Mark::Attempt { seq, unit } => {
            words.extend([0, *seq]);
            words.extend(unit.words());
        }
        Mark::Outcome { attempt, unit, accepted } => {
            words.extend([1, *attempt]);
            words.extend(unit.words());
            match accepted {
                None => words.push(0),
                Some(Gist::Blob(half)) => words.extend([1, 0].into_iter().chain(half.words())),
                Some(Gist::Pairs(pairs)) => {
                    words.extend([1, 1]);
                    words.extend(pairs.iter().map(|(one, other)| u64::from(*one) << 32 | u64::from(*other)));
                }
            }
        }
        Mark::Note(Note::Passes { passes, evidence, matched }) => {
            words.extend([2, u64::from(*matched)]);
            words.extend(evidence.words().into_iter().chain(passes.iter().flat_map(|pass| pass.words())));
        }
        Mark::Note(Note::Unchanged) => words.push(3),
        Mark::Note(Note::Packet(None)) => words.push(4),
        Mark::Note(Note::Packet(Some(answers))) => {
            words.push(5);
            for (half, cells) in answers {
                words.extend(half.words());
                words.push(cells.len() as u64);
                words.extend(cells.iter().flat_map(|cell| cell.words()));
            }
        }
    }
}

/// The words that are left of one mark.
type Words = std::vec::IntoIter<u64>;

fn take(words: &mut Words) -> Option<Mark> {
    Some(match words.next()? {
        0 => Mark::Attempt { seq: words.next()?, unit: print(words)? },
        1 => {
            let (attempt, unit) = (words.next()?, print(words)?);
            let accepted = if words.next()? == 0 { None } else { Some(gist(words)?) };
            Mark::Outcome { attempt, unit, accepted }
        }
        2 => {
            let matched = words.next()? == 1;
            let evidence = half(words)?;
            Mark::Note(Note::Passes { evidence, passes: [print(words)?, print(words)?], matched })
        }
        3 => Mark::Note(Note::Unchanged),
        4 => Mark::Note(Note::Packet(None)),
        5 => Mark::Note(Note::Packet(Some(answers(words)?))),
        _ => return None,
    })
}

fn gist(words: &mut Words) -> Option<Gist> {
    Some(match words.next()? {
        0 => Gist::Blob(half(words)?),
        1 => {
            let pair = |word: u64| Some((u32::try_from(word >> 32).ok()?, u32::try_from(word & 0xffff_ffff).ok()?));
            Gist::Pairs(words.map(pair).collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

fn answers(words: &mut Words) -> Option<Vec<(Half, Vec<Print>)>> {
    let mut answers = Vec::new();
    while !words.as_slice().is_empty() {
        let answer = half(words)?;
        let cells = words.next()?;
        answers.push((answer, (0..cells).map(|_| print(words)).collect::<Option<_>>()?));
    }
    Some(answers)
}

fn print(words: &mut Words) -> Option<Print> {
    Some(Print::from_words([words.next()?, words.next()?]))
}

fn half(words: &mut Words) -> Option<Half> {
    Some(Half::from_words([words.next()?, words.next()?]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Digest;

    #[test]
    fn every_mark_is_read_as_it_was_written() {
        let unit = Print::from_words([1, u64::MAX]);
        let half = Half::of(&Digest::of(b"blob"));
        let outcome = |accepted| Mark::Outcome { attempt: 7, unit, accepted };
        let marks = [
            Mark::Attempt { seq: u64::MAX, unit },
            outcome(None),
            outcome(Some(Gist::Blob(half))),
            outcome(Some(Gist::Pairs(vec![]))),
            outcome(Some(Gist::Pairs(vec![(0, 1), (u32::MAX, 3)]))),
            Mark::Note(Note::Passes { passes: [unit, Print::from_words([0, 0])], evidence: half, matched: true }),
            Mark::Note(Note::Unchanged),
            Mark::Note(Note::Packet(None)),
            Mark::Note(Note::Packet(Some(vec![(half, vec![unit, unit]), (half, vec![])]))),
        ];
        let placed: Vec<Placed> =
            marks.into_iter().zip(2..).map(|(mark, line)| Placed { line, question: unit, mark }).collect();
        let mut bytes = Vec::new();
        placed.iter().try_for_each(|placed| placed.write(&mut bytes)).unwrap();
        let mut from = bytes.as_slice();
        let read: Vec<Placed> = std::iter::from_fn(|| Placed::read(&mut from).unwrap()).collect();
        assert_eq!(read, placed);
        assert!(Placed::read(&mut &bytes[..20]).is_err());
    }
}
