//! The digest of a corpus.

use super::CorpusDocument;
use crate::model::Digest;

/// Collects documents into one digest that does not depend on their order, nor on how the corpus is stored.
#[derive(Clone, Debug, Default)]
pub struct Fingerprint {
    documents: Vec<Digest>,
}

impl Fingerprint {
    /// Takes one document in.
    pub fn add(&mut self, document: &CorpusDocument) {
        let url = document.url.as_deref().unwrap_or_default();
        let parts = [document.id.as_bytes(), url.as_bytes(), document.text.as_bytes()];
        self.documents.push(Digest::of_parts(parts));
    }

    /// How many documents it has taken in.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.documents.len() as u64
    }

    /// The digest of them all: of their sorted digests.
    #[must_use]
    pub fn finish(mut self) -> Digest {
        self.documents.sort_unstable();
        Digest::of_parts(self.documents.iter().map(|digest| digest.as_bytes().as_slice()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(ids: &[&str]) -> Digest {
        let mut fingerprint = Fingerprint::default();
        for id in ids {
            fingerprint.add(&CorpusDocument { id: (*id).to_owned(), url: None, text: "text".to_owned() });
        }
        fingerprint.finish()
    }

    #[test]
    fn order_does_not_matter_and_content_does() {
        assert_eq!(of(&["a", "b"]), of(&["b", "a"]));
        assert_ne!(of(&["a", "b"]), of(&["a", "c"]));
        assert_ne!(of(&["a"]), of(&["a", "a"]));
    }
}
