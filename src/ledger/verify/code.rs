//! Marks as bytes, for the temporary file in which they wait.

use super::marks::{Gist, Mark, Note};
use super::units::{Half, Print};

/// A mark with its place and its question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Placed {
    /// Its ledger, in the order of stages.
    pub ledger: usize,
    /// The line of its ledger.
    pub line: u64,
    /// The question.
    pub question: Print,
    /// What is remembered.
    pub mark: Mark,
}

impl Placed {
    /// Writes it, word by word.
    pub(super) fn write(&self, to: &mut Vec<u8>) {
        let mut words = vec![self.ledger as u64, self.line];
        words.extend(self.question.words());
        put(&self.mark, &mut words);
        to.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    }

    /// Reads what was written; `None` where it was not written here.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let (words, _) = bytes.as_chunks();
        let mut words = Words(words.iter());
        let (ledger, line) = (usize::try_from(words.next()?).ok()?, words.next()?);
        Some(Self { ledger, line, question: print(&mut words)?, mark: take(&mut words)? })
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
        Mark::Note(Note::Stored) => words.push(6),
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
struct Words<'a>(std::slice::Iter<'a, [u8; 8]>);

impl Iterator for Words<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.0.next().map(|word| u64::from_le_bytes(*word))
    }
}

fn take(words: &mut Words<'_>) -> Option<Mark> {
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
        6 => Mark::Note(Note::Stored),
        4 => Mark::Note(Note::Packet(None)),
        5 => Mark::Note(Note::Packet(Some(answers(words)?))),
        _ => return None,
    })
}

fn gist(words: &mut Words<'_>) -> Option<Gist> {
    Some(match words.next()? {
        0 => Gist::Blob(half(words)?),
        1 => {
            let pair = |word: u64| Some((u32::try_from(word >> 32).ok()?, u32::try_from(word & 0xffff_ffff).ok()?));
            Gist::Pairs(words.map(pair).collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

fn answers(words: &mut Words<'_>) -> Option<Vec<(Half, Vec<Print>)>> {
    let mut answers = Vec::new();
    while !words.0.as_slice().is_empty() {
        let answer = half(words)?;
        let cells = words.next()?;
        answers.push((answer, (0..cells).map(|_| print(words)).collect::<Option<_>>()?));
    }
    Some(answers)
}

fn print(words: &mut Words<'_>) -> Option<Print> {
    Some(Print::from_words([words.next()?, words.next()?]))
}

fn half(words: &mut Words<'_>) -> Option<Half> {
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
            Mark::Note(Note::Stored),
            Mark::Note(Note::Packet(None)),
            Mark::Note(Note::Packet(Some(vec![(half, vec![unit, unit]), (half, vec![])]))),
        ];
        for (mark, line) in marks.into_iter().zip(2..) {
            let placed = Placed { ledger: 2, line, question: unit, mark };
            let mut bytes = Vec::new();
            placed.write(&mut bytes);
            assert_eq!(Placed::read(&bytes), Some(placed));
            assert_eq!(Placed::read(&bytes[..32]), None);
        }
    }
}
