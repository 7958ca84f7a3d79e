//! The documents that a reply names beside its answer, by id, URL and digest: untrusted texts that no verdict depends on.

use crate::http::fill;
use crate::ledger::record::DocumentRecord;
use crate::model::Digest;
use crate::spec::CitationsSpec;
use serde_json::Value;

/// Documents of one answer that are kept.
const MOST: usize = 100;
/// The longest id that is kept as it is, in bytes; a longer one is kept as its digest.
const LONGEST_ID: usize = 256;
/// The longest URL that is kept, in bytes.
const LONGEST_URL: usize = 2_048;

/// What a reply says of one document.
#[derive(Clone, Debug, Default)]
pub struct Said {
    pub id: Option<String>,
    pub url: Option<String>,
    pub text: Option<String>,
}

/// The documents in the order of the reply; `None` where it has no list of them.
pub fn cited(spec: &CitationsSpec, reply: &Value) -> Option<Vec<DocumentRecord>> {
    let part = |item: &Value, pointer: &Option<String>| fill::text(fill::one(item, pointer.as_deref()?)?.as_ref());
    let said =
        |item: &Value| Said { id: part(item, &spec.id), url: part(item, &spec.url), text: part(item, &spec.text) };
    let items = fill::items(reply, &spec.items)?;
    Some(records(items.iter().map(said)))
}

/// The records of what was said. A document without an id is known by its URL, else by its text; one without a text by its id.
pub fn records(said: impl Iterator<Item = Said>) -> Vec<DocumentRecord> {
    said.filter_map(record).take(MOST).collect()
}

fn record(said: Said) -> Option<DocumentRecord> {
    let filled = |text: Option<String>| text.filter(|text| !text.is_empty());
    let (id, url, text) = (filled(said.id), filled(said.url), filled(said.text));
    let digest = |text: &str| Digest::of(text.as_bytes());
    let known_by = id.or_else(|| url.clone()).or_else(|| text.as_deref().map(|text| digest(text).to_string()))?;
    let content = digest(text.as_deref().unwrap_or(&known_by));
    let id = if known_by.len() > LONGEST_ID { digest(&known_by).to_string() } else { known_by };
    Some(DocumentRecord { id, url: url.filter(|url| url.len() <= LONGEST_URL), content })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn spec(id: Option<&str>, url: Option<&str>, text: Option<&str>) -> CitationsSpec {
        let owned = |pointer: Option<&str>| pointer.map(str::to_owned);
        CitationsSpec { items: "/sources".to_owned(), id: owned(id), url: owned(url), text: owned(text) }
    }

    #[test]
    fn a_document_is_known_by_its_id_else_its_url_else_its_text() {
        let reply = json!({"sources": [
            {"id": 7, "u": "https://h/a", "t": "A {{x}}"}, {"id": "", "u": "https://h/b"}, {"t": "C"}, {}, {"id": "d"},
        ]});
        let found = cited(&spec(Some("/id"), Some("/u"), Some("/t")), &reply).unwrap();
        let of = |text: &str| Digest::of(text.as_bytes());
        let expected = [
            ("7".to_owned(), Some("https://h/a"), of("A {{x}}")),
            ("https://h/b".to_owned(), Some("https://h/b"), of("https://h/b")),
            (of("C").to_string(), None, of("C")),
            ("d".to_owned(), None, of("d")),
        ];
        let found: Vec<_> = found.iter().map(|one| (one.id.clone(), one.url.as_deref(), one.content)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_reply_without_a_list_says_nothing_and_an_empty_one_says_none() {
        let spec = spec(Some("/id"), None, None);
        for reply in [json!({}), json!({"sources": null}), json!({"sources": "x"}), json!([])] {
            assert_eq!(cited(&spec, &reply), None, "{reply}");
        }
        assert_eq!(cited(&spec, &json!({"sources": []})), Some(Vec::new()));
    }

    #[test]
    fn ids_and_lists_without_end_are_cut() {
        let long = "x".repeat(5_000);
        let reply = json!({"sources": vec![json!({"id": long, "u": long}); 300]});
        let found = cited(&spec(Some("/id"), Some("/u"), None), &reply).unwrap();
        assert_eq!((found.len(), found[0].id.len(), &found[0].url), (MOST, 64, &None));
    }
}
