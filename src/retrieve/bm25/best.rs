//! The best documents of a question, found without reading one of them.
//!
//! The words that a question shares with a whole corpus can tie any number of documents. All that may be among the best are
//! scored, and ties at the last place go by the order of the ids, which the index keeps apart from the documents.

use super::index::IndexError;
use super::score;
use std::collections::BTreeMap;
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, EnableScoring, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocAddress, DocId, Searcher, SegmentReader, Term};

/// The field of the ids.
pub(super) const ID: &str = "id";

/// The best `top_k` documents, at least one, with their exact scores, in no order. Ties at the last place go by id.
pub(super) fn best(
    searcher: &Searcher,
    body: Field,
    terms: &[Term],
    top_k: usize,
) -> Result<Vec<(DocAddress, f64)>, IndexError> {
    let candidates = candidates(searcher, terms, top_k)?;
    let mut ranked = score::exact(searcher, body, terms, &candidates)?;
    if ranked.len() <= top_k {
        return Ok(ranked);
    }
    let (_, (_, last), _) = ranked.select_nth_unstable_by(top_k - 1, |one, other| other.1.total_cmp(&one.1));
    let last = *last;
    ranked.retain(|(_, score)| *score >= last);
    let (mut best, tied): (Vec<_>, Vec<_>) = ranked.into_iter().partition(|(_, score)| *score > last);
    let left = top_k - best.len();
    let first = first_by_id(searcher, tied.into_iter().map(|(address, _)| address), left)?;
    best.extend(first.map(|address| (address, last)));
    Ok(best)
}

/// Every document that may be among the best `top_k` by its exact score.
fn candidates(searcher: &Searcher, terms: &[Term], top_k: usize) -> Result<Vec<DocAddress>, IndexError> {
    let one = |term: &Term| -> Box<dyn Query> { Box::new(TermQuery::new(term.clone(), IndexRecordOption::WithFreqs)) };
    let query = BooleanQuery::union(terms.iter().map(one).collect());
    let all = usize::try_from(searcher.num_docs()).unwrap_or(usize::MAX);
    let limit = top_k.saturating_mul(2).saturating_add(16).min(all);
    let hits = searcher.search(&query, &TopDocs::with_limit(limit).order_by_score())?;
    let floor = hits.get(top_k - 1).map_or(f64::NEG_INFINITY, |(score, _)| score::floor(*score, terms.len()));
    let has_more =
        hits.len() == limit && limit < all && hits.last().is_some_and(|(score, _)| f64::from(*score) >= floor);
    if has_more {
        return reaching(searcher, &query, floor);
    }
    Ok(hits.into_iter().filter(|(score, _)| f64::from(*score) >= floor).map(|(_, address)| address).collect())
}

/// Every document whose score by the engine reaches this one, or nearly does.
fn reaching(searcher: &Searcher, query: &dyn Query, floor: f64) -> Result<Vec<DocAddress>, IndexError> {
    // The engine shows what lies above its threshold.
    #[expect(clippy::cast_possible_truncation, reason = "one step down makes up for rounding up")]
    let threshold = (floor as f32).next_down();
    let weight = query.weight(EnableScoring::enabled_from_searcher(searcher))?;
    let mut found = Vec::new();
    for (number, segment) in (0..).zip(searcher.segment_readers()) {
        weight.for_each_pruning(threshold, segment, &mut |document, _| {
            found.push(DocAddress::new(number, document));
            threshold
        })?;
    }
    Ok(found)
}

/// The first `count` of these documents by their ids, at least one.
fn first_by_id(
    searcher: &Searcher,
    documents: impl Iterator<Item = DocAddress>,
    count: usize,
) -> Result<impl Iterator<Item = DocAddress>, IndexError> {
    let mut by_segment: BTreeMap<u32, Vec<DocId>> = BTreeMap::new();
    for address in documents {
        by_segment.entry(address.segment_ord).or_default().push(address.doc_id);
    }
    let mut first = Vec::new();
    for (number, documents) in by_segment {
        let of_segment = first_of_segment(searcher.segment_reader(number), documents, count)?;
        first.extend(of_segment.into_iter().map(|(id, document)| (id, DocAddress::new(number, document))));
    }
    first.sort_unstable();
    Ok(first.into_iter().take(count).map(|(_, address)| address))
}

/// The same within one segment, which numbers its ids in their order: with the ids, to be held against other segments.
fn first_of_segment(
    segment: &SegmentReader,
    documents: Vec<DocId>,
    count: usize,
) -> Result<Vec<(Vec<u8>, DocId)>, IndexError> {
    let ids = segment.fast_fields().bytes(ID)?.ok_or(IndexError::Damaged)?;
    let numbered = |document| ids.ords().first(document).map(|number| (number, document)).ok_or(IndexError::Damaged);
    let mut numbered = documents.into_iter().map(numbered).collect::<Result<Vec<_>, _>>()?;
    if numbered.len() > count {
        numbered.select_nth_unstable(count - 1);
        numbered.truncate(count);
    }
    let with_id = |(number, document)| {
        let mut id = Vec::new();
        if ids.ord_to_bytes(number, &mut id)? { Ok((id, document)) } else { Err(IndexError::Damaged) }
    };
    numbered.into_iter().map(with_id).collect()
}
