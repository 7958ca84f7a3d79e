//! The chain of a ledger, line by line: the layer below records, which knows numbers and digests alone.

use super::format::{Header, Line, MAX_LINE_BYTES};
use super::{Damage, FormatVersion, LedgerError, files};
use crate::model::Digest;
use camino::{Utf8Path, Utf8PathBuf};
use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};

/// How a ledger ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With its seal.
    Sealed {
        /// The digest of the seal line.
        head: Digest,
    },
    /// After a whole line that is not a seal.
    Unsealed,
    /// With bytes that a crash left behind: a line without its newline, or nothing but blanks and zeros.
    Torn {
        /// How many bytes.
        bytes: u64,
    },
}

/// What a step of the scan found.
#[derive(Debug)]
pub(super) enum Step<'a> {
    /// A record whose chain fields hold.
    Record {
        /// Its number.
        seq: u64,
        /// Its own fields as a JSON object.
        fields: &'a [u8],
    },
    /// The end. Further steps find the same.
    End(End),
}

/// A pass over one ledger that holds one line in memory.
pub(super) struct Scan<R> {
    reader: R,
    path: Utf8PathBuf,
    line: u64,
    position: u64,
    records: u64,
    prev: Digest,
    header: Option<Header>,
    buffer: Vec<u8>,
    end: Option<End>,
}

enum Taken {
    Whole,
    Torn(u64),
    Nothing,
}

impl Scan<BufReader<File>> {
    /// Opens the ledger of `stage` and checks its header.
    ///
    /// # Errors
    /// The file is missing or not plain, or its header is whole but not one of this stage and format.
    pub(super) fn open(path: &Utf8Path, stage: &'static str) -> Result<Self, LedgerError> {
        Self::begin(BufReader::with_capacity(1 << 18, files::open_to_read(path)?), path, stage)
    }
}

impl<R: BufRead> Scan<R> {
    /// Begins at the header.
    ///
    /// # Errors
    /// The header is whole but not one of this stage and format.
    pub(super) fn begin(reader: R, path: &Utf8Path, stage: &'static str) -> Result<Self, LedgerError> {
        let mut scan = Self {
            reader,
            path: path.to_owned(),
            line: 0,
            position: 0,
            records: 0,
            prev: Digest::from_bytes([0; 32]),
            header: None,
            buffer: Vec::new(),
            end: None,
        };
        match scan.take_line()? {
            Taken::Whole => scan.take_header(stage)?,
            Taken::Torn(bytes) => scan.end = Some(End::Torn { bytes }),
            Taken::Nothing => scan.end = Some(End::Unsealed),
        }
        Ok(scan)
    }

    /// Whether the header says that the replies of servers were read from a recording.
    pub(super) fn is_replayed(&self) -> bool {
        self.header.as_ref().is_some_and(|header| header.replayed)
    }

    fn take_header(&mut self, stage: &'static str) -> Result<(), LedgerError> {
        let header = Header::parse(&self.buffer).map_err(|damage| self.damaged(damage))?;
        if header.format.major > FormatVersion::CURRENT.major {
            return Err(LedgerError::NewerFormat { path: self.path.clone(), found: header.format });
        }
        if header.format.major < FormatVersion::CURRENT.major {
            return Err(self.damaged(Damage::Header));
        }
        if header.stage != stage {
            return Err(self.damaged(Damage::Stage { expected: stage }));
        }
        self.prev = Digest::of(&self.buffer);
        self.header = Some(header);
        Ok(())
    }

    /// The next record, or the end.
    ///
    /// # Errors
    /// A line is damaged or cannot be read.
    pub(super) fn step(&mut self) -> Result<Step<'_>, LedgerError> {
        if let Some(end) = self.end {
            return Ok(Step::End(end));
        }
        match self.take_line()? {
            Taken::Whole => self.take_chained(),
            Taken::Torn(bytes) => Ok(self.finish(End::Torn { bytes })),
            Taken::Nothing => Ok(self.finish(End::Unsealed)),
        }
    }

    fn take_chained(&mut self) -> Result<Step<'_>, LedgerError> {
        let line = Line::parse(&self.buffer).map_err(|damage| self.damaged(damage))?;
        let head = Digest::of(&self.buffer);
        match line {
            Line::Record { seq, prev, fields } => {
                self.check_link(prev)?;
                self.check(seq == self.records, Damage::Sequence { expected: self.records, found: seq })?;
                self.records += 1;
                self.prev = head;
                // The comma after the chain fields becomes the brace that opens the record's own object.
                self.buffer[fields] = b'{';
                Ok(Step::Record { seq, fields: &self.buffer[fields..] })
            }
            Line::Seal { records, prev } => {
                self.check_link(prev)?;
                let damage = Damage::SealCount { expected: self.records, found: records };
                self.check(records == self.records, damage)?;
                self.prev = head;
                self.check_nothing_follows()?;
                Ok(self.finish(End::Sealed { head }))
            }
        }
    }

    fn check_link(&self, prev: Digest) -> Result<(), LedgerError> {
        self.check(prev == self.prev, Damage::Chain)
    }

    fn check(&self, holds: bool, damage: Damage) -> Result<(), LedgerError> {
        if holds { Ok(()) } else { Err(self.damaged(damage)) }
    }

    fn check_nothing_follows(&mut self) -> Result<(), LedgerError> {
        if self.fill()?.is_empty() {
            return Ok(());
        }
        self.line += 1;
        Err(self.damaged(Damage::AfterSeal))
    }

    const fn finish(&mut self, end: End) -> Step<'static> {
        self.end = Some(end);
        Step::End(end)
    }

    /// Reads the next line, without its newline, into the buffer.
    fn take_line(&mut self) -> Result<Taken, LedgerError> {
        self.buffer.clear();
        self.line += 1;
        let mut limited = (&mut self.reader).take(MAX_LINE_BYTES + 1);
        let read = limited.read_until(b'\n', &mut self.buffer).map_err(|error| self.io(error))?;
        if read == 0 {
            return Ok(Taken::Nothing);
        }
        if self.buffer.last() == Some(&b'\n') && !is_blank(&self.buffer) {
            self.position += read as u64;
            self.buffer.pop();
            return Ok(Taken::Whole);
        }
        self.take_torn(read as u64)
    }

    /// Decides whether a line that cannot be whole is what a crash leaves behind: the last thing in the file.
    fn take_torn(&mut self, read: u64) -> Result<Taken, LedgerError> {
        let blank = is_blank(&self.buffer);
        let mut bytes = read;
        loop {
            let rest = self.fill()?;
            if rest.is_empty() {
                return Ok(Taken::Torn(bytes));
            }
            if !blank || !is_blank(rest) {
                let damage = if blank { Damage::Layout } else { Damage::TooLong };
                return Err(self.damaged(damage));
            }
            let length = rest.len();
            bytes += length as u64;
            self.reader.consume(length);
        }
    }

    fn fill(&mut self) -> Result<&[u8], LedgerError> {
        let path = &self.path;
        self.reader.fill_buf().map_err(|error| LedgerError::io("read", path, error))
    }

    fn io(&self, error: std::io::Error) -> LedgerError {
        LedgerError::io("read", &self.path, error)
    }

    /// An error about the line that was read last.
    pub(super) fn damaged(&self, damage: Damage) -> LedgerError {
        self.damaged_at(self.line, damage)
    }

    /// An error about some line.
    pub(super) fn damaged_at(&self, line: u64, damage: Damage) -> LedgerError {
        LedgerError::Damaged { path: self.path.clone(), line, damage }
    }

    /// Checks that the header continues `before`. A ledger without a whole header continues nothing yet.
    ///
    /// # Errors
    /// It continues another ledger.
    pub(super) fn check_before(&self, before: Digest) -> Result<(), LedgerError> {
        match &self.header {
            Some(header) if header.before != before => {
                Err(self.damaged_at(1, Damage::Before { expected: before, found: header.before }))
            }
            _ => Ok(()),
        }
    }

    /// The head of the ledger that this one continues; nothing where it has no whole header.
    pub(super) fn before(&self) -> Option<Digest> {
        self.header.as_ref().map(|header| header.before)
    }

    /// Whether the ledger has a whole header.
    pub(super) const fn has_header(&self) -> bool {
        self.header.is_some()
    }

    /// How many records were found so far.
    pub(super) const fn records(&self) -> u64 {
        self.records
    }

    /// The digest of the last whole line.
    pub(super) const fn prev(&self) -> Digest {
        self.prev
    }

    /// The bytes up to the end of the last whole line.
    pub(super) const fn position(&self) -> u64 {
        self.position
    }

    /// The number of the line that was read last, from 1.
    pub(super) const fn line(&self) -> u64 {
        self.line
    }

    /// How many whole lines were found so far, the seal not counted.
    pub(super) fn whole_lines(&self) -> u64 {
        u64::from(self.has_header()) + self.records
    }

    /// The ledger's path.
    pub(super) fn path(&self) -> &Utf8Path {
        &self.path
    }
}

/// Nothing but white space and zeros, as a power loss may leave them.
fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| matches!(byte, 0 | b' ' | b'\t' | b'\r' | b'\n'))
}
