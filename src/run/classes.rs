//! `classes.jsonl`: what the figures need of the texts, without the texts. For each distinct answer: which others it
//! equals after normalisation, and how it stands to gold. Described in docs/ledger-format.md.

use super::collect::{Collected, name_of};
use crate::analyze::{QuestionScores, Score, Scores, scoring};
use crate::freeze::Protocol;
use crate::model::{Answer, Digest, Failure, FailureClass, Gold, Normalisation, Question, QuestionId, UNKNOWN};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The file's name.
pub(super) const FILE: &str = "classes.jsonl";
/// The version that is written.
const FORMAT: &str = "1.0";
/// How the versions begin that are read.
const MAJOR: &str = "1.";

/// The first line.
#[derive(Serialize, Deserialize)]
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
}

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

/// The file of a run whose texts are there.
///
/// # Errors
/// Never in practice: every field serialises.
pub(super) fn write(
    protocol: &Protocol,
    collected: &Collected,
    gold: &BTreeMap<QuestionId, Gold>,
) -> Result<Vec<u8>, Failure> {
    let normalisation = protocol.spec.judge.normalisation;
    let mut out = Vec::new();
    add(&mut out, &Header { format: FORMAT.to_owned(), protocol: protocol.digest, normalisation })?;
    for question in &protocol.questions {
        let gold = gold.get(&question.id).map_or(&[][..], |gold| &gold.aliases);
        let distinct = collected.answers.distinct(protocol, &question.id);
        add(&mut out, &line(question, &distinct, gold, normalisation))?;
    }
    Ok(out)
}

fn add(out: &mut Vec<u8>, line: &impl Serialize) -> Result<(), Failure> {
    serde_json::to_writer(&mut *out, line)
        .map_err(|_| Failure::new(FailureClass::Incomplete, format!("failed to write `{FILE}`")))?;
    out.push(b'\n');
    Ok(())
}

fn line(question: &Question, distinct: &[(Digest, &Answer)], gold: &[String], normalisation: Normalisation) -> Line {
    let scores = scoring::score(distinct.iter().map(|(_, answer)| *answer), gold, normalisation);
    let has_gold = !gold.is_empty();
    let classed = |((digest, _), (_, score)): (&(Digest, &Answer), (&Answer, Score))| Classed {
        answer: *digest,
        class: score.class,
        right: has_gold.then_some(score.right),
        f1: has_gold.then_some(score.f1),
    };
    Line {
        question: question.id.clone(),
        cluster: question.cluster.clone(),
        tags: question.tags.clone(),
        gold: has_gold,
        answers: distinct.iter().zip(scores).map(classed).collect(),
    }
}

/// A file that was read.
#[derive(Debug)]
pub(super) struct Classes {
    protocol: Digest,
    normalisation: Normalisation,
    lines: Vec<Line>,
}

impl Classes {
    /// Reads a file.
    ///
    /// # Errors
    /// The first line that is none, or contradicts itself.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, Failure> {
        let text = std::str::from_utf8(bytes).map_err(|_| broken(1, "not UTF-8"))?;
        let text = text.strip_suffix('\n').ok_or_else(|| broken(1, "cut off"))?;
        let mut rows = text.split('\n').zip(1..);
        let (first, at) = rows.next().ok_or_else(|| broken(1, "empty"))?;
        let header: Header = serde_json::from_str(first).map_err(|_| broken(at, "not the header of such a file"))?;
        if !header.format.starts_with(MAJOR) {
            return Err(broken(at, &format!("format {}, but this program reads {FORMAT}", header.format)));
        }
        let lines = rows.map(|(row, at)| {
            let line: Line = serde_json::from_str(row).map_err(|_| broken(at, "not a question's answers"))?;
            if line.is_sound() { Ok(line) } else { Err(broken(at, "classes or marks that contradict each other")) }
        });
        Ok(Self {
            protocol: header.protocol,
            normalisation: header.normalisation,
            lines: lines.collect::<Result<_, Failure>>()?,
        })
    }

    /// The selected questions without their texts, in selection order.
    pub(super) fn questions(&self) -> Vec<Question> {
        let question = |line: &Line| Question {
            id: line.question.clone(),
            text: String::new(),
            tags: line.tags.clone(),
            cluster: line.cluster.clone(),
        };
        self.lines.iter().map(question).collect()
    }

    /// The scores, once it is clear that they are about the answers in these ledgers.
    ///
    /// # Errors
    /// They are about others.
    pub(super) fn scores(&self, protocol: &Protocol, collected: &Collected) -> Result<Scores, Failure> {
        if (self.protocol, self.normalisation) != (protocol.digest, protocol.spec.judge.normalisation) {
            return Err(broken(1, "another protocol, or another normalisation than the protocol's"));
        }
        let mut scores = Scores::new();
        for (line, at) in self.lines.iter().zip(2..) {
            let distinct = collected.answers.distinct(protocol, &line.question);
            let named = line.answers.iter().map(|classed| classed.answer);
            if !named.eq(distinct.iter().map(|(digest, _)| *digest)) {
                return Err(broken(at, "other answers than the accepted ones in `answers.jsonl`"));
            }
            scores.insert(line.question.clone(), line.scores()?);
        }
        Ok(scores)
    }
}

impl Line {
    /// Whether classes are numbered in the order in which they come, equal answers are marked equally, and marks stand
    /// where there is gold, and only there.
    fn is_sound(&self) -> bool {
        let mut firsts: Vec<&Classed> = Vec::new();
        self.answers.iter().all(|classed| {
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
            fits && if self.gold { marked } else { bare }
        })
    }

    fn scores(&self) -> Result<QuestionScores, Failure> {
        let unknown = Digest::of(UNKNOWN.as_bytes());
        let score = |classed: &Classed| Score {
            class: classed.class,
            unknown: classed.answer == unknown,
            right: classed.right.unwrap_or(false),
            f1: classed.f1.unwrap_or(0.0),
        };
        let answers = self.answers.iter().map(|classed| Ok((name_of(&classed.answer)?, score(classed))));
        Ok(QuestionScores { gold: self.gold, answers: answers.collect::<Result<_, Failure>>()? })
    }
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
        let scores = line.scores().unwrap();
        let found: Vec<_> = line.answers.iter().map(|classed| (classed.class, classed.right, classed.f1)).collect();
        assert_eq!(found, [(0, Some(true), Some(1.0)), (0, Some(true), Some(1.0)), (1, Some(false), Some(0.0))]);
        assert_eq!(scores.answers.len(), 3);
        assert!(of(&[UNKNOWN], &[]).scores().unwrap().answers.values().all(|score| score.unknown));
    }

    #[test]
    fn what_contradicts_itself_is_refused_with_its_line() {
        let good = of(&["a b", "c", "c."], &["c"]);
        let header = Header { format: FORMAT.to_owned(), protocol: Digest::of(b"p"), normalisation: Normalisation::Nq };
        let file = |line: &str| format!("{}\n{line}\n", serde_json::to_string(&header).unwrap());
        let good = serde_json::to_string(&good).unwrap();
        assert!(Classes::read(file(&good).as_bytes()).is_ok());
        for (from, to) in [
            ("\"class\":1", "\"class\":2"),
            ("\"gold\":true", "\"gold\":false"),
            ("\"right\":true", "\"right\":false"),
            ("\"f1\":1.0", "\"f1\":1.5"),
            ("\"f1\":0.0", "\"f1\":null"),
        ] {
            let edited = good.replacen(from, to, 1);
            assert_ne!(edited, good, "{from}");
            let failure = Classes::read(file(&edited).as_bytes()).unwrap_err();
            assert_eq!(failure.class, FailureClass::Evidence);
            assert!(failure.message.starts_with("`classes.jsonl` line 2:"), "{from}: {failure}");
        }
        let newer = file(&good).replacen("\"1.0\"", "\"2.0\"", 1);
        assert!(Classes::read(newer.as_bytes()).unwrap_err().message.contains("format 2.0"));
        assert!(Classes::read(&file(&good).as_bytes()[..40]).is_err());
    }
}
