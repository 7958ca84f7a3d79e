//! Worked cases, each with the outside function that gives the same value.

use churngate::analyze::agreement::Table;
use churngate::analyze::edges::Edges;
use churngate::analyze::evalue::Hypothesis;
use churngate::analyze::lattice::{Lattice, Repeats};
use churngate::analyze::planning::Scenario;
use churngate::analyze::quantile::Level;
use churngate::analyze::score::GoldAnswers;
use churngate::analyze::sum::{Pmf, Sum};
use churngate::analyze::{
    AnalyzeError, bootstrap, cluster, dirichlet, evalue, fisher, holm, judge_noise, proportion, randomisation,
    transitivity,
};
use churngate::model::{Answer, Confidence, Kernel, Normalisation};
use serde_json::Value;
use std::collections::BTreeMap;

fn vectors() -> Value {
    serde_json::from_str(include_str!("../fixtures/stats/vectors.json")).expect("vectors")
}

fn cases(section: &str) -> Vec<Value> {
    let cases = vectors()[section]["cases"].as_array().expect("cases").clone();
    assert!(!cases.is_empty(), "{section}");
    cases
}

fn float(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().expect("a list").iter().map(|text| text.as_str().expect("a text").to_owned()).collect()
}

fn close(one: f64, other: f64) -> bool {
    (one - other).abs() <= 0.6e-6
}

/// Values given to six significant digits.
fn close_relatively(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-5 * other.abs()
}

fn edges(old: &[String], new: &[String]) -> (Edges, Lattice) {
    let repeats = Repeats { old: old.len().try_into().expect("few"), new: new.len().try_into().expect("few") };
    let pooled: Vec<&String> = old.iter().chain(new).collect();
    let edges = Edges::build(repeats, |i, j| Ok::<bool, AnalyzeError>(pooled[i] == pooled[j])).expect("edges");
    (edges, Lattice::new(repeats).expect("a lattice"))
}

fn counts(case: &Value) -> BTreeMap<i64, u64> {
    let values = case["values"].as_array().expect("values").iter().map(|value| value.as_i64().expect("an integer"));
    let counts = case["counts"].as_array().expect("counts").iter().map(|count| count.as_u64().expect("a count"));
    values.zip(counts).collect()
}

#[test]
#[expect(clippy::cast_precision_loss, reason = "small values")]
fn contrasts_of_single_questions() {
    for case in cases("question_ustat_equality") {
        let (edges, lattice) = edges(&texts(&case["L"]), &texts(&case["H"]));
        let (agreeing, units) = (edges.agreeing(), lattice.units() as f64);
        assert!(close(lattice.within(agreeing) as f64 / units, float(&case["w"])), "{case}");
        assert!(close(lattice.cross(agreeing) as f64 / units, float(&case["c"])), "{case}");
        assert!(close(lattice.contrast(agreeing) as f64 / units, float(&case["d"])), "{case}");
        assert_eq!(edges.is_stable_flip(), case["strict_flip"].as_bool().expect("a flag"), "{case}");
    }
}

#[test]
fn labels_that_are_not_transitive_stay_as_they_are() {
    let case = &vectors()["nontransitive_example"];
    let equal: Vec<(usize, usize)> = serde_json::from_value(case["pairs_equal"].clone()).expect("pairs");
    let repeats = Repeats { old: 2, new: 2 };
    let edges =
        Edges::build(repeats, |i, j| Ok::<bool, AnalyzeError>(equal.contains(&(i, j)) || equal.contains(&(j, i))));
    let lattice = Lattice::new(repeats).expect("a lattice");
    let edges = edges.expect("edges");
    assert_eq!(lattice.contrast(edges.agreeing()), 3, "0.75 in quarters");
    assert_eq!(transitivity::linked_triples(&edges).1, case["violations"].as_u64().expect("a count"));
    let closed = transitivity::components(&edges).agreeing();
    assert_eq!((lattice.within(closed), lattice.cross(closed)), (4, 4), "one class");
    let linked = transitivity::complete_link(&edges).agreeing();
    assert_eq!(lattice.contrast(linked), 4, "two classes, a flip");
}

#[test]
fn exact_bootstrap_quantiles_and_far_tails() {
    for case in cases("exact_bootstrap") {
        let counts = counts(&case);
        let bootstrap = bootstrap::Bootstrap::new(&counts, 4).expect("questions");
        for (level, quantile) in case["q"].as_object().expect("quantiles") {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "levels below 1")]
            let units = (level.parse::<f64>().expect("a level") * 2e8).round() as u64;
            assert_eq!(Some(bootstrap.quantile(Level::from_units(units))), quantile.as_i64(), "{level} of {case}");
        }
        assert!(close_relatively(bootstrap.at_or_below_zero(), float(&case["P_le_0"])), "{case}");
        let bounds = bootstrap.bounds(Confidence::default()).expect("bounds");
        assert!(close(bounds.lower.percentage_points(), float(&case["LCB_pp"])), "{case}");
        assert!(close(bounds.interval.0.percentage_points(), float(&case["CI_pp"][0])), "{case}");
        assert!(close(bounds.interval.1.percentage_points(), float(&case["CI_pp"][1])), "{case}");
        if let Some(points) = case["cdf_at"].as_object() {
            for (at, probability) in points {
                assert!(close(bootstrap.law().at_most(at.parse().expect("an integer")), float(probability)), "{at}");
            }
        }
    }
}

#[test]
fn three_questions_equal_enumeration() {
    let case = &vectors()["exact_bootstrap"]["bruteforce_27"];
    let law = Sum::repeated(Pmf::from_counts(&counts(case)), 3).expect("few values");
    for (value, times) in case["pmf_times_27"].as_object().expect("a table") {
        let value: i64 = value.parse().expect("an integer");
        let mass = law.at_most(value) - law.at_most(value - 1);
        assert!((mass * 27.0 - float(times)).abs() < 1e-12, "{value}");
    }
}

/// Questions of every cell of a table of two repeats.
fn table(case: &Value) -> Vec<Edges> {
    let cells = [
        ("FL", ["x", "x", "y", "y"]),
        ("XX", ["x", "y", "x", "y"]),
        ("P", ["x", "x", "y", "z"]),
        ("Q", ["x", "y", "x", "z"]),
    ];
    let mut questions = Vec::new();
    for (name, answers) in cells {
        let answers = answers.map(str::to_owned);
        for _ in 0..case[name].as_u64().expect("a count") {
            questions.push(edges(&answers[..2], &answers[2..]).0);
        }
    }
    questions
}

#[test]
fn randomisation_test_of_every_table() {
    let lattice = Lattice::new(Repeats { old: 2, new: 2 }).expect("a lattice");
    for case in cases("permutation_exact") {
        let p = randomisation::p_value(table(&case).iter(), lattice, Kernel::Exact).expect("a p-value");
        assert!(close_relatively(p, float(&case["p"])), "{p} of {case}");
    }
}

#[test]
fn dirichlet_bounds() {
    for case in cases("dirichlet_bound") {
        #[expect(clippy::cast_precision_loss, reason = "small values")]
        let values: Vec<(f64, u64)> =
            counts(&case).iter().map(|(value, count)| (*value as f64 / 4.0, *count)).collect();
        let upper = dirichlet::upper(&values, 1.0, 0.05) * 100.0;
        let lower = dirichlet::lower(&values, -0.5, 0.05) * 100.0;
        assert!(close(upper, float(&case["UCB95_pp"])), "{upper} of {case}");
        assert!(close(lower, float(&case["LCB95_pp"])), "{lower} of {case}");
    }
}

#[test]
fn dirichlet_bound_is_clopper_pearson_on_zeros_and_ones() {
    for case in cases("proportion_ci") {
        let (k, n) = (case["k"].as_u64().expect("k"), case["n"].as_u64().expect("n"));
        let values = [(1.0, k), (0.0, n - k)];
        let upper = dirichlet::upper(&values, 1.0, 0.025);
        assert!(close(upper, float(&case["clopper_pearson"][1])), "{upper} of {case}");
        if k > 0 {
            let lower = dirichlet::lower(&values, 0.0, 0.025);
            assert!(close(lower, float(&case["clopper_pearson"][0])), "{lower} of {case}");
        }
    }
}

#[test]
fn fisher_and_holm() {
    for case in cases("fisher_exact") {
        let table: [[u64; 2]; 2] = serde_json::from_value(case["table"].clone()).expect("a table");
        assert!(close(fisher::two_sided(table), float(&case["p_two_sided"])), "{case}");
    }
    for case in cases("holm") {
        let p: Vec<f64> = serde_json::from_value(case["p"].clone()).expect("p-values");
        let expected: Vec<f64> = serde_json::from_value(case["holm"].clone()).expect("p-values");
        assert!(holm::adjust(&p).iter().zip(&expected).all(|(one, other)| close(*one, *other)), "{case}");
    }
}

#[test]
fn normalisations_and_scores() {
    for case in cases("normalise") {
        let text = case["s"].as_str().expect("a text");
        assert_eq!(Some(Normalisation::Nq.apply(text).as_str()), case["squad"].as_str(), "{case}");
        assert_eq!(Some(Normalisation::TriviaQa.apply(text).as_str()), case["triviaqa"].as_str(), "{case}");
    }
    for case in cases("em_f1") {
        let style = if case["style"] == "squad" { Normalisation::Nq } else { Normalisation::TriviaQa };
        let gold = GoldAnswers::new(&texts(&case["aliases"]), style).expect("aliases");
        let answer = Answer::parse(case["pred"].as_str().expect("a text"), 512).expect("an answer");
        assert_eq!(u64::from(gold.matches(&answer)), case["em"].as_u64().expect("em"), "{case}");
        assert!(close(gold.f1(&answer), float(&case["f1"])), "{case}");
    }
}

#[test]
fn cluster_ratio() {
    let case = &vectors()["cluster_bootstrap"];
    let list = |key: &str| -> Vec<i64> { serde_json::from_value(case[key].clone()).expect("integers") };
    let mut rows = cluster::ClusterRows::new();
    for row in list("S_g_quarter_units").into_iter().zip(list("n_g")) {
        *rows.entry(row).or_default() += 1;
    }
    let ratio = cluster::Ratio::new(&rows, 4).expect("clusters");
    // The value there is a share of 400,000 draws; enumeration of all 10^10 resamples gives the exact one.
    let drawn = float(&case["P_le0"]);
    assert!((ratio.at_most(0, 1) - drawn).abs() < 4.0 * (drawn / 400_000.0).sqrt());
    assert!((ratio.at_most(0, 1) - 0.036_617_037_8).abs() < 1e-12);
    // The smallest multiple of 1/400 that is reached.
    let reached = |t: i64| ratio.at_most(t, 400) >= 0.05;
    assert!(reached(10) && !reached(9), "0.025");
    let quantile = ratio.quantile(Level::from_units(10_000_000)).expect("a quantile");
    assert!(close(quantile.value(), float(&case["MC_400k_q05"])), "{quantile:?}");
}

#[test]
fn clusters_of_one_question_give_the_bounds_over_questions() {
    for case in cases("exact_bootstrap") {
        let rows = counts(&case).into_iter().map(|(value, count)| ((value, 1), count)).collect();
        let ratio = cluster::Ratio::new(&rows, 4).expect("clusters");
        for (level, quantile) in case["q"].as_object().expect("quantiles") {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "levels below 1")]
            let units = (level.parse::<f64>().expect("a level") * 2e8).round() as u64;
            let ours = ratio.quantile(Level::from_units(units)).expect("a quantile");
            assert_eq!(Some(ours.numerator), quantile.as_i64(), "{level} of {case}");
        }
    }
}

#[test]
fn proportions_and_mcnemar() {
    for case in cases("proportion_ci") {
        let (k, n) = (case["k"].as_u64().expect("k"), case["n"].as_u64().expect("n"));
        let pairs =
            [(proportion::clopper_pearson(k, n, 0.05), "clopper_pearson"), (proportion::wilson(k, n, 0.05), "wilson")];
        for ((low, high), name) in pairs {
            assert!(close(low, float(&case[name][0])) && close(high, float(&case[name][1])), "{name} of {case}");
        }
    }
    for case in cases("mcnemar_exact") {
        let (lost, gained) = (case["loss"].as_u64().expect("a count"), case["gain"].as_u64().expect("a count"));
        assert!(close(proportion::mcnemar(lost, gained), float(&case["p_exact"])), "{case}");
    }
}

#[test]
fn kappa_and_its_error() {
    for case in cases("cohen_kappa") {
        let count = |key: &str| case[key].as_u64().expect("a count");
        let table = Table {
            both_same: count("both_same"),
            only_first: count("only1"),
            only_second: count("only2"),
            both_different: count("both_diff"),
        };
        assert!(close(table.agreement().expect("pairs"), float(&case["agreement"])), "{case}");
        assert!(close(table.kappa().expect("two labels"), float(&case["kappa"])), "{case}");
        assert!(close(table.kappa_error().expect("two labels"), float(&case["kappa_se_statsmodels"])), "{case}");
    }
    let one_label = Table { both_same: 9, ..Table::default() };
    assert_eq!((one_label.kappa(), one_label.agreement()), (None, Some(1.0)));
}

#[test]
fn corrections_for_a_noisy_judge() {
    for case in cases("rogan_gladen") {
        let corrected = judge_noise::rogan_gladen(float(&case["D_obs"]), float(&case["Se"]), float(&case["Sp"]));
        match case["D"].as_f64() {
            Some(expected) => assert!(corrected.is_some_and(|corrected| close(corrected, expected)), "{case}"),
            None => assert_eq!(corrected, None, "{case}"),
        }
    }
    let case = &vectors()["ppi"];
    let list = |key: &str| -> Vec<f64> { serde_json::from_value(case[key].clone()).expect("numbers") };
    let estimate = judge_noise::prediction_powered(&list("Y"), &list("Yhat"), &list("Yhat_unlabeled"), 1.0);
    let estimate = estimate.expect("both groups");
    assert!(close(estimate.estimate, float(&case["point"])));
    assert!(close(estimate.error, float(&case["manual_se_ddof0"])));
    let (low, high) = estimate.interval(0.1);
    assert!(close(low, float(&case["ci90"][0])) && close(high, float(&case["ci90"][1])), "{low} {high}");
}

#[test]
fn e_values() {
    for case in cases("mixture_betting") {
        let log = |hypothesis| evalue::betting(&counts(&case), 4, (-0.5, 1.0), hypothesis);
        assert!(close(log(Hypothesis::AtMost(0.0)), float(&case["logE_H0_D_le_0"])), "{case}");
        assert!(close(log(Hypothesis::AtLeast(0.05)), float(&case["logE_H0_D_ge_5pp"])), "{case}");
        assert!(close(log(Hypothesis::AtLeast(0.03)), float(&case["logE_H0_D_ge_3pp"])), "{case}");
    }
    let lattice = Lattice::new(Repeats { old: 2, new: 2 }).expect("a lattice");
    for case in cases("permutation_eprocess") {
        let groups: Vec<_> = table(&case)
            .iter()
            .map(|edges| {
                let splits = randomisation::splits(edges, lattice, Kernel::Exact).expect("splits");
                ((lattice.contrast(edges.agreeing()), splits), 1)
            })
            .collect();
        assert!(close(evalue::permutation(&groups, 4), float(&case["logE"])), "{case}");
    }
}

#[test]
fn planning_laws_are_those_of_the_scenarios() {
    let scenarios: Value = serde_json::from_str(include_str!("../fixtures/stats/scenarios.json")).expect("scenarios");
    let quarters: Vec<f64> = serde_json::from_value(scenarios["d_quarters"].clone()).expect("numbers");
    let moments = |name: &str, kind: &str| {
        let cells: Vec<Vec<f64>> = serde_json::from_value(scenarios["scenarios"][name][kind].clone()).expect("a table");
        let semantic = |column: usize| cells.iter().map(|row| row[column]).sum::<f64>();
        let power = |n: i32| quarters.iter().enumerate().map(|(i, d)| semantic(i) * (d / 4.0).powi(n)).sum::<f64>();
        (power(1), power(2))
    };
    for (scenario, name) in [(Scenario::NaturalQuestionsLike, "NQ"), (Scenario::TriviaQaLike, "TQA")] {
        let (changed, square) = moments(name, "semantic");
        let (mean, variance) = scenario.moments(changed);
        assert!(close(mean, changed) && close(variance, square - changed * changed), "{name}");
        assert!(close(scenario.moments(0.0).1, moments(name, "null").1), "{name}");
    }
}

#[test]
fn planned_numbers_of_questions() {
    let planned =
        |scenario: Scenario| [0.03, 0.06, 0.10].map(|churn| scenario.questions(churn, 0.0, 0.05).expect("a number"));
    // 388/140/70 and 244/108/60 before rounding up.
    for (planned, published) in [
        (planned(Scenario::NaturalQuestionsLike), [388_u64, 140, 70]),
        (planned(Scenario::TriviaQaLike), [244, 108, 60]),
    ] {
        assert!(planned.iter().zip(published).all(|(one, other)| one.abs_diff(other) <= 1), "{planned:?}");
    }
    let smallest = [50, 100, 200, 400].map(|n| Scenario::NaturalQuestionsLike.smallest(n, 0.05) * 100.0);
    assert!(smallest.iter().zip([13.0, 7.6, 4.6, 2.9]).all(|(one, other)| (one - other).abs() < 0.5), "{smallest:?}");
}

#[test]
fn clusters_of_any_sizes_are_audited_without_draws() {
    let case = &vectors()["cluster_bootstrap"];
    let list = |key: &str| -> Vec<i64> { serde_json::from_value(case[key].clone()).expect("integers") };
    let mut given = cluster::ClusterRows::new();
    for row in list("S_g_quarter_units").into_iter().zip(list("n_g")) {
        *given.entry(row).or_default() += 1;
    }
    let mixed = [((4, 3), 20), ((0, 2), 60), ((-1, 5), 9), ((8, 4), 11)].into();
    for rows in [given, mixed] {
        let exact = cluster::Ratio::new(&rows, 4).expect("a plane");
        for units in [5_000_000, 10_000_000, 100_000_000, 195_000_000] {
            let level = Level::from_units(units);
            let (exact, grid) = (exact.quantile(level).expect("a quantile"), cluster::grid_quantile(&rows, 4, level));
            let steps = i128::from(grid.denominator);
            let expected = -(-i128::from(exact.numerator) * steps).div_euclid(i128::from(exact.denominator));
            assert!((i128::from(grid.numerator) - expected).abs() <= 1, "{exact:?} {grid:?}");
        }
    }
}

#[test]
#[expect(clippy::cast_precision_loss, reason = "small values")]
fn a_thousand_clusters_of_as_many_sizes_are_audited_by_convolutions() {
    let wild: cluster::ClusterRows = (1..1_000).map(|size| ((size % 7 * size, size), 1)).collect();
    assert_eq!(cluster::Ratio::new(&wild, 4).err(), Some(AnalyzeError::TooLarge));
    let bound = |units| cluster::grid_quantile(&wild, 4, Level::from_units(units));
    let (low, middle, high) = (bound(10_000_000), bound(100_000_000), bound(190_000_000));
    // D is the mean of 0..=6 in quarters; a ratio of sums of a thousand is nearly normal.
    let (sums, sizes) = wild.keys().fold((0, 0), |all, row| (all.0 + row.0, all.1 + row.1));
    let ratio = sums as f64 / 4.0 / sizes as f64;
    let squares: f64 = wild.keys().map(|(s, n)| (*s as f64 / 4.0 - ratio * *n as f64).powi(2)).sum();
    let error = squares.sqrt() / sizes as f64;
    assert!((middle.value() - ratio).abs() < 0.2 * error, "{middle:?} {ratio}");
    for (bound, side) in [(low, -1.644_854), (high, 1.644_854)] {
        assert!((bound.value() - (ratio + side * error)).abs() < 0.1 * error, "{bound:?} {ratio} {error}");
    }
}
