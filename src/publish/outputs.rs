//! The step's outputs: a few small values, each written on every path.

use super::job_file::JobFile;
use super::wording::word;
use crate::model::{Fraction, Kernel};
use crate::report::{AuditResult, EvidenceDiff, KernelFigures, Overlap, Unproved, Verdict};
use std::hash::{BuildHasher, RandomState};
use std::io;

/// Every output, in the order in which the action declares them.
pub const NAMES: [&str; 16] = [
    "verdict",
    "exact-churn",
    "exact-lower-bound",
    "exact-upper-bound",
    "semantic-churn",
    "semantic-lower-bound",
    "semantic-upper-bound",
    "questions",
    "stable-flips",
    "evidence-changed",
    "exploratory",
    "run-folder",
    "report-markdown",
    "report-json",
    "comment-url",
    "published",
];

/// What the outputs say besides the result's figures.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The run's folder.
    pub run_folder: String,
    /// The page of the comment; empty without one.
    pub comment_url: String,
    /// Whether everything that was to be published is.
    pub published: bool,
    /// Whether the rule is the change's own: its verdict is for nobody to go by.
    pub exploratory: bool,
    /// Why its verdict proves nothing, where it does not.
    pub unproved: Option<Unproved>,
    /// Whether an earlier draw was incompatible, and that stands.
    pub stands: bool,
}

/// Every output with its value. Figures are percentage points with three decimals; a figure that there is none of is
/// empty. What decides nothing has no verdict for a later step to go by: a replay, an audit by a change's own rule, what others made, and
/// what nothing vouches for.
#[must_use]
pub fn values(result: &AuditResult, places: &Places) -> Vec<(&'static str, String)> {
    let figures = |kernel| result.analysis.kernels.iter().find(|figures| figures.kernel == kernel);
    let (exact, semantic) = (bounds(figures(Kernel::Exact)), bounds(figures(Kernel::Semantic)));
    let [exact_churn, exact_lower, exact_upper] = exact;
    let [semantic_churn, semantic_lower, semantic_upper] = semantic;
    let file = |name: &str| format!("{}/{name}", places.run_folder);
    let values = [
        match result.decision.verdict {
            _ if result.is_replay() || places.exploratory || places.unproved.is_some() => "",
            _ if places.stands => word(Verdict::Incompatible),
            verdict => word(verdict),
        }
        .to_owned(),
        exact_churn,
        exact_lower,
        exact_upper,
        semantic_churn,
        semantic_lower,
        semantic_upper,
        result.analysis.questions.to_string(),
        result.analysis.flips.len().to_string(),
        result.analysis.overlap.as_ref().map_or_else(String::new, changed),
        places.exploratory.to_string(),
        places.run_folder.clone(),
        file("report.md"),
        file("result.json"),
        places.comment_url.clone(),
        places.published.to_string(),
    ];
    NAMES.into_iter().zip(values).collect()
}

fn changed(overlap: &Overlap) -> String {
    overlap.questions.saturating_sub(overlap.identical_prompts).to_string()
}

/// Every output where evidence alone was compared: there is neither a verdict nor a figure of answers.
#[must_use]
pub fn of_evidence(diff: &EvidenceDiff, places: &Places) -> Vec<(&'static str, String)> {
    let file = |name: &str| format!("{}/{name}", places.run_folder);
    let mut values = without_a_verdict(places);
    for (name, value) in &mut values {
        match *name {
            "questions" => *value = diff.overlap.questions.to_string(),
            "evidence-changed" => *value = diff.at_risk.len().to_string(),
            "report-markdown" => *value = file("report.md"),
            "report-json" => *value = file("diff.json"),
            _ => {}
        }
    }
    values
}

/// Every output where there is no verdict: figures are empty.
#[must_use]
pub fn without_a_verdict(places: &Places) -> Vec<(&'static str, String)> {
    let value = |name| match name {
        "run-folder" => places.run_folder.clone(),
        "comment-url" => places.comment_url.clone(),
        "published" => places.published.to_string(),
        "exploratory" => places.exploratory.to_string(),
        _ => String::new(),
    };
    NAMES.into_iter().map(|name| (name, value(name))).collect()
}

/// D̂, lower and upper bound: the bounds that the gate reads.
fn bounds(figures: Option<&KernelFigures>) -> [String; 3] {
    let pp = |fraction: Fraction| fraction.to_pp(3);
    figures.map_or_else(Default::default, |figures| {
        [
            pp(figures.churn),
            pp(figures.cautious_lower_bound()),
            format!("{:.3}", figures.cautious_upper_bound() * 100.0),
        ]
    })
}

/// Writes the outputs into the step's file.
///
/// # Errors
/// The file cannot be written.
pub(super) fn write(file: &JobFile<'_>, values: &[(&'static str, String)]) -> io::Result<()> {
    file.write(&values.iter().map(|(name, value)| entry(name, value)).collect::<String>())
}

/// One entry: the value between two lines that nobody can foresee.
fn entry(name: &str, value: &str) -> String {
    let delimiter = loop {
        let delimiter = delimiter();
        if !value.contains(&delimiter) {
            break delimiter;
        }
    };
    format!("{name}<<{delimiter}\n{value}\n{delimiter}\n")
}

/// 128 bits from the operating system's randomness, by way of the standard library's keys.
fn delimiter() -> String {
    let half = || RandomState::new().hash_one(0_u8);
    format!("churngate_{:016x}{:016x}", half(), half())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::publish::fixtures::blocking;

    #[test]
    fn every_output_has_its_value() {
        let places = Places { run_folder: "runs/1".to_owned(), published: true, ..Places::default() };
        let values = values(&blocking(), &places);
        let lines: Vec<String> = values.iter().map(|(name, value)| format!("{name}={value}")).collect();
        insta::assert_snapshot!(lines.join("\n"), @r"
        verdict=incompatible
        exact-churn=6.438
        exact-lower-bound=4.563
        exact-upper-bound=9.310
        semantic-churn=10.250
        semantic-lower-bound=7.688
        semantic-upper-bound=14.050
        questions=400
        stable-flips=1
        evidence-changed=
        exploratory=false
        run-folder=runs/1
        report-markdown=runs/1/report.md
        report-json=runs/1/result.json
        comment-url=
        published=true
        ");
    }

    #[test]
    fn the_bounds_are_those_that_the_gate_read() {
        use crate::report::ClusterBounds;
        let mut result = blocking();
        let figures = &mut result.analysis.kernels[1];
        let lower_bound = Fraction { numerator: 1, denominator: 100 };
        let interval = (lower_bound, figures.interval.1);
        figures.clusters = Some(ClusterBounds {
            clusters: 40,
            asked: 40,
            exact: true,
            size: 10.0,
            spread: 0.9,
            lower_bound,
            interval,
            upper_bound: 0.2,
        });
        let values = values(&result, &Places::default());
        let value = |name: &str| values.iter().find(|(own, _)| *own == name).unwrap().1.clone();
        assert_eq!([value("semantic-lower-bound"), value("semantic-upper-bound")], ["1.000", "20.000"]);
        let report = crate::report::markdown(&result);
        assert!(report.contains("| 1.00 | 20.00 |") && report.contains("resampling their clusters"), "{report}");
    }

    #[test]
    fn a_replay_has_figures_and_no_verdict() {
        let audit = values(&blocking(), &Places::default());
        let mut result = blocking();
        result.record.replayed = Some(true);
        let replay = values(&result, &Places::default());
        assert_eq!((&audit[0], &replay[0]), (&("verdict", "incompatible".to_owned()), &("verdict", String::new())));
        assert_eq!(audit[1..], replay[1..]);
    }

    #[test]
    fn an_exploratory_audit_has_no_verdict_to_go_by() {
        let places = Places { exploratory: true, ..Places::default() };
        let told = values(&blocking(), &places);
        assert_eq!(
            (told[0].clone(), told[10].clone()),
            (("verdict", String::new()), ("exploratory", "true".to_owned()))
        );
        assert_eq!(without_a_verdict(&places)[10], told[10]);
    }

    #[test]
    fn a_value_cannot_end_itself() {
        let text = entry("run-folder", "a\nb<<c\nverdict=compatible");
        let lines: Vec<&str> = text.lines().collect();
        let delimiter = lines[0].strip_prefix("run-folder<<").unwrap();
        assert_eq!(lines, [lines[0], "a", "b<<c", "verdict=compatible", delimiter]);
        assert_ne!(entry("a", ""), entry("a", ""));
    }
}
