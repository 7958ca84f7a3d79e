//! Building an index and searching it.

use super::analyse::{Analyser, Terms, is_stop_word};
use super::best::{ID, best};
use super::chunk;
use crate::model::{Digest, Document, Evidence, Failure, FailureClass, SnapshotName};
use crate::retrieve::corpus::{CorpusDocument, CorpusError, Fingerprint};
use std::cmp::Ordering;
use std::collections::BTreeSet;
use tantivy::schema::{FAST, Field, IndexRecordOption, STORED, Schema, TextFieldIndexing, TextOptions, Value};
use tantivy::{DocAddress, Index, IndexWriter, ReloadPolicy, Searcher, TantivyDocument, Term};
use tempfile::TempDir;

const ANALYSER: &str = "churngate";
/// Distinct terms of a question that are searched for; more than any question has, and a bound for hostile ones.
const MAX_TERMS: usize = 1024;
/// What the engine's writer may use before it begins another segment: threads, and bytes for each of them.
const MANY: (usize, usize) = (4, 64 * 1024 * 1024);
/// The same where the whole corpus has no more text than this: there the writer's own tables and threads take longer to set
/// up than to use, and 15 MB is the least that it takes.
const FEW: (usize, usize) = (1, 15_000_000);
const FEW_BYTES: usize = 2 * 1024 * 1024;

/// Where the index lies and what it keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexSettings {
    /// Documents longer than this many characters are split.
    pub chunk_chars: Option<u32>,
    /// How many characters of a document's text become evidence.
    pub max_chars: u32,
    /// Whether the index is kept in memory; else in a temporary folder that is removed with it.
    pub in_memory: bool,
}

/// Why an index cannot be built or searched.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// A document cannot be read.
    #[error(transparent)]
    Corpus(#[from] CorpusError),
    /// The engine failed, mostly because the disk is full.
    #[error("failed to index: {0}")]
    Engine(#[from] tantivy::TantivyError),
    /// The temporary folder or a file of the index.
    #[error("failed to keep the index: {0}")]
    Io(#[from] std::io::Error),
    /// A stored document cannot be read back.
    #[error("the index is damaged")]
    Damaged,
}

impl IndexError {
    /// The failure of the snapshot of this name.
    #[must_use]
    pub fn of_snapshot(self, snapshot: &SnapshotName) -> Failure {
        match self {
            Self::Corpus(error) => error.of_snapshot(snapshot),
            _ => Failure::new(FailureClass::Incomplete, format!("failed to index snapshot `{snapshot}`: {self}"))
                .with_hint("the index needs about as much room in the temporary folder as the corpus has"),
        }
    }
}

/// An index over one snapshot. Searched from many threads.
pub struct Bm25Index {
    searcher: Searcher,
    fields: Fields,
    // Removed when the index is dropped.
    _folder: Option<TempDir>,
}

/// An index that was built, and what went into it.
pub struct Indexed {
    /// The index.
    pub index: Bm25Index,
    /// The digest of the documents.
    pub fingerprint: Digest,
    /// How many documents there were, before they were split.
    pub documents: u64,
    /// Whether all of them are so little text that the index takes hardly any memory.
    pub is_small: bool,
}

impl Bm25Index {
    /// Indexes documents as they come. Memory does not grow with their number.
    ///
    /// # Errors
    /// A document that cannot be read, or the engine.
    pub fn build(
        documents: impl Iterator<Item = Result<CorpusDocument, CorpusError>>,
        settings: IndexSettings,
    ) -> Result<Indexed, IndexError> {
        Self::build_by(documents, settings, FEW_BYTES)
    }

    /// The same, with one thread up to so many bytes.
    fn build_by(
        mut documents: impl Iterator<Item = Result<CorpusDocument, CorpusError>>,
        settings: IndexSettings,
        few_bytes: usize,
    ) -> Result<Indexed, IndexError> {
        let first = first(&mut documents, few_bytes)?;
        let (schema, fields) = schema();
        let folder = if settings.in_memory { None } else { Some(tempfile::tempdir()?) };
        let index = match &folder {
            Some(folder) => Index::create_in_dir(folder.path(), schema)?,
            None => Index::create_in_ram(schema),
        };
        index.tokenizers().register(ANALYSER, Analyser);
        let is_small = first.are_all;
        let (most, bytes) = if is_small { FEW } else { MANY };
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(most);
        let mut writer: IndexWriter = index.writer_with_num_threads(threads, threads * bytes)?;
        let mut fingerprint = Fingerprint::default();
        for document in first.documents.into_iter().map(Ok).chain(documents) {
            let document = document?;
            fingerprint.add(&document);
            for piece in chunk::split(document, settings.chunk_chars.map(|limit| limit as usize))? {
                writer.add_document(fields.of(piece, settings.max_chars)?)?;
            }
        }
        writer.commit()?;
        writer.wait_merging_threads()?;
        let searcher = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?.searcher();
        let documents = fingerprint.count();
        let index = Self { searcher, fields, _folder: folder };
        Ok(Indexed { index, fingerprint: fingerprint.finish(), documents, is_small })
    }

    /// The best documents for a question: by BM25, ties by id. A question without terms finds nothing.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn search(&self, question: &str, top_k: usize) -> Result<Evidence, IndexError> {
        let terms = self.terms(question);
        if terms.is_empty() || top_k == 0 || self.searcher.num_docs() == 0 {
            return Ok(Evidence::default());
        }
        let mut ranked = Vec::new();
        for (address, score) in best(&self.searcher, self.fields.body, &terms, top_k)? {
            ranked.push((score, self.load(address)?));
        }
        ranked.sort_unstable_by(best_first);
        let documents = ranked.into_iter().map(|(_, document)| document).collect();
        Ok(Evidence { documents })
    }

    /// The distinct terms of a question, in the order of their bytes.
    fn terms(&self, question: &str) -> Vec<Term> {
        let mut distinct = BTreeSet::new();
        for term in Terms::of(question).filter(|term| !is_stop_word(term)) {
            distinct.insert(term);
            if distinct.len() == MAX_TERMS {
                break;
            }
        }
        distinct.iter().map(|term| Term::from_field_text(self.fields.body, term)).collect()
    }

    fn load(&self, address: DocAddress) -> Result<Document, IndexError> {
        let found: TantivyDocument = self.searcher.doc(address)?;
        let stored = found.get_first(self.fields.stored).and_then(|value| value.as_str()).ok_or(IndexError::Damaged)?;
        serde_json::from_str(stored).map_err(|_| IndexError::Damaged)
    }
}

/// The first documents of a corpus.
struct First {
    documents: Vec<CorpusDocument>,
    /// Whether there are no others.
    are_all: bool,
}

/// Reads until there are more than so many bytes.
fn first(
    documents: &mut impl Iterator<Item = Result<CorpusDocument, CorpusError>>,
    few_bytes: usize,
) -> Result<First, CorpusError> {
    let (mut first, mut bytes) = (Vec::new(), 0);
    for document in documents {
        let document = document?;
        bytes += size_of::<CorpusDocument>() + document.id.len() + document.text.len();
        first.push(document);
        if bytes > few_bytes {
            return Ok(First { documents: first, are_all: false });
        }
    }
    Ok(First { documents: first, are_all: true })
}

fn best_first(one: &(f64, Document), other: &(f64, Document)) -> Ordering {
    other.0.total_cmp(&one.0).then_with(|| one.1.id.cmp(&other.1.id))
}

/// What the index keeps of a document.
#[derive(Clone, Copy)]
struct Fields {
    /// Its terms.
    body: Field,
    /// Its id, in the order of all ids.
    id: Field,
    /// The evidence that it would become.
    stored: Field,
}

fn schema() -> (Schema, Fields) {
    let mut schema = Schema::builder();
    let indexing = TextFieldIndexing::default().set_tokenizer(ANALYSER).set_index_option(IndexRecordOption::WithFreqs);
    let body = schema.add_text_field("body", TextOptions::default().set_indexing_options(indexing));
    let id = schema.add_bytes_field(ID, FAST);
    let stored = schema.add_text_field("stored", STORED);
    (schema.build(), Fields { body, id, stored })
}

impl Fields {
    fn of(self, piece: CorpusDocument, max_chars: u32) -> Result<TantivyDocument, IndexError> {
        let mut document = TantivyDocument::default();
        document.add_bytes(self.id, piece.id.as_bytes());
        let evidence = Document::compact(piece.id, piece.url, &piece.text, max_chars as usize);
        document.add_text(self.body, piece.text);
        document.add_text(self.stored, serde_json::to_string(&evidence).map_err(|_| IndexError::Damaged)?);
        Ok(document)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SETTINGS: IndexSettings = IndexSettings { chunk_chars: None, max_chars: 200, in_memory: true };

    fn build(documents: &[(String, String)], settings: IndexSettings) -> Indexed {
        build_by(documents, settings, FEW_BYTES)
    }

    fn build_by(documents: &[(String, String)], settings: IndexSettings, few_bytes: usize) -> Indexed {
        let document =
            |(id, text): &(String, String)| Ok(CorpusDocument { id: id.clone(), url: None, text: text.clone() });
        Bm25Index::build_by(documents.iter().map(document), settings, few_bytes).unwrap()
    }

    fn corpus(texts: &[&str]) -> Vec<(String, String)> {
        texts.iter().enumerate().map(|(number, text)| (format!("d{number}"), (*text).to_owned())).collect()
    }

    fn ids(index: &Bm25Index, question: &str, top_k: usize) -> Vec<String> {
        index.search(question, top_k).unwrap().documents.into_iter().map(|document| document.id).collect()
    }

    #[test]
    fn the_best_documents_come_first_and_no_more_than_asked_for() {
        let documents = corpus(&["safari supports it", "chrome supports it", "safari safari and chrome", "nothing"]);
        let index = build(&documents, SETTINGS).index;
        assert_eq!(ids(&index, "Which safari?", 8), ["d2", "d0"]);
        assert_eq!(ids(&index, "Which safari?", 1), ["d2"]);
        assert_eq!(index.search("safari", 1).unwrap().documents[0].text, "safari safari and chrome");
    }

    #[test]
    fn ties_are_broken_by_id_whatever_the_order_of_the_documents() {
        let mut documents: Vec<_> = (0..300).map(|number| (format!("d{number:03}"), "same words".to_owned())).collect();
        documents.reverse();
        let index = build(&documents, SETTINGS).index;
        assert_eq!(ids(&index, "words", 3), ["d000", "d001", "d002"]);
    }

    /// How often a document was read from the index.
    fn loads(index: &Bm25Index) -> usize {
        let read = index.searcher.doc_store_cache_stats();
        read.cache_hits + read.cache_misses
    }

    #[test]
    fn a_search_reads_no_more_documents_than_it_gives_however_many_tie() {
        let text = |number| format!("The widget{number} supports feature{number} since version {number}.");
        let mut documents: Vec<_> = (0..10_000).map(|number| (format!("d{number:05}"), text(number))).collect();
        documents.reverse();
        for (few_bytes, in_memory) in [(usize::MAX, true), (0, false)] {
            let index = build_by(&documents, IndexSettings { in_memory, ..SETTINGS }, few_bytes).index;
            let question = "Since which version does widget7001 support feature7001?";
            let found = ids(&index, question, 3);
            assert_eq!(found, ["d07001", "d00000", "d00001"]);
            assert_eq!(loads(&index), 3);
            assert_eq!(ids(&index, "since", 5), ["d00000", "d00001", "d00002", "d00003", "d00004"]);
            assert_eq!(loads(&index), 8);
        }
    }

    #[test]
    fn a_question_without_terms_finds_nothing_and_is_no_error() {
        let index = build(&corpus(&["the of and", "🦀 crab"]), SETTINGS).index;
        for question in ["", "the of and", "What is it?", "🦀🦀", "\0", "?!", " \n"] {
            assert_eq!(index.search(question, 8).unwrap(), Evidence::default(), "{question:?}");
        }
    }

    #[test]
    fn no_text_is_taken_for_a_query() {
        let documents =
            corpus(&["alpha {{question}} 'quoted' \"text\"", "drop table students", "body:alpha AND NOT beta*"]);
        let index = build(&documents, SETTINGS).index;
        assert_eq!(ids(&index, "'; DROP TABLE students; --", 8), ["d1"]);
        assert_eq!(ids(&index, "body:beta^5 -alpha", 8), ["d2", "d0"]);
        assert_eq!(ids(&index, "{{question}}", 8), ["d0"]);
        assert_eq!(ids(&index, "students\u{0}\"\\", 8), ["d1"]);
    }

    #[test]
    fn a_question_of_a_megabyte_is_answered() {
        let index = build(&corpus(&["alpha", "beta"]), SETTINGS).index;
        let words: Vec<String> = (0..150_000).map(|number| format!("w{number}")).collect();
        assert_eq!(ids(&index, &format!("alpha {}", words.join(" ")), 8), ["d0"]);
        assert_eq!(ids(&index, &"x".repeat(1_000_000), 8), Vec::<String>::new());
    }

    #[test]
    fn evidence_is_compacted_and_cut() {
        let index = build(&corpus(&["one\n\n two   three"]), IndexSettings { max_chars: 7, ..SETTINGS }).index;
        assert_eq!(index.search("three", 8).unwrap().documents[0].text, "one two");
    }

    #[test]
    fn chunks_are_found_under_their_own_ids() {
        let settings = IndexSettings { chunk_chars: Some(12), ..SETTINGS };
        let built = build(&corpus(&["alpha beta\n\ngamma delta", "short"]), settings);
        assert_eq!(built.documents, 2);
        assert_eq!(ids(&built.index, "gamma", 8), ["d0#2"]);
        assert_eq!(ids(&built.index, "short", 8), ["d1"]);
    }

    fn words() -> impl Strategy<Value = Vec<String>> {
        let word = prop::sample::select(vec!["a1", "b1", "c1", "d1", "e1", "common", "common", "common"]);
        prop::collection::vec(prop::collection::vec(word, 1..12).prop_map(|words| words.join(" ")), 1..60)
    }

    /// Far more documents than a search looks at first, of few kinds.
    fn ties() -> impl Strategy<Value = Vec<String>> {
        let text =
            prop::sample::select(vec!["common", "common", "common b1", "common b1 c1", "c1 common", "other words"]);
        prop::collection::vec(text.prop_map(str::to_owned), 100..400)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn evidence_does_not_depend_on_order_place_or_threads_of_the_index(texts in words(), question in "[a-e]1( [a-e]1){0,3} common") {
            let documents = corpus(&texts.iter().map(String::as_str).collect::<Vec<_>>());
            let mut turned = documents.clone();
            turned.reverse();
            let one = build(&documents, SETTINGS);
            let other = build_by(&turned, IndexSettings { in_memory: false, ..SETTINGS }, 0);
            prop_assert_eq!(one.fingerprint, other.fingerprint);
            prop_assert_eq!(one.index.search(&question, 5).unwrap(), other.index.search(&question, 5).unwrap());
        }

        #[test]
        fn ties_at_the_last_place_go_by_id_in_every_segment(texts in ties(), question in "common( b1){0,1}( c1){0,1}", top_k in 1_usize..9) {
            let documents = corpus(&texts.iter().map(String::as_str).collect::<Vec<_>>());
            let settings = IndexSettings { in_memory: false, ..SETTINGS };
            prop_assert_eq!(ids(&build_by(&documents, settings, 0).index, &question, top_k), by_hand(&documents, &question, top_k));
        }

        #[test]
        fn the_best_are_the_best_of_all_by_the_formula(texts in words(), question in "[a-e]1( [a-e]1){0,3} common") {
            let documents = corpus(&texts.iter().map(String::as_str).collect::<Vec<_>>());
            let expected = by_hand(&documents, &question, 5);
            prop_assert_eq!(ids(&build(&documents, SETTINGS).index, &question, 5), expected);
        }
    }

    /// BM25 over every document, without an index. Lengths below 40 are kept exactly by the engine.
    #[expect(clippy::cast_precision_loss, reason = "small counts")]
    fn by_hand(documents: &[(String, String)], question: &str, top_k: usize) -> Vec<String> {
        let count = |text: &str, term: &str| text.split(' ').filter(|word| *word == term).count() as f64;
        let length = |text: &str| text.split(' ').count() as f64;
        let all = documents.len() as f64;
        let average = documents.iter().map(|(_, text)| length(text)).sum::<f64>() / all;
        let terms: BTreeSet<&str> = question.split(' ').collect();
        let score = |text: &str| {
            let part = |term: &&str| {
                let with = documents.iter().filter(|(_, text)| count(text, term) > 0.0).count() as f64;
                let idf = (1.0 + (all - with + 0.5) / (with + 0.5)).ln();
                let frequency = count(text, term);
                idf * frequency * 2.2 / (frequency + 1.2 * (1.0 - 0.75 + 0.75 * length(text) / average))
            };
            terms.iter().map(part).fold(0.0, |sum, part| sum + part)
        };
        let mut ranked: Vec<_> = documents.iter().map(|(id, text)| (score(text), id.clone())).collect();
        ranked.retain(|(score, _)| *score > 0.0);
        ranked.sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
        ranked.into_iter().take(top_k).map(|(_, id)| id).collect()
    }
}
