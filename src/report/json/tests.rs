use super::*;
use crate::model::Fraction;
use crate::report::fixtures::{citing, compatible, incompatible, inconclusive};
use proptest::prelude::*;

#[test]
fn a_result_survives_the_disk() {
    for result in [incompatible(), compatible(), inconclusive(), citing()] {
        assert_eq!(parse(&json(&result)), Ok(result));
    }
}

#[test]
fn the_file_begins_with_its_version_and_ends_with_a_line_break() {
    let text = String::from_utf8(json(&incompatible())).expect("UTF-8");
    assert!(text.starts_with("{\n  \"format\": \"1.0\",\n  \"name\": \"docs-search\","), "{text}");
    assert!(text.ends_with("}\n"));
}

#[test]
fn the_image_of_a_kernel_is_stable() {
    let text = String::from_utf8(json(&incompatible())).expect("UTF-8");
    let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let kernel = &value["analysis"]["kernels"][0];
    insta::assert_snapshot!("kernel_image", serde_json::to_string_pretty(kernel).expect("JSON"));
}

fn with_format(format: &str) -> Vec<u8> {
    let text = String::from_utf8(json(&incompatible())).expect("UTF-8");
    text.replacen("\"1.0\"", format, 1).into_bytes()
}

#[test]
fn a_newer_major_version_is_refused_by_name() {
    let error = parse(&with_format("\"2.1\"")).expect_err("a newer format");
    assert_eq!(error, ParseError::Newer { major: 2, minor: 1 });
    assert_eq!(error.to_string(), "the result has format `2.1`; this program reads formats up to `1`");
}

#[test]
fn a_newer_minor_version_with_further_keys_is_read() {
    let text = String::from_utf8(with_format("\"1.7\"")).expect("UTF-8");
    let text = text.replacen("\"name\"", "\"added_later\": {\"x\": [1]},\n  \"name\"", 1);
    let result = parse(text.as_bytes()).expect("a result");
    assert_eq!(result.format, "1.7");
    assert_eq!(json(&result), json(&incompatible()));
}

#[test]
fn what_is_no_result_is_refused_without_quoting_it() {
    for format in ["null", "\"\"", "\"1\"", "\"one.two\"", "\"-1.0\""] {
        assert_eq!(parse(&with_format(format)), Err(ParseError::Unversioned), "{format}");
    }
    for bytes in [b"".as_slice(), b"[]", b"{\"format\": 1}", b"{\"format\": \"1.0\"}", b"\xff\xfe", b"{} {}"] {
        let error = parse(bytes).expect_err("no result");
        assert!(matches!(error, ParseError::Malformed { .. } | ParseError::Unversioned), "{error}");
    }
}

#[test]
fn a_denominator_of_zero_is_refused() {
    let text = String::from_utf8(json(&incompatible())).expect("UTF-8");
    let broken = text.replacen("\"denominator\": 1600", "\"denominator\": 0", 1);
    assert!(matches!(parse(broken.as_bytes()), Err(ParseError::Malformed { .. })));
}

#[test]
fn results_without_citations_have_no_word_of_them_and_older_ones_are_read() {
    let text = String::from_utf8(json(&incompatible())).expect("UTF-8");
    assert!(!text.contains("\"cited\""), "{text}");
    let newer = String::from_utf8(json(&citing())).expect("UTF-8");
    assert_eq!(newer.matches("\"cited\"").count(), 2, "{newer}");
}

proptest! {
    #[test]
    fn any_figures_and_texts_survive_the_disk(
        name in ".*", numerator in any::<i64>(), denominator in 1_u64.., counts in any::<[u64; 3]>(),
        floats in prop::array::uniform4(prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO),
    ) {
        let mut result = incompatible();
        result.name = name.clone();
        result.flips[0].gold = vec![name];
        result.analysis.kernels[0].churn = Fraction { numerator, denominator };
        result.analysis.kernels[0].upper_bound = floats[0];
        result.analysis.power.smallest_detectable = Some(floats[1]);
        result.analysis.kernels[1].corrected_flips = Some(floats[2]);
        result.decision.incompatible_when[0].figure_pp = floats[3];
        [result.record.attempts, result.validity.cells, result.analysis.questions] = counts;
        let bytes = json(&result);
        prop_assert_eq!(parse(&bytes), Ok(result.clone()));
        prop_assert_eq!(json(&result), bytes);
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(parse(&bytes).is_err());
    }

    #[test]
    fn any_figures_can_be_printed(
        numerator in any::<i64>(), denominator in any::<u64>(), upper in any::<f64>(), counts in any::<[u64; 4]>(),
    ) {
        let mut result = incompatible();
        for kernel in &mut result.analysis.kernels {
            (kernel.churn, kernel.lower_bound) = (Fraction { numerator, denominator }, Fraction { numerator, denominator });
            (kernel.upper_bound, kernel.randomisation_p) = (upper, upper);
        }
        result.decision.incompatible_when[0].figure_pp = upper;
        [result.analysis.questions, result.record.duration_ms, result.validity.cells, result.record.attempts] = counts;
        for (_, count) in &mut result.validity.accepted {
            *count = counts[0];
        }
        if let Some(correctness) = &mut result.analysis.correctness {
            correctness.comparisons = counts[1];
            (correctness.flows_same_meaning.lost, correctness.flows_changed_meaning.lost) = (counts[2], counts[3]);
        }
        prop_assert!(crate::report::markdown(&result).len() <= crate::report::MARKDOWN_BUDGET);
        prop_assert!(!crate::report::terminal(&result, 80).is_empty());
    }
}
