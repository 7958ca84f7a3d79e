//! A reply to evidence.

use crate::model::{Document, Evidence};
use crate::spec::HttpRetrieveSpec;
use serde_json::Value;

/// The evidence in the body of a reply, or a code for why there is none.
pub(super) fn evidence(
    spec: &HttpRetrieveSpec,
    body: &[u8],
    top_k: u32,
    max_chars: u32,
) -> Result<Evidence, &'static str> {
    let reply: Value = serde_json::from_slice(body).map_err(|_| "not-json")?;
    // A server can say in the body of a success that it failed, wholly or in part.
    if spec.ok.iter().any(|(pointer, expected)| reply.pointer(pointer) != Some(expected)) {
        return Err("not-ok");
    }
    let Some(Value::Array(items)) = reply.pointer(&spec.items) else {
        return Err(if reply.get("error").is_some() { "error-in-body" } else { "no-items" });
    };
    let pointers = Pointers { id: &spec.id, text: &spec.text, url: spec.url_pointer.as_deref() };
    documents_of(items, &pointers, top_k, max_chars)
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
        let id = match item.pointer(pointers.id) {
            Some(Value::String(id)) if !id.is_empty() => id.clone(),
            Some(Value::Number(id)) if id.is_u64() || id.is_i64() => id.to_string(),
            _ => return Err("item-without-id"),
        };
        let text = item.pointer(pointers.text).and_then(Value::as_str).ok_or("item-without-text")?;
        let url = pointers.url.and_then(|pointer| item.pointer(pointer)).and_then(Value::as_str).map(str::to_owned);
        Ok(Document::compact(id, url, text, max_chars as usize))
    };
    let documents = items.iter().take(top_k as usize).map(document).collect::<Result<_, _>>()?;
    Ok(Evidence { documents })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::HttpMethod;
    use serde_json::json;
    use std::collections::BTreeMap;

    fn spec(items: &str, ok: &[(&str, Value)]) -> HttpRetrieveSpec {
        HttpRetrieveSpec {
            method: HttpMethod::Post,
            url: String::new(),
            headers: BTreeMap::new(),
            secret_headers: BTreeMap::new(),
            body: None,
            query: BTreeMap::new(),
            items: items.to_owned(),
            id: "/_id".to_owned(),
            text: "/_source/the~1text".to_owned(),
            url_pointer: Some("/_source/url".to_owned()),
            ok: ok.iter().map(|(pointer, value)| ((*pointer).to_owned(), value.clone())).collect(),
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
        assert_eq!(read(&spec, &json!({"error": {"type": "x"}})), Err("error-in-body"));
        assert_eq!(read(&spec, &json!({"hits": {}})), Err("no-items"));
        assert_eq!(read(&spec, &json!({"hits": [{"_id": ""}]})), Err("item-without-id"));
        assert_eq!(read(&spec, &json!({"hits": [{"_id": 1.5}]})), Err("item-without-id"));
        assert_eq!(read(&spec, &json!({"hits": [{"_id": "a", "_source": {"the/text": 1}}]})), Err("item-without-text"));
    }
}
