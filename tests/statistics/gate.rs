//! The gate over whole analyses.

use super::ledger::{nq, settings, tqa};
use super::needed::{needed, with_laws};
use churngate::analyze::{Accumulator, Analysis, analyze};
use churngate::gate::{LineOutcome, Verdict, decide, questions_to_decide};
use churngate::model::{Answer, Kernel, Label, Observation, PercentagePoints};
use churngate::spec::{Condition, GateLine, GateSpec, Inconclusive};
use statrs::distribution::{Binomial, DiscreteCDF as _};

pub fn pp(text: &str) -> PercentagePoints {
    text.parse().expect("percentage points")
}

pub fn line(kernel: Kernel, condition: Condition) -> GateLine {
    GateLine { kernel, condition }
}

/// The default rule.
fn default_gate() -> GateSpec {
    GateSpec {
        incompatible_when: vec![
            line(Kernel::Exact, Condition::AtLeast(pp("3pp"))),
            line(Kernel::Exact, Condition::LowerBoundAbove(pp("0pp"))),
            line(Kernel::Semantic, Condition::LowerBoundAbove(pp("0pp"))),
        ],
        compatible_when: vec![line(Kernel::Semantic, Condition::UpperBoundBelow(pp("5pp")))],
        inconclusive: Inconclusive::Warn,
    }
}

fn run(observations: &[Observation]) -> Analysis {
    let mut quick = settings();
    quick.draws = 1_000;
    quick.between.clear();
    analyze(observations, &quick).expect("an analysis")
}

/// The same questions, unasked.
fn unchanged(mut observations: Vec<Observation>, count: usize) -> Vec<Observation> {
    observations.truncate(count);
    for observation in &mut observations {
        observation.unchanged = true;
        for entry in &mut observation.snapshots {
            entry.answers.clear();
        }
    }
    observations
}

#[test]
fn both_studies_block_and_the_block_wins() {
    assert_eq!(decide(&run(&nq()), &default_gate()).verdict, Verdict::Incompatible);
    let decision = decide(&run(&tqa()), &default_gate());
    // D̂ is exactly 3 pp, and the passing rule holds too.
    assert!(decision.compatible_when.iter().all(|line| line.holds), "{decision:?}");
    assert_eq!(decision.verdict, Verdict::Incompatible);
}

#[test]
fn limits_are_compared_exactly() {
    let analysis = run(&tqa());
    let with = |condition| {
        let mut gate = default_gate();
        gate.incompatible_when = vec![line(Kernel::Exact, condition)];
        decide(&analysis, &gate).incompatible_when[0].holds
    };
    assert!(with(Condition::AtLeast(pp("3pp"))) && !with(Condition::AtLeast(pp("3.000001pp"))));
    assert!(!with(Condition::Below(pp("3pp"))) && with(Condition::Below(pp("3.000001pp"))));
    assert!(!with(Condition::LowerBoundAbove(pp("0.5pp"))) && with(Condition::LowerBoundAbove(pp("0.499999pp"))));
}

#[test]
fn the_reason_says_which_lines_hold_and_by_how_much() {
    let decision = decide(&run(&tqa()), &default_gate());
    let told: Vec<(bool, Option<f64>)> = decision
        .incompatible_when
        .iter()
        .chain(&decision.compatible_when)
        .map(|line| (line.holds, line.margin_pp.map(|margin| (margin * 1e4).round() / 1e4)))
        .collect();
    assert_eq!(told, [(true, Some(0.0)), (true, Some(0.5)), (true, Some(0.375)), (true, Some(0.1452))]);
    let below = line(Kernel::Exact, Condition::Below(pp("1pp")));
    let gate = GateSpec { incompatible_when: vec![below], ..default_gate() };
    let failed = &decide(&run(&tqa()), &gate).incompatible_when[0];
    assert_eq!((failed.holds, failed.margin_pp), (false, Some(-2.0)));
}

#[test]
fn nothing_changed_passes_from_59_questions_on() {
    let enough = run(&unchanged(tqa(), 59));
    assert_eq!((enough.asked, enough.unchanged, enough.questions), (0, 59, 59));
    assert_eq!(enough.kernels[1].agreement, None);
    assert_eq!(decide(&enough, &default_gate()).verdict, Verdict::Compatible);
    let fewer = unchanged(tqa(), 58);
    let decision = decide(&run(&fewer), &default_gate());
    assert_eq!(decision.verdict, Verdict::Inconclusive);
    assert_eq!(decision.compatible_when[0].void.as_deref(), Some("too-few-questions"));
    assert_eq!(needed(&fewer, &default_gate()), Some(59));
}

#[test]
fn a_degenerate_kernel_neither_blocks_nor_passes() {
    let mut analysis = run(&nq());
    analysis.kernels[0].degenerate = true;
    let mut gate = default_gate();
    gate.compatible_when = vec![line(Kernel::Exact, Condition::Below(pp("50pp")))];
    let decision = decide(&analysis, &gate);
    assert_eq!(decision.verdict, Verdict::Inconclusive);
    assert_eq!(decision.incompatible_when[0].void.as_deref(), Some("degenerate-kernel"));
    assert_eq!(decision.compatible_when[0].void.as_deref(), Some("degenerate-kernel"));
    assert_eq!(questions_to_decide(&decision, &analysis, &with_laws(&nq()).1, &gate), None);
}

/// A question whose repeats agree within neither snapshot, of a source of its own.
fn noisy(mut observation: Observation, number: usize) -> Observation {
    let answer = |text: &str| Answer::parse(text, 512).expect("an answer");
    for entry in &mut observation.snapshots {
        entry.answers = vec![answer("one"), answer("other")];
    }
    observation.judgments = [((answer("one"), answer("other")), Label::Different)].into();
    observation.id.0 = format!("noisy {number}");
    observation
}

#[test]
fn a_noisy_question_among_unchanged_ones_voids_no_more_than_what_it_could_hide() {
    let question = nq().swap_remove(0);
    for clustered in [false, true] {
        let audit = |asked: usize| {
            let mut observations = unchanged(nq(), 400 - asked);
            observations.extend((0..asked).map(|number| noisy(question.clone(), number)));
            for (place, observation) in observations.iter_mut().enumerate() {
                observation.cluster = clustered.then(|| format!("source {}", place / 2));
            }
            run(&observations)
        };
        for (asked, verdict) in [(0, Verdict::Compatible), (1, Verdict::Compatible), (30, Verdict::Inconclusive)] {
            let analysis = audit(asked);
            assert_eq!(analysis.kernels[1].degenerate, asked > 0);
            let decision = decide(&analysis, &default_gate());
            assert_eq!(decision.verdict, verdict, "{asked} asked");
            let degenerate = Some("degenerate-kernel".to_owned());
            let voids = |lines: &[LineOutcome]| lines.iter().all(|line| line.void == degenerate);
            assert_eq!(voids(&decision.incompatible_when), asked > 0, "it can never block");
            assert_eq!(voids(&decision.compatible_when), asked == 30);
            // What the questions that were asked could hide, and not what they show.
            let least = f64::from(u32::try_from(asked).expect("few")) / 400.0;
            assert!(analysis.kernels[1].cautious_upper_bound() > least);
        }
        let below = |asked, limit| {
            let rule = vec![line(Kernel::Semantic, Condition::Below(pp(limit)))];
            decide(&audit(asked), &GateSpec { compatible_when: rule, ..default_gate() }).verdict
        };
        assert_eq!(below(30, "7.6pp"), Verdict::Compatible);
        assert_eq!(below(30, "7.5pp"), Verdict::Inconclusive);
    }
}

#[test]
fn a_rule_without_lines_never_holds() {
    let gate = GateSpec { incompatible_when: vec![], compatible_when: vec![], inconclusive: Inconclusive::Fail };
    let decision = decide(&run(&nq()), &gate);
    assert_eq!((decision.verdict, decision.inconclusive.as_str()), (Verdict::Inconclusive, "fail"));
}

#[test]
fn an_undecided_audit_says_how_many_questions_would_decide() {
    let mut observations = nq();
    observations.drain(..38);
    observations.truncate(100);
    let analysis = run(&observations);
    let decision = decide(&analysis, &default_gate());
    assert_eq!(decision.verdict, Verdict::Inconclusive, "{decision:?}");
    assert!(needed(&observations, &default_gate()).is_some_and(|needed| needed > 100), "{decision:?}");
}

#[test]
fn unchanged_questions_dilute_churn_and_not_agreement() {
    let mut observations = nq();
    for observation in &mut observations[200..] {
        observation.unchanged = true;
        for entry in &mut observation.snapshots {
            entry.answers.clear();
        }
    }
    let analysis = run(&observations);
    let semantic = &analysis.kernels[1];
    let agreement = semantic.agreement.as_ref().expect("asked questions");
    assert_eq!((analysis.asked, analysis.unchanged), (200, 200));
    assert_eq!((semantic.churn.denominator, agreement.within_old.denominator), (1_600, 200));
    let asked = semantic.churn_asked.expect("asked questions");
    assert_eq!((asked.numerator, asked.denominator), (semantic.churn.numerator, 800));
    assert!((agreement.within.value() - agreement.cross.value() - asked.value()).abs() < 1e-12);
}

#[test]
fn two_flips_alone_block_nothing_and_three_do() {
    let flips: Vec<Observation> = nq().into_iter().filter(stable_flip).take(3).collect();
    let rule = vec![line(Kernel::Semantic, Condition::LowerBoundAbove(pp("0pp")))];
    let gate = GateSpec { incompatible_when: rule, ..default_gate() };
    for (count, verdict) in [(1, Verdict::Inconclusive), (2, Verdict::Inconclusive), (3, Verdict::Incompatible)] {
        let analysis = run(&flips[..count]);
        assert_eq!(analysis.kernels[1].churn.to_pp(0), "100");
        let decision = decide(&analysis, &gate);
        assert_eq!(decision.verdict, verdict, "{count}");
        let void = if count < 3 { Some("too-few-questions") } else { None };
        assert_eq!(decision.incompatible_when[0].void.as_deref(), void, "{count}");
        assert_eq!(analysis.kernels[1].randomisation_p <= 0.05, count >= 3, "{count}");
        let least = if count < 3 { Some(3) } else { None };
        assert_eq!(needed(&flips[..count], &gate), least, "{count}: what is told to decide is what a bound needs");
    }
}

/// Five stable flips of these clusters, and so many questions that nobody asked, each of a cluster of its own.
fn five_flips(cluster: impl Fn(usize) -> String, unasked: usize) -> Vec<Observation> {
    let mut observations: Vec<Observation> = nq().into_iter().filter(stable_flip).take(5).collect();
    observations.extend(unchanged(tqa(), unasked));
    for (place, observation) in observations.iter_mut().enumerate() {
        observation.cluster = Some(if place < 5 { cluster(place) } else { format!("other {place}") });
    }
    observations
}

#[test]
fn flips_of_one_cluster_block_nothing_however_many_they_are_and_those_of_three_do() {
    let rule = vec![line(Kernel::Semantic, Condition::LowerBoundAbove(pp("0pp")))];
    let gate = GateSpec { incompatible_when: rule, ..default_gate() };
    for (sources, verdict) in [(1, Verdict::Inconclusive), (2, Verdict::Inconclusive), (3, Verdict::Incompatible)] {
        let observations = five_flips(|place| format!("source {}", place % sources), 3);
        let mut analysis = run(&observations);
        let semantic = &mut analysis.kernels[1];
        let clusters = semantic.clusters.as_mut().expect("clusters");
        assert_eq!((clusters.clusters, clusters.asked), (sources as u64 + 3, sources as u64));
        // So that nothing but the number of clusters decides.
        clusters.lower_bound = semantic.churn;
        semantic.lower_bound = semantic.churn;
        let decision = decide(&analysis, &gate);
        assert_eq!(decision.verdict, verdict, "{sources}");
        let void = if sources < 3 { Some("too-few-clusters") } else { None };
        assert_eq!(decision.incompatible_when[0].void.as_deref(), void, "{sources}");
        // Of eight questions with one asked cluster, 24 have three of them, and four audits in five have more in more.
        let least = [Some(24), Some(12), None][sources - 1];
        assert!(needed(&observations, &gate) >= least, "{sources}");
    }
}

#[test]
fn what_would_decide_and_what_can_be_seen_count_clusters_whose_questions_change_together() {
    let flip = nq().into_iter().find(stable_flip).expect("a flip");
    let rule = vec![line(Kernel::Semantic, Condition::LowerBoundAbove(pp("0pp")))];
    let gate = GateSpec { incompatible_when: rule, ..default_gate() };
    // Of 20 clusters of ten, so many flip whole.
    let audit = |flipped: usize| {
        let question = |place: usize| {
            let mut question = flip.clone();
            question.id.0 = format!("question {place}");
            question.cluster = Some(format!("source {}", place / 10));
            if place >= 10 * flipped {
                let same = question.snapshots[0].answers.clone();
                question.snapshots.iter_mut().for_each(|entry| entry.answers.clone_from(&same));
            }
            question
        };
        (0..200).map(question).collect::<Vec<Observation>>()
    };
    let at_two = run(&audit(2));
    assert_eq!(decide(&at_two, &gate).verdict, Verdict::Inconclusive, "two clusters say nothing");
    assert_eq!(decide(&run(&audit(3)), &gate).verdict, Verdict::Incompatible);
    // So 10 pp are seen where three clusters or more flip: in 32% of audits. To see them in 80% takes 42 clusters.
    let binomial = |clusters: u64, most: u64| Binomial::new(0.1, clusters).expect("a law").cdf(most);
    assert!((1.0 - binomial(20, 2) - 0.323).abs() < 1e-3);
    assert!(1.0 - binomial(42, 2) > 0.8 && 1.0 - binomial(41, 2) < 0.8);
    assert_eq!(needed(&audit(2), &gate), Some(420));
    let smallest = at_two.power.smallest_detectable.expect("a size");
    assert!((smallest - 0.236).abs() < 5e-4, "{smallest}");
    let seen = 1.0 - Binomial::new(smallest, 20).expect("a law").cdf(2);
    assert!((0.8..0.95).contains(&seen), "{seen}");
}

#[test]
fn flips_of_all_questions_block_no_oftener_than_they_may_where_churn_is_the_limit() {
    let answer = |text: &str| Answer::parse(text, 512).expect("an answer");
    let flip = nq().into_iter().find(stable_flip).expect("a flip");
    let audit = |count: usize, repeats: usize| {
        let question = |place: usize| {
            let mut question = flip.clone();
            question.id.0 = format!("question {place}");
            for (entry, text) in question.snapshots.iter_mut().zip(["one", "some", "more", "other"]) {
                entry.answers = vec![answer(text); repeats];
            }
            let texts = ["one", "some", "more", "other"];
            let pairs = texts.iter().flat_map(|one| texts.iter().map(move |other| (one, other)));
            let pairs = pairs.filter(|(one, other)| one < other);
            question.judgments = pairs.map(|(one, other)| ((answer(one), answer(other)), Label::Different)).collect();
            question
        };
        run(&(0..count).map(question).collect::<Vec<Observation>>())
    };
    for (repeats, splits) in [(2, 3.0), (3, 10.0), (5, 126.0)] {
        for count in 1..=10 {
            let analysis = audit(count, repeats);
            assert_eq!(analysis.kernels[1].stable_flips, count as u64);
            for (limit, share) in
                [("0pp", 1.0_f64 / splits), ("3pp", 0.03), ("20pp", 0.2), ("50pp", 0.5), ("90pp", 0.9)]
            {
                let rule = vec![line(Kernel::Semantic, Condition::LowerBoundAbove(pp(limit)))];
                let gate = GateSpec { incompatible_when: rule, compatible_when: vec![], ..default_gate() };
                let blocks = decide(&analysis, &gate).verdict == Verdict::Incompatible;
                // Where D is the limit, each question flips with that probability, or, where nothing changed, looks like a flip.
                let by_chance = share.max(splits.recip()).powi(i32::try_from(count).expect("few"));
                assert_eq!(
                    blocks,
                    by_chance <= 0.05,
                    "{count} of {count} at {repeats} repeats above {limit}: {by_chance}"
                );
            }
        }
    }
}

#[test]
fn nothing_is_detectable_where_the_lower_bound_is_void() {
    let flips: Vec<Observation> = nq().into_iter().filter(stable_flip).take(3).collect();
    let smallest = |observations: &[Observation]| run(observations).power.smallest_detectable;
    assert_eq!(smallest(&flips[..2]), None);
    assert!(smallest(&flips).is_some());
    assert_eq!(smallest(&unchanged(tqa(), 80)), None, "nothing was asked");
    assert_eq!(smallest(&five_flips(|place| format!("source {}", place % 2), 3)), None, "two clusters asked");
    assert!(smallest(&five_flips(|place| format!("source {}", place % 3), 3)).is_some());
}

#[test]
fn a_bound_below_zero_is_out_of_reach_of_any_number_of_questions() {
    for limit in ["-1pp", "0pp"] {
        let rule = vec![line(Kernel::Semantic, Condition::UpperBoundBelow(pp(limit)))];
        let gate = GateSpec { compatible_when: rule, ..default_gate() };
        for observations in [unchanged(tqa(), 3), unchanged(tqa(), 300)] {
            let decision = decide(&run(&observations), &gate);
            assert_eq!(decision.compatible_when[0].void.as_deref(), Some("out-of-reach"), "{limit}");
        }
    }
}

#[test]
fn one_cluster_around_all_questions_proves_nothing_either_way() {
    let rule = vec![line(Kernel::Semantic, Condition::LowerBoundAbove(pp("0pp")))];
    let gate = GateSpec { incompatible_when: rule, ..default_gate() };
    let analysis = run(&five_flips(|_| "one".to_owned(), 0));
    assert_eq!(analysis.kernels[1].clusters.as_ref().map(|clusters| clusters.clusters), Some(1));
    let decision = decide(&analysis, &gate);
    assert_eq!(decision.verdict, Verdict::Inconclusive);
    assert_eq!(decision.incompatible_when[0].void.as_deref(), Some("too-few-clusters"));
    assert_eq!(analysis.power.smallest_detectable, None);
    let mut alike = unchanged(tqa(), 118);
    for observation in &mut alike {
        observation.cluster = Some("one".to_owned());
    }
    let decision = decide(&run(&alike), &default_gate());
    assert_eq!(decision.verdict, Verdict::Inconclusive);
    assert_eq!(decision.compatible_when[0].void.as_deref(), Some("too-few-clusters"));
    // What would decide is told of as many clusters as a bound needs.
    assert!(needed(&alike, &default_gate()).is_none_or(|more| more >= 59 * 118));
}

#[test]
fn an_upper_bound_over_clusters_needs_as_many_of_them_as_one_over_questions() {
    let mut observations = unchanged(tqa(), 118);
    let pairs = |observations: &mut Vec<Observation>, count: usize| {
        for (place, observation) in observations.iter_mut().enumerate() {
            observation.cluster = Some(format!("pair {}", place % count));
        }
        let decision = decide(&run(observations), &default_gate());
        (decision.verdict, decision.compatible_when[0].void.clone(), needed(observations, &default_gate()))
    };
    assert_eq!(pairs(&mut observations, 59), (Verdict::Compatible, None, None));
    let few = Some("too-few-clusters".to_owned());
    // Two of the 58 have three questions, and an unseen one is taken to have as many.
    let (verdict, void, more) = pairs(&mut observations, 58);
    assert_eq!((verdict, void), (Verdict::Inconclusive, few));
    assert!(more.is_some_and(|more| (121..=118 * 90 / 58).contains(&more)), "{more:?}");
}

/// Whether the question's semantic contrast is 1 between the ends.
pub fn stable_flip(observation: &Observation) -> bool {
    run(std::slice::from_ref(observation)).kernels[1].stable_flips == 1
}

/// What is told where these questions lack an answer.
fn without_answers(observations: &[Observation], lost: impl Fn(&Observation) -> bool) -> Analysis {
    let mut quick = settings();
    quick.draws = 1_000;
    quick.between.clear();
    let mut accumulator = Accumulator::new(&quick).expect("settings");
    for observation in observations {
        if lost(observation) {
            accumulator.leave_out(observation.cluster.as_deref());
        } else {
            accumulator.take(observation).expect("a question");
        }
    }
    accumulator.finish().expect("an analysis")
}

#[test]
fn a_change_that_makes_its_own_flips_fail_passes_no_more_than_with_them() {
    let mut observations: Vec<Observation> = nq().into_iter().filter(stable_flip).take(4).collect();
    let flips: Vec<_> = observations.iter().map(|flip| flip.id.clone()).collect();
    observations.extend(unchanged(tqa(), 96));
    for clusters in [false, true] {
        for (place, observation) in observations.iter_mut().enumerate() {
            observation.cluster = clusters.then(|| format!("source {}", place / 2));
        }
        let whole = run(&observations);
        for lost in 1..=4 {
            let found = without_answers(&observations, |one| flips[..lost].contains(&one.id));
            assert_eq!((found.questions, found.left_out), (100 - lost as u64, lost as u64));
            // All of them are stable flips under the semantic kernel, which is the worst that can be.
            let bounds = |of: &Analysis| (of.kernels[1].upper_bound, of.kernels[1].cautious_upper_bound());
            assert_eq!(bounds(&found), bounds(&whole), "{lost} of four flips lost");
            assert!(found.kernels[0].cautious_upper_bound() >= whole.kernels[0].cautious_upper_bound());
            let decision = decide(&found, &default_gate());
            assert_ne!(decision.verdict, Verdict::Compatible);
        }
        assert!(decide(&whole, &default_gate()).compatible_when.iter().all(|line| !line.holds));
    }
    let spared = without_answers(&unchanged(tqa(), 100), |_| false);
    assert_eq!(decide(&spared, &default_gate()).verdict, Verdict::Compatible);
}

#[test]
fn the_more_cautious_of_the_bounds_over_questions_and_clusters_counts() {
    let mut observations = tqa();
    // All flips come from one source.
    for (place, observation) in observations.iter_mut().enumerate() {
        observation.cluster = Some(if place < 10 { "one".to_owned() } else { format!("source {}", place / 4) });
    }
    let analysis = run(&observations);
    let semantic = &analysis.kernels[1];
    let clusters = semantic.clusters.as_ref().expect("clusters");
    assert!(clusters.exact && clusters.clusters == 49, "{clusters:?}");
    assert!(semantic.lower_bound.value() > 0.0 && clusters.lower_bound.value() <= 0.0, "{clusters:?}");
    let decision = decide(&analysis, &default_gate());
    assert!(!decision.incompatible_when[2].holds && !decision.compatible_when[0].holds, "{decision:?}");
    assert!((decision.compatible_when[0].figure_pp - clusters.upper_bound * 100.0).abs() < 1e-12);
    assert_eq!(decision.verdict, Verdict::Inconclusive);
}
