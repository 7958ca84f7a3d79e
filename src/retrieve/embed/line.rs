//! One embedded text, as its blob holds it.

use super::alike::cosine;
use crate::ledger::BlobReader;
use crate::model::{Digest, Failure, FailureClass};
use serde::{Deserialize, Serialize};

/// How alike two vectors of one text by one embedder are at least: servers round differently from call to call.
const SAME: f64 = 0.999;

/// One embedded text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::retrieve) struct Line {
    /// The question; `None` where the text is none.
    pub question: Option<String>,
    /// The digest of the text that was embedded.
    pub text: Digest,
    /// The model that the server said it used.
    pub model: Option<String>,
    /// The digest of the reference text's line, in that of a question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Digest>,
    /// The vector.
    pub vector: Vec<f64>,
}

impl Line {
    /// Reads the blob of this name.
    ///
    /// # Errors
    /// It is missing, damaged, or no line.
    pub(super) fn read(blobs: &BlobReader, digest: &Digest) -> Result<Self, Failure> {
        serde_json::from_slice(&blobs.get(digest)?)
            .map_err(|_| Failure::new(FailureClass::Evidence, format!("blob `{digest}` is no vector")))
    }

    /// The line as it is written.
    pub(super) fn bytes(&self) -> Vec<u8> {
        // A line holds nothing that is no JSON: the numbers of a vector were read from JSON.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// The digest of the line as it is written.
    pub(super) fn digest(&self) -> Digest {
        Digest::of(&self.bytes())
    }

    /// What tells the embedder of the other line from this one's: vectors of one are of one length and by one model.
    pub(super) fn unlike(&self, other: &Self) -> Option<String> {
        if self.vector.len() != other.vector.len() {
            return Some(format!("it gave {} numbers, and then {}", self.vector.len(), other.vector.len()));
        }
        (self.model != other.model).then(|| "the server names another model than before".to_owned())
    }

    /// The same of two lines of one text.
    pub(super) fn unlike_of_one_text(&self, other: &Self) -> Option<String> {
        let alike = cosine(&self.vector, &other.vector);
        let moved = || (alike < SAME).then(|| format!("the same text came to another vector (cosine {alike:.3})"));
        self.unlike(other).or_else(moved)
    }
}
