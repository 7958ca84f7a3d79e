//! Bytes by ascending key, however many: what is more than one run of them waits in a temporary file.
//!
//! Runs are sorted in memory and written one behind the other; the merge holds a little of each at a time. Bytes under one
//! key come out in the order in which they were put in.

use super::LedgerError;
use crate::model::Digest;
use camino::Utf8Path;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::ops::Range;
use tempfile::SpooledTempFile;

/// Bytes of a run, unless one item alone has more.
const RUN: usize = 2 << 20;
/// Bytes of all runs together that stay in memory.
const IN_MEMORY: usize = 64 << 10;
/// Bytes that are written at once.
const BUFFER: usize = 64 << 10;
/// Bytes of one run that are read at once.
const AHEAD: usize = 4 << 10;
/// Bytes before an item: its key and its length.
const HEAD: usize = 16 + 4;

/// Takes bytes in any order of their keys.
#[derive(Debug)]
pub struct Sorter {
    run: Run,
    file: SpooledTempFile,
    runs: Vec<Range<u64>>,
}

impl Default for Sorter {
    fn default() -> Self {
        Self { run: Run::default(), file: SpooledTempFile::new(IN_MEMORY), runs: Vec::new() }
    }
}

impl Sorter {
    /// Takes the parts of one item, which are one when they come back.
    ///
    /// # Errors
    /// The temporary file cannot be written, or the item has 4 GB and more.
    pub fn put(&mut self, key: u128, parts: &[&[u8]]) -> Result<(), LedgerError> {
        let bytes: usize = parts.iter().map(|part| part.len()).sum();
        if self.run.bytes() + bytes > RUN {
            self.spill().map_err(temporary)?;
        }
        self.run.put(key, parts).map_err(temporary)
    }

    /// Gives everything back in order.
    ///
    /// # Errors
    /// The temporary file cannot be written or read.
    pub fn sorted(mut self) -> Result<Sorted, LedgerError> {
        self.spill().map_err(temporary)?;
        let mut sorted = Sorted { file: self.file, runs: self.runs, readers: Vec::new(), next: BinaryHeap::new() };
        sorted.rewind()?;
        Ok(sorted)
    }

    fn spill(&mut self) -> io::Result<()> {
        if self.run.entries.is_empty() {
            return Ok(());
        }
        let begin = self.runs.last().map_or(0, |last| last.end);
        let mut writer = BufWriter::with_capacity(BUFFER, &mut self.file);
        let written = self.run.write(&mut writer)?;
        writer.flush()?;
        self.runs.push(begin..begin + written);
        Ok(())
    }
}

/// What is sorted together in memory.
#[derive(Debug, Default)]
struct Run {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    key: u128,
    begin: u32,
    end: u32,
}

impl Run {
    const fn bytes(&self) -> usize {
        self.bytes.len() + self.entries.len() * size_of::<Entry>()
    }

    fn put(&mut self, key: u128, parts: &[&[u8]]) -> io::Result<()> {
        let place = |bytes: usize| u32::try_from(bytes).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge));
        let begin = place(self.bytes.len())?;
        for part in parts {
            self.bytes.extend_from_slice(part);
        }
        self.entries.push(Entry { key, begin, end: place(self.bytes.len())? });
        Ok(())
    }

    /// Writes all items in order and forgets them; returns how many bytes that took.
    fn write(&mut self, to: &mut impl io::Write) -> io::Result<u64> {
        self.entries.sort_unstable_by_key(|entry| (entry.key, entry.begin));
        let mut written = 0;
        for Entry { key, begin, end } in self.entries.drain(..) {
            to.write_all(&key.to_le_bytes())?;
            to.write_all(&(end - begin).to_le_bytes())?;
            to.write_all(self.bytes.get(begin as usize..end as usize).unwrap_or_default())?;
            written += (HEAD as u64) + u64::from(end - begin);
        }
        self.bytes.clear();
        Ok(written)
    }
}

/// Gives bytes in the order of their keys.
#[derive(Debug)]
pub struct Sorted {
    file: SpooledTempFile,
    runs: Vec<Range<u64>>,
    readers: Vec<Reader>,
    /// The next key of each run that is not at its end.
    next: BinaryHeap<Reverse<(u128, usize)>>,
}

impl Sorted {
    /// Begins again at the smallest key.
    ///
    /// # Errors
    /// The temporary file cannot be read.
    pub fn rewind(&mut self) -> Result<(), LedgerError> {
        self.next.clear();
        self.readers = self.runs.iter().cloned().map(Reader::of).collect();
        (0..self.readers.len()).try_for_each(|run| self.advance(run)).map_err(temporary)
    }

    /// The key of the next item; `None` at the end.
    #[must_use]
    pub fn key(&self) -> Option<u128> {
        self.next.peek().map(|Reverse((key, _))| *key)
    }

    /// Puts the next item into `item`, in the place of what is there, and returns its key; `None` at the end.
    ///
    /// # Errors
    /// The temporary file cannot be read.
    pub fn take(&mut self, item: &mut Vec<u8>) -> Result<Option<u128>, LedgerError> {
        let Some(Reverse((key, run))) = self.next.pop() else { return Ok(None) };
        item.clear();
        if let Some(reader) = self.readers.get_mut(run) {
            reader.take(&mut self.file, item).map_err(temporary)?;
        }
        self.advance(run).map_err(temporary)?;
        Ok(Some(key))
    }

    /// Puts the item under this key into `item`, in the place of what is there; says whether there is one. Keys are asked for
    /// in ascending order, each once, and what lies before is passed.
    ///
    /// # Errors
    /// The temporary file cannot be read.
    pub fn find(&mut self, key: u128, item: &mut Vec<u8>) -> Result<bool, LedgerError> {
        let mut found = false;
        while self.key().is_some_and(|next| next <= key) && !found {
            found = self.take(item)? == Some(key);
        }
        Ok(found)
    }

    fn advance(&mut self, run: usize) -> io::Result<()> {
        let Some(reader) = self.readers.get_mut(run) else { return Ok(()) };
        self.next.extend(reader.key(&mut self.file)?.map(|key| Reverse((key, run))));
        Ok(())
    }
}

/// A place within one run.
#[derive(Debug)]
struct Reader {
    /// What was not read of the file.
    rest: Range<u64>,
    /// What was read of it and not taken.
    ahead: Vec<u8>,
    at: usize,
}

impl Reader {
    const fn of(run: Range<u64>) -> Self {
        Self { rest: run, ahead: Vec::new(), at: 0 }
    }

    /// The key of the next item; `None` at the end of the run.
    fn key(&mut self, file: &mut SpooledTempFile) -> io::Result<Option<u128>> {
        if self.rest.is_empty() && self.at == self.ahead.len() {
            return Ok(None);
        }
        let head = self.look(file, HEAD)?;
        Ok(head.first_chunk().map(|key| u128::from_le_bytes(*key)))
    }

    fn take(&mut self, file: &mut SpooledTempFile, item: &mut Vec<u8>) -> io::Result<()> {
        let head = self.look(file, HEAD)?;
        let length = head.last_chunk().map_or(0, |length| u32::from_le_bytes(*length)) as usize;
        self.at += HEAD;
        item.extend_from_slice(self.look(file, length)?);
        self.at += length;
        Ok(())
    }

    /// As many of the next bytes, which are not taken by that.
    fn look(&mut self, file: &mut SpooledTempFile, bytes: usize) -> io::Result<&[u8]> {
        let there = self.ahead.len() - self.at;
        if there < bytes {
            self.ahead.drain(..self.at);
            self.at = 0;
            let left = usize::try_from(self.rest.end - self.rest.start).unwrap_or(usize::MAX);
            let more = (bytes - there).max(AHEAD).min(left);
            file.seek(SeekFrom::Start(self.rest.start))?;
            self.ahead.resize(there + more, 0);
            file.read_exact(self.ahead.get_mut(there..).unwrap_or_default())?;
            self.rest.start += more as u64;
        }
        self.ahead.get(self.at..self.at + bytes).ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof))
    }
}

/// Tells whether anything came twice, however much came.
#[derive(Debug, Default)]
pub struct Twice(Sorter);

impl Twice {
    /// Takes one more.
    ///
    /// # Errors
    /// The temporary file cannot be written.
    pub fn put(&mut self, digest: &Digest) -> Result<(), LedgerError> {
        let (half, rest) = digest.as_bytes().split_first_chunk().unwrap_or((&[0; 16], &[]));
        self.0.put(u128::from_le_bytes(*half), &[rest])
    }

    /// Whether anything came twice.
    ///
    /// # Errors
    /// The temporary file cannot be read.
    pub fn found(self) -> Result<bool, LedgerError> {
        let (mut sorted, mut rest, mut last) = (self.0.sorted()?, Vec::new(), None);
        while let Some(key) = sorted.take(&mut rest)? {
            let found = (key, rest.clone());
            if last.as_ref() == Some(&found) {
                return Ok(true);
            }
            last = Some(found);
        }
        Ok(false)
    }
}

pub(super) fn temporary(error: io::Error) -> LedgerError {
    LedgerError::io("use", Utf8Path::new("a temporary file"), error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(sorted: &mut Sorted) -> Vec<(u128, Vec<u8>)> {
        let mut item = Vec::new();
        let mut found = Vec::new();
        loop {
            let next = sorted.key();
            let Some(key) = sorted.take(&mut item).unwrap() else { return found };
            assert_eq!(next, Some(key));
            found.push((key, item.clone()));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn items_come_by_key_and_those_of_one_key_as_they_were_put(
            keys in proptest::collection::vec((0_u128..40, 0_usize..20_000), 0..600),
        ) {
            let mut sorter = Sorter::default();
            let mut expected = Vec::new();
            for (number, (key, length)) in keys.iter().enumerate() {
                let (name, rest) = (number.to_le_bytes(), vec![b'x'; *length]);
                sorter.put(*key, &[&name, &rest]).unwrap();
                expected.push((*key, [name.as_slice(), &rest].concat()));
            }
            expected.sort_by_key(|(key, _)| *key);
            let mut sorted = sorter.sorted().unwrap();
            prop_assert_eq!(all(&mut sorted), expected.clone());
            sorted.rewind().unwrap();
            prop_assert_eq!(all(&mut sorted), expected);
        }
    }

    #[test]
    fn an_item_larger_than_a_run_comes_back_whole() {
        let large = vec![7; 3 * RUN];
        let mut sorter = Sorter::default();
        for key in [2, 1, 3] {
            sorter.put(key, &[&large]).unwrap();
        }
        assert_eq!(sorter.runs.len(), 2, "what was put before waits in the file");
        let found = all(&mut sorter.sorted().unwrap());
        assert_eq!(
            found.iter().map(|(key, item)| (*key, item.len())).collect::<Vec<_>>(),
            [(1, large.len()), (2, large.len()), (3, large.len())]
        );
    }

    #[test]
    fn memory_holds_one_run_and_then_a_little_of_each() {
        let (items, item) = (12_000_u32, [1; 1_000]);
        let mut taken = Sorter::default();
        for number in 0..items {
            taken.put(u128::from(number.wrapping_mul(2_654_435_761)), &[&item]).unwrap();
            assert!(taken.run.bytes() <= RUN);
        }
        let mut sorted = taken.sorted().unwrap();
        let (runs, mut buffer) = (sorted.runs.len(), Vec::new());
        assert!((6..12).contains(&runs), "{runs}");
        while sorted.take(&mut buffer).unwrap().is_some() {
            let held: usize = sorted.readers.iter().map(|reader| reader.ahead.capacity()).sum();
            assert!(held <= runs * 2 * (AHEAD + HEAD + item.len()), "{held}");
        }
    }

    #[test]
    fn a_key_is_found_or_passed() {
        let mut taken = Sorter::default();
        for key in [5, 1, 3] {
            taken.put(key, &[&[u8::try_from(key).unwrap()]]).unwrap();
        }
        let (mut sorted, mut item) = (taken.sorted().unwrap(), Vec::new());
        let found = [1, 2, 5, 6].map(|key| sorted.find(key, &mut item).unwrap().then(|| item[0]));
        assert_eq!(found, [Some(1), None, Some(5), None]);
    }

    #[test]
    fn what_comes_twice_is_found() {
        let digests = [b"a", b"b", b"c", b"a"].map(|text| Digest::of(text));
        let found = |digests: &[Digest]| {
            let mut twice = Twice::default();
            for digest in digests {
                twice.put(digest).unwrap();
            }
            twice.found().unwrap()
        };
        assert!(found(&digests) && !found(&digests[..3]) && !found(&[]));
    }

    #[test]
    fn nothing_comes_of_nothing() {
        assert_eq!(all(&mut Sorter::default().sorted().unwrap()), []);
    }
}
