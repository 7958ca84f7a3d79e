//! Whole reports of typical results, as people read them.

use super::fixtures::{citing, compatible, flip, flip_detail, fraction, incompatible, inconclusive};
use super::result::{AuditResult, EvidenceLine};
use super::{html, json, junit, markdown, next_steps, parse, terminal};
use crate::analyze::{Alignment, ClusterBounds, Placebo, Rung, SoftFigures, Trajectories};
use crate::model::SnapshotName;
use insta::assert_snapshot;

/// The kernel of paragraph answers: repeats never agree word for word.
pub(super) fn degenerate() -> AuditResult {
    let mut result = inconclusive();
    let exact = &mut result.analysis.kernels[0];
    exact.degenerate = true;
    if let Some(agreement) = &mut exact.agreement {
        (agreement.within.numerator, agreement.cross.numerator) = (36, 2);
    }
    result.decision.incompatible_when[0].void = Some("degenerate-kernel".to_owned());
    result.decision.questions_to_decide = None;
    result
}

fn without_gold_and_evidence() -> AuditResult {
    let mut result = incompatible();
    result.analysis.correctness = None;
    result.analysis.overlap = None;
    result.analysis.subgroups.clear();
    for flip in &mut result.analysis.flips {
        (flip.old_correct, flip.new_correct, flip.shared_documents) = (None, None, None);
    }
    for detail in &mut result.flips {
        detail.gold.clear();
        detail.left.clear();
        detail.came.clear();
        detail.shared = 0;
    }
    result
}

pub(super) fn with_every_caveat() -> AuditResult {
    let mut result = incompatible();
    result.machinery.caveats = vec![
        "the embedded reader extracts spans and knows nothing of its own".to_owned(),
        "the embedded judge compares words (it is no language model)".to_owned(),
    ];
    result.analysis.asked = 310;
    result.analysis.unchanged = 90;
    result.analysis.kernels[1].stream.agrees = false;
    result.validity.excluded_questions = 3;
    result.validity.mismatched_evidence = 1;
    result.validity.served_models[1].1.push("another".to_owned());
    result
}

#[test]
fn an_incompatible_audit_reads_well() {
    assert_snapshot!("incompatible_markdown", markdown(&incompatible()));
    assert_snapshot!("incompatible_terminal", terminal(&incompatible(), 100));
}

#[test]
fn a_compatible_audit_reads_well() {
    assert_snapshot!("compatible_markdown", markdown(&compatible()));
    assert_snapshot!("compatible_terminal", terminal(&compatible(), 80));
}

#[test]
fn an_inconclusive_audit_says_what_would_decide() {
    assert_snapshot!("inconclusive_markdown", markdown(&inconclusive()));
    assert_snapshot!("inconclusive_terminal", terminal(&inconclusive(), 80));
}

#[test]
fn a_degenerate_kernel_is_named_before_any_figure() {
    assert_snapshot!("degenerate_markdown", markdown(&degenerate()));
}

#[test]
fn a_black_box_without_gold_has_no_empty_sections() {
    assert_snapshot!("black_box_markdown", markdown(&without_gold_and_evidence()));
}

/// An audit with a rung between, a closed book, clusters, soft similarities and labels that contradict one another.
pub(super) fn with_every_diagnosis() -> AuditResult {
    let mut result = incompatible();
    let alignment = |old, new, third, repeats_disagree, mixed| Alignment { repeats_disagree, old, new, third, mixed };
    let name = |text: &str| SnapshotName(text.to_owned());
    let (exact, semantic) = (Some(fraction(60, 1600)), Some(fraction(96, 1600)));
    let analysis = &mut result.analysis;
    for (kernel, lower) in analysis.kernels.iter_mut().zip([60, 101]) {
        let interval = (fraction(lower - 10, 1600), fraction(lower + 90, 1600));
        let lower_bound = fraction(lower, 1600);
        kernel.clusters = Some(ClusterBounds {
            clusters: 49,
            asked: 40,
            exact: lower == 60,
            size: 8.2,
            spread: 0.9,
            lower_bound,
            interval,
            upper_bound: 0.15,
        });
    }
    analysis.ladder = vec![Rung { from: name("old"), to: name("mid"), exact, semantic, stable_flips: 29, why: None }];
    let middles = vec![(name("mid"), alignment(8, 12, 6, 12, 2))];
    analysis.trajectories = Some(Trajectories { any_step: 59, several_steps: 12, returns: 6, middles });
    analysis.closed_book = Some(alignment(11, 10, 8, 11, 0));
    analysis.transitivity.broken = 7;
    analysis.transitivity.churn_components = Some(fraction(150, 1600));
    analysis.soft = Some(SoftFigures {
        within_old: 0.91,
        within_new: 0.93,
        within: 0.92,
        cross: 0.83,
        churn: 0.09,
        spread: 0.28,
        lower_bound: Some(0.066),
        interval: Some((0.061, 0.119)),
        upper_bound: 0.118,
        why: None,
    });
    result
}

#[test]
fn diagnoses_are_folded_and_leave_the_first_screen_as_it_was() {
    let (plain, full) = (markdown(&incompatible()), markdown(&with_every_diagnosis()));
    let open = |text: &str| text.split("<details>").next().map(str::to_owned);
    // Bounds over clusters change figures there, and nothing grows.
    let lines = |text: &str| open(text).map(|shown| shown.lines().count());
    assert_eq!(lines(&plain), lines(&full));
    let titles = [
        "Bounds over clusters",
        "Where flips stand to other snapshots",
        "Labels that contradict one another",
        "Soft similarity",
    ];
    let begin = |title: &str| full.find(&format!("<summary><b>{title}")).or_else(|| full.find(title));
    let sections: Vec<&str> =
        titles.iter().filter_map(|title| full[begin(title)?..].split("</details>").next()).collect();
    assert_eq!(sections.len(), titles.len(), "{full}");
    assert!(titles.iter().all(|title| !plain.contains(title)));
    assert_snapshot!("diagnoses_markdown", sections.join("\n----\n"));
    let page = html(&with_every_diagnosis());
    assert!(titles.iter().all(|title| page.contains(title)));
    let last = terminal(&with_every_diagnosis(), 100);
    assert_snapshot!(last.split_once("also in the report").map_or("", |(_, also)| also), @"
    : Bounds over clusters (49 clusters) · Snapshots between (churn between adjacent
      snapshots; diagnosis only) · Where flips stand to other snapshots (59 flips at some step;
      diagnosis only) · Labels that contradict one another (7 of 1,100 triples (0.64%)) · Soft
      similarity (D̂ 9.00 pp; diagnosis only)
    ");
}

#[test]
fn what_a_system_cites_is_told_under_its_own_name() {
    let (plain, text) = (markdown(&incompatible()), markdown(&citing()));
    assert!(!plain.contains("as cited") && !html(&incompatible()).contains("as cited"));
    let (_, block) = text.split_once("```diff\n").expect("a diff");
    assert_snapshot!(block.split_once("\n```").map_or("", |(lines, _)| lines), @"
    - old answer  Ada Lang
    + new answer  Ines Rohr
      accepted    Ada Lang
      as cited    2 documents shared, 1 changed, 1 lost, 1 gained
    - changed     roof.md
    - lost        library.md#2
    + changed     roof.md
    + gained      extension.md
    ");
    let begin = text.find("Documents as cited").expect("a section");
    assert_snapshot!(text[begin..].split("</details>").next().unwrap_or_default(), @"
    Documents as cited</b>: old and new answers share 1.20 on average, repeats 3.25</summary>

    What the audited system says its answers rest on: its own word, and no evidence that was locked. Compare old and new with the repeats of one snapshot, where nothing changed. No line of the rule reads this.

    | compared by | answers | documents shared (mean) | none shared | same set | same list |
    | :-- | :-- | --: | --: | --: | --: |
    | id | repeats of old | 3.40 | 40 (10.53%) | 290 (76.32%) | 145 (38.16%) |
    | id | repeats of new | 3.10 | 40 (10.53%) | 270 (71.05%) | 135 (35.53%) |
    | id | old and new | 1.20 | 40 (2.63%) | 300 (19.74%) | 150 (9.87%) |
    | content | repeats of old | 3.65 | 40 (10.53%) | 290 (76.32%) | 145 (38.16%) |
    | content | repeats of new | 3.35 | 40 (10.53%) | 270 (71.05%) | 135 (35.53%) |
    | content | old and new | 1.45 | 40 (2.63%) | 300 (19.74%) | 150 (9.87%) |

    - 380 of 400 asked questions compared: those of which every answer came with a list of documents; 11 more, where some answer has one and another has none, are left out
    - an answer of the old snapshot names 4.13 documents on average, one of the new 3.88
    ");
    assert!(html(&citing()).contains("Documents as cited"));
    let last = terminal(&citing(), 400);
    assert!(last.contains("Documents as cited (old and new answers share 1.20 on average, repeats 3.25)"), "{last}");
}

#[test]
fn where_no_question_has_all_lists_no_figure_is_made_of_the_few() {
    let mut result = citing();
    if let Some(cited) = &mut result.analysis.cited {
        (cited.questions, cited.overlap) = (0, None);
    }
    let text = markdown(&result);
    let section = &text[text.find("Documents as cited").expect("a section")..];
    let section = section.split("</details>").next().unwrap_or_default();
    assert!(section.contains("0 of 400 asked questions compared") && section.contains("11 more"), "{section}");
    assert!(!section.contains("repeats of old"), "{section}");
}

#[test]
fn what_cannot_be_said_of_the_rebuild_is_told_with_its_reason() {
    let mut result = incompatible();
    let kernels = result.analysis.kernels.clone();
    let why = Some("too many questions with too many repeats for exact sums".to_owned());
    let shown = |kernels, result: &mut AuditResult| {
        result.analysis.placebo = Some(Placebo { kernels, beyond: Vec::new(), overlap: None, why: why.clone() });
        assert_eq!(parse(&json(result)).as_ref(), Ok(&*result));
        let text = markdown(result);
        let told = "Not every figure of the rebuild alone could be computed: too many questions with too many repeats for \
                    exact sums. The verdict rests on none of them.";
        assert!(text.contains(told) && terminal(result, 400).contains(told) && html(result).contains(told), "{text}");
        text
    };
    assert!(!shown(Vec::new(), &mut result).contains("the rebuild alone shows"));
    let text = shown(kernels, &mut result);
    assert!(text.contains("the rebuild alone shows 10.25 pp") && text.contains("| 40 | – | – |"), "{text}");
}

#[test]
fn figures_of_diagnoses_that_cannot_be_computed_are_told_with_their_reason() {
    let mut result = with_every_diagnosis();
    let whole = markdown(&result);
    assert!(!whole.contains("could be computed"), "{whole}");
    let why = || Some("too many questions with too many repeats for exact sums".to_owned());
    let analysis = &mut result.analysis;
    let rung = &mut analysis.ladder[0];
    (rung.exact, rung.semantic, rung.why) = (None, None, why());
    let transitivity = &mut analysis.transitivity;
    (transitivity.churn_components, transitivity.churn_complete_link, transitivity.why) = (None, None, why());
    let soft = analysis.soft.as_mut().unwrap();
    (soft.lower_bound, soft.interval, soft.why) = (None, None, why());
    assert_eq!(parse(&json(&result)).as_ref(), Ok(&result));
    let text = markdown(&result);
    for what in ["the snapshots between", "repaired labels", "the soft kernel"] {
        let told = format!(
            "Not every figure of {what} could be computed: too many questions with too many repeats for exact sums. The \
             verdict rests on none of them."
        );
        assert!(text.contains(&told) && html(&result).contains(&told), "{text}");
    }
    assert!(text.contains("| `old` | `mid` | – | – | 29 |"), "{text}");
    assert!(text.contains("if all of it means the same | – |"), "{text}");
    assert!(text.contains("| 9.00 | – | 92.00% | 83.00% | – | 11.80 |"), "{text}");
}

#[test]
fn every_way_to_see_nothing_is_explained_before_any_figure() {
    let mut result = inconclusive();
    result.analysis.unknown = Some((fraction(800, 800), fraction(15, 800)));
    result.analysis.kernels[1].spread = 0.0;
    if let Some(overlap) = &mut result.analysis.overlap {
        overlap.without_documents = Some((3, 1));
    }
    let text = terminal(&result, 400);
    let warnings: Vec<&str> = text.lines().filter(|line| line.starts_with("warning: ")).collect();
    assert_snapshot!(warnings.join("\n"), @"
    warning: Every answer of the old snapshot is UNKNOWN: such answers agree with one another, and say nothing about the index.
    warning: No document at all was retrieved for 3 questions from the old snapshot and for 1 question from the new one.
    warning: All questions have the same contrast under the semantic kernel: resampling sees no spread, so the lower bound is D̂ itself. The upper bound is not affected.
    warning: Inconclusive is no proof of compatibility. The spec lets an undecided audit pass with a warning.
    ");
}

#[test]
fn answers_that_become_unknown_are_told_with_and_without_accepted_ones() {
    let mut result = without_gold_and_evidence();
    result.analysis.unknown = Some((fraction(0, 800), fraction(700, 800)));
    let text = markdown(&result);
    let section = text.split("<summary><b>Correctness").nth(1).and_then(|rest| rest.split("</details>").next());
    assert_snapshot!(section.unwrap_or_default(), @"
    </b>: UNKNOWN 0.00% → 87.50%</summary>

    - UNKNOWN 0.00% → 87.50% of all answers; no question has accepted answers
    ");
    let warning = "warning: 0.00% of the answers of the old snapshot are UNKNOWN, and 87.50% of those of the new one.";
    assert!(terminal(&result, 400).contains(warning), "{}", terminal(&result, 400));
    result.analysis.unknown = Some((fraction(0, 800), fraction(79, 800)));
    assert!(!terminal(&result, 400).contains("are UNKNOWN"), "{}", terminal(&result, 400));
    let mut result = incompatible();
    result.analysis.unknown = Some((fraction(100, 800), fraction(20, 800)));
    assert!(terminal(&result, 400).contains("12.50% of the answers of the old snapshot are UNKNOWN"));
    assert!(markdown(&result).contains("- UNKNOWN 12.50% → 2.50%"), "{}", markdown(&result));
    result.analysis.unknown = None;
    assert!(!markdown(&result).contains("UNKNOWN"));
}

#[test]
fn caveats_stand_before_any_figure() {
    let text = markdown(&with_every_caveat());
    let (before, _) = text.split_once("### Excess churn").expect("a section on churn");
    assert_snapshot!("caveats_markdown", before);
    assert_snapshot!("caveats_terminal", terminal(&with_every_caveat(), 80));
}

#[test]
fn the_first_line_is_the_verdict_and_why() {
    let first = |result| markdown(&result).lines().next().map(str::to_owned).unwrap_or_default();
    assert_snapshot!(first(incompatible()), @"## ❌ Incompatible: excess churn 6.44 pp exact (limit 3 pp) and 10.25 pp semantic, beyond the noise of repeats");
    assert_snapshot!(first(compatible()), @"## ✅ Compatible: excess churn is proved small, semantic upper bound 1.50 pp (limit 5 pp)");
    assert_snapshot!(first(inconclusive()), @"## ⚠️ Inconclusive: exact excess churn of 2.13 pp is shown (at least 0.38 pp); to block, the rule also asks for exact D̂ ≥ 3 pp (it is 2.13 pp) and semantic lower bound > 0 pp (it is -0.37 pp), and to pass for semantic upper bound < 5 pp (it is 8.20 pp)");
}

#[test]
fn the_page_of_an_incompatible_audit_is_stable() {
    assert_snapshot!("incompatible_html", html(&incompatible()).split_once("</style>").map_or("", |(_, body)| body));
}

#[test]
fn the_junit_of_each_verdict_is_stable() {
    assert_snapshot!("incompatible_junit", junit(&incompatible()));
    let mut inconclusive = inconclusive();
    assert_snapshot!("inconclusive_junit", junit(&inconclusive));
    inconclusive.analysis.flips.push(flip("q-17", "Ada Lang", "Ines Rohr"));
    assert!(junit(&inconclusive).contains("stable flip, within what the rule lets pass"));
    inconclusive.decision.inconclusive = "fail".to_owned();
    let failing = junit(&inconclusive);
    assert!(failing.contains("failures=\"1\"") && !failing.contains("lets pass"), "{failing}");
    assert!(failing.contains("stable flip, in an audit that fails because it is undecided"), "{failing}");
    assert!(junit(&compatible()).contains("failures=\"0\""));
}

#[test]
fn long_answers_are_shown_where_they_differ_in_every_format() {
    let common = "Hold the power button until the light blinks, then release it and wait. ".repeat(8);
    let (old, new) = (format!("{common}Then press left."), format!("{common}Then press right."));
    let with = |old: &str, new: &str| {
        let mut result = incompatible();
        result.analysis.flips[0] = flip("q-17", old, new);
        result.flips[0] = flip_detail("q-17", "How?", old, new);
        result
    };
    let result = with(&old, &new);
    for text in [markdown(&result), html(&result), terminal(&result, 400), junit(&result)] {
        let shown = |label: &str| {
            let rest = text.split(label).nth(1).unwrap_or_default();
            rest.lines().next().unwrap_or_default().to_owned()
        };
        let (old, new) = (shown("old answer"), shown("new answer"));
        assert!(old.contains("…then release it and wait. Then press left."), "{old}");
        assert!(new.contains("…then release it and wait. Then press right."), "{new}");
    }
    // One that fits is shown whole, and so the other from its beginning.
    let text = terminal(&with("Hold", &new), 400);
    assert!(text.contains("old answer  Hold") && text.contains("new answer  Hold the power button"), "{text}");
}

#[test]
fn what_is_left_out_is_told_to_be_where_it_is() {
    let mut result = incompatible();
    result.analysis.flips = (0..2500).map(|number| flip(&format!("q{number}"), "old", "new")).collect();
    let text = markdown(&result);
    assert!(
        text.contains("left out to keep this report within its size; result.json in the run's folder has everything")
    );
    // Answers made elsewhere have no run and no folder.
    result.record.heads.clear();
    let text = markdown(&result);
    assert!(text.contains("left out to keep this report within its size; the output of --format json has everything"));
    assert!(text.contains("The first 1,000 are shown; the output of --format json has all."), "{text}");
    assert!(!text.contains("result.json"), "{text}");
}

#[test]
fn a_great_many_flips_are_shown_in_part_and_counted_in_full() {
    let mut result = incompatible();
    result.flips.clear();
    result.analysis.flips = (0..2500).map(|number| flip(&format!("q{number}"), "old", "new")).collect();
    let page = html(&result);
    assert!(page.contains("2,500 questions, worst first"), "{page}");
    assert!(page.contains("The first 1,000 are shown; result.json in the run") && page.contains("s folder has all."));
    assert!(page.contains("q999") && !page.contains("q1000"));
    assert!(junit(&result).contains("tests=\"1001\""));
}

#[test]
fn documents_that_carry_the_answer_or_changed_come_first() {
    let mut result = incompatible();
    let document = |id: &str, excerpt: &str| EvidenceLine { id: id.to_owned(), excerpt: excerpt.to_owned() };
    let detail = &mut result.flips[0];
    detail.left = vec![document("a", "nothing"), document("b", "changed later"), document("c", "by Ada Lang")];
    detail.came =
        vec![document("b", "has changed"), document("d", "by Ines Rohr"), document("e", "x"), document("f", "y")];
    let text = markdown(&result);
    let (_, block) = text.split_once("```diff\n").expect("a diff");
    assert_snapshot!(block.split_once("\n```").map_or("", |(lines, _)| lines), @"
    - old answer  Ada Lang
    + new answer  Ines Rohr
      accepted    Ada Lang
      evidence    5 documents shared, 1 changed, 2 left, 3 came
    - left        c  ·  by Ada Lang
    - changed     b  ·  changed later
    - left        a  ·  nothing
    + came        d  ·  by Ines Rohr
    + changed     b  ·  has changed
    + came        e  ·  x
    +             and 1 more
    ");
}

#[test]
fn the_next_steps_name_the_folder_harmlessly() {
    assert_snapshot!(next_steps("docs/.churngate/2ea8"), @"
    reports: docs/.churngate/2ea8/report.md, report.html
    verify:  churngate verify docs/.churngate/2ea8
    ");
    assert!(!next_steps("a\u{1b}[31m").contains('\u{1b}'));
}

#[test]
fn figures_without_a_run_name_no_run_to_verify() {
    let mut result = incompatible();
    result.record.heads.clear();
    let text = markdown(&result);
    assert!(text.contains("There is no run whose ledgers could be verified"));
    assert!(!text.contains("churngate verify") && !text.contains("tokens read"));
}

#[test]
fn flips_without_texts_show_ids_once() {
    let mut result = incompatible();
    let detail = &mut result.flips[0];
    detail.text = "q-17".to_owned();
    detail.left[0].excerpt.clear();
    let text = markdown(&result);
    assert!(text.contains("**1.** question `q-17` · was correct, is wrong\n"), "{text}");
    assert!(text.contains("- left        library.md#2\n"), "{text}");
}

#[test]
fn replies_that_name_no_model_beside_others_that_do_are_a_caveat() {
    let said = |unnamed: &[(&str, u64)]| {
        let mut result = incompatible();
        result.validity.unnamed_models = unnamed.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        markdown(&result)
    };
    assert!(!said(&[]).contains("without a model's name"));
    let text = said(&[("generator", 1200), ("judge", 3)]);
    let caveat = "Accepted replies without a model's name, though others of the same server have one: 1,200 of `generator`, \
                  3 of `judge`. A change of the model would not be seen in them.";
    assert!(text.contains(caveat), "{text}");
}

#[test]
fn a_judge_of_another_model_is_named_and_is_no_caveat() {
    let mixed = "named more than one model";
    let mut result = incompatible();
    result.validity.served_models.push(("judge".to_owned(), vec!["gpt-4.1-2026".to_owned()]));
    let text = markdown(&result);
    assert!(text.contains("`judge` served by `gpt-4.1-2026`") && !text.contains(mixed), "{text}");
    result.validity.served_models[2].1.push("another".to_owned());
    assert!(markdown(&result).contains(mixed));
    result.validity.served_models.truncate(2);
    result.validity.served_models[1].1 = vec!["another".to_owned()];
    assert!(markdown(&result).contains(mixed));
}
