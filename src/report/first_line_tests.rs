//! What the first lines of a report say, and that no figure in them stands on the wrong side of its limit.

use super::fixtures::{compatible, fraction, incompatible, inconclusive};
use super::result::AuditResult;
use super::tests::{degenerate, with_every_caveat, with_every_diagnosis};
use super::{html, junit, markdown, terminal};
use crate::analyze::{Beyond, ClusterBounds, Placebo};
use crate::gate::Verdict;
use crate::model::Kernel;

/// The first line of a report.
fn first_line(result: &AuditResult) -> String {
    super::view::headline(result)
}

#[test]
fn an_undecided_audit_that_shows_churn_says_so_and_what_the_rule_lacks() {
    let mut result = inconclusive();
    result.analysis.kernels[1].lower_bound = fraction(280, 1600);
    result.analysis.kernels[0].lower_bound = fraction(-8, 1600);
    (result.decision.incompatible_when[1].holds, result.decision.incompatible_when[1].figure_pp) = (false, -0.5);
    (result.decision.incompatible_when[2].holds, result.decision.incompatible_when[2].figure_pp) = (true, 17.5);
    let line = first_line(&result);
    assert_eq!(
        line,
        "Inconclusive: semantic excess churn of 2.13 pp is shown (at least 17.50 pp); to block, the rule also asks for exact \
         D̂ ≥ 3 pp (it is 2.13 pp) and exact lower bound > 0 pp (it is -0.50 pp), and to pass for semantic upper bound < 5 pp (it is \
         8.20 pp)"
    );
    assert!(terminal(&result, 400).contains("Repeats agree to the letter in"), "{}", terminal(&result, 400));
    // A line that cannot hold is not told by a figure that would meet it.
    result.decision.incompatible_when[1].void = Some("degenerate-kernel".to_owned());
    let why = "exact lower bound > 0 pp (cannot hold: this kernel sees no churn here)";
    assert!(first_line(&result).contains(why), "{}", first_line(&result));
    // A bound over too few questions shows nothing, whether or not the rule has a line on it.
    result.analysis.asked = 2;
    let line = first_line(&result);
    assert!(
        line.starts_with("Inconclusive: 400 questions do not prove churn, and to pass, the rule asks for"),
        "{line}"
    );
}

#[test]
fn an_undecided_audit_names_the_lines_that_do_not_hold_and_denies_nothing_that_is_proved() {
    let mut result = inconclusive();
    result.decision.incompatible_when.remove(1);
    result.decision.incompatible_when.remove(0);
    let line = first_line(&result);
    assert_eq!(
        line,
        "Inconclusive: 400 questions do not prove churn, and to pass, the rule asks for semantic upper bound < 5 pp (it is 8.20 pp)"
    );
    // What is proved of one kernel is not denied because of the other.
    let mut exact = result.decision.compatible_when[0].clone();
    exact.kernel = Kernel::Exact;
    exact.figure_pp = 31.0;
    result.analysis.kernels[0].lower_bound = fraction(280, 1600);
    result.analysis.kernels[0].upper_bound = 0.31;
    result.decision.compatible_when[0].holds = true;
    result.decision.compatible_when.push(exact);
    assert_eq!(
        first_line(&result),
        "Inconclusive: exact excess churn of 2.13 pp is shown (at least 17.50 pp); to block, the rule also asks for semantic lower \
         bound > 0 pp (it is -0.37 pp), and to pass for exact upper bound < 5 pp (it is 31.00 pp)"
    );
    result.decision.incompatible_when.clear();
    assert!(first_line(&result).ends_with("; to pass, the rule asks for exact upper bound < 5 pp (it is 31.00 pp)"));
}

#[test]
fn an_undecided_audit_gives_no_figure_that_the_gate_does_not_read() {
    let mut result = inconclusive();
    result.decision.incompatible_when.drain(..2);
    for (code, why) in [
        ("degenerate-kernel", "this kernel sees no churn here"),
        ("too-few-questions", "too few questions to prove it"),
        ("too-few-clusters", "too few clusters of questions to prove it"),
    ] {
        result.decision.compatible_when[0].void = Some(code.to_owned());
        let line = first_line(&result);
        assert!(line.ends_with(&format!("semantic upper bound < 5 pp (cannot hold: {why})")), "{line}");
        assert!(!line.contains("8.20"), "{line}");
    }
    result.decision.compatible_when[0].void = None;
    let clusters = with_every_diagnosis().analysis.kernels[1].clusters.clone();
    result.analysis.kernels[1].clusters = clusters;
    assert!(first_line(&result).ends_with(" pp over clusters)"), "{}", first_line(&result));
    result.analysis.kernels[1].lower_bound = fraction(300, 1600);
    assert!(first_line(&result).contains("is shown (at least 6.31 pp over clusters)"), "{}", first_line(&result));
}

#[test]
fn one_more_question_is_told_as_such() {
    let mut result = inconclusive();
    result.decision.questions_to_decide = Some(401);
    assert!(terminal(&result, 400).contains("about 1 more question (401 in all) would decide"));
}

#[test]
fn what_blocks_without_a_lower_bound_is_not_called_beyond_the_noise() {
    let mut result = incompatible();
    assert!(
        first_line(&result).ends_with("beyond the noise of repeats") && first_line(&result).contains(" pp semantic, ")
    );
    result.analysis.kernels[1].lower_bound = fraction(-40, 1600);
    assert!(
        first_line(&result).ends_with("; the spec's rule asks for no proof that this is beyond the noise of repeats"),
        "{}",
        first_line(&result)
    );
}

#[test]
fn what_passes_without_an_upper_bound_is_not_called_proved() {
    let mut result = compatible();
    let line = &mut result.decision.compatible_when[0];
    "below".clone_into(&mut line.condition);
    "90pp".clone_into(&mut line.limit);
    assert_eq!(
        first_line(&result),
        "Compatible: the spec's rule lets it pass without proof, semantic D̂ 0.13 pp (limit 90 pp)"
    );
    // An upper bound of the same kernel proves it, and one of another kernel nothing.
    let bound = compatible().decision.compatible_when[0].clone();
    result.decision.compatible_when.push(bound);
    let line = first_line(&result);
    assert!(
        line.starts_with("Compatible: excess churn is proved small, semantic D̂ 0.13 pp (limit 90 pp) and"),
        "{line}"
    );
    result.decision.compatible_when[1].kernel = Kernel::Exact;
    let line = first_line(&result);
    let said = "Compatible: exact excess churn is proved small, semantic churn is let pass without proof, semantic D̂";
    assert!(line.starts_with(said), "{line}");
}

#[test]
fn one_content_under_two_names_is_nothing_to_compare() {
    let mut result = inconclusive();
    result.same_content = true;
    result.analysis.asked = 0;
    assert_eq!(first_line(&result), "Inconclusive: old and new have the same content, so there was nothing to compare");
    for text in [terminal(&result, 400), markdown(&result), html(&result), junit(&result)] {
        assert!(!text.contains("would decide"), "{text}");
    }
}

#[test]
fn no_line_holds_where_there_was_nothing_to_compare() {
    for mut result in [incompatible(), compatible(), inconclusive()] {
        result.decision = result.decision.of_the_same_content();
        result.same_content = true;
        assert_eq!(result.decision.verdict, Verdict::Inconclusive);
        let text = markdown(&result);
        assert!(
            !text.contains("| yes |") && text.contains("| cannot hold: old and new have the same content |"),
            "{text}"
        );
        assert!(first_line(&result).ends_with("nothing to compare: the answers to 400 questions show noise alone"));
        result.decision.inconclusive = "fail".to_owned();
        assert!(!result.fails());
    }
}

#[test]
fn correctness_is_told_only_where_answers_match_accepted_ones_at_all() {
    let mut result = incompatible();
    assert!(
        terminal(&result, 400).contains("went from correct to wrong")
            && markdown(&result).contains("was correct, is wrong")
    );
    let correctness = result.analysis.correctness.as_mut().unwrap();
    correctness.exact_match = (fraction(0, 1), fraction(0, 1));
    assert!(!terminal(&result, 400).contains("went from correct to wrong"));
    assert!(!markdown(&result).contains("was correct, is wrong"));
}

#[test]
fn what_the_summary_says_was_lost_and_gained_is_what_the_table_counts_in_all() {
    for result in
        [incompatible, compatible, inconclusive, degenerate, with_every_caveat, with_every_diagnosis].map(|of| of())
    {
        let text = markdown(&result);
        let all = |row: &str| text.lines().find(|line| line.starts_with(row))?.split('|').nth(4).map(str::trim);
        let (lost, gained) = (all("| lost: ").expect("a row"), all("| gained: ").expect("a row"));
        let flows = result.analysis.correctness.as_ref().unwrap().flows_changed_meaning;
        let told = format!(
            "{lost} went from correct to wrong ({} with another meaning) and {gained} from wrong to correct ({})",
            flows.lost, flows.gained
        );
        for text in [&text, &terminal(&result, 4000)] {
            assert!(text.contains(&told), "{told}: {text}");
        }
    }
}

/// The numbers after each of these words in a text.
fn numbers_after(text: &str, words: &str) -> Vec<f64> {
    let number = |rest: &str| rest.split([' ', ')']).next().and_then(|number| number.parse().ok());
    text.split(words).skip(1).filter_map(number).collect()
}

#[test]
fn every_figure_of_a_first_line_stands_on_the_side_of_its_limit_that_was_decided() {
    // Exact figures that lie nearer to their limits than two decimals tell, and to zero.
    let limits = ["0.000001pp", "0.01pp", "3pp", "3.333333pp", "33.333334pp"];
    for limit in limits.map(|limit| limit.parse::<crate::model::PercentagePoints>().unwrap()) {
        for denominator in [3_u64, 1600, 99_999, 4_000_000, 990_000_000] {
            for off in -1..=1 {
                let share = fraction(limit.units_below(denominator) + off, denominator);
                let holds = share.compare(limit).is_ge();
                let mut result = incompatible();
                result.analysis.kernels[0].churn = share;
                result.analysis.kernels[0].lower_bound = share;
                result.decision.incompatible_when[0].limit = limit.to_string();
                if holds {
                    let line = first_line(&result);
                    let (figure, limit) =
                        (numbers_after(&line, "excess churn ")[0], numbers_after(&line, "(limit ")[0]);
                    assert!(figure >= limit, "{line}");
                }
                let mut result = inconclusive();
                result.analysis.kernels[0].churn = share;
                result.analysis.kernels[0].lower_bound = share;
                result.decision.incompatible_when[0].limit = limit.to_string();
                result.decision.incompatible_when[0].holds = holds;
                let line = first_line(&result);
                if share.numerator <= 0 {
                    continue;
                }
                assert!(numbers_after(&line, "excess churn of ")[0] > 0.0, "{line}");
                assert!(numbers_after(&line, "(at least ")[0] > 0.0, "{line}");
                if !holds {
                    let (limit, figure) = (numbers_after(&line, "D\u{302} ≥ ")[0], numbers_after(&line, "(it is ")[0]);
                    assert!(figure < limit, "{line}");
                }
            }
        }
    }
}

#[test]
fn what_an_interval_does_not_exclude_is_not_denied_of_the_corpus() {
    let said = |[new, rebuilt]: [i64; 2], (churn, low, high): (i64, i64, i64), questions: u64| {
        let mut result = compatible();
        result.analysis.questions = questions;
        result.analysis.kernels[1].lower_bound = fraction(new, 1600);
        let mut kernels = result.analysis.kernels.clone();
        kernels[1].lower_bound = fraction(rebuilt, 1600);
        let one = |kernel| Beyond {
            kernel,
            churn: fraction(churn, 1600),
            interval: (fraction(low, 1600), fraction(high, 1600)),
        };
        let beyond = vec![one(Kernel::Exact), one(Kernel::Semantic)];
        result.analysis.placebo = Some(Placebo { kernels, beyond, overlap: None, why: None });
        let text = markdown(&result);
        let (_, told) = text.split_once("The rebuild alone shows").expect("a sentence");
        told.lines().next().unwrap_or_default().to_owned()
    };
    // Wide intervals, by whether churn of the new snapshot and of the rebuild is shown: -10 to 10 pp, or 1 to 60 pp.
    let wide = (0, -160, 160);
    for (shown, beyond, words) in [
        ([1, 1], wide, "the rebuild is enough to explain it, and up to 10.00 pp by the corpus are not excluded"),
        ([-1, 1], wide, "the rebuild is enough to explain it, and up to 10.00 pp by the corpus are not excluded"),
        ([1, 1], (8, -160, 160), "whether the corpus adds to it, this sample does not show"),
        ([1, -1], wide, "too few questions to tell the corpus from the rebuild"),
        ([-1, -1], wide, "beyond it: either may be chance"),
        ([1, 1], (160, 16, 960), "the rebuild explains a part, the corpus the rest"),
        ([1, -1], (160, 16, 960), "which may be chance; the new snapshot shows 10.00 pp (1.00 to 60.00) beyond it"),
    ] {
        let told = said(shown, beyond, 400);
        assert!(told.contains(words) && !told.contains("not the corpus"), "{shown:?}: {told}");
        let interval = if beyond.1 < 0 { "(-10.00 to 10.00)" } else { "(1.00 to 60.00)" };
        assert!(told.contains(interval), "{told}");
    }
    // A narrow one, of as many questions as the rule's own bound takes: 59 at 5 pp.
    let explained = "less than the 5 pp that the rule lets pass: the rebuild, not the corpus, explains it";
    assert!(said([1, 1], (-2, -40, 79), 59).contains(explained));
    assert!(!said([1, 1], (-2, -40, 80), 400).contains(explained), "5 pp are not less than 5 pp");
    assert!(!said([1, 1], (0, 0, 0), 58).contains(explained), "so few questions exclude nothing");
}

/// Bounds over so many clusters, which prove as much as they can.
fn over_clusters(clusters: u64) -> ClusterBounds {
    let (low, high) = (fraction(1, 1600), fraction(2, 1600));
    let (size, spread) = (4.0, 0.1);
    ClusterBounds {
        clusters,
        asked: clusters,
        exact: true,
        size,
        spread,
        lower_bound: low,
        interval: (low, high),
        upper_bound: 0.01,
    }
}

#[test]
fn clusters_that_are_too_few_to_pass_are_too_few_to_explain_anything() {
    let explains = |clusters: u64| {
        let mut result = compatible();
        result.analysis.kernels[1].lower_bound = fraction(1, 1600);
        result.analysis.kernels[1].clusters = Some(over_clusters(clusters));
        let one =
            |kernel| Beyond { kernel, churn: fraction(-2, 1600), interval: (fraction(-40, 1600), fraction(79, 1600)) };
        let (kernels, beyond) = (result.analysis.kernels.clone(), vec![one(Kernel::Exact), one(Kernel::Semantic)]);
        result.analysis.placebo = Some(Placebo { kernels, beyond, overlap: None, why: None });
        markdown(&result).contains("the rebuild, not the corpus, explains it")
    };
    assert!(explains(59) && !explains(58));
}

#[test]
fn a_stream_over_questions_is_called_so_where_the_gate_reads_bounds_over_clusters() {
    let mut result = incompatible();
    let said = "draws over questions, as if they were independent, as a cross-check";
    assert!(!markdown(&result).contains(said));
    for figures in &mut result.analysis.kernels {
        figures.clusters = Some(over_clusters(20));
    }
    assert!(markdown(&result).contains(said), "{}", markdown(&result));
}

#[test]
fn a_limit_that_nobody_can_meet_is_not_blamed_on_the_number_of_questions() {
    let mut result = inconclusive();
    let line = &mut result.decision.compatible_when[0];
    (line.limit, line.void) = ("-1pp".to_owned(), Some("out-of-reach".to_owned()));
    let line = first_line(&result);
    assert!(line.contains("upper bound < -1 pp (cannot hold: no number of questions gives such a bound)"), "{line}");
}

#[test]
fn no_rounding_puts_a_figure_on_the_other_side_of_its_limit() {
    let mut result = inconclusive();
    result.analysis.kernels[0].churn = fraction(23_990, 800_000);
    result.decision.incompatible_when[0].figure_pp = 2.99875;
    result.analysis.kernels[1].upper_bound = 0.050_004;
    result.decision.compatible_when[0].figure_pp = 5.0004;
    let text = markdown(&result);
    assert!(text.contains("| exact | **2.999** |"), "{text}");
    assert!(text.contains("| blocks | exact | D̂ | 2.999 | ≥ 3 pp | no |"), "{text}");
    assert!(text.contains("| passes | semantic | upper bound | 5.0004 | < 5 pp | no |"), "{text}");
}

#[test]
fn a_figure_at_its_limit_is_printed_as_the_limit() {
    let mut result = incompatible();
    result.analysis.kernels[0].churn = fraction(24, 800);
    result.decision.incompatible_when[0].figure_pp = 3.0;
    assert!(markdown(&result).contains("| blocks | exact | D̂ | 3.00 | ≥ 3 pp | yes |"));
}
