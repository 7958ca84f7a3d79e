//! The JSON Schema of a spec, written from the table of keys.
//!
//! It is for editors: what only shows when values are seen together is checked by `parse` alone.

use super::surface::{Key, Need, OF_ANSWERS, ROOT, Section, Shape, Text};
use serde_json::{Map, Value, json};

/// The JSON Schema (draft 2020-12) of a spec, indented, with a line break at its end.
#[must_use]
pub fn json_schema() -> String {
    let mut schema = Map::from_iter([
        ("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema")),
        ("title".to_owned(), json!("Churngate audit spec")),
    ]);
    if let Value::Object(root) = section(&ROOT) {
        schema.extend(root);
    }
    by_mode(&mut schema);
    format!("{:#}\n", Value::Object(schema))
}

/// What must stand where answers are audited must not where evidence alone is.
fn by_mode(schema: &mut Map<String, Value>) {
    let Some(Value::Array(required)) = schema.remove("required") else { return };
    let of_answers = |name: &Value| name.as_str().is_some_and(|name| OF_ANSWERS.contains(&name));
    let (needed, always): (Vec<Value>, Vec<Value>) = required.into_iter().partition(of_answers);
    let known = OF_ANSWERS.iter().filter(|name| ROOT.key(name).is_some());
    let refused: Map<String, Value> = known.map(|name| ((*name).to_owned(), json!(false))).collect();
    schema.insert("required".to_owned(), Value::Array(always));
    schema.insert("if".to_owned(), json!({ "properties": { "mode": { "const": "evidence" } }, "required": ["mode"] }));
    schema.insert("then".to_owned(), json!({ "properties": refused, "required": ["retrieve"] }));
    let one_of = schema.remove("oneOf").unwrap_or(Value::Array(Vec::new()));
    schema.insert("else".to_owned(), json!({ "required": needed, "oneOf": one_of }));
}

fn section(section: &Section) -> Value {
    let properties = section.keys.iter().map(|key| (key.name.to_owned(), property(key)));
    let required: Vec<&str> =
        section.keys.iter().filter(|key| key.need == Need::Required).map(|key| key.name).collect();
    let mut schema = Map::from_iter([
        ("type".to_owned(), json!("object")),
        ("additionalProperties".to_owned(), json!(false)),
        ("properties".to_owned(), Value::Object(properties.collect())),
    ]);
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    let replaced = replaced(section);
    if !replaced.is_empty() {
        schema.insert("oneOf".to_owned(), json!(replaced));
    }
    if !section.one_of.is_empty() {
        let choices: Vec<Value> = section.one_of.iter().map(|name| json!({ "required": [name] })).collect();
        schema.insert("oneOf".to_owned(), json!(choices));
    }
    Value::Object(schema)
}

/// The keys that must stand together, then each that takes their place.
fn replaced(section: &Section) -> Vec<Value> {
    let of = |key: &'static Key| match key.need {
        Need::Unless(other) => Some((key.name, other)),
        _ => None,
    };
    let (names, mut others): (Vec<&str>, Vec<&str>) = section.keys.iter().filter_map(of).unzip();
    others.dedup();
    let required = |names: &[&str]| json!({ "required": names });
    let together = (!names.is_empty()).then(|| required(&names));
    together.into_iter().chain(others.into_iter().map(|other| required(&[other]))).collect()
}

fn property(key: &Key) -> Value {
    let mut schema = shape(&key.shape);
    if let Value::Object(members) = &mut schema {
        members.insert("description".to_owned(), json!(key.about));
        if let Need::Default(value) = key.need {
            members.insert("default".to_owned(), default(&key.shape, value));
        }
    }
    schema
}

/// A default as the JSON value that the schema of its shape takes.
fn default(shape: &Shape, value: &str) -> Value {
    match shape {
        Shape::Integer { .. } | Shape::Decimal { .. } | Shape::Flag => {
            serde_json::from_str(value).unwrap_or_else(|_| json!(value))
        }
        _ => json!(value.trim_matches('"')),
    }
}

fn shape(shape: &Shape) -> Value {
    match shape {
        Shape::Map(inner) => section(inner),
        Shape::Free { keys, values, max } => json!({
            "type": "object",
            "propertyNames": text(*keys),
            "additionalProperties": self::shape(values),
            "maxProperties": max,
        }),
        Shape::List { items, min, max } => {
            json!({ "type": "array", "items": self::shape(items), "minItems": min, "maxItems": max })
        }
        Shape::Snapshot { rung, from } => snapshot(*rung, *from),
        Shape::Text(rule) => text(*rule),
        Shape::Integer { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Shape::Decimal { max } => json!({ "type": "number", "minimum": 0, "maximum": max }),
        Shape::Points => {
            json!({ "type": "string", "pattern": r"^-?(0*100(\.0{1,6})?|0*[0-9]{1,2}(\.[0-9]{1,6})?)pp$" })
        }
        Shape::Share => {
            json!({ "type": "string", "pattern": r"^(0*100(\.0{1,6})?|0*[0-9]{1,2}(\.[0-9]{1,6})?)(pp|%)$" })
        }
        Shape::Confidence => json!({
            "anyOf": [
                { "type": "number", "exclusiveMinimum": 50, "exclusiveMaximum": 100 },
                { "type": "string", "pattern": r"^[0-9]{2}(\.[0-9]{1,6})?%?$" },
            ],
        }),
        Shape::Flag => json!({ "type": "boolean" }),
        Shape::Word(words) => json!({ "type": "string", "enum": words }),
        Shape::Json => json!({}),
    }
}

fn snapshot(rung: bool, from: bool) -> Value {
    let name = json!({ "type": "string", "pattern": NAME });
    let mut required = Vec::new();
    if rung {
        required.push("name");
    }
    json!({
        "type": "object",
        "minProperties": 1,
        "maxProperties": 16,
        "properties": {
            "path": text(Text::Path),
            "git": text(Text::Revision),
            "from": if from { text(Text::Path) } else { json!(false) },
        },
        "additionalProperties": name,
        "required": required,
        "dependentRequired": { "git": ["path"] },
        "dependentSchemas": { "from": { "maxProperties": 1 } },
    })
}

const NAME: &str = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$";

fn text(rule: Text) -> Value {
    let pattern = match rule {
        Text::Any | Text::Lines => return json!({ "type": "string", "minLength": 1 }),
        Text::Loose => return json!({ "type": "string" }),
        Text::Name => NAME,
        Text::Variable => "^[A-Z_][A-Z0-9_]{0,63}$",
        Text::Header => "^[A-Za-z0-9._-]{1,64}$",
        Text::Path => r"^[^/~\\][^\\]*$",
        Text::Revision => r"^[A-Za-z0-9_./~^@{}+][A-Za-z0-9_./~^@{}+-]*$",
        Text::Url => "^https?://[^@?#]+$",
        Text::Pointer => "^(/.*)?$",
    };
    json!({ "type": "string", "pattern": pattern })
}
