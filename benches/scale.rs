//! The embedded BM25 at 100,000 and 1,000,000 short documents: one build each in a temporary folder, then questions one
//! after the other, with the peak of the process's memory after each step (Linux). One run, no statistics: for ratios.
//!
//!     cargo bench --bench scale

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a bench may stop, and shows what it measured")]

#[path = "retrieve/words.rs"]
#[expect(dead_code, reason = "templated documents are another bench's")]
mod words;

use churngate::retrieve::bm25::{Bm25Index, IndexSettings};
use std::time::Instant;
use words::{document, question};

const QUESTIONS: u64 = 1_000;

/// The most memory that the process has had, in MiB; nothing where the system does not tell.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? / 1024)
}

fn main() {
    println!("| documents | indexing, documents/s | peak MiB | searching, questions/s | peak MiB |");
    println!("|---|---|---|---|---|");
    for documents in [100_000_u32, 1_000_000] {
        let settings = IndexSettings { chunk_chars: None, max_chars: 1200, in_memory: false };
        let begun = Instant::now();
        let built = Bm25Index::build((0..documents.into()).map(|number| Ok(document(number))), settings).unwrap();
        let indexing = f64::from(documents) / begun.elapsed().as_secs_f64();
        let after_indexing = peak().unwrap_or_default();
        let begun = Instant::now();
        let found: usize =
            (0..QUESTIONS).map(|number| built.index.search(&question(number), 8).unwrap().documents.len()).sum();
        assert_eq!(found, 8 * 1_000);
        let searching = 1_000.0 / begun.elapsed().as_secs_f64();
        println!(
            "| {documents} | {indexing:.0} | {after_indexing} | {searching:.0} | {} |",
            peak().unwrap_or_default()
        );
    }
}
