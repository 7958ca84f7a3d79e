//! Throughput of the embedded BM25 at 100,000 documents: indexing in memory and in a temporary folder, and searching
//! among documents that differ and among those of one template, most of which tie.

#![expect(clippy::unwrap_used, reason = "a bench may stop")]

#[path = "retrieve/words.rs"]
mod words;

use churngate::retrieve::bm25::{Bm25Index, IndexSettings};
use churngate::retrieve::corpus::CorpusDocument;
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use words::{document, question, templated, templated_question};

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
    let mut group = criterion.benchmark_group("search");
    let questions: Vec<String> = (0..64).map(question).collect();
    search(&mut group, "top 8", document, &questions);
    let questions: Vec<String> = (0..64).map(|number| templated_question(number * 1_500)).collect();
    search(&mut group, "templated documents, top 8", templated, &questions);
    group.finish();
}

fn search(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    document: impl Fn(u64) -> CorpusDocument,
    questions: &[String],
) {
    let index = Bm25Index::build((0..DOCUMENTS).map(|number| Ok(document(number))), SETTINGS).unwrap().index;
    let search = |question: &String| index.search(question, 8).unwrap().documents.len();
    group.throughput(Throughput::Elements(questions.len() as u64));
    group.bench_function(name, |bencher| bencher.iter(|| questions.iter().map(search).sum::<usize>()));
}

criterion_group!(benches, indexing, searching);
criterion_main!(benches);
