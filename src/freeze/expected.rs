//! Accepted answers as promptfoo's test cases have them: assertions that hold a text to compare with.

use super::questions::Row;
use serde_json::Value;

/// Assertions whose value is an accepted answer.
pub(super) const ANSWERS: [&str; 11] = [
    "equals",
    "contains",
    "icontains",
    "contains-any",
    "icontains-any",
    "similar",
    "factuality",
    "model-graded-factuality",
    "levenshtein",
    "rouge-n",
    "bleu",
];

/// Assertions whose value is code, a form or a demand. In a CSV file they would else be taken for answers.
const OTHERS: &[&str] = &[
    "answer-relevance",
    "assert-set",
    "contains-all",
    "contains-json",
    "contains-xml",
    "context-faithfulness",
    "context-recall",
    "context-relevance",
    "cost",
    "eval",
    "file",
    "fn",
    "g-eval",
    "grade",
    "icontains-all",
    "is-json",
    "is-refusal",
    "is-xml",
    "javascript",
    "latency",
    "llm-rubric",
    "model-graded-closedqa",
    "moderation",
    "perplexity",
    "perplexity-score",
    "python",
    "regex",
    "select-best",
    "starts-with",
    "webhook",
];

/// The answers that a test case expects.
///
/// # Errors
/// An assertion is none, or its value is kept in another file.
pub(super) fn answers(row: &Row) -> Result<Vec<String>, String> {
    let mut answers = Vec::new();
    if let Some(asserted) = row.named("assert") {
        let list = asserted.as_array().ok_or("`assert` is no list of assertions")?;
        for assertion in list {
            let kind = assertion.get("type").and_then(Value::as_str).ok_or("an assertion of `assert` has no `type`")?;
            if ANSWERS.contains(&kind)
                && let Some(value) = assertion.get("value")
            {
                take(kind, value, row, &mut answers)?;
            }
        }
    }
    for (name, value) in &row.fields {
        let numbered =
            name.strip_prefix("__expected").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
        if let (true, Some(text)) = (numbered, value.as_str())
            && let Some((kind, text)) = in_a_cell(text.trim())
        {
            take(kind, &Value::from(text), row, &mut answers)?;
        }
    }
    Ok(answers)
}

/// `TYPE: value`, `TYPE(threshold): value`, or a text that the answer has to equal. Nothing where it is no answer.
fn in_a_cell(text: &str) -> Option<(&str, &str)> {
    let head = text.split(':').next().unwrap_or_default();
    let kind = head.split('(').next().unwrap_or_default().trim();
    let positive = kind.strip_prefix("not-").unwrap_or(kind);
    if ANSWERS.contains(&positive) && head.len() < text.len() {
        return (positive == kind).then(|| (kind, text[head.len() + 1..].trim()));
    }
    (!OTHERS.contains(&positive)).then_some(("equals", text))
}

fn take(kind: &str, value: &Value, row: &Row, answers: &mut Vec<String>) -> Result<(), String> {
    match value {
        Value::Array(items) => items.iter().try_for_each(|item| take("equals", item, row, answers)),
        Value::String(text) if kind.ends_with("-any") => {
            text.split(',').try_for_each(|part| take("equals", &Value::from(part.trim()), row, answers))
        }
        Value::String(text) if text.starts_with("file://") => {
            Err("an expected answer is kept in another file; write it here".to_owned())
        }
        Value::String(text) => {
            answers.push(variable(text, row).unwrap_or(text).to_owned());
            Ok(())
        }
        Value::Number(number) => {
            answers.push(number.to_string());
            Ok(())
        }
        Value::Bool(_) | Value::Null | Value::Object(_) => Err("an expected answer is no text".to_owned()),
    }
}

/// The value of the variable that a text stands for as a whole, such as `{{capital}}`.
fn variable<'a>(text: &str, row: &'a Row) -> Option<&'a str> {
    let name = text.strip_prefix("{{")?.strip_suffix("}}")?.trim();
    row.named(&format!("vars.{name}")).or_else(|| row.named(name))?.as_str()
}
