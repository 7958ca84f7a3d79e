//! Generated files stay what the code says, and every example is a spec.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail by panicking")]

use churngate::spec;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Compares a committed file with what it should be; writes it anew where `UPDATE_GENERATED` is set.
fn assert_generated(path: &str, expected: &str) {
    let file = root().join(path);
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        fs::write(&file, expected).unwrap();
    }
    let found = fs::read_to_string(&file).unwrap_or_default();
    assert!(found == expected, "{path} is not current; run the test again with UPDATE_GENERATED=1");
}

#[test]
fn the_committed_schema_is_the_one_of_the_code() {
    assert_generated("schema/churngate.schema.json", &spec::json_schema());
}

#[test]
fn the_documented_keys_are_those_of_the_code() {
    let (begin, end) = ("<!-- keys: begin -->\n", "<!-- keys: end -->");
    let text = fs::read_to_string(root().join("docs/spec.md")).unwrap();
    let (before, rest) = text.split_once(begin).unwrap();
    let (_, after) = rest.split_once(end).unwrap();
    assert_generated("docs/spec.md", &format!("{before}{begin}{}{end}{after}", spec::reference()));
}

#[test]
fn the_first_spec_of_the_documentation_is_one() {
    let text = fs::read_to_string(root().join("docs/spec.md")).unwrap();
    let yaml = text.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let spec = spec::parse(yaml, "docs/spec.md").unwrap();
    assert_eq!(spec.secret_names(), ["OPENAI_API_KEY"]);
}

fn yaml_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            yaml_files(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "yaml") {
            found.push(path);
        }
    }
}

#[test]
fn every_example_is_a_spec_and_fits_the_schema() {
    let mut files = Vec::new();
    yaml_files(&root().join("examples"), &mut files);
    let schema: Value = serde_json::from_str(&spec::json_schema()).unwrap();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let spec = spec::parse(&text, &file.display().to_string()).unwrap_or_else(|errors| panic!("{errors}"));
        let mut faults = Vec::new();
        conform(&spec.canonical(), &schema, "", &mut faults);
        assert_eq!(faults, Vec::<String>::new(), "{}", file.display());
    }
}

#[test]
fn what_does_not_fit_the_schema_is_noticed() {
    let schema: Value = serde_json::from_str(&spec::json_schema()).unwrap();
    let text = fs::read_to_string(root().join("docs/spec.md")).unwrap();
    let yaml = text.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let good = spec::parse(yaml, "docs/spec.md").unwrap().canonical();
    let faults = |value: &Value| {
        let mut faults = Vec::new();
        conform(value, &schema, "", &mut faults);
        faults
    };
    assert_eq!(faults(&good), Vec::<String>::new());
    let mut bad = good.clone();
    bad["generate"]["repeats"] = 1.into();
    bad["retrieve"]["top_K"] = 8.into();
    bad["gate"]["inconclusive"] = "maybe".into();
    bad["judge"]["embedded"] = serde_json::json!({});
    bad.as_object_mut().unwrap().remove("name");
    assert_eq!(faults(&bad).len(), 5, "{:?}", faults(&bad));
}

/// Holds a value against the parts of JSON Schema that the spec's schema uses, patterns excepted.
fn conform(value: &Value, schema: &Value, path: &str, faults: &mut Vec<String>) {
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
