//! JUnit XML, for CI systems that show test results: the gate is one test, each stable flip another.

use super::document::{Block, DiffLine, Line, Part};
use super::escape::Untrusted;
use super::result::AuditResult;
use super::view;
use crate::gate::Verdict;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

/// Characters of a name that are shown.
const NAME: usize = 120;

/// The report as JUnit XML. The gate's test fails where the audit is incompatible, or inconclusive under a spec that lets
/// this fail. A flip's test fails only where the audit is incompatible: elsewhere the rule lets it pass, or tells nothing of
/// it, and it is marked as skipped. So is every test of an exploratory audit, which blocks nothing.
#[must_use]
pub fn junit(result: &AuditResult) -> String {
    let mut suite = TestSuite::new(Untrusted::new(&result.name).visible(NAME));
    suite.add_test_case(gate(result));
    for (flip, lines) in result.analysis.flips.iter().zip(view::flips(result)) {
        suite.add_test_case(flip_case(result, Untrusted::new(&flip.question.0), &lines));
    }
    let mut report = Report::new("churngate");
    report.add_test_suite(suite);
    // Writing to a string cannot fail: names and texts hold no character that XML forbids.
    report.to_string().unwrap_or_default()
}

fn gate(result: &AuditResult) -> TestCase {
    let status = match (result.fails(), result.decision.verdict) {
        _ if result.exploratory => skipped(format!("exploratory: {}", view::headline(result))),
        (true, _) => non_success("gate", view::headline(result)),
        (false, Verdict::Compatible) => TestCaseStatus::success(),
        (false, _) => skipped(view::headline(result)),
    };
    let mut case = case("gate", result, status);
    let diagnostics: Vec<String> = view::diagnostics(result).iter().map(words).collect();
    if !diagnostics.is_empty() {
        case.set_system_out(diagnostics.join("\n"));
    }
    case
}

/// A line without emphasis.
fn words(line: &Line<'_>) -> String {
    let part = |part: &Part<'_>| match part {
        Part::Ours(text) | Part::Strong(text) | Part::Code(text) => text.clone(),
        Part::Theirs(text, limit) | Part::Prose(text, limit) => text.visible(*limit),
    };
    line.0.iter().map(part).collect()
}

fn flip_case(result: &AuditResult, question: Untrusted<'_>, lines: &[Block<'_>]) -> TestCase {
    let status = match (result.decision.verdict, result.fails()) {
        _ if result.exploratory => skipped("stable flip, under a rule that nobody has agreed to"),
        (Verdict::Incompatible, _) => non_success("stable flip", "repeats agree within each snapshot and not across"),
        (_, true) => skipped("stable flip, in an audit that fails because it is undecided"),
        (_, false) => skipped("stable flip, within what the rule lets pass"),
    };
    let mut case = case(question.visible(NAME), result, status);
    case.set_system_out(told(lines));
    case
}

fn case(name: impl Into<quick_junit::XmlString>, result: &AuditResult, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(name, status);
    case.set_classname(format!("churngate.{}", Untrusted::new(&result.name).visible(NAME)));
    case
}

fn non_success(kind: &'static str, message: impl Into<quick_junit::XmlString>) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_type(kind).set_message(message);
    status
}

fn skipped(message: impl Into<quick_junit::XmlString>) -> TestCaseStatus {
    let mut status = TestCaseStatus::skipped();
    status.set_message(message);
    status
}

/// The lines of what was and what is.
fn told(blocks: &[Block<'_>]) -> String {
    let lines = blocks.iter().flat_map(|block| match block {
        Block::Diff(lines) => lines.iter().map(line).collect(),
        _ => Vec::new(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn line(line: &DiffLine<'_>) -> String {
    let mut parts: Vec<String> = line.texts.iter().map(|(text, limit)| text.visible(*limit)).collect();
    parts.extend((!line.remark.is_empty()).then(|| line.remark.clone()));
    let label = if line.label.is_empty() { String::new() } else { format!("{}: ", line.label) };
    format!("{} {label}{}", line.sign, parts.join(" · "))
}

#[cfg(test)]
mod tests {
    use super::junit;
    use crate::report::fixtures::incompatible;
    use crate::report::result::EvidenceLine;

    #[test]
    fn what_is_left_out_of_a_list_has_no_empty_label() {
        let mut result = incompatible();
        let line = |id: usize| EvidenceLine { id: format!("d{id}"), excerpt: String::new() };
        result.flips[0].left = (0..8).map(line).collect();
        let report = junit(&result);
        assert!(report.contains("- and 5 more") && !report.contains(" : "), "{report}");
    }

    #[test]
    fn an_exploratory_audit_fails_no_test() {
        let mut result = incompatible();
        let failures = junit(&result).matches("<failure").count();
        assert_eq!(failures, 1 + result.analysis.flips.len());
        result.exploratory = true;
        let report = junit(&result);
        assert_eq!((report.matches("<failure").count(), report.matches("<skipped").count()), (0, failures), "{report}");
        assert!(report.contains("failures=\"0\"") && report.contains("exploratory: "), "{report}");
    }
}
