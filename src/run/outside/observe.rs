//! A record -> an observation, with everything checked that one line alone can show.

use super::Problem;
use super::record::{Item, Ordered, Record};
use crate::model::{Answer, Digest, EvidenceKeys, Label, Observation, QuestionId, SnapshotAnswers, SnapshotName};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// An alias that stands for "no answer is right" where answers are only marked: a noncharacter of Unicode, which no answer
/// is, and which every normalisation keeps.
const NO_RIGHT_ANSWER: &str = "\u{ffff}";

/// Ids and the lines they stand on.
#[derive(Default)]
pub(super) struct Seen(HashMap<QuestionId, usize>);

impl Seen {
    pub(super) fn add(&mut self, observation: &Observation, line: usize) -> Result<(), Problem> {
        match self.0.insert(observation.id.clone(), line) {
            Some(first) => Err(Problem::RepeatedId(first)),
            None => Ok(()),
        }
    }
}

pub(super) fn observe(record: Record) -> Result<Observation, Problem> {
    if record.id.trim().is_empty() {
        return Err(Problem::EmptyId);
    }
    if record.unchanged && record.answers.0.iter().any(|(_, answers)| !answers.is_empty()) {
        return Err(Problem::AnsweredUnchanged);
    }
    let answers = answers(&record.answers)?;
    let judgments = judgments(&record.labels, &answers)?;
    let similarities = similarities(&record, &answers)?;
    let gold = gold(&record, &answers)?;
    let snapshots = snapshots(answers, record.evidence.as_ref())?;
    Ok(Observation {
        id: QuestionId(record.id),
        cluster: record.cluster,
        tags: record.tags,
        snapshots,
        judgments,
        similarities,
        gold,
        unchanged: record.unchanged,
    })
}

type BySnapshot = Vec<(String, Vec<Answer>)>;

fn answers(written: &Ordered<Vec<String>>) -> Result<BySnapshot, Problem> {
    let one = |snapshot: &str, repeat, text: &String| {
        Answer::parse(text, usize::MAX).map_err(|_| Problem::EmptyAnswer { snapshot: snapshot.to_owned(), repeat })
    };
    let of = |(snapshot, texts): &(String, Vec<String>)| {
        let answers = texts.iter().enumerate().map(|(repeat, text)| one(snapshot, repeat, text));
        Ok((snapshot.clone(), answers.collect::<Result<Vec<Answer>, Problem>>()?))
    };
    written.0.iter().map(of).collect()
}

fn judgments(
    labels: &[(String, String, Label)],
    answers: &BySnapshot,
) -> Result<BTreeMap<(Answer, Answer), Label>, Problem> {
    let texts: BTreeSet<&Answer> = answers.iter().flat_map(|(_, answers)| answers).collect();
    let known = |text: &str, place| {
        let answer = Answer::parse(text, usize::MAX).ok().filter(|answer| texts.contains(answer));
        answer.ok_or(Problem::StrangeLabel(place))
    };
    let mut judgments = BTreeMap::new();
    for (place, (one, other, label)) in labels.iter().enumerate() {
        let (one, other) = (known(one, place)?, known(other, place)?);
        let (small, large) = if one <= other { (one, other) } else { (other, one) };
        let contradicted = if small == large {
            *label == Label::Different
        } else {
            judgments.insert((small, large), *label).is_some_and(|before| before != *label)
        };
        if contradicted {
            return Err(Problem::ContradictoryLabel(place));
        }
    }
    Ok(judgments)
}

fn similarities(record: &Record, answers: &BySnapshot) -> Result<BTreeMap<(Answer, Answer), f64>, Problem> {
    let texts: BTreeSet<&Answer> = answers.iter().flat_map(|(_, answers)| answers).collect();
    let known = |text: &str, place| {
        let answer = Answer::parse(text, usize::MAX).ok().filter(|answer| texts.contains(answer));
        answer.ok_or(Problem::StrangeSimilarity(place))
    };
    let mut similarities = BTreeMap::new();
    for (place, (one, other, similarity)) in record.similarity.iter().enumerate() {
        if !(0.0..=1.0).contains(similarity) {
            return Err(Problem::NotASimilarity {
                question: record.id.clone(),
                place,
                value: format!("{similarity:?}"),
            });
        }
        let (one, other) = (known(one, place)?, known(other, place)?);
        let (small, large) = if one <= other { (one, other) } else { (other, one) };
        let expected = if small == large { Some(1.0) } else { similarities.insert((small, large), *similarity) };
        if expected.is_some_and(|expected: f64| expected.total_cmp(similarity).is_ne()) {
            return Err(Problem::ContradictorySimilarity(place));
        }
    }
    Ok(similarities)
}

/// The gold answers; where answers are only marked, the texts that are marked right.
fn gold(record: &Record, answers: &BySnapshot) -> Result<Vec<String>, Problem> {
    match (&record.gold, &record.correct) {
        (Some(_), Some(_)) => Err(Problem::GoldAndCorrect),
        (Some(gold), None) => Ok(gold.clone()),
        (None, None) => Ok(Vec::new()),
        (None, Some(marks)) => marked(marks, answers),
    }
}

fn marked(marks: &Ordered<Vec<bool>>, answers: &BySnapshot) -> Result<Vec<String>, Problem> {
    refuse_strangers("correct", marks, answers)?;
    let (mut right, mut wrong) = (BTreeSet::new(), BTreeSet::new());
    for (snapshot, answers) in answers {
        let marks = marks.get(snapshot).filter(|marks| marks.len() == answers.len());
        let marks = marks.ok_or_else(|| Problem::UnevenMarks(snapshot.clone()))?;
        for (answer, mark) in answers.iter().zip(marks) {
            if *mark {
                right.insert(answer)
            } else {
                wrong.insert(answer)
            };
        }
    }
    if right.intersection(&wrong).next().is_some() {
        return Err(Problem::ContradictoryMarks);
    }
    let texts = right.into_iter().map(|answer| answer.as_str().to_owned());
    Ok(texts.chain([NO_RIGHT_ANSWER.to_owned()]).collect())
}

fn snapshots(answers: BySnapshot, evidence: Option<&Ordered<Vec<Item>>>) -> Result<Vec<SnapshotAnswers>, Problem> {
    if let Some(evidence) = evidence {
        refuse_strangers("evidence", evidence, &answers)?;
    }
    let keys = |snapshot: &str| evidence.and_then(|evidence| evidence.get(snapshot)).map(|items| keys(items));
    let of = |(snapshot, answers): (String, Vec<Answer>)| SnapshotAnswers {
        evidence: keys(&snapshot),
        cited: Vec::new(),
        snapshot: SnapshotName(snapshot),
        answers,
    };
    Ok(answers.into_iter().map(of).collect())
}

/// A document without a text is known by its id alone.
fn keys(items: &[Item]) -> EvidenceKeys {
    let content = |item: &Item| Digest::of(item.text.as_ref().unwrap_or(&item.id).as_bytes());
    EvidenceKeys {
        ids: items.iter().map(|item| item.id.clone()).collect(),
        urls: items.iter().map(|item| item.url.clone()).collect(),
        contents: items.iter().map(content).collect(),
    }
}

fn refuse_strangers<T>(member: &'static str, written: &Ordered<T>, answers: &BySnapshot) -> Result<(), Problem> {
    let known = |snapshot: &String| answers.iter().any(|(name, _)| name == snapshot);
    match written.0.iter().find(|(snapshot, _)| !known(snapshot)) {
        Some((snapshot, _)) => Err(Problem::StrangeSnapshot { member, snapshot: snapshot.clone() }),
        None => Ok(()),
    }
}
