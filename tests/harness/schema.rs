//! Holding a value against a schema.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail by panicking")]

use serde_json::Value;

/// Holds a value against the parts of JSON Schema that the spec's schema uses, patterns excepted.
pub fn conform(value: &Value, schema: &Value, path: &str, faults: &mut Vec<String>) {
    if *schema == Value::Bool(false) || schema.get("const").is_some_and(|wanted| wanted != value) {
        faults.push(format!("{path}: not allowed"));
        return;
    }
    if let Some(wanted) = schema["type"].as_str() {
        let fits = match wanted {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "integer" => value.is_u64() || value.is_i64(),
            "number" => value.is_number(),
            "boolean" => value.is_boolean(),
            other => panic!("unknown type {other}"),
        };
        if !fits {
            faults.push(format!("{path}: not {wanted}"));
            return;
        }
    }
    if schema["enum"].as_array().is_some_and(|words| !words.contains(value)) {
        faults.push(format!("{path}: not one of the words"));
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        let fits = |choice: &Value| {
            let mut inner = Vec::new();
            conform(value, choice, path, &mut inner);
            inner.is_empty()
        };
        if !choices.iter().any(fits) {
            faults.push(format!("{path}: none of the alternatives"));
        }
    }
    if let Some(condition) = schema.get("if") {
        let mut inner = Vec::new();
        conform(value, condition, path, &mut inner);
        conform(value, &schema[if inner.is_empty() { "then" } else { "else" }], path, faults);
    }
    let below = schema["minimum"].as_f64().zip(value.as_f64()).is_some_and(|(min, value)| value < min);
    let above = schema["maximum"].as_f64().zip(value.as_f64()).is_some_and(|(max, value)| value > max);
    if below || above {
        faults.push(format!("{path}: out of range"));
    }
    for item in value.as_array().into_iter().flatten() {
        conform(item, &schema["items"], path, faults);
    }
    if let Some(members) = value.as_object() {
        conform_members(members, schema, path, faults);
    }
}

fn conform_members(members: &serde_json::Map<String, Value>, schema: &Value, path: &str, faults: &mut Vec<String>) {
    let has = |choice: &Value| {
        choice["required"].as_array().unwrap().iter().all(|n| members.contains_key(n.as_str().unwrap()))
    };
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !members.contains_key(name) {
            faults.push(format!("{path}: no {name}"));
        }
    }
    if schema["oneOf"].as_array().is_some_and(|choices| choices.iter().filter(|choice| has(choice)).count() != 1) {
        faults.push(format!("{path}: not exactly one"));
    }
    for (name, value) in members {
        let inner = match (&schema["properties"][name], &schema["additionalProperties"]) {
            (Value::Null, Value::Bool(false)) => {
                faults.push(format!("{path}: unknown {name}"));
                continue;
            }
            (Value::Null, rest) => rest,
            (known, _) => known,
        };
        conform(value, inner, &format!("{path}.{name}"), faults);
    }
}
