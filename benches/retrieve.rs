//! Throughput of the embedded BM25 at 100,000 documents: indexing in memory and in a temporary folder, and searching.

#![expect(clippy::unwrap_used, reason = "a bench may stop")]

#[path = "retrieve/words.rs"]
mod words;

use churngate::retrieve::bm25::{Bm25Index, IndexSettings};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use words::{document, question};

const DOCUMENTS: u64 = 100_000;
const SETTINGS: IndexSettings = IndexSettings { chunk_chars: None, max_chars: 1200, in_memory: true };

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
    let questions: Vec<String> = (0..64).map(question).collect();
    let mut group = criterion.benchmark_group("search");
    group.throughput(Throughput::Elements(questions.len() as u64));
    let search = |question: &String| index.search(question, 8).unwrap().documents.len();
    group.bench_function("top 8", |bencher| bencher.iter(|| questions.iter().map(search).sum::<usize>()));
    group.finish();
}

criterion_group!(benches, indexing, searching);
criterion_main!(benches);
