use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn pmf(values: &[(i64, u64)]) -> Pmf {
    Pmf::from_counts(&values.iter().copied().collect())
}

/// Relative difference, of probabilities that are not absurdly small.
fn far(one: f64, other: f64) -> f64 {
    if one.max(other) < 1e-290 { 0.0 } else { (one - other).abs() / one.max(other) }
}

fn counts() -> impl Strategy<Value = BTreeMap<i64, u64>> {
    proptest::collection::btree_map(-6_i64..=12, 1_u64..40, 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn transform_and_repeated_squaring_agree_in_every_tail(counts in counts(), times in 1_u64..300, share in 0.0..1.0_f64) {
        let group = vec![(Pmf::from_counts(&counts), times)];
        let (direct, windowed) = (Sum::direct(group.clone()), Sum::windowed(group.clone()).expect("a window"));
        let (low, high) = (group[0].0.min() * times.cast_signed(), group[0].0.max() * times.cast_signed());
        #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "small values")]
        let t = low + ((high - low) as f64 * share) as i64;
        prop_assert!(far(direct.at_most(t), windowed.at_most(t)) < 1e-12, "{} {}", direct.at_most(t), windowed.at_most(t));
        prop_assert!(far(direct.at_least(t), windowed.at_least(t)) < 1e-12, "{} {}", direct.at_least(t), windowed.at_least(t));
        for units in [5_000_000, 10_000_000, 100_000_001, 195_000_000] {
            let level = Level::from_units(units);
            prop_assert_eq!(direct.quantile(level), windowed.quantile(level));
        }
        for (offset, mass) in windowed.body().mass.iter().enumerate() {
            let value = windowed.body().start + i64::try_from(offset).unwrap_or(0);
            let place = usize::try_from(value - direct.body().start).ok();
            let expected = place.and_then(|place| direct.body().mass.get(place)).copied().unwrap_or(0.0);
            prop_assert!((mass - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn quantiles_equal_enumeration(values in proptest::collection::vec(-3_i64..=5, 1..=6)) {
        let mut counts = BTreeMap::new();
        for value in &values {
            *counts.entry(*value).or_insert(0) += 1;
        }
        let n = values.len();
        let total = n.pow(u32::try_from(n).unwrap_or(0));
        let mut totals: Vec<i64> = (0..total)
            .map(|draw| (0..n).map(|place| values[draw / n.pow(u32::try_from(place).unwrap_or(0)) % n]).sum())
            .collect();
        totals.sort_unstable();
        let law = Sum::repeated(Pmf::from_counts(&counts), n as u64).expect("few values");
        for units in [1, 5_000_000, 10_000_000, 50_000_000, 100_000_000, 195_000_000, 200_000_000_u64] {
            let rank = (total as u64 * units).div_ceil(200_000_000).max(1);
            let expected = totals[usize::try_from(rank).unwrap_or(0) - 1];
            prop_assert_eq!(law.quantile(Level::from_units(units)), expected);
        }
    }
}

#[test]
fn far_tail_of_a_large_sum_equals_the_closed_form() {
    // P(no flip among 20,000 at one in 100) = 0.99^20000, about 5e-88.
    let law = Sum::repeated(pmf(&[(0, 99), (4, 1)]), 20_000).expect("a window");
    let expected = (20_000.0 * (-0.01_f64).ln_1p()).exp();
    assert!(far(law.at_most(0), expected) < 1e-12, "{} {expected}", law.at_most(0));
    // P(at most one flip) has one more term.
    let one_more = expected * (1.0 + 20_000.0 / 99.0);
    assert!(far(law.at_most(4), one_more) < 1e-12, "{} {one_more}", law.at_most(4));
    assert!(law.at_most(-1).abs() < f64::MIN_POSITIVE);
    assert!((law.at_least(0) - 1.0).abs() < 1e-12);
}

#[test]
fn rare_large_values_do_not_wrap_round() {
    // One value of 100 among a million zeros: the total is nearly Poisson with mean 1.
    let law = Sum::repeated(pmf(&[(0, 999_999), (100, 1)]), 1_000_000).expect("a window");
    let none = (1e6 * (-1e-6_f64).ln_1p()).exp();
    assert!((law.at_most(0) - none).abs() < 1e-12);
    assert!((law.body().mass.iter().sum::<f64>() - 1.0).abs() < 1e-11);
}

#[test]
fn constants_have_one_value() {
    let law = Sum::repeated(pmf(&[(3, 7)]), 1_000_000).expect("a window");
    assert_eq!(law.quantile(Level::from_units(10_000_000)), 3_000_000);
    assert!((law.at_least(3_000_000) - 1.0).abs() < 1e-12);
    assert!(law.at_least(3_000_001) < 1e-300);
    let nothing = Sum::of(Vec::new()).expect("a constant");
    assert_eq!(nothing.quantile(Level::from_units(1)), 0);
}

#[test]
fn several_groups_are_a_product() {
    let groups = vec![(pmf(&[(0, 1), (1, 1)]), 3), (pmf(&[(0, 3), (2, 1)]), 2)];
    let (direct, windowed) = (Sum::direct(groups.clone()), Sum::windowed(groups).expect("a window"));
    assert!((direct.at_least(7) - 0.125 / 16.0).abs() < 1e-15);
    assert!(far(windowed.at_least(7), direct.at_least(7)) < 1e-12);
    assert!(far(windowed.at_least(6), direct.at_least(6)) < 1e-12);
}

#[test]
fn a_window_that_would_not_fit_is_refused_before_it_is_made() {
    let flips: BTreeMap<i64, u64> = [(0, 350), (9_116_448, 50)].into();
    assert_eq!(Sum::repeated(Pmf::from_counts(&flips), 400).err(), Some(AnalyzeError::TooLarge));
    let extreme: BTreeMap<i64, u64> = [(i64::MIN / 4, 1), (i64::MAX / 4, 1)].into();
    assert_eq!(Sum::repeated(Pmf::from_counts(&extreme), 1_000_000).err(), Some(AnalyzeError::TooLarge));
}

#[test]
fn the_relative_error_of_a_tail_does_not_grow_with_the_sum() {
    // A flip in ten thousand among a million: the closed form of its ends, 0.9999^1000000 and one term more.
    let law = Sum::repeated(pmf(&[(0, 9_999), (4, 1)]), 1_000_000).expect("a window");
    let none = (1e6 * (-1e-4_f64).ln_1p()).exp();
    assert!(far(law.at_most(0), none) < 1e-12, "{} {none}", law.at_most(0));
    let two = none * (1.0 + 1e6 / 9_999.0 * (1.0 + 999_999.0 / 2.0 / 9_999.0));
    assert!(far(law.at_most(8), two) < 1e-12, "{} {two}", law.at_most(8));
}

#[test]
fn a_law_of_many_values_is_the_same_by_its_own_transform_and_by_repeated_squaring() {
    // Contrasts of many repeats: a value of its own for each of some hundred questions, squarely distributed.
    let values = |seed: i64| (0..120).map(move |place| (place * place * seed % 211 - 60, 1 + place.unsigned_abs() % 3));
    for (laws, times) in [(1, 60), (10, 6)] {
        let groups: Vec<(Pmf, u64)> = (0..laws)
            .map(|law| (pmf(&values(3 + 2 * law).collect::<BTreeMap<_, _>>().into_iter().collect::<Vec<_>>()), times))
            .collect();
        let parts: Vec<window::Law> = groups.iter().map(window::Law::from).collect();
        assert!(parts.iter().all(|law| many::is_one(law, 1 << 15)), "too few values");
        let (direct, windowed) = (Sum::direct(groups.clone()), Sum::windowed(groups).expect("a window"));
        for units in [5_000_000, 10_000_000, 100_000_001, 195_000_000] {
            let level = Level::from_units(units);
            let t = direct.quantile(level);
            assert_eq!(t, windowed.quantile(level));
            assert!(
                far(direct.at_most(t), windowed.at_most(t)) < 1e-11,
                "{} {}",
                direct.at_most(t),
                windowed.at_most(t)
            );
            assert!(far(direct.at_least(t), windowed.at_least(t)) < 1e-11);
        }
    }
}
