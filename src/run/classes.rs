//! `classes.jsonl`: what the figures need of the texts, without the texts. For each distinct answer: which others it
//! equals after normalisation, and how it stands to gold. Described in docs/ledger-format.md.

use super::found::name_of;
use crate::analyze::{QuestionScores, Score, scoring};
use crate::freeze::Protocol;
use crate::ledger;
use crate::ledger::stage::{Answers, ReplicaAnswers, Stage as _};
use crate::model::{Answer, Digest, Failure, FailureClass, Hashing, Normalisation, Question, QuestionId, UNKNOWN};
use camino::Utf8Path;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Seek as _, Write as _};
use tempfile::SpooledTempFile;

/// The file's name.
pub(super) const FILE: &str = "classes.jsonl";
/// The version that is written.
const FORMAT: &str = "1.0";
/// How the versions begin that are read.
const MAJOR: &str = "1.";
/// Bytes of a file that stay in memory.
const IN_MEMORY: usize = 64 << 10;

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    format: String,
    protocol: Digest,
    normalisation: Normalisation,
}

/// One selected question.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Line {
    question: QuestionId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cluster: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    gold: bool,
    answers: Vec<Classed>,
    /// The distinct answers of a second generator, with classes of their own and without marks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    replica: Vec<Classed>,
}

/// Distinct answers of one question, in the order of snapshots and repeats, with their digests.
pub(super) type Distinct<'a> = [(Digest, &'a Answer)];

/// One distinct answer. The two marks are there where the question has gold.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Classed {
    answer: Digest,
    class: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    right: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    f1: Option<f64>,
}

/// The file of a run whose texts are there, as it is written. It waits in a temporary file.
pub(super) struct Writer {
    normalisation: Normalisation,
    file: BufWriter<SpooledTempFile>,
    hashing: Hashing,
}

/// A file that was written.
#[derive(Debug)]
pub(super) struct Written {
    file: SpooledTempFile,
    /// The digest of its bytes.
    pub digest: Digest,
}

impl Writer {
    /// Begins with the header.
    ///
    /// # Errors
    /// The temporary file cannot be written.
    pub(super) fn new(protocol: &Protocol) -> Result<Self, Failure> {
        let normalisation = protocol.spec.judge.normalisation;
        let file = BufWriter::new(SpooledTempFile::new(IN_MEMORY));
        let mut writer = Self { normalisation, file, hashing: Hashing::default() };
        writer.add(&Header { format: FORMAT.to_owned(), protocol: protocol.digest, normalisation })?;
        Ok(writer)
    }

    /// Takes the next question in selection order, its distinct answers, those of a second generator, and its gold.
    ///
    /// # Errors
    /// As [`Writer::new`].
    pub(super) fn question(
        &mut self,
        question: &Question,
        distinct: &Distinct<'_>,
        replica: &Distinct<'_>,
        gold: &[String],
    ) -> Result<(), Failure> {
        let replica = classed(replica, &[], self.normalisation);
        self.add(&Line { replica, ..line(question, distinct, gold, self.normalisation) })
    }

    fn add(&mut self, line: &impl Serialize) -> Result<(), Failure> {
        let mut bytes = serde_json::to_vec(line).map_err(|_| unwritten())?;
        bytes.push(b'\n');
        self.hashing.update(&bytes);
        self.file.write_all(&bytes).map_err(|_| unwritten())
    }

    /// The whole file.
    ///
    /// # Errors
    /// As [`Writer::new`].
    pub(super) fn finish(self) -> Result<Written, Failure> {
        let file = self.file.into_inner().map_err(|_| unwritten())?;
        Ok(Written { file, digest: self.hashing.finish() })
    }
}

impl Written {
    /// Its bytes, from the first on.
    ///
    /// # Errors
    /// The temporary file cannot be read.
    pub(super) fn bytes(&mut self) -> Result<impl BufRead, Failure> {
        self.file.rewind().map_err(|_| unwritten())?;
        Ok(BufReader::new(&mut self.file))
    }
}

fn unwritten() -> Failure {
    Failure::new(FailureClass::Incomplete, format!("failed to write `{FILE}`"))
}

fn line(question: &Question, distinct: &Distinct<'_>, gold: &[String], normalisation: Normalisation) -> Line {
    Line {
        question: question.id.clone(),
        cluster: question.cluster.clone(),
        tags: question.tags.clone(),
        gold: !gold.is_empty(),
        answers: classed(distinct, gold, normalisation),
        replica: Vec::new(),
    }
}

fn classed(distinct: &Distinct<'_>, gold: &[String], normalisation: Normalisation) -> Vec<Classed> {
    let scores = scoring::score(distinct.iter().map(|(_, answer)| *answer), gold, normalisation);
    let has_gold = !gold.is_empty();
    let classed = |((digest, _), (_, score)): (&(Digest, &Answer), (&Answer, Score))| Classed {
        answer: *digest,
        class: score.class,
        right: has_gold.then_some(score.right),
        f1: has_gold.then_some(score.f1),
    };
    distinct.iter().zip(scores).map(classed).collect()
}

/// A file that is read, line by line.
#[derive(Debug)]
pub(super) struct Classes<R> {
    from: R,
    header: Header,
    hashing: Hashing,
    /// The number of the line that was read last, from 1.
    at: usize,
}

impl Classes<BufReader<File>> {
    /// Opens the file of an export.
    ///
    /// # Errors
    /// It is missing, or its first line is none of such a file.
    pub(super) fn open(folder: &Utf8Path) -> Result<Self, Failure> {
        Self::read(BufReader::new(ledger::open_plain_file(&folder.join(FILE))?))
    }
}

impl<R: BufRead> Classes<R> {
    fn read(mut from: R) -> Result<Self, Failure> {
        let (mut hashing, at) = (Hashing::default(), 1);
        let first = next_line(&mut from, &mut hashing, at)?.ok_or_else(|| broken(at, "empty"))?;
        let header: Header = serde_json::from_slice(&first).map_err(|_| broken(at, "not the header of such a file"))?;
        if !header.format.starts_with(MAJOR) {
            return Err(broken(at, &format!("format {}, but this program reads {FORMAT}", header.format)));
        }
        Ok(Self { from, header, hashing, at })
    }

    /// The next question; `None` at the end.
    ///
    /// # Errors
    /// A line that is none, or contradicts itself.
    fn next(&mut self) -> Result<Option<Line>, Failure> {
        self.at += 1;
        let at = self.at;
        let Some(row) = next_line(&mut self.from, &mut self.hashing, at)? else { return Ok(None) };
        let line: Line = serde_json::from_slice(&row).map_err(|_| broken(at, "not a question's answers"))?;
        if line.is_sound() { Ok(Some(line)) } else { Err(broken(at, "classes or marks that contradict each other")) }
    }

    /// The selected questions without their texts, in selection order.
    pub(super) fn questions(&mut self) -> impl Iterator<Item = Result<Question, Failure>> {
        let question =
            |line: Line| Question { id: line.question, text: String::new(), tags: line.tags, cluster: line.cluster };
        std::iter::from_fn(move || self.next().transpose()).map(move |line| line.map(question))
    }

    /// The digest of everything that was read.
    pub(super) fn digest(self) -> Digest {
        self.hashing.finish()
    }

    /// Whether they belong to this protocol.
    ///
    /// # Errors
    /// They are of another one, or were made with another normalisation.
    pub(super) fn check(&self, protocol: &Protocol) -> Result<(), Failure> {
        if (self.header.protocol, self.header.normalisation) == (protocol.digest, protocol.spec.judge.normalisation) {
            return Ok(());
        }
        Err(broken(1, "another protocol, or another normalisation than the protocol's"))
    }

    /// The scores of the next question's answers, and of a second generator's, once it is clear that they are about those in the
    /// ledgers.
    ///
    /// # Errors
    /// They are about others.
    pub(super) fn scores(
        &mut self,
        distinct: &Distinct<'_>,
        replica: &Distinct<'_>,
    ) -> Result<[QuestionScores; 2], Failure> {
        let line = self.next()?;
        let other = |ledger| broken(self.at, &format!("other answers than the accepted ones in `{ledger}`"));
        let line = line.ok_or_else(|| other(Answers::FILE))?;
        let are = |found: &[Classed], wanted: &Distinct<'_>| {
            found.iter().map(|classed| classed.answer).eq(wanted.iter().map(|(digest, _)| *digest))
        };
        if !are(&line.answers, distinct) {
            return Err(other(Answers::FILE));
        }
        if !are(&line.replica, replica) {
            return Err(other(ReplicaAnswers::FILE));
        }
        Ok([scores(line.gold, &line.answers)?, scores(false, &line.replica)?])
    }
}

/// One line without its end; `None` at the end of the file.
fn next_line(from: &mut impl BufRead, hashing: &mut Hashing, at: usize) -> Result<Option<Vec<u8>>, Failure> {
    let mut row = Vec::new();
    from.read_until(b'\n', &mut row).map_err(|_| broken(at, "cannot be read"))?;
    hashing.update(&row);
    match row.pop() {
        None => Ok(None),
        Some(b'\n') => Ok(Some(row)),
        Some(_) => Err(broken(at, "cut off")),
    }
}

impl Line {
    fn is_sound(&self) -> bool {
        is_sound(&self.answers, self.gold) && is_sound(&self.replica, false)
    }
}

/// Whether classes are numbered in the order in which they come, equal answers are marked equally, and marks stand
/// where there is gold, and only there.
fn is_sound(answers: &[Classed], gold: bool) -> bool {
    let mut firsts: Vec<&Classed> = Vec::new();
    answers.iter().all(|classed| {
        let marked = classed.right.is_some() && classed.f1.is_some_and(|f1| (0.0..=1.0).contains(&f1));
        let bare = classed.right.is_none() && classed.f1.is_none();
        let known = firsts.get(classed.class as usize).copied();
        let fits = match known {
            Some(first) => (first.right, first.f1) == (classed.right, classed.f1),
            None => classed.class as usize == firsts.len(),
        };
        if known.is_none() {
            firsts.push(classed);
        }
        fits && if gold { marked } else { bare }
    })
}

fn scores(gold: bool, answers: &[Classed]) -> Result<QuestionScores, Failure> {
    let unknown = Digest::of(UNKNOWN.as_bytes());
    let score = |classed: &Classed| Score {
        class: classed.class,
        unknown: classed.answer == unknown,
        right: classed.right.unwrap_or(false),
        f1: classed.f1.unwrap_or(0.0),
    };
    let answers = answers.iter().map(|classed| Ok((name_of(&classed.answer)?, score(classed))));
    Ok(QuestionScores { gold, answers: answers.collect::<Result<_, Failure>>()? })
}

fn broken(line: usize, what: &str) -> Failure {
    Failure::new(FailureClass::Evidence, format!("`{FILE}` line {line}: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(text: &str) -> Answer {
        Answer::parse(text, 512).unwrap()
    }

    fn question(id: &str) -> Question {
        Question { id: QuestionId(id.to_owned()), text: "who?".to_owned(), tags: vec!["t".to_owned()], cluster: None }
    }

    fn of(texts: &[&str], gold: &[&str]) -> Line {
        let answers: Vec<(Digest, Answer)> =
            texts.iter().map(|text| (Digest::of(text.as_bytes()), answer(text))).collect();
        let distinct: Vec<(Digest, &Answer)> = answers.iter().map(|(digest, answer)| (*digest, answer)).collect();
        let gold: Vec<String> = gold.iter().map(|text| (*text).to_owned()).collect();
        line(&question("q"), &distinct, &gold, Normalisation::Nq)
    }

    #[test]
    fn a_line_has_classes_and_marks_and_no_text() {
        let line = of(&["The Executor", "executor.", "Home One"], &["Executor"]);
        assert!(line.is_sound());
        let text = serde_json::to_string(&line).unwrap();
        assert!(!text.contains("xecutor") && !text.contains("who?"), "{text}");
        let scores = scores(line.gold, &line.answers).unwrap();
        let found: Vec<_> = line.answers.iter().map(|classed| (classed.class, classed.right, classed.f1)).collect();
        assert_eq!(found, [(0, Some(true), Some(1.0)), (0, Some(true), Some(1.0)), (1, Some(false), Some(0.0))]);
        assert_eq!(scores.answers.len(), 3);
        let unknown = of(&[UNKNOWN], &[]);
        assert!(super::scores(false, &unknown.answers).unwrap().answers.values().all(|score| score.unknown));
    }

    #[test]
    fn what_contradicts_itself_is_refused_with_its_line() {
        let replica = of(&["d", "e"], &[]).answers;
        let good = Line { replica, ..of(&["a b", "c", "c."], &["c"]) };
        let header = Header { format: FORMAT.to_owned(), protocol: Digest::of(b"p"), normalisation: Normalisation::Nq };
        let file = |line: &str| format!("{}\n{line}\n", serde_json::to_string(&header).unwrap());
        let good = serde_json::to_string(&good).unwrap();
        let read =
            |text: &str| -> Result<Vec<Question>, Failure> { Classes::read(text.as_bytes())?.questions().collect() };
        assert!(read(&file(&good)).is_ok());
        for (from, to) in [
            ("\"class\":1", "\"class\":2"),
            ("\"class\":1}]}", "\"class\":2}]}"),
            ("\"class\":1}]}", "\"class\":1,\"right\":true,\"f1\":1.0}]}"),
            ("\"gold\":true", "\"gold\":false"),
            ("\"right\":true", "\"right\":false"),
            ("\"f1\":1.0", "\"f1\":1.5"),
            ("\"f1\":0.0", "\"f1\":null"),
        ] {
            let edited = good.replacen(from, to, 1);
            assert_ne!(edited, good, "{from}");
            let failure = read(&file(&edited)).unwrap_err();
            assert_eq!(failure.class, FailureClass::Evidence);
            assert!(failure.message.starts_with("`classes.jsonl` line 2:"), "{from}: {failure}");
        }
        let newer = file(&good).replacen("\"1.0\"", "\"2.0\"", 1);
        assert!(read(&newer).unwrap_err().message.contains("format 2.0"));
        assert!(read(&file(&good)[..40]).is_err());
    }
}
