//! What is accepted once is accepted again: a spec is read back from its canonical form, where no limit of a process stands.

use super::SMALL;
use crate::spec::{Spec, differences, parse, read_back};
use proptest::prelude::*;

/// A judge or a generator of each kind: its name, and what stands in its section.
const SERVERS: [(&str, &str); 4] = [
    ("openai", "model: m, base_url: \"http://h/v1\""),
    ("responses", "model: m, base_url: \"http://h/v1\", temperature: 0.70"),
    ("anthropic", "model: m, extra: { b: 1, a: [0.5] }"),
    ("command", "argv: [./answers, --fast], env: [K]"),
];

/// Keys within such a section that are no part of the protocol.
const OF_SERVERS: [&str; 4] = [
    "timeout_seconds: 7",
    "price: { input: 1, output: 2 }",
    "rate_limit: { requests_per_minute: 60 }",
    "rate_limit: { tokens_per_minute: 6000 }, price: { input: 0.5, output: 2 }, timeout_seconds: 9",
];
/// The same where a program stands in it.
const OF_PROGRAMS: [&str; 1] = ["timeout_seconds: 7"];
/// The same beside such a section.
const BESIDE: [&str; 3] = ["", ", concurrency: 3", ", max_attempts: 2"];

fn limits(name: &str) -> &'static [&'static str] {
    if name == "command" { &OF_PROGRAMS } else { &OF_SERVERS }
}

/// A section with this backend, and what stands within and beside it.
fn section((name, keys): (&str, &str), limit: &str, beside: &str) -> String {
    let comma = if limit.is_empty() { "" } else { ", " };
    format!("{{ {name}: {{ {keys}{comma}{limit} }}{beside} }}")
}

/// A spec with these two, the other of them as a second judge or as a second generator.
fn with_another(first: &str, other: &str, judge: bool) -> String {
    if judge {
        let inner = first.strip_prefix("{ ").and_then(|first| first.strip_suffix(" }")).unwrap();
        let judge = format!("judge: {{ {inner}, second: {other} }}");
        SMALL.replace("judge: { embedded: {} }", &judge)
    } else {
        let generate = format!("generate: {first}");
        SMALL.replace("generate: { reader: {} }", &generate) + &format!("replicate: {other}\n")
    }
}

/// Whether a spec comes back from its canonical form with the same canonical form.
fn comes_back(spec: &Spec) -> Result<(), String> {
    let canonical = spec.canonical();
    let (again, canonical) = (read_back(&canonical)?.canonical().to_string(), canonical.to_string());
    if again == canonical { Ok(()) } else { Err(format!("{canonical} became {again}")) }
}

#[test]
fn another_judge_or_generator_that_differs_in_a_limit_alone_is_the_same_one() {
    for server @ (name, _) in SERVERS {
        for judge in [true, false] {
            let plain = section(server, "", "");
            for limit in limits(name).iter().chain(&[""]) {
                for beside in BESIDE {
                    let other = section(server, limit, beside);
                    let text = with_another(&plain, &other, judge);
                    let errors = parse(&text, "churngate.yaml").expect_err(&text);
                    let said: Vec<&str> = errors.problems.iter().map(|problem| problem.message.as_str()).collect();
                    let expected = if judge {
                        "the second judge is the first one"
                    } else {
                        "the second generator is the first one"
                    };
                    assert_eq!(said, [expected], "{text}");
                    assert!(parse(&with_another(&other, &plain, judge), "churngate.yaml").is_err(), "{text}");
                }
            }
        }
    }
}

/// A run is found by the digest of its protocol: what is as it always was must leave that alone.
#[test]
fn a_rule_about_served_models_is_part_of_the_protocol_only_where_it_is_not_the_default() {
    let read = |more: &str| parse(&(SMALL.to_owned() + more), "churngate.yaml").unwrap();
    let (plain, one) = (read(""), read("tolerance: { served_models: one }\n"));
    let report = read("tolerance: { served_models: report }\n");
    assert_eq!(plain.canonical().to_string(), one.canonical().to_string());
    assert_eq!(plain.canonical()["tolerance"].to_string(), "{\"invalid_cells\":\"1pp\"}");
    assert_eq!(report.canonical()["tolerance"]["served_models"], "report");
    assert_eq!(comes_back(&report), Ok(()));
    let told: Vec<String> = differences(&plain, &report).iter().map(ToString::to_string).collect();
    assert_eq!(told, ["tolerance.served_models: nothing → report"]);
}

fn any_section() -> impl Strategy<Value = String> {
    let servers = prop::sample::select(SERVERS.to_vec());
    (servers, 0..=OF_SERVERS.len(), prop::sample::select(BESIDE.to_vec())).prop_map(|(server, limit, beside)| {
        let limit = limits(server.0).get(limit).copied().unwrap_or_default();
        section(server, limit, beside)
    })
}

/// Limits of one process at the top of a spec.
const LIMITS: [&str; 4] =
    ["", "budget: { calls: 9 }\n", "budget: { minutes: 5, tokens: 1000 }\n", "budget: { usd: 2.5 }\n"];
/// Further keys that are part of the protocol.
const FURTHER: [&str; 5] = [
    "",
    "tolerance: { served_models: report }\n",
    "tolerance: { invalid_cells: 5pp }\n",
    "bootstrap: { draws: 1000, confidence: 99% }\n",
    "gate: { incompatible_when: [ { semantic: { at_least: 2pp } } ], inconclusive: fail }\n",
];

proptest! {
    #[test]
    fn a_spec_that_is_accepted_is_accepted_again(
        first in any_section(),
        other in any_section(),
        judge in any::<bool>(),
        limit in prop::sample::select(LIMITS.to_vec()),
        further in prop::sample::select(FURTHER.to_vec()),
    ) {
        let text = with_another(&first, &other, judge) + limit + further;
        match parse(&text, "churngate.yaml") {
            Ok(spec) => prop_assert_eq!(comes_back(&spec), Ok(()), "{}", text),
            // Nothing else is wrong with it than what this is about, or a budget of money without a price.
            Err(errors) => prop_assert!(
                errors.problems.iter().all(|problem| {
                    problem.message.ends_with("is the first one") || problem.message.starts_with("`budget.usd` needs")
                }),
                "{}",
                errors.render(false)
            ),
        }
    }
}
