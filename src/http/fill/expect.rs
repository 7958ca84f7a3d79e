//! What a good reply holds, and what a bad one says.

use super::pointer;
use crate::http::json;
use serde_json::Value;
use std::collections::BTreeMap;

/// The longest text of a server that is shown, in characters.
const SHOWN: usize = 120;

/// What must hold in a reply before anything else of it is believed: a server can say within a success that it failed.
#[derive(Clone, Copy, Debug)]
pub struct Expect<'a> {
    /// Pointers and the value that each must reach, at least once, or a list of such values.
    pub ok: &'a BTreeMap<String, Value>,
    /// Pointers that must reach nothing: no value, null, or something empty.
    pub absent: &'a [String],
}

impl Expect<'_> {
    /// Whether it does.
    #[must_use]
    pub fn holds(&self, reply: &Value) -> bool {
        let good = |(pointer, wanted): (&String, &Value)| {
            pointer::reach(reply, pointer)
                .is_some_and(|all| !all.is_empty() && all.iter().all(|value| fits(value, wanted)))
        };
        let gone =
            |pointer: &String| pointer::reach(reply, pointer).is_none_or(|all| all.iter().all(|value| is_empty(value)));
        self.ok.iter().all(good) && self.absent.iter().all(gone)
    }
}

/// Whether any of these pointers reaches its value, or one of a list of values.
#[must_use]
pub fn says(values: &BTreeMap<String, Value>, reply: &Value) -> bool {
    values.iter().any(|(pointer, wanted)| {
        pointer::reach(reply, pointer).is_some_and(|all| all.iter().any(|value| fits(value, wanted)))
    })
}

fn fits(value: &Value, wanted: &Value) -> bool {
    match wanted {
        Value::Array(choices) => choices.iter().any(|choice| fits(value, choice)),
        Value::Number(wanted) => value.as_f64().is_some_and(|number| Some(number) == wanted.as_f64()),
        wanted => value == wanted,
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// What a reply says of its error, fit to be shown: one line of plain characters.
#[must_use]
pub fn words(body: &[u8], pointer: &str) -> Option<String> {
    let reply = json(body).ok()?;
    let said = pointer::text(pointer::one(&reply, pointer)?.as_ref())?;
    let plain = |c: char| if c.is_alphanumeric() || " _-.,:;/()[]'=".contains(c) { c } else { ' ' };
    let said: String = said.chars().take(SHOWN * 4).map(plain).collect();
    let said: String = said.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(SHOWN).collect();
    (!said.is_empty()).then_some(said)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn holds(ok: &[(&str, Value)], absent: &[&str], reply: &Value) -> bool {
        let ok = ok.iter().map(|(pointer, value)| ((*pointer).to_owned(), value.clone())).collect();
        let absent: Vec<String> = absent.iter().map(|pointer| (*pointer).to_owned()).collect();
        Expect { ok: &ok, absent: &absent }.holds(reply)
    }

    #[test]
    fn every_pointer_must_hold_its_value_or_one_of_a_list() {
        let reply = json!({"code": 0.0, "status": "green", "shards": [{"failed": 0}, {"failed": 0}]});
        assert!(holds(&[("/code", json!(0)), ("/status", json!(["yellow", "green"]))], &[], &reply));
        assert!(holds(&[("/shards/*/failed", json!(0))], &[], &reply));
        assert!(!holds(&[("/status", json!("red"))], &[], &reply));
        assert!(!holds(&[("/gone", json!(null))], &[], &reply));
        for nothing in [json!({"shards": []}), json!({"shards": [{}]})] {
            assert!(
                !holds(&[("/shards/*/failed", json!(0))], &[], &nothing),
                "{nothing}: ready is not said of nothing"
            );
        }
        assert!(!holds(&[("/status", json!(0))], &[], &reply));
    }

    #[test]
    fn what_must_be_absent_may_be_null_or_empty() {
        for reply in [json!({}), json!({"errors": null}), json!({"errors": []}), json!([])] {
            assert!(holds(&[], &["/errors"], &reply), "{reply}");
        }
        for reply in [json!({"errors": [{}]}), json!({"errors": "x"}), json!({"errors": false}), json!({"errors": 0})] {
            assert!(!holds(&[], &["/errors"], &reply), "{reply}");
        }
    }

    #[test]
    fn words_of_a_server_are_one_plain_line() {
        let said = |error: &str| words(json!({"error": {"reason": error}}).to_string().as_bytes(), "/error/reason");
        assert_eq!(said("no such index [docs]").as_deref(), Some("no such index [docs]"));
        assert_eq!(said("::error::x\n::set-output\u{1b}[31m`<b>`").as_deref(), Some("::error::x ::set-output [31m b"));
        assert_eq!(said(&"ä".repeat(500)).unwrap().chars().count(), 120);
        assert_eq!(said("\n"), None);
        assert_eq!(words(b"Unauthorized", "/message"), None);
    }
}
