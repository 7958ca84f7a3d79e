//! Throughput of the embedded BM25 at 100,000 documents: indexing in memory and in a temporary folder, and searching.
//!
//! The documents are made here: 60 words each, drawn so that a few words are in nearly every document and most are
//! rare, as in real text.

#![expect(clippy::unwrap_used, reason = "a bench may stop")]

use churngate::retrieve::bm25::{Bm25Index, IndexSettings};
use churngate::retrieve::corpus::CorpusDocument;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;

const DOCUMENTS: u64 = 100_000;
const WORDS: u64 = 60;
const VOCABULARY: u64 = 50_000;
const SETTINGS: IndexSettings = IndexSettings { chunk_chars: None, max_chars: 1200, in_memory: true };

/// A word of the vocabulary by a number that stands for a draw: squaring twice makes small ranks common.
fn word(draw: u64) -> String {
    let mixed = draw.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(31).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 40;
    let squared = (mixed * mixed) >> 24;
    let rank = ((squared * squared) >> 24) * VOCABULARY;
    format!("w{}", rank >> 24)
}

fn document(number: u64) -> CorpusDocument {
    let words: Vec<String> = (0..WORDS).map(|place| word(number * WORDS + place)).collect();
    CorpusDocument { id: format!("d{number:06}"), url: None, text: words.join(" ") }
}

fn indexing(criterion: &mut Criterion) {
    let documents: Vec<_> = (0..DOCUMENTS).map(document).collect();
    let mut group = criterion.benchmark_group("index");
    group.sample_size(10).throughput(Throughput::Elements(DOCUMENTS));
    for (name, in_memory) in [("memory", true), ("folder", false)] {
        let settings = IndexSettings { in_memory, ..SETTINGS };
        let build = || Bm25Index::build(documents.iter().cloned().map(Ok), settings).unwrap();
        group.bench_function(name, |bencher| bencher.iter(|| black_box(build().documents)));
    }
    group.finish();
}

fn searching(criterion: &mut Criterion) {
    let index = Bm25Index::build((0..DOCUMENTS).map(|number| Ok(document(number))), SETTINGS).unwrap().index;
    let questions: Vec<String> = (0..64)
        .map(|number| (0..8).map(|place| word(1_000_000_007 + number * 8 + place)).collect::<Vec<_>>().join(" "))
        .collect();
    let mut group = criterion.benchmark_group("search");
    group.throughput(Throughput::Elements(questions.len() as u64));
    let search = |question: &String| index.search(question, 8).unwrap().documents.len();
    group.bench_function("top 8", |bencher| bencher.iter(|| questions.iter().map(search).sum::<usize>()));
    group.finish();
}

criterion_group!(benches, indexing, searching);
criterion_main!(benches);
