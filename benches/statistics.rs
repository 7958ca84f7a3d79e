//! The exact lower bound and the preregistered stream at 400, 10,000 and 1,000,000 questions.
//!
//! `benches/peers/scipy_bootstrap.py` times the same bound by scipy's Monte-Carlo bootstrap.

use churngate::analyze::bootstrap::{Bootstrap, Contrasts};
use churngate::analyze::dirichlet;
use churngate::analyze::quantile::Level;
use churngate::analyze::stream::{Rows, draw};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use std::hint::black_box;

const QUESTIONS: [u64; 3] = [400, 10_000, 1_000_000];
/// Semantic contrasts of a study of 400 questions, in quarters.
const STUDY: [(i64, u64); 5] = [(4, 40), (2, 11), (0, 339), (-1, 2), (-2, 8)];

fn contrasts(questions: u64) -> Contrasts {
    STUDY.iter().map(|(value, count)| (*value, count * questions / 400)).collect()
}

fn exact_lower_bound(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("exact lower bound");
    for questions in QUESTIONS {
        let counted = contrasts(questions);
        group.bench_with_input(BenchmarkId::from_parameter(questions), &counted, |bencher, counted| {
            bencher.iter(|| {
                Bootstrap::new(black_box(counted), 4).map(|bootstrap| bootstrap.quantile(Level::from_units(10_000_000)))
            });
        });
    }
}

fn upper_bound(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("dirichlet upper bound");
    for questions in QUESTIONS {
        #[expect(clippy::cast_precision_loss, reason = "small values")]
        let values: Vec<(f64, u64)> =
            contrasts(questions).iter().map(|(value, count)| (*value as f64 / 4.0, *count)).collect();
        group.bench_with_input(BenchmarkId::from_parameter(questions), &values, |bencher, values| {
            bencher.iter(|| dirichlet::upper(black_box(values), 1.0, 0.05));
        });
    }
}

fn stream(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("stream of 50,000 draws");
    group.sample_size(10);
    for questions in QUESTIONS {
        let rows: Rows = contrasts(questions).into_iter().map(|(value, count)| ((value, value), count)).collect();
        group.bench_with_input(BenchmarkId::from_parameter(questions), &rows, |bencher, rows| {
            bencher.iter(|| draw(black_box(rows), 50_000, [1; 32]));
        });
    }
}

criterion_group!(benches, exact_lower_bound, upper_bound, stream);
criterion_main!(benches);
