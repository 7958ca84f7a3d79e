//! A reply that comes as a stream of server-sent events, made into one JSON document, so that all pointers of a spec mean in it
//! what they mean in any other reply.
//!
//! Read when all of it is there: a stream that ends before the event that ends its answer is cut, and never a short answer.

use super::Reason;
use crate::http::chat::Reason as Common;
use crate::http::fill;
use crate::spec::StreamSpec;
use serde_json::{Value, json};

/// One event: its name, `message` where it has none, and its data.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Event {
    name: String,
    data: String,
}

/// The document of a stream: `answer`, the text that its events hold together; `end`, the data of the event that ends it, null
/// where they are no JSON; `events`, the data of all events up to there that are JSON.
///
/// # Errors
/// The bytes are no stream, or one that ends too early or says that it failed.
pub fn document(spec: &StreamSpec, bytes: &[u8]) -> Result<Value, Reason> {
    let text = std::str::from_utf8(bytes).map_err(|_| Reason::Common(Common::NotUtf8))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Err(Reason::Common(Common::EmptyBody));
    }
    if !is_stream(text) {
        // A system that fails before it begins to stream says so in one object.
        let is_object = serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object());
        return Err(if is_object { Reason::NotOk } else { Reason::Common(Common::NotJson) });
    }
    let (mut answer, mut all) = (String::new(), Vec::new());
    for event in events(text) {
        let data = serde_json::from_str::<Value>(&event.data).ok();
        let kind = kind(spec, &event, data.as_ref());
        let is_one = |kinds: &[String]| kinds.contains(&kind);
        if is_one(&spec.failed) {
            return Err(Reason::Common(Common::ErrorInBody));
        }
        let piece = |pointer: &String| fill::one(data.as_ref()?, pointer)?.as_str().map(str::to_owned);
        if let Some(text) = spec.replace.get(&kind).and_then(piece) {
            answer = text;
        }
        answer.extend(spec.text.get(&kind).and_then(piece));
        all.extend(data.clone());
        if is_one(&spec.end) {
            return Ok(json!({ "answer": answer, "end": data, "events": all }));
        }
    }
    Err(Reason::StreamCut)
}

/// What an event is: what its data say, where a pointer says where; its name otherwise. Data that are no JSON are their own kind.
fn kind(spec: &StreamSpec, event: &Event, data: Option<&Value>) -> String {
    let said = |data: &Value| Some(fill::one(data, spec.kind.as_deref()?)?.as_str()?.to_owned());
    match data {
        Some(data) => said(data).unwrap_or_else(|| event.name.clone()),
        None => event.data.clone(),
    }
}

/// Whether the first line that says anything is one of an event.
fn is_stream(text: &str) -> bool {
    let fields = ["data", "event", "id", "retry"];
    lines(text).find(|line| !line.is_empty()).is_some_and(|line| {
        let field = line.split(':').next().unwrap_or_default();
        line.starts_with(':') || fields.contains(&field)
    })
}

/// The events of a stream, by the rules of the HTML standard: data of several lines are joined by line feeds, and an event without
/// data is none. Other than there, the end of the bytes ends an event like an empty line: what ends an answer must be whole JSON
/// or a whole word all the same.
fn events(text: &str) -> Vec<Event> {
    let (mut events, mut name, mut data): (Vec<Event>, &str, Vec<&str>) = (Vec::new(), "", Vec::new());
    for line in lines(text).chain([""]) {
        if line.is_empty() {
            if !data.is_empty() {
                let name = if name.is_empty() { "message" } else { name };
                events.push(Event { name: name.to_owned(), data: data.join("\n") });
            }
            (name, data) = ("", Vec::new());
            continue;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => name = value,
            "data" => data.push(value),
            // Ids, times to wait and comments.
            _ => {}
        }
    }
    events
}

/// The lines of a text, which end with a line feed, a carriage return or both.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn of(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(kind, pointer)| ((*kind).to_owned(), (*pointer).to_owned())).collect()
    }

    /// As the events of an agent app say what they are.
    fn app() -> StreamSpec {
        StreamSpec {
            kind: Some("/event".to_owned()),
            text: of(&[("message", "/answer"), ("agent_message", "/answer")]),
            replace: of(&[("message_replace", "/answer")]),
            end: vec!["message_end".to_owned()],
            failed: vec!["error".to_owned()],
        }
    }

    /// As chat completions are streamed.
    fn completions() -> StreamSpec {
        StreamSpec {
            kind: None,
            text: of(&[("message", "/choices/0/delta/content")]),
            replace: BTreeMap::new(),
            end: vec!["[DONE]".to_owned()],
            failed: Vec::new(),
        }
    }

    fn read(spec: &StreamSpec, text: &str) -> Result<Value, &'static str> {
        document(spec, text.as_bytes()).map_err(|reason| reason.row().0)
    }

    const SAID: &str = "data: {\"event\": \"agent_message\", \"answer\": \"It is \"}\n\n\
                        event: ping\n\n: a comment\n\n\
                        data: {\"event\": \"agent_thought\", \"thought\": \"no part of it\"}\n\n\
                        id: 7\ndata: {\"event\": \"agent_message\",\ndata:  \"answer\": \"92.\"}\n\n";
    const END: &str = "data: {\"event\": \"message_end\", \"message_id\": \"m-1\"}\n\n";

    #[test]
    fn the_texts_of_events_are_joined_up_to_the_one_that_ends_them() {
        let after = "data: {\"event\": \"agent_message\", \"answer\": \" More.\"}\n\n";
        for text in [
            format!("{SAID}{END}"),
            format!("\u{feff}{SAID}{END}{after}"),
            format!("{SAID}{END}").replace('\n', "\r\n"),
        ] {
            let found = read(&app(), &text).unwrap();
            assert_eq!((&found["answer"], &found["end"]["message_id"]), (&json!("It is 92."), &json!("m-1")), "{text}");
            assert_eq!(found["events"].as_array().unwrap().len(), 4);
        }
        let lone_returns = format!("{SAID}{END}").replace('\n', "\r");
        assert_eq!(read(&app(), &lone_returns).unwrap()["answer"], "It is 92.");
    }

    #[test]
    fn a_stream_that_ends_anywhere_before_its_end_is_cut_and_never_an_answer() {
        let whole = format!("{SAID}{END}");
        let last = whole.trim_end().len();
        for at in 1..last {
            let found = read(&app(), &whole[..at]).unwrap_err();
            assert!(matches!(found, "stream-cut" | "not-json"), "{at}: {found}");
        }
        for at in last..=whole.len() {
            assert!(read(&app(), &whole[..at]).is_ok(), "{at}");
        }
    }

    #[test]
    fn what_says_that_it_failed_or_is_no_stream_is_none() {
        let failed = "event: error\ndata: {\"event\": \"error\", \"status\": 400, \"code\": \"invalid_param\"}\n\n";
        for (text, reason) in [
            (format!("{SAID}{failed}{END}"), "error-in-body"),
            ("{\"code\": \"not_chat_app\", \"status\": 400}".to_owned(), "not-ok"),
            ("<html>data: x</html>".to_owned(), "not-json"),
            (" \n".to_owned(), "empty-body"),
            (": nothing but comments\n\n".to_owned(), "stream-cut"),
            ("data: x".to_owned(), "stream-cut"),
        ] {
            assert_eq!(read(&app(), &text), Err(reason), "{text}");
        }
        assert_eq!(document(&app(), b"data: \xff\n\n").unwrap_err().row().0, "not-utf8");
    }

    #[test]
    fn a_text_may_take_the_place_of_what_was_said_before() {
        let replaced = "data: {\"event\": \"message_replace\", \"answer\": \"No.\"}\n\n";
        assert_eq!(read(&app(), &format!("{SAID}{replaced}{END}")).unwrap()["answer"], "No.");
    }

    #[test]
    fn an_end_may_be_a_word_that_is_no_json() {
        let piece = |text: &str| format!("data: {{\"choices\": [{{\"delta\": {{\"content\": \"{text}\"}}}}]}}\n\n");
        let first =
            "data: {\"id\": \"c-1\", \"choices\": [{\"delta\": {\"role\": \"assistant\", \"content\": null}}]}\n\n";
        let last = "data: {\"choices\": [], \"usage\": {\"prompt_tokens\": 3}}\n\n";
        let whole = format!("{first}{}{}{last}data: [DONE]\n\n", piece("9"), piece("2"));
        let found = read(&completions(), &whole).unwrap();
        assert_eq!((&found["answer"], &found["end"]), (&json!("92"), &Value::Null));
        assert_eq!(fill::one(&found, "/events/0/id").unwrap().as_ref(), &json!("c-1"));
        assert_eq!(fill::one(&found, "/events/-1/usage/prompt_tokens").unwrap().as_ref(), &json!(3));
        assert_eq!(read(&completions(), &whole.replace("[DONE]", "[DO")), Err("stream-cut"));
    }
}
