//! JSON pointers (RFC 6901) with three more steps: `*` is every element of an array or every member of an object in
//! order, `-1` the last element of an array, and `~keys` the names of an object's members.

use serde_json::{Number, Value};
use std::borrow::Cow;

/// Every value that the pointer reaches, in order; `None` where a step leads nowhere before any `*`. Behind a `*`, values
/// without the rest of the way are passed over.
#[must_use]
pub fn reach<'a>(value: &'a Value, pointer: &str) -> Option<Vec<Cow<'a, Value>>> {
    let mut reached = vec![Cow::Borrowed(value)];
    let mut spread = false;
    for step in pointer.split('/').skip(1) {
        let next: Vec<_> = reached.iter().filter_map(|value| take(value, step)).collect();
        if next.is_empty() && !spread {
            return None;
        }
        spread = spread || matches!(step, "*" | "~keys");
        reached = next.into_iter().flatten().collect();
    }
    Some(reached)
}

/// One step from one value.
fn take<'a>(value: &Cow<'a, Value>, step: &str) -> Option<Vec<Cow<'a, Value>>> {
    match value {
        Cow::Borrowed(value) => step_from(value, step),
        // Only names of members are owned, and they lead nowhere.
        Cow::Owned(_) => None,
    }
}

fn step_from<'a>(value: &'a Value, step: &str) -> Option<Vec<Cow<'a, Value>>> {
    match (value, step) {
        (Value::Array(items), "*") => Some(items.iter().map(Cow::Borrowed).collect()),
        (Value::Object(members), "*") => Some(members.values().map(Cow::Borrowed).collect()),
        (Value::Object(members), "~keys") => {
            Some(members.keys().map(|key| Cow::Owned(Value::from(key.as_str()))).collect())
        }
        (Value::Array(items), "-1") => Some(vec![Cow::Borrowed(items.last()?)]),
        _ => Some(vec![Cow::Borrowed(value.pointer(&format!("/{step}"))?)]),
    }
}

/// The one value that the pointer reaches; the first where it reaches several.
#[must_use]
pub fn one<'a>(value: &'a Value, pointer: &str) -> Option<Cow<'a, Value>> {
    reach(value, pointer)?.into_iter().next()
}

/// The items of a list: the elements of the array that the pointer reaches. Behind a `*`, arrays are laid end to end and
/// everything else is an item itself.
#[must_use]
pub fn items(value: &Value, pointer: &str) -> Option<Vec<Value>> {
    let spread = pointer.split('/').any(|step| step == "*");
    let mut items = Vec::new();
    for reached in reach(value, pointer)? {
        match reached.into_owned() {
            Value::Array(inner) => items.extend(inner),
            other if spread => items.push(other),
            _ => return None,
        }
    }
    Some(items)
}

/// A text, or an integer as one.
#[must_use]
pub fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) if number.is_u64() || number.is_i64() => Some(number.to_string()),
        _ => None,
    }
}

/// A number, or a text that is one.
#[must_use]
pub fn number(value: &Value) -> Option<Number> {
    match value {
        Value::Number(number) => Some(number.clone()),
        Value::String(text) => serde_json::from_str(text.trim()).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn reached(value: &Value, pointer: &str) -> Option<Value> {
        reach(value, pointer).map(|all| Value::Array(all.into_iter().map(Cow::into_owned).collect()))
    }

    #[test]
    fn plain_pointers_are_those_of_the_standard() {
        let value = json!({"a/b": [1, {"c": null}], "-1": 2, "": 3});
        assert_eq!(reached(&value, ""), Some(json!([value])));
        assert_eq!(reached(&value, "/a~1b/1/c"), Some(json!([null])));
        assert_eq!(reached(&value, "/-1"), Some(json!([2])));
        assert_eq!(reached(&value, "/"), Some(json!([3])));
        for nowhere in ["/x", "/a~1b/2", "/a~1b/0/y", "/a~1b/-1/x"] {
            assert_eq!(reached(&value, nowhere), None, "{nowhere}");
        }
    }

    #[test]
    fn stars_spread_over_arrays_and_objects_in_order() {
        let value = json!({"get": {"B": [{"t": 1}, {"u": 2}], "A": [{"t": 3}]}, "none": []});
        assert_eq!(reached(&value, "/get/*/*/t"), Some(json!([1, 3])));
        assert_eq!(reached(&value, "/get/~keys"), Some(json!(["B", "A"])));
        assert_eq!(reached(&value, "/get/~keys/x"), Some(json!([])));
        assert_eq!(reached(&value, "/none/*/t"), Some(json!([])));
        assert_eq!(reached(&value, "/missing/*"), None);
        assert_eq!(reached(&value, "/get/B/-1/u"), Some(json!([2])));
        assert_eq!(reached(&json!([]), "/-1"), None);
    }

    #[test]
    fn items_are_the_elements_of_arrays() {
        let value = json!({"get": {"B": [1, 2], "A": [3]}, "chunks": {"0": {"t": 1}, "7": {"t": 2}}, "one": {"t": 1}});
        assert_eq!(items(&value, "/get/*"), Some(vec![json!(1), json!(2), json!(3)]));
        assert_eq!(items(&value, "/chunks/*"), Some(vec![json!({"t": 1}), json!({"t": 2})]));
        assert_eq!(items(&value, "/one"), None);
        assert_eq!(items(&value, "/gone"), None);
    }

    #[test]
    fn numbers_may_stand_in_texts_and_integers_may_be_texts() {
        assert_eq!(number(&json!("0.5")), serde_json::Number::from_f64(0.5));
        assert_eq!(number(&json!("7")), Some(7.into()));
        assert_eq!(number(&json!("x")), None);
        assert_eq!(number(&json!("NaN")), None);
        assert_eq!(text(&json!(18_446_744_073_709_551_615_u64)).as_deref(), Some("18446744073709551615"));
        assert_eq!(text(&json!(1.5)), None);
    }
}
