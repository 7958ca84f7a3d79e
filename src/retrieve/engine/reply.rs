//! A reply to evidence.

use crate::http::fill::{self, Expect};
use crate::http::json;
use crate::model::{Document, Evidence};
use crate::spec::{HttpRetrieveSpec, ListSpec};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value};

/// The evidence in the body of a reply, or a code for why there is none.
pub(super) fn evidence(
    spec: &HttpRetrieveSpec,
    body: &[u8],
    top_k: u32,
    max_chars: u32,
) -> Result<Evidence, &'static str> {
    let items = good_items(spec, body)?;
    let pointers = Pointers { id: &spec.id, text: &spec.text, url: spec.url_pointer.as_deref() };
    documents_of(&items, &pointers, top_k, max_chars)
}

/// Ids and scores in the body of a good reply, best first; none where it is no good one.
pub(in crate::retrieve) fn ranked(spec: &HttpRetrieveSpec, body: &[u8], top_k: u32) -> Vec<(String, Option<f64>)> {
    let score = |item: &Value| fill::number(fill::one(item, spec.score.as_deref()?)?.as_ref())?.as_f64();
    let id = |item: &Value| fill::text(fill::one(item, &spec.id)?.as_ref());
    let items = good_items(spec, body).unwrap_or_default();
    items.iter().take(top_k as usize).map(|item| (id(item).unwrap_or_default(), score(item))).collect()
}

fn good_items(spec: &HttpRetrieveSpec, body: &[u8]) -> Result<Vec<Value>, &'static str> {
    let reply = json(body).map_err(|_| "not-json")?;
    // A server can say in the body of a success that it failed, wholly or in part.
    if !(Expect { ok: &spec.expect.ok, absent: &spec.expect.absent }).holds(&reply) {
        return Err("not-ok");
    }
    match list(&spec.list, &reply) {
        Err("no-items") if reply.get("error").is_some() => Err("error-in-body"),
        Err("no-items") if spec.list.missing_is_empty => Ok(Vec::new()),
        items => items,
    }
}

/// The items of a reply.
pub(super) fn list(spec: &ListSpec, reply: &Value) -> Result<Vec<Value>, &'static str> {
    if !spec.zip.is_empty() {
        return zipped(spec, reply);
    }
    let items = fill::items(reply, &spec.items).ok_or("no-items")?;
    if spec.base64_json { items.iter().map(decoded).collect() } else { Ok(items) }
}

/// Items made of columns. A column that is not there is a member that no item has.
fn zipped(spec: &ListSpec, reply: &Value) -> Result<Vec<Value>, &'static str> {
    let mut columns: Vec<(&String, Vec<Value>)> = Vec::new();
    for (name, pointer) in &spec.zip {
        match fill::one(reply, pointer).as_deref() {
            Some(Value::Array(column)) => columns.push((name, column.clone())),
            None | Some(Value::Null) => {}
            Some(_) => return Err("no-items"),
        }
    }
    let length = columns.first().ok_or("no-items")?.1.len();
    if columns.iter().any(|(_, column)| column.len() != length) {
        return Err("columns-differ");
    }
    let mut items = vec![Map::new(); length];
    for (name, column) in columns {
        for (item, value) in items.iter_mut().zip(column) {
            item.insert(name.clone(), value);
        }
    }
    Ok(items.into_iter().map(Value::Object).collect())
}

/// What stands in items that are encoded, where a key that the engine sends back is found only once they are not.
pub(super) fn unpacked(spec: &ListSpec, body: &[u8]) -> Option<String> {
    if !spec.base64_json {
        return None;
    }
    let items = fill::items(&serde_json::from_slice(body).ok()?, &spec.items)?;
    Some(items.iter().filter_map(|item| decoded(item).ok()).map(|item| item.to_string() + "\n").collect())
}

fn decoded(item: &Value) -> Result<Value, &'static str> {
    let bytes = item.as_str().and_then(|text| BASE64_STANDARD.decode(text.trim()).ok());
    bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).ok_or("item-undecodable")
}

/// Where the parts of a document are within an item.
pub(in crate::retrieve) struct Pointers<'a> {
    pub id: &'a str,
    pub text: &'a str,
    pub url: Option<&'a str>,
}

/// The first `top_k` items as documents, or a code for what one of them lacks.
pub(in crate::retrieve) fn documents_of(
    items: &[Value],
    pointers: &Pointers<'_>,
    top_k: u32,
    max_chars: u32,
) -> Result<Evidence, &'static str> {
    let document = |item: &Value| {
        let id = fill::one(item, pointers.id).and_then(|id| fill::text(&id));
        let id = id.filter(|id| !id.is_empty()).ok_or("item-without-id")?;
        let text = fill::one(item, pointers.text);
        let text = text.as_deref().and_then(Value::as_str).ok_or("item-without-text")?;
        let url = pointers.url.and_then(|pointer| fill::one(item, pointer));
        let url = url.as_deref().and_then(Value::as_str).map(str::to_owned);
        Ok::<_, &str>(Document::compact(id, url, text, max_chars as usize))
    };
    let documents = items.iter().take(top_k as usize).map(document).collect::<Result<_, _>>()?;
    Ok(Evidence { documents })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{ExpectSpec, HttpMethod, RequestSpec};
    use serde_json::json;
    use std::collections::BTreeMap;

    fn spec(items: &str, ok: &[(&str, Value)]) -> HttpRetrieveSpec {
        HttpRetrieveSpec {
            origin: None,
            request: RequestSpec { method: HttpMethod::Post, url: String::new(), query: BTreeMap::new(), body: None },
            headers: BTreeMap::new(),
            secret_headers: BTreeMap::new(),
            list: ListSpec { items: items.to_owned(), ..ListSpec::default() },
            id: "/_id".to_owned(),
            text: "/_source/the~1text".to_owned(),
            url_pointer: Some("/_source/url".to_owned()),
            score: Some("/_score".to_owned()),
            expect: ExpectSpec {
                ok: ok.iter().map(|(pointer, value)| ((*pointer).to_owned(), value.clone())).collect(),
                absent: Vec::new(),
            },
            error: None,
            probes: Vec::new(),
            sample: None,
            timeout_seconds: 1,
        }
    }

    fn read(spec: &HttpRetrieveSpec, reply: &Value) -> Result<Vec<Document>, &'static str> {
        evidence(spec, reply.to_string().as_bytes(), 2, 5).map(|evidence| evidence.documents)
    }

    fn document(id: &str, url: Option<&str>, text: &str) -> Document {
        Document { id: id.to_owned(), url: url.map(str::to_owned), text: text.to_owned() }
    }

    #[test]
    fn items_are_read_through_their_pointers_and_cut() {
        let hits = json!([
            {"_id": "a", "_source": {"the/text": " x \n yyyyy", "url": "u"}},
            {"_id": 7, "_source": {"the/text": ""}},
            {"_id": null},
        ]);
        let expected = vec![document("a", Some("u"), "x yyy"), document("7", None, "")];
        assert_eq!(read(&spec("/hits/hits", &[]), &json!({"hits": {"hits": hits}})), Ok(expected.clone()));
        assert_eq!(read(&spec("", &[]), &hits), Ok(expected));
        assert_eq!(read(&spec("/hits", &[]), &json!({"hits": []})), Ok(Vec::new()));
    }

    #[test]
    fn a_success_that_says_it_failed_is_no_evidence() {
        let ok = [("/timed_out", json!(false)), ("/_shards/failed", json!(0))];
        let reply =
            |timed_out: bool, failed: u32| json!({"timed_out": timed_out, "_shards": {"failed": failed}, "hits": []});
        assert_eq!(read(&spec("/hits", &ok), &reply(false, 0)), Ok(Vec::new()));
        assert_eq!(read(&spec("/hits", &ok), &reply(true, 0)), Err("not-ok"));
        assert_eq!(read(&spec("/hits", &ok), &reply(false, 1)), Err("not-ok"));
        assert_eq!(read(&spec("/hits", &ok), &json!({"hits": []})), Err("not-ok"));
    }

    #[test]
    fn every_other_form_has_a_code_of_its_own() {
        let spec = spec("/hits", &[]);
        assert_eq!(evidence(&spec, b"<html>", 1, 1), Err("not-json"));
        assert_eq!(evidence(&spec, b"", 1, 1), Err("not-json"));
        assert_eq!(evidence(&spec, b"\xef\xbb\xbf{\"hits\":[]}", 1, 1), Ok(Evidence::default()));
        assert_eq!(read(&spec, &json!({"error": {"type": "x"}})), Err("error-in-body"));
        assert_eq!(read(&spec, &json!({"hits": {}})), Err("no-items"));
        assert_eq!(read(&spec, &json!({"hits": [{"_id": ""}]})), Err("item-without-id"));
        assert_eq!(read(&spec, &json!({"hits": [{"_id": 1.5}]})), Err("item-without-id"));
        assert_eq!(read(&spec, &json!({"hits": [{"_id": "a", "_source": {"the/text": 1}}]})), Err("item-without-text"));
    }

    #[test]
    fn columns_of_one_length_are_zipped() {
        let pairs = [("_id", "/ids/0"), ("_source", "/texts/0"), ("_score", "/distances/0")];
        let zip = pairs.map(|(name, pointer)| (name.to_owned(), pointer.to_owned())).into();
        let mut spec = spec("", &[]);
        (spec.list.zip, spec.text, spec.url_pointer) = (zip, "/_source".to_owned(), None);
        let reply = json!({"ids": [["a", "b"]], "texts": [["x", "y"]], "distances": null});
        assert_eq!(read(&spec, &reply), Ok(vec![document("a", None, "x"), document("b", None, "y")]));
        assert_eq!(read(&spec, &json!({"ids": [["a"]], "texts": [["x", "y"]]})), Err("columns-differ"));
        assert_eq!(read(&spec, &json!({"ids": [["a"]], "texts": [[null]]})), Err("item-without-text"));
        assert_eq!(read(&spec, &json!({"ids": "a"})), Err("no-items"));
        assert_eq!(read(&spec, &json!({})), Err("no-items"));
    }

    #[test]
    fn items_may_be_json_in_base64() {
        let mut spec = spec("/results", &[]);
        (spec.list.base64_json, spec.text) = (true, "/t".to_owned());
        let item = BASE64_STANDARD.encode(r#"{"_id":"a","t":"{{x}} \u0000"}"#);
        let text = Ok(vec![document("a", None, "{{x}}")]);
        assert_eq!(read(&spec, &json!({ "results": [item] })), text);
        for bad in [json!("%"), json!(1), json!(BASE64_STANDARD.encode("{"))] {
            assert_eq!(read(&spec, &json!({ "results": [bad] })), Err("item-undecodable"));
        }
    }

    #[test]
    fn a_list_that_is_left_out_is_empty_where_the_engine_means_that() {
        let mut spec = spec("/root/children", &[("/root/full", json!(true))]);
        spec.list.missing_is_empty = true;
        assert_eq!(read(&spec, &json!({"root": {"full": true}})), Ok(Vec::new()));
        assert_eq!(read(&spec, &json!({"root": {"full": false}})), Err("not-ok"));
        assert_eq!(read(&spec, &json!({"root": {"full": true}, "error": "x"})), Err("error-in-body"));
    }

    #[test]
    fn scores_are_numbers_or_texts_of_numbers() {
        let hits = json!([{"_id": "a", "_score": "0.5"}, {"_id": 2, "_score": 1}, {"_id": "c", "_score": null}]);
        let read = ranked(&spec("", &[]), hits.to_string().as_bytes(), 8);
        assert_eq!(read, [("a".to_owned(), Some(0.5)), ("2".to_owned(), Some(1.0)), ("c".to_owned(), None)]);
    }
}
