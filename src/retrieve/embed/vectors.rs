//! The vector of every question, made once and kept.

use super::alike::cosine;
use super::embedder::{Embedded, embed};
use super::store::{Line, Store};
use crate::http::Context;
use crate::model::{Digest, Failure, FailureClass, Question};
use crate::spec::EmbedSpec;
use camino::Utf8Path;
use std::collections::BTreeMap;

/// Questions that are embedded together.
const BATCH: usize = 32;
/// A text that says nothing about anybody, embedded at the beginning and at the end.
const REFERENCE: &str = "Which town lies where the two rivers meet?";
/// How alike two vectors of one text by one embedder are at least: servers round differently from call to call.
const SAME: f64 = 0.999;

/// The vectors of all questions, in selection order.
pub(in crate::retrieve) struct Vectors {
    reference: Line,
    all: Vec<Line>,
}

impl Vectors {
    /// The vector of the question of this number.
    pub(in crate::retrieve) fn get(&self, question: usize) -> Option<&[f64]> {
        self.all.get(question).map(|line| line.vector.as_slice())
    }

    /// The line of every question as it is kept, in selection order.
    pub(in crate::retrieve) fn lines(&self) -> Vec<Vec<u8>> {
        self.all.iter().map(Line::bytes).collect()
    }

    /// How many numbers each has.
    pub(in crate::retrieve) const fn dimensions(&self) -> usize {
        self.reference.vector.len()
    }
}

/// Embeds every question that is not embedded yet: before the first search all of them. `searched` says whether there was one.
///
/// # Errors
/// The embedder fails, or is not the one that embedded what is there; the file is damaged, or lacks what was searched for.
pub(in crate::retrieve) async fn vectors(
    spec: &EmbedSpec,
    questions: &[Question],
    folder: &Utf8Path,
    searched: bool,
    context: &Context,
) -> Result<Vectors, Failure> {
    let (mut store, lines) = Store::open(folder)?;
    let kept = lines.iter().find(|line| line.question.is_none());
    let embedded = lines.iter().filter(|line| line.question.is_some()).count();
    if searched && (kept.is_none() || embedded < questions.len()) {
        return Err(lost());
    }
    let now = reference(spec, context).await?;
    match kept {
        Some(kept) => same(kept, &now)?,
        None => store.append(std::slice::from_ref(&now))?,
    }
    let kept = kept.cloned().unwrap_or(now);
    let named = |line: Line| Some(((line.question.clone()?, line.text), line));
    let mut known: BTreeMap<(String, Digest), Line> = lines.into_iter().filter_map(named).collect();
    let key = |question: &Question| (question.id.0.clone(), Digest::of(text(spec, question).as_bytes()));
    let open: Vec<&Question> = questions.iter().filter(|question| !known.contains_key(&key(question))).collect();
    for batch in open.chunks(BATCH) {
        let texts: Vec<String> = batch.iter().map(|question| text(spec, question)).collect();
        let embedded = embed(spec, &texts, context).await?;
        let lines = lines_of(batch.iter().map(|question| key(question)), embedded, kept.digest());
        lines.iter().try_for_each(|line| of_one_embedder(&kept, line))?;
        store.append(&lines)?;
        known.extend(lines.into_iter().filter_map(named));
    }
    let all = questions.iter().filter_map(|question| known.remove(&key(question))).collect();
    Ok(Vectors { reference: kept, all })
}

/// Vectors made anew may be others than those that were searched for, and nobody could tell.
fn lost() -> Failure {
    Failure::new(FailureClass::Evidence, "`vectors.jsonl` lacks vectors that this run has already searched for")
        .with_hint("put the file back; or begin anew in another folder (`--runs`)")
}

/// What is embedded of a question.
pub(super) fn text(spec: &EmbedSpec, question: &Question) -> String {
    format!("{}{}", spec.prefix, question.text)
}

/// Whether the embedder is still the one that embedded the questions.
///
/// # Errors
/// It is another one, or fails.
pub(in crate::retrieve) async fn still_the_same(
    spec: &EmbedSpec,
    vectors: &Vectors,
    context: &Context,
) -> Result<(), Failure> {
    same(&vectors.reference, &reference(spec, context).await?)
}

async fn reference(spec: &EmbedSpec, context: &Context) -> Result<Line, Failure> {
    let mut embedded = embed(spec, &[REFERENCE.to_owned()], context).await?;
    let vector = embedded.vectors.pop().unwrap_or_default();
    Ok(Line { question: None, text: Digest::of(REFERENCE.as_bytes()), model: embedded.model, reference: None, vector })
}

fn lines_of(keys: impl Iterator<Item = (String, Digest)>, embedded: Embedded, reference: Digest) -> Vec<Line> {
    let (model, reference) = (embedded.model, Some(reference));
    let line = |((question, text), vector)| {
        let (question, model) = (Some(question), model.clone());
        Line { question, text, model, reference, vector }
    };
    keys.zip(embedded.vectors).map(line).collect()
}

/// Vectors of one embedder are of one length and by one model.
pub(super) fn of_one_embedder(kept: &Line, line: &Line) -> Result<(), Failure> {
    if kept.vector.len() != line.vector.len() {
        return Err(changed(&format!("it gave {} numbers, and then {}", kept.vector.len(), line.vector.len())));
    }
    if kept.model != line.model {
        return Err(changed("the server names another model than before"));
    }
    Ok(())
}

fn same(kept: &Line, now: &Line) -> Result<(), Failure> {
    of_one_embedder(kept, now)?;
    let alike = cosine(&kept.vector, &now.vector);
    if alike < SAME {
        return Err(changed(&format!("the same text came to another vector (cosine {alike:.3})")));
    }
    Ok(())
}

fn changed(how: &str) -> Failure {
    Failure::new(FailureClass::Incomplete, format!("the embedder changed during the run: {how}"))
        .with_hint("name a model that stays, remove the run folder, and run again")
}
