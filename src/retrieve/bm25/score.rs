//! The exact order of the best candidates.
//!
//! The engine adds up single-precision scores in an order that depends on how its index is laid out, which can turn
//! the order of near ties around. Candidates are therefore scored again here: in double precision, term by term in
//! the order of their bytes, with ties broken by the document's id.

use super::index::IndexError;
use std::collections::BTreeMap;
use tantivy::postings::Postings;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocAddress, DocId, DocSet, Searcher, SegmentReader, Term};

/// The usual BM25 parameters, as the engine has them.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// How far apart the engine's score and the exact one can be: relative to the score, and a term (where a term is in
/// nearly every document, its inverse document frequency is a small difference of large numbers).
const RELATIVE_ERROR: f64 = 1e-5;
const ERROR_PER_TERM: f64 = 3e-7;

/// What BM25 needs to know of the whole corpus.
pub(super) struct Statistics {
    average_length: f64,
    inverse_frequencies: Vec<f64>,
}

impl Statistics {
    /// Of these terms over the whole index.
    #[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
    pub(super) fn of(searcher: &Searcher, field: Field, terms: &[Term]) -> Result<Self, IndexError> {
        let mut tokens = 0;
        for segment in searcher.segment_readers() {
            tokens += segment.inverted_index(field)?.total_num_tokens();
        }
        let documents = searcher.num_docs() as f64;
        let mut inverse_frequencies = Vec::new();
        for term in terms {
            let with = searcher.doc_freq(term)? as f64;
            inverse_frequencies.push((1.0 + (documents - with + 0.5) / (with + 0.5)).ln());
        }
        Ok(Self { average_length: tokens as f64 / documents.max(1.0), inverse_frequencies })
    }

    /// One term's part of a document's score: idf * tf (k1 + 1) / (tf + k1 (1 - b + b length / average length)).
    /// Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, equation 3.15.
    fn part(&self, term: usize, frequency: u32, length: u32) -> f64 {
        let frequency = f64::from(frequency);
        let norm = K1 * (1.0 - B + B * f64::from(length) / self.average_length);
        let idf = self.inverse_frequencies.get(term).copied().unwrap_or_default();
        idf * frequency * (K1 + 1.0) / (frequency + norm)
    }
}

/// The lowest engine score a document can have whose exact score may reach `score`.
pub(super) fn floor(score: f32, terms: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "queries have at most a thousand terms")]
    let absolute = 2.0 * ERROR_PER_TERM * terms as f64;
    f64::from(score) * (1.0 - 2.0 * RELATIVE_ERROR) - absolute
}

/// The exact scores of these documents.
pub(super) fn exact(
    searcher: &Searcher,
    field: Field,
    terms: &[Term],
    candidates: &[DocAddress],
) -> Result<Vec<(DocAddress, f64)>, IndexError> {
    let statistics = Statistics::of(searcher, field, terms)?;
    let mut by_segment: BTreeMap<u32, Vec<DocId>> = BTreeMap::new();
    for address in candidates {
        by_segment.entry(address.segment_ord).or_default().push(address.doc_id);
    }
    let mut ranked = Vec::with_capacity(candidates.len());
    for (segment, mut documents) in by_segment {
        documents.sort_unstable();
        let scores = in_segment(searcher.segment_reader(segment), field, terms, &documents, &statistics)?;
        let addresses = documents.into_iter().map(|document| DocAddress::new(segment, document));
        ranked.extend(addresses.zip(scores));
    }
    Ok(ranked)
}

/// The scores of ascending documents of one segment.
fn in_segment(
    segment: &SegmentReader,
    field: Field,
    terms: &[Term],
    documents: &[DocId],
    statistics: &Statistics,
) -> Result<Vec<f64>, IndexError> {
    let inverted = segment.inverted_index(field)?;
    let lengths = segment.get_fieldnorms_reader(field)?;
    let mut scores = vec![0.0; documents.len()];
    for (number, term) in terms.iter().enumerate() {
        let Some(mut postings) = inverted.read_postings(term, IndexRecordOption::WithFreqs)? else { continue };
        for (document, score) in documents.iter().zip(&mut scores) {
            let reached = if postings.doc() < *document { postings.seek(*document) } else { postings.doc() };
            if reached == *document {
                *score += statistics.part(number, postings.term_freq(), lengths.fieldnorm(*document));
            }
        }
    }
    Ok(scores)
}
