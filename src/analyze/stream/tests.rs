use super::*;
use crate::analyze::sum::{Pmf, Sum};

fn nq_rows() -> Rows {
    Rows::from([((0, 0), 308), ((2, 0), 40), ((2, 4), 22), ((4, 4), 4), ((-1, -1), 2), ((-1, 0), 13), ((-2, 2), 11)])
}

#[test]
fn draws_do_not_depend_on_the_number_of_threads() {
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| draw(&nq_rows(), 7_500, [3; 32]))
    };
    assert_eq!(on(1), on(5));
}

#[test]
fn another_key_gives_other_draws_and_more_draws_keep_whole_blocks() {
    assert_ne!(draw(&nq_rows(), 500, [3; 32]), draw(&nq_rows(), 500, [4; 32]));
    let mut uniform = Uniform::new([3; 32], 1);
    let (counts, mut drawn) = (nq_rows().into_values().collect::<Vec<u64>>(), [0; 7]);
    multinomial(&mut uniform, &counts, counts.iter().sum(), &mut drawn);
    let totals = nq_rows().into_keys().zip(drawn).map(|(row, times)| row.0 * times.cast_signed());
    let first_of_second_block: i64 = totals.sum();
    let all = draw(&nq_rows(), 1_001, [3; 32]);
    let without = draw(&nq_rows(), 1_000, [3; 32]);
    let added: i64 = all.exact.iter().sum::<i64>() - without.exact.iter().sum::<i64>();
    assert_eq!(added, first_of_second_block);
}

#[test]
fn the_stream_is_frozen() {
    let mut uniform = Uniform::new([0; 32], 0);
    let small: Vec<u64> = (0..8).map(|_| binomial::draw(&mut uniform, 400, 4, 400)).collect();
    let large: Vec<u64> = (0..8).map(|_| binomial::draw(&mut uniform, 1_000_000, 339, 400)).collect();
    assert_eq!(small, [4, 2, 2, 5, 4, 2, 2, 4]);
    assert_eq!(large, [847_523, 847_590, 847_756, 847_744, 847_010, 847_195, 848_231, 847_582]);
    let draws = draw(&nq_rows(), 2_500, [3; 32]);
    assert_eq!(draws.exact.iter().chain(&draws.semantic).sum::<i64>(), 568_421);
}

/// The largest distance of the empirical distribution function from the binomial one.
fn distance(n: u64, k: u64, of: u64, draws: u32) -> f64 {
    let mut uniform = Uniform::new([9; 32], n);
    let mut sorted: Vec<i64> = (0..draws).map(|_| binomial::draw(&mut uniform, n, k, of).cast_signed()).collect();
    sorted.sort_unstable();
    let law = Sum::repeated(Pmf::from_counts(&[(0, of - k), (1, k)].into()), n).expect("a window");
    let mut largest = 0.0_f64;
    for value in sorted[0]..=sorted[sorted.len() - 1] {
        #[expect(clippy::cast_precision_loss, reason = "small counts")]
        let share = sorted.partition_point(|one| *one <= value) as f64 / f64::from(draws);
        largest = largest.max((share - law.at_most(value)).abs());
    }
    largest
}

#[test]
fn draws_follow_the_binomial_law() {
    // Kolmogorov's distance of 20,000 draws exceeds 1.95 / sqrt(20,000) once in a thousand samples.
    for (n, k, of) in
        [(1, 1, 2), (5, 1, 3), (400, 4, 400), (400, 40, 400), (400, 308, 400), (400, 200, 400), (3_000, 7, 2_000)]
    {
        let farthest = distance(n, k, of, 20_000);
        assert!(farthest < 1.95 / 20_000_f64.sqrt(), "Bin({n}, {k}/{of}): {farthest}");
    }
}

#[test]
fn edges_of_the_binomial_are_constants() {
    let mut uniform = Uniform::new([0; 32], 0);
    assert_eq!(binomial::draw(&mut uniform, 0, 1, 2), 0);
    assert_eq!(binomial::draw(&mut uniform, 9, 0, 2), 0);
    assert_eq!(binomial::draw(&mut uniform, 9, 2, 2), 9);
}
