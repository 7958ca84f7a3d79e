//! Worked cases, each with the outside function that gives the same value.

use churngate::analyze::agreement::Table;
use churngate::analyze::edges::Edges;
use churngate::analyze::evalue::Hypothesis;
use churngate::analyze::lattice::{Lattice, Repeats};
use churngate::analyze::planning::Scenario;
use churngate::analyze::quantile::Level;
use churngate::analyze::score::GoldAnswers;
use churngate::analyze::soft::Similarities;
use churngate::analyze::sum::{Pmf, Sum};
use churngate::analyze::{
    AnalyzeError, analyze, bootstrap, cluster, dirichlet, evalue, fisher, holm, judge_noise, proportion, randomisation,
    transitivity,
};
use churngate::model::{
    Answer, Confidence, Kernel, Label, Normalisation, Observation, QuestionId, SnapshotAnswers, SnapshotName,
};
use rayon::prelude::*;
use serde_json::{Value, json};
use statrs::distribution::{ContinuousCDF as _, DiscreteCDF as _, Hypergeometric, Normal, StudentsT};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

thread_local! {
    /// A changed copy of the vectors, which a test of these tests puts in the place of the file.
    static CHANGED: RefCell<Option<Value>> = const { RefCell::new(None) };
}

fn vectors() -> Value {
    CHANGED.with_borrow(Clone::clone).unwrap_or_else(file)
}

fn file() -> Value {
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
        let (old, new, _) = lattice.pair_counts();
        assert!(close(f64::from(agreeing.old) / old as f64, float(&case["w_L"])), "{case}");
        assert!(close(f64::from(agreeing.new) / new as f64, float(&case["w_H"])), "{case}");
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
    assert_eq!((&case["L"], &case["H"]), (&json!([0, 1]), &json!([2, 3])));
    assert_eq!(case["pairs_equal"], json!([[0, 1], [0, 2], [2, 3]]));
    let means = |edges: &Edges| {
        let agreeing = edges.agreeing();
        let share = |units: i64| f64::from(i32::try_from(units).expect("few units")) / 4.0;
        let (w, c) = (share(lattice.within(agreeing)), share(lattice.cross(agreeing)));
        let sides = (f64::from(agreeing.old), f64::from(agreeing.new));
        json!({ "w_L": sides.0, "w_H": sides.1, "w": w, "c": c, "d": w - c, "strict_flip": edges.is_stable_flip() })
    };
    assert_eq!(means(&edges), case["out"]);
    assert_eq!(means(&transitivity::components(&edges)), case["closure_out"]);
    assert_eq!(case["triples"], json!(4), "the triples of four answers");
    assert_eq!(transitivity::linked_triples(&edges).1, case["violations"].as_u64().expect("a count"));
    let closed = transitivity::components(&edges).agreeing();
    assert_eq!((lattice.within(closed), lattice.cross(closed)), (4, 4), "one class");
    let linked = transitivity::complete_link(&edges).agreeing();
    assert_eq!(lattice.contrast(linked), 4, "two classes, a flip");
}

#[test]
#[expect(clippy::cast_precision_loss, reason = "small values")]
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
        let questions: u64 = counts.values().sum();
        let total: i64 = counts.iter().map(|(value, count)| value * count.cast_signed()).sum();
        assert_eq!((Some(questions), Some(total)), (case["N"].as_u64(), case["T"].as_i64()), "{case}");
        let (mean, spread) = moments(&counts);
        assert!(close(mean / 4.0 * 100.0, float(&case["Dhat_pp"])), "{case}");
        let error = spread / (questions as f64).sqrt();
        assert!(close(error / 4.0 * 100.0, float(&case["boot_se_pp"])), "{case}");
        if !case["bca"].is_null() {
            let (z0, acceleration, level, bound) = accelerated(&bootstrap, &counts, total);
            assert!(
                close(z0, float(&case["bca"]["z0"])) && close(acceleration, float(&case["bca"]["accel"])),
                "{case}"
            );
            assert!(close(level, float(&case["bca"]["alpha05"])), "{case}");
            assert_eq!(Some(bound), case["bca"]["LCB_units"].as_i64(), "{case}");
            students(&counts, &case["t"]);
        }
        if let Some(first) = case["pmf_first5"].as_array() {
            assert_eq!(Some(bootstrap.law().body().start), case["support_start"].as_i64());
            let ours = &bootstrap.law().body().mass;
            assert!(first.iter().zip(ours).all(|(expected, ours)| (ours - float(expected)).abs() < 1e-11), "{ours:?}");
        }
        if let Some(points) = case["cdf_at"].as_object() {
            for (at, probability) in points {
                assert!(close(bootstrap.law().at_most(at.parse().expect("an integer")), float(probability)), "{at}");
            }
        }
    }
}

/// Mean and standard deviation (divisor N), in lattice units.
#[expect(clippy::cast_precision_loss, reason = "small values")]
fn moments(counts: &BTreeMap<i64, u64>) -> (f64, f64) {
    let each = || counts.iter().map(|(value, count)| (*value as f64, *count as f64));
    let questions: f64 = each().map(|(_, count)| count).sum();
    let mean = each().map(|(value, count)| value * count).sum::<f64>() / questions;
    let squares = each().map(|(value, count)| (value - mean).powi(2) * count).sum::<f64>();
    (mean, (squares / questions).sqrt())
}

/// The bias-corrected and accelerated bound of the exact law (Efron 1987), which the program compares with and does not use:
/// bias, acceleration, level, bound.
#[expect(clippy::cast_precision_loss, reason = "small values")]
fn accelerated(bootstrap: &bootstrap::Bootstrap, counts: &BTreeMap<i64, u64>, total: i64) -> (f64, f64, f64, i64) {
    let normal = Normal::standard();
    let law = bootstrap.law();
    let z0 = normal.inverse_cdf(f64::midpoint(law.at_most(total - 1), law.at_most(total)));
    let (mean, spread) = moments(counts);
    let questions = counts.values().sum::<u64>() as f64;
    let cubes: f64 = counts.iter().map(|(value, count)| (*value as f64 - mean).powi(3) * *count as f64).sum();
    let acceleration = cubes / (6.0 * (spread * spread * questions).powf(1.5));
    let shifted = z0 + normal.inverse_cdf(0.05);
    let level = normal.cdf(z0 + shifted / (1.0 - acceleration * shifted));
    let bound = law.body().first(|probability| probability >= level);
    (z0, acceleration, level, bound)
}

/// Student's t of the same contrasts, beside which the bootstrap stands.
#[expect(clippy::cast_precision_loss, reason = "small values")]
fn students(counts: &BTreeMap<i64, u64>, expected: &Value) {
    let (mean, spread) = moments(counts);
    let questions = counts.values().sum::<u64>() as f64;
    let error = spread / (questions - 1.0).sqrt();
    let law = StudentsT::new(0.0, 1.0, questions - 1.0).expect("a law");
    assert!(close(mean / error, float(&expected["t"])), "{expected}");
    assert!(close_relatively(law.sf(mean / error), float(&expected["p"])), "{expected}");
    let bound = (mean - law.inverse_cdf(0.95) * error) / 4.0 * 100.0;
    assert!((bound - float(&expected["LCB_pp"])).abs() < 1e-5, "{expected}");
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

fn p_value(questions: &[Edges], lattice: Lattice) -> Result<f64, AnalyzeError> {
    let mut patterns = randomisation::Patterns::default();
    for edges in questions {
        patterns.take(edges, lattice);
    }
    patterns.p_value(lattice, Kernel::Exact)
}

#[test]
fn randomisation_test_of_every_table() {
    let lattice = Lattice::new(Repeats { old: 2, new: 2 }).expect("a lattice");
    for case in cases("permutation_exact") {
        let p = p_value(&table(&case), lattice).expect("a p-value");
        assert!(close_relatively(p, float(&case["p"])), "{p} of {case}");
        // The mid-p counts half of what is exactly as large as the observed total.
        let questions = table(&case);
        let groups = questions.iter().map(|edges| {
            let splits = randomisation::splits(edges, lattice, Kernel::Exact).expect("splits");
            (Pmf::from_counts(&splits), 1)
        });
        let law = Sum::of(groups.collect()).expect("a law");
        let observed: i64 = questions.iter().map(|edges| lattice.contrast(edges.agreeing())).sum();
        let middle = f64::midpoint(law.at_least(observed), law.at_least(observed + 1));
        assert!(close_relatively(middle, float(&case["mid_p"])), "{middle} of {case}");
    }
}

#[test]
fn soft_kernel_of_one_question() {
    let case = &vectors()["question_ustat_soft"];
    let kernel: Vec<Vec<f64>> = serde_json::from_value(case["kernel"].clone()).expect("a kernel");
    assert!((0..5).all(|i| (0..5).all(|j| kernel[i][j].total_cmp(&kernel[j][i]).is_eq() && close(kernel[i][i], 1.0))));
    let places = |key: &str| -> Vec<usize> { serde_json::from_value(case[key].clone()).expect("answers") };
    let answers = [places("L"), places("H")].concat();
    let repeats = Repeats { old: 2, new: 3 };
    let similarities = Similarities::build(repeats, |i, j| Ok::<f64, AnalyzeError>(kernel[answers[i]][answers[j]]));
    let means = similarities.expect("similarities").means();
    let ours = [means.old, means.new, means.within(), means.cross, means.contrast()];
    for (ours, key) in ours.into_iter().zip(["w_L", "w_H", "w", "c", "d"]) {
        assert!((ours - float(&case["out"][key])).abs() < 1.1e-6, "{key}: {ours}");
    }
    let flip = means.within() >= 1.0 && means.cross <= 0.0;
    assert_eq!(Some(flip), case["out"]["strict_flip"].as_bool());
    assert!((2.0 * means.contrast() - float(&case["unbiased_mmd2"])).abs() < 2e-6);
    assert!((2.0 * means.contrast() - float(&case["check"])).abs() < 2e-6);
}

#[test]
fn splits_of_a_soft_question() {
    let case = &vectors()["permutation_exact"]["soft_question"];
    let pairs: Vec<f64> = serde_json::from_value(case["k"].clone()).expect("similarities");
    let mut pairs = pairs.into_iter();
    let repeats = Repeats { old: 2, new: 2 };
    let similarities = Similarities::build(repeats, |_, _| pairs.next().ok_or(())).expect("six pairs");
    let expected: Vec<f64> = serde_json::from_value(case["splits_d"].clone()).expect("contrasts");
    let splits = similarities.splits();
    assert_eq!(splits.len(), expected.len());
    assert!(splits.iter().zip(&expected).all(|(one, other)| close(*one, *other)), "{splits:?}");
    assert_eq!(Some(splits.iter().sum::<f64>().abs() < 1e-12), case["sum_is_zero"].as_bool());
}

#[test]
fn outside_programs_on_the_same_table_agree() {
    let all = vectors();
    let (scipy, case) = (&all["scipy_bootstrap_nq_sem"], &all["exact_bootstrap"]["cases"]);
    let case = case.as_array().expect("cases").iter().find(|case| case["name"] == "paper_nq_sem");
    let counts = counts(case.unwrap_or(&file()["exact_bootstrap"]["cases"][2]));
    let bootstrap = bootstrap::Bootstrap::new(&counts, 4).expect("questions");
    let lower = bootstrap.bounds(Confidence::default()).expect("bounds").lower.value();
    assert!(close(lower, float(&scipy["percentile_LCB"])), "{lower}");
    let (_, spread) = moments(&counts);
    assert!((spread / 20.0 / 4.0 - float(&scipy["se"])).abs() < 1e-4, "a share of 50,000 draws");
    // Two-sided, so each end at 2.5%; the outside program draws, and may be a lattice unit off.
    let (z0, acceleration, ..) = accelerated(&bootstrap, &counts, 164);
    let normal = Normal::standard();
    for (level, expected) in [(0.025, &scipy["BCa"][0]), (0.975, &scipy["BCa"][1])] {
        let shifted = z0 + normal.inverse_cdf(level);
        let level = normal.cdf(z0 + shifted / (1.0 - acceleration * shifted));
        let bound = bootstrap.law().body().first(|probability| probability >= level);
        assert!((f64::from(i32::try_from(bound).expect("small")) / 1600.0 - float(expected)).abs() < 1.01 / 1600.0);
    }
}

#[test]
fn transitions_of_correctness() {
    let case = &vectors()["correctness_transitions"]["case"];
    let marks = |key: &str| -> Vec<[u8; 2]> { serde_json::from_value(case[key].clone()).expect("marks") };
    let (old, new, same) = (marks("em_L"), marks("em_H"), marks("sem_equal_matched"));
    let observations: Vec<Observation> =
        (0..old.len()).map(|place| marked_question(place, old[place], new[place], same[place])).collect();
    let mut settings = super::ledger::settings();
    (settings.old, settings.new) = (SnapshotName::old(), SnapshotName::new_snapshot());
    settings.between.clear();
    let found = analyze(&observations, &settings).expect("an analysis").correctness.expect("gold");
    let (kept, changed) = (found.flows_same_meaning, found.flows_changed_meaning);
    let (lost, gained) = (kept.lost + changed.lost, kept.gained + changed.gained);
    let share = |count: i64| {
        f64::from(i32::try_from(count).expect("few")) / f64::from(u32::try_from(found.comparisons).expect("few"))
    };
    let ours = json!({
        "match_to_match": kept.kept + changed.kept,
        "match_to_nonmatch": lost,
        "nonmatch_to_match": gained,
        "nonmatch_to_diff_nonmatch": changed.wrong,
        "nonmatch_to_same_nonmatch": kept.wrong,
        "comparisons": found.comparisons,
        "gross_flow": share((lost + gained).cast_signed()),
        "net": share(gained.cast_signed() - lost.cast_signed()),
    });
    assert_eq!(ours, case["out"]);
}

/// A question with four texts, of which some are right, and whose matched repeats mean the same or not.
fn marked_question(place: usize, old: [u8; 2], new: [u8; 2], same: [u8; 2]) -> Observation {
    let names = ["old one", "old two", "new one", "new two"];
    let answer = |text: &str| Answer::parse(text, 64).expect("an answer");
    let mut judgments = BTreeMap::new();
    for one in names {
        for other in names.into_iter().filter(|other| *other > one) {
            let matched = same
                .iter()
                .zip([("new one", "old one"), ("new two", "old two")])
                .find(|(_, pair)| *pair == (one, other));
            let label = if matched.is_some_and(|(same, _)| *same == 1) { Label::Same } else { Label::Different };
            judgments.insert((answer(one), answer(other)), label);
        }
    }
    let right = names.into_iter().zip(old.into_iter().chain(new)).filter(|(_, right)| *right == 1);
    let of = |snapshot, texts: &[&str]| SnapshotAnswers {
        snapshot,
        answers: texts.iter().map(|text| answer(text)).collect(),
        evidence: None,
        cited: Vec::new(),
    };
    Observation {
        id: QuestionId(place.to_string()),
        cluster: None,
        tags: Vec::new(),
        snapshots: vec![of(SnapshotName::old(), &names[..2]), of(SnapshotName::new_snapshot(), &names[2..])],
        judgments,
        similarities: BTreeMap::new(),
        gold: right.map(|(text, _)| text.to_owned()).chain(["none of these".to_owned()]).collect(),
        unchanged: false,
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
fn dirichlet_bounds_of_the_closed_forms() {
    let oracle = &vectors()["dirichlet_bound"]["oracle"];
    let upper = |values: &[(f64, u64)]| dirichlet::upper(values, 1.0, 0.05) * 100.0;
    assert!(close(upper(&[(0.0, 50)]), float(&oracle["value"])));
    assert!(close(upper(&[(1.0, 1), (0.0, 49)]), float(&oracle["value2"])));
    assert!((upper(&[(0.0, 59)]) - float(&oracle["N59"])).abs() < 1e-5);
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
        let [[a, b], [c, d]] = table;
        let law = Hypergeometric::new(a + b + c + d, a + c, a + b).expect("a law");
        assert!(close(law.cdf(a), float(&case["p_less"])), "{case}");
        assert!(close(if a == 0 { 1.0 } else { law.sf(a - 1) }, float(&case["p_greater"])), "{case}");
        let ratio = |one: u64, other: u64| {
            f64::from(u32::try_from(one).expect("few")) / f64::from(u32::try_from(other).expect("few"))
        };
        assert!(close(ratio(a * d, b * c), float(&case["sample_odds_ratio"])), "{case}");
    }
    for case in cases("holm") {
        let p: Vec<f64> = serde_json::from_value(case["p"].clone()).expect("p-values");
        let expected: Vec<f64> = serde_json::from_value(case["holm"].clone()).expect("p-values");
        let adjusted = holm::adjust(&p);
        assert!(adjusted.iter().zip(&expected).all(|(one, other)| close(*one, *other)), "{case}");
        let rejected: Vec<bool> = adjusted.iter().map(|p| *p <= 0.05).collect();
        assert_eq!(json!(rejected), case["reject05"], "{case}");
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
    let churn = rows
        .iter()
        .fold((0, 0), |sums, ((s, n), times)| (sums.0 + s * times.cast_signed(), sums.1 + n * times.cast_signed()));
    let churn = f64::from(i32::try_from(churn.0).expect("few")) / 4.0 / f64::from(i32::try_from(churn.1).expect("few"));
    assert!(close(churn, float(&case["Dhat"])), "{churn}");
    assert!((ratio.at_most(0, 1) - drawn).abs() < 4.0 * (drawn / 400_000.0).sqrt());
    assert!((ratio.at_most(0, 1) - 0.036_617_037_8).abs() < 1e-12);
    // The smallest multiple of 1/400 that is reached.
    let reached = |t: i64| ratio.at_most(t, 400) >= 0.05;
    assert!(reached(10) && !reached(9) && close(10.0 / 400.0, float(&case["LCB_grid400"])));
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
        let (kappa, error) = (table.kappa().expect("two labels"), table.kappa_error().expect("two labels"));
        assert!(close(error, float(&case["kappa_se_statsmodels"])), "{case}");
        let reach = Normal::standard().inverse_cdf(0.975) * error;
        assert!(close(kappa - reach, float(&case["ci"][0])) && close(kappa + reach, float(&case["ci"][1])), "{case}");
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
    assert!(close(estimate.estimate, float(&case["manual_point"])));
    assert!(close(estimate.error, float(&case["manual_se_ddof0"])));
    power_tuned(case, &list("Y"), &list("Yhat"), &list("Yhat_unlabeled"));
    let (low, high) = estimate.interval(0.1);
    assert!(close(low, float(&case["ci90"][0])) && close(high, float(&case["ci90"][1])), "{low} {high}");
}

/// The weight of PPI++ (Angelopoulos et al. 2023): covariance over (1 + n/N) times the pooled variance.
#[expect(clippy::cast_precision_loss, reason = "small values")]
fn power_tuned(case: &Value, hand: &[f64], judge: &[f64], rest: &[f64]) {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let pooled = [judge, rest].concat();
    let (h, j, p) = (mean(hand), mean(judge), mean(&pooled));
    let together: f64 = hand.iter().zip(judge).map(|(one, other)| (one - h) * (other - j)).sum();
    let spread: f64 = pooled.iter().map(|value| (value - p).powi(2)).sum();
    let (n, others) = (hand.len() as f64, rest.len() as f64);
    let weight = (together / n) / ((1.0 + n / others) * spread / (pooled.len() as f64 - 1.0));
    let estimate = judge_noise::prediction_powered(hand, judge, rest, weight).expect("both groups");
    assert!(close(estimate.estimate, float(&case["ppi_pp_point"])), "{estimate:?}");
    let (low, high) = estimate.interval(0.1);
    assert!(close(low, float(&case["ppi_pp_ci90"][0])) && close(high, float(&case["ppi_pp_ci90"][1])), "{low} {high}");
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
        for units in [10_000_000, 195_000_000] {
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
    let (low, middle) = (bound(10_000_000), bound(100_000_000));
    // D is the mean of 0..=6 in quarters; a ratio of sums of a thousand is nearly normal.
    let (sums, sizes) = wild.keys().fold((0, 0), |all, row| (all.0 + row.0, all.1 + row.1));
    let ratio = sums as f64 / 4.0 / sizes as f64;
    let squares: f64 = wild.keys().map(|(s, n)| (*s as f64 / 4.0 - ratio * *n as f64).powi(2)).sum();
    let error = squares.sqrt() / sizes as f64;
    assert!((middle.value() - ratio).abs() < 0.2 * error, "{middle:?} {ratio}");
    assert!((low.value() - (ratio - 1.644_854 * error)).abs() < 0.1 * error, "{low:?} {ratio} {error}");
}

/// A section of the file and the tests above that read it.
type Reading = (&'static str, &'static [fn()]);

const READERS: &[Reading] = &[
    ("question_ustat_equality", &[contrasts_of_single_questions]),
    ("question_ustat_soft", &[soft_kernel_of_one_question]),
    ("nontransitive_example", &[labels_that_are_not_transitive_stay_as_they_are]),
    ("exact_bootstrap", &[exact_bootstrap_quantiles_and_far_tails, three_questions_equal_enumeration]),
    ("permutation_exact", &[randomisation_test_of_every_table, splits_of_a_soft_question]),
    ("dirichlet_bound", &[dirichlet_bounds, dirichlet_bounds_of_the_closed_forms]),
    ("mixture_betting", &[e_values]),
    ("permutation_eprocess", &[e_values]),
    ("cohen_kappa", &[kappa_and_its_error]),
    ("fisher_exact", &[fisher_and_holm]),
    ("mcnemar_exact", &[proportions_and_mcnemar]),
    ("correctness_transitions", &[transitions_of_correctness]),
    ("holm", &[fisher_and_holm]),
    ("proportion_ci", &[proportions_and_mcnemar]),
    ("normalise", &[normalisations_and_scores]),
    ("em_f1", &[normalisations_and_scores]),
    ("ppi", &[corrections_for_a_noisy_judge]),
    ("rogan_gladen", &[corrections_for_a_noisy_judge]),
    ("cluster_bootstrap", &[cluster_ratio]),
    ("scipy_bootstrap_nq_sem", &[outside_programs_on_the_same_table_agree]),
];
/// Sections that hold words about the file and about other programs, and no figure that is not in another section.
const WORDS: &[&str] = &["holdout_note", "R_cross_check"];

/// Values that no result depends on, and why.
const INERT: &[(&str, &str)] = &[
    ("/cohen_kappa/cases/1/both_", "judges who always agree: kappa is 1 for any counts"),
    ("/mcnemar_exact/cases/3/", "nothing moved: p is 1, as it is for one move"),
    (
        "/correctness_transitions/case/sem_equal_matched/0",
        "meanings split the wrong answers alone, and these pairs have a right one",
    ),
    ("/correctness_transitions/case/sem_equal_matched/1/0", "likewise"),
    ("/correctness_transitions/case/sem_equal_matched/2", "likewise"),
    ("/holm/cases/1/p/0", "its adjusted p-value is 1 in any case"),
    ("/holm/cases/1/p/3", "likewise"),
    ("/rogan_gladen/cases/1/D_obs", "a judge that shows nothing has no correction"),
];

/// Every number, flag and null below a value, by its pointer.
fn leaves(value: &Value, pointer: &str) -> Vec<String> {
    match value {
        Value::Object(members) => {
            members.iter().flat_map(|(name, member)| leaves(member, &format!("{pointer}/{name}"))).collect()
        }
        Value::Array(members) => members
            .iter()
            .enumerate()
            .flat_map(|(place, member)| leaves(member, &format!("{pointer}/{place}")))
            .collect(),
        Value::String(_) => Vec::new(),
        _ => vec![pointer.to_owned()],
    }
}

/// The file with one value changed. Of several cases only the changed one is kept.
fn changed(section: &str, pointer: &str) -> Value {
    let mut all = file();
    let leaf = all.pointer_mut(pointer).expect("a leaf");
    *leaf = match leaf.clone() {
        Value::Bool(flag) => json!(!flag),
        Value::Number(number) if number.is_f64() => {
            json!(number.as_f64().map(|number| number + 0.02 + number.abs() / 20.0))
        }
        Value::Number(number) => json!(number.as_i64().map(|number| number + 1)),
        _ => json!(0.5),
    };
    let place = pointer.split_once("/cases/").and_then(|(_, rest)| rest.split('/').next()?.parse::<usize>().ok());
    if let Some(place) = place {
        let case = all[section]["cases"][place].clone();
        all[section]["cases"] = json!([case]);
    }
    all
}

/// Whether some reader of the section fails on this file.
fn is_noticed(readers: &[fn()], file: Value) -> bool {
    CHANGED.replace(Some(file));
    let noticed = readers.iter().any(|reader| std::panic::catch_unwind(reader).is_err());
    CHANGED.replace(None);
    noticed
}

#[test]
fn every_value_of_the_file_is_held_by_a_test() {
    let all = file();
    let sections: BTreeSet<&str> = all.as_object().expect("sections").keys().map(String::as_str).collect();
    let read: BTreeSet<&str> = READERS.iter().map(|(section, _)| *section).chain(WORDS.iter().copied()).collect();
    assert_eq!(sections, read);
    // The changed files are meant to fail: what their readers say about it is not shown.
    let shown = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if CHANGED.with_borrow(Option::is_none) {
            shown(info);
        }
    }));
    let each = READERS.iter().flat_map(|(section, readers)| {
        let pointers = leaves(&file()[*section], &format!("/{section}")).into_iter();
        let held = pointers.filter(|pointer| !INERT.iter().any(|(inert, _)| pointer.starts_with(inert)));
        held.map(move |pointer| (*section, *readers, pointer))
    });
    let each: Vec<_> = each.collect();
    assert!(each.len() > 700, "{}", each.len());
    let unnoticed: Vec<&String> = each
        .par_iter()
        .filter(|(section, readers, pointer)| !is_noticed(readers, changed(section, pointer)))
        .map(|(_, _, pointer)| pointer)
        .collect();
    assert!(unnoticed.is_empty(), "no test notices a change of {unnoticed:#?}");
}
