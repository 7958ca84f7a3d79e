//! The selected questions of a frozen protocol, one at a time: the way to read a run whose questions fit no memory.

use super::document::{Hashed, Questions as Digests};
use super::ids::Ids;
use super::questions::{self, Format, Row};
use super::select;
use crate::ledger::{BlobReader, Sorted, Sorter};
use crate::model::{Digest, Failure, FailureClass, Question};
use crate::spec::QuestionsSpec;
use std::io::BufReader;
use std::ops::{ControlFlow, Range};

/// Questions in selection order. They wait in a temporary file, and memory holds those that were asked for last.
#[derive(Debug)]
pub struct Selection {
    sorted: Sorted,
    /// The places that are given out, and the next one.
    places: Range<u64>,
    next: u64,
    item: Vec<u8>,
}

impl Selection {
    /// Reads the frozen question file and selects as the protocol says.
    ///
    /// # Errors
    /// The file is missing or damaged, or gives other questions than could be frozen.
    pub(super) fn read(blobs: &BlobReader, file: &Digest, spec: &QuestionsSpec, ids: &Ids) -> Result<Self, Failure> {
        let mut rows = Rows { spec, ids, sorter: Sorter::default(), allowed: 0 };
        each(blobs, file, spec, &mut |row| rows.take(&row))?;
        rows.finish()
    }

    /// Questions that come in selection order from elsewhere.
    ///
    /// # Errors
    /// The first that cannot be read.
    pub(super) fn of(seed: u64, questions: impl Iterator<Item = Result<Question, Failure>>) -> Result<Self, Failure> {
        let (mut sorter, mut count) = (Sorter::default(), 0);
        for question in questions {
            put(&mut sorter, seed, &question?)?;
            count += 1;
        }
        Self::new(sorter, count)
    }

    fn new(sorter: Sorter, count: u64) -> Result<Self, Failure> {
        Ok(Self { sorted: sorter.sorted()?, places: 0..count, next: 0, item: Vec::new() })
    }

    /// How many questions there are.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.places.end - self.places.start
    }

    /// The next questions, at most so many; none at the end.
    ///
    /// # Errors
    /// The temporary file cannot be read, or a question stands twice.
    pub fn some(&mut self, most: usize) -> Result<Vec<Question>, Failure> {
        let mut some = Vec::new();
        while self.next < self.places.end && some.len() < most {
            let question = self.take()?;
            if self.next >= self.places.start {
                some.push(question);
            }
            self.next += 1;
        }
        Ok(some)
    }

    fn take(&mut self) -> Result<Question, Failure> {
        let key = self.sorted.take(&mut self.item)?;
        if key.is_none() || key == self.sorted.key() {
            return Err(broken("a question stands twice"));
        }
        serde_json::from_slice(&self.item).map_err(|_| broken("a question was lost"))
    }

    /// Begins again at the first question.
    ///
    /// # Errors
    /// The temporary file cannot be read.
    pub fn rewind(&mut self) -> Result<(), Failure> {
        self.next = 0;
        Ok(self.sorted.rewind()?)
    }

    /// Leaves all questions out but those at these places.
    pub fn cut(&mut self, places: Range<usize>) {
        self.places = places.start as u64..(places.end as u64).min(self.places.end);
    }

    /// The digests of all questions, with the files of `named`. Begins again after that.
    pub(super) fn digests(&mut self, named: &Digests) -> Result<Digests, Failure> {
        let mut hashed = Hashed::default();
        while let [question] = self.some(1)?.as_slice() {
            hashed.take(question);
        }
        self.rewind()?;
        Ok(hashed.over(named))
    }
}

/// Shows every row of the frozen question file.
pub(super) fn each(
    blobs: &BlobReader,
    file: &Digest,
    spec: &QuestionsSpec,
    take: &mut dyn FnMut(Row) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let format = Format::of(spec.file.as_str()).unwrap_or(Format::Lines);
    let mut blob = blobs.open(file)?;
    let mut failed = None;
    let read = questions::each_of(&mut BufReader::new(&mut blob), format, &mut |row| {
        let row = row.map_err(|(at, message)| broken(&format!("{at}: {message}")));
        match row.and_then(&mut *take) {
            Ok(()) => ControlFlow::Continue(()),
            Err(failure) => {
                failed = Some(failure);
                ControlFlow::Break(())
            }
        }
    });
    // Damage explains whatever else is wrong.
    blob.finish()?;
    read.map_err(|error| broken(&error.kind().to_string()))?;
    failed.map_or(Ok(()), Err)
}

/// The rows of a question file while they are read.
struct Rows<'a> {
    spec: &'a QuestionsSpec,
    ids: &'a Ids,
    sorter: Sorter,
    allowed: u64,
}

impl Rows<'_> {
    fn take(&mut self, row: &Row) -> Result<(), Failure> {
        let question = questions::question(row).map_err(|message| broken(&format!("{}: {message}", row.at)))?;
        if self.ids.allow(&question) {
            put(&mut self.sorter, self.spec.seed, &question)?;
            self.allowed += 1;
        }
        Ok(())
    }

    fn finish(self) -> Result<Selection, Failure> {
        let wanted = self.spec.count.map_or(self.allowed, u64::from);
        if self.allowed == 0 || wanted > self.allowed {
            return Err(broken(&format!("{wanted} questions are asked, but {} are left", self.allowed)));
        }
        Selection::new(self.sorter, wanted)
    }
}

fn put(sorter: &mut Sorter, seed: u64, question: &Question) -> Result<(), Failure> {
    let bytes = serde_json::to_vec(question).map_err(|_| broken("a question cannot be kept"))?;
    Ok(sorter.put(select::rank(seed, &question.id), &[&bytes])?)
}

fn broken(fault: &str) -> Failure {
    Failure::new(FailureClass::Evidence, format!("read the frozen questions: {fault}"))
}
