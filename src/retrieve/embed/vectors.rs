//! The vector of every question, made once and read where it is needed.

use super::embedder::{Batch, Embedder};
use super::line::Line;
use super::opened::Opened;
use crate::ledger::BlobReader;
use crate::ledger::record::Texts;
use crate::model::{Digest, Failure, FailureClass, Question};
use crate::spec::EmbedSpec;

/// Questions that are embedded together.
pub(super) const BATCH: usize = 32;
/// A text that says nothing about anybody, embedded at the beginning and at the end.
pub(super) const REFERENCE: &str = "Which town lies where the two rivers meet?";

/// The vectors of all questions by their names, in selection order. The vectors themselves stay on disk: memory holds those
/// of the searches under way.
#[derive(Debug)]
pub(in crate::retrieve) struct Vectors {
    reference: Line,
    digests: Vec<Digest>,
    blobs: BlobReader,
}

impl Vectors {
    /// The vector of the question of this number.
    ///
    /// # Errors
    /// Its blob is missing or damaged.
    pub(in crate::retrieve) fn get(&self, question: usize) -> Result<Option<Vec<f64>>, Failure> {
        let line = self.digests.get(question).map(|digest| Line::read(&self.blobs, digest)).transpose()?;
        Ok(line.map(|line| line.vector))
    }

    /// Its name.
    pub(in crate::retrieve) fn digest(&self, question: usize) -> Option<Digest> {
        self.digests.get(question).copied()
    }

    /// The line of the reference text.
    pub(super) const fn reference(&self) -> &Line {
        &self.reference
    }
}

/// Embeds every question that is not embedded yet: before the first search all of them. Without an embedder all of them are.
///
/// # Errors
/// The embedder fails, or is not the one that embedded what is there; the ledger lacks what was embedded.
pub(in crate::retrieve) async fn vectors(
    embedder: Option<&Embedder<'_>>,
    questions: &[Question],
    opened: &Opened,
) -> Result<Vectors, Failure> {
    let before = opened.kept.first();
    let now = match embedder {
        Some(embedder) => Some(reference(embedder, before).await?),
        None => None,
    };
    let reference = before.cloned().or(now).ok_or_else(lacking)?;
    let known = |question: &Question| opened.kept.questions.get(&question.id).copied();
    let mut digests: Vec<Option<Digest>> = questions.iter().map(known).collect();
    if let Some(embedder) = embedder {
        let open: Vec<usize> = (0..questions.len()).filter(|place| digests[*place].is_none()).collect();
        for places in open.chunks(BATCH) {
            let batch: Vec<&Question> = places.iter().map(|place| &questions[*place]).collect();
            let lines = batch_of(embedder, &batch, &reference).await?;
            for (place, line) in places.iter().zip(lines) {
                digests[*place] = Some(line.digest());
            }
        }
    }
    let digests = digests.into_iter().collect::<Option<_>>().ok_or_else(lacking)?;
    Ok(Vectors { reference, digests, blobs: BlobReader::at(opened.folder()) })
}

async fn batch_of(embedder: &Embedder<'_>, batch: &[&Question], reference: &Line) -> Result<Vec<Line>, Failure> {
    let texts = batch.iter().map(|question| text(embedder.spec, question)).collect();
    let questions = batch.iter().map(|question| question.id.clone()).collect();
    embedder.embed(&Batch { kind: Texts::Questions, texts, questions, reference: Some(reference) }).await
}

fn lacking() -> Failure {
    Failure::new(FailureClass::Evidence, "the ledger of vectors is sealed and lacks some")
}

/// What is embedded of a question.
pub(super) fn text(spec: &EmbedSpec, question: &Question) -> String {
    format!("{}{}", spec.prefix, question.text)
}

/// Whether the embedder is still the one that embedded the questions.
///
/// # Errors
/// It is another one, or fails.
pub(in crate::retrieve) async fn still_the_same(embedder: &Embedder<'_>, vectors: &Vectors) -> Result<(), Failure> {
    reference(embedder, Some(&vectors.reference)).await.map(|_| ())
}

/// The reference text's line; it must be that of the embedder of the one before.
async fn reference(embedder: &Embedder<'_>, before: Option<&Line>) -> Result<Line, Failure> {
    let texts = vec![REFERENCE.to_owned()];
    let batch = Batch { kind: Texts::Reference, texts, questions: Vec::new(), reference: before };
    let mut lines = embedder.embed(&batch).await?;
    lines.pop().ok_or_else(|| Failure::new(FailureClass::Incomplete, "the embedder gave no vector"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_is_held_by_its_name_alone() {
        let folder = tempfile::tempdir().unwrap();
        let folder = camino::Utf8Path::from_path(folder.path()).unwrap();
        let line = |dimensions: usize| Line {
            question: None,
            text: Digest::of(b""),
            model: None,
            reference: None,
            vector: vec![0.5; dimensions],
        };
        let held = |dimensions: usize| {
            let digests = vec![line(dimensions).digest(); 1_000];
            let Vectors { reference, digests, blobs: _ } =
                Vectors { reference: line(dimensions), digests, blobs: BlobReader::at(folder) };
            size_of_val(digests.as_slice()) + size_of_val(reference.vector.as_slice())
        };
        // 32 bytes a question, and one vector of eight bytes a number in all.
        assert_eq!((held(3), held(1_536)), (32_000 + 24, 32_000 + 12_288));
    }
}
