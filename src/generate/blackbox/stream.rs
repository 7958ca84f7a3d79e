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

/// What the events of a stream said so far.
#[derive(Debug, Default)]
struct Said {
    answer: String,
    /// The data of all events that are JSON.
    events: Vec<Value>,
    /// The first reason why this is no answer, whatever ends it.
    wrong: Option<Reason>,
}

/// The document of a stream: `answer`, the text that its events hold together; `end`, the data of the event that ends it, null
/// where they are no JSON; `events`, the data of all events up to there that are JSON.
///
/// # Errors
/// The bytes are no stream, or one that ends too early, says that it failed, or has an event whose piece cannot be read.
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
    let mut said = Said::default();
    for event in events(text) {
        let data = serde_json::from_str::<Value>(&event.data).ok();
        let ends = match &data {
            Some(data) => said.json(spec, &kind(spec, &event, data), data)?,
            None => said.words(spec, &event)?,
        };
        if ends {
            return said.document(data.as_ref());
        }
    }
    Err(Reason::StreamCut)
}

/// All texts of a stream that are pieces of its answer, one behind the other: those that others take the place of as well, and those
/// of a stream that is cut or that failed.
pub fn pieces(spec: &StreamSpec, bytes: &[u8]) -> String {
    let mut pieces = String::new();
    let text = String::from_utf8_lossy(bytes);
    for event in events(text.trim_start_matches('\u{feff}')) {
        let Ok(data) = serde_json::from_str::<Value>(&event.data) else { continue };
        let kind = kind(spec, &event, &data);
        let pointers = [&spec.replace, &spec.text].into_iter().filter_map(|of| of.get(&kind));
        pieces.extend(pointers.filter_map(|pointer| Some(fill::one(&data, pointer)?.as_str()?.to_owned())));
    }
    pieces
}

impl Said {
    /// Takes an event of this kind whose data are JSON, and says whether it ends the answer.
    fn json(&mut self, spec: &StreamSpec, kind: &String, data: &Value) -> Result<bool, Reason> {
        if spec.failed.contains(kind) {
            return Err(Reason::Common(Common::ErrorInBody));
        }
        if let Some(text) = self.piece(spec.replace.get(kind), data) {
            self.answer = text;
        }
        let text = self.piece(spec.text.get(kind), data);
        self.answer.extend(text);
        self.events.push(data.clone());
        Ok(spec.end.contains(kind))
    }

    /// The text where a pointer says that one is; nothing where nothing is. An answer without what else may be there is half of one.
    fn piece(&mut self, pointer: Option<&String>, data: &Value) -> Option<String> {
        match fill::one(data, pointer?)?.as_ref() {
            Value::String(text) => return Some(text.clone()),
            Value::Null => {}
            _ => self.spoil(Reason::NoAnswer),
        }
        None
    }

    /// Takes an event whose data are no JSON, known by them and by its name, and says whether it ends the answer.
    fn words(&mut self, spec: &StreamSpec, event: &Event) -> Result<bool, Reason> {
        let Event { name, data } = event;
        if spec.failed.contains(data) || spec.failed.contains(name) {
            return Err(Reason::Common(Common::ErrorInBody));
        }
        let is_broken = is_broken(spec, event);
        if spec.end.contains(data) || (spec.end.contains(name) && (data.is_empty() || !is_broken)) {
            return Ok(true);
        }
        if is_broken {
            self.spoil(Reason::Common(Common::NotJson));
        }
        Ok(false)
    }

    fn spoil(&mut self, reason: Reason) {
        self.wrong.get_or_insert(reason);
    }

    fn document(self, end: Option<&Value>) -> Result<Value, Reason> {
        let Self { answer, events, wrong } = self;
        wrong.map_or_else(|| Ok(json!({ "answer": answer, "end": end, "events": events })), Err)
    }
}

/// Whether data that are no JSON may be a broken piece of the answer, or the broken word of its end.
fn is_broken(spec: &StreamSpec, Event { name, data }: &Event) -> bool {
    let is_object = data.trim_start().starts_with('{');
    let may_count = spec.kind.is_some() || spec.end.contains(name);
    spec.text.contains_key(name) || spec.replace.contains_key(name) || (is_object && may_count)
}

/// What an event is: what its data say, where a pointer says where; its name otherwise.
fn kind(spec: &StreamSpec, event: &Event, data: &Value) -> String {
    let said = || Some(fill::one(data, spec.kind.as_deref()?)?.as_str()?.to_owned());
    said().unwrap_or_else(|| event.name.clone())
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
/// data is none. Other than there, the end of the bytes ends an event like an empty line: what ends an answer must be whole JSON,
/// a whole word, or of a whole name all the same.
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

    /// As systems name their events themselves.
    fn named() -> StreamSpec {
        StreamSpec {
            kind: None,
            text: of(&[("message", "/t"), ("delta", "/t")]),
            replace: of(&[("whole", "/t")]),
            end: vec!["[DONE]".to_owned(), "done".to_owned()],
            failed: vec!["error".to_owned()],
        }
    }

    const HALF: &str = "data: {\"t\": \"It is \"}\n\n";

    #[test]
    fn data_that_are_no_json_are_known_by_themselves_and_by_the_events_name() {
        for (text, found) in [
            ("event: error\ndata: upstream exploded\n\ndata: [DONE]\n\n", Err("error-in-body")),
            ("event: error\ndata:\n\ndata: [DONE]\n\n", Err("error-in-body")),
            ("data: error\n\ndata: [DONE]\n\n", Err("error-in-body")),
            ("event: done\ndata:\n\n", Ok("It is ")),
            ("event: done\ndata: bye\n\n", Ok("It is ")),
            ("event: bye\ndata: [DONE]\n\n", Ok("It is ")),
            ("event: ping\ndata: still here\n\ndata: [DONE]\n\n", Ok("It is ")),
            ("event: done\n\n", Err("stream-cut")),
        ] {
            let read = read(&named(), &format!("{HALF}{text}"));
            let found = found.map(|answer| json!({ "answer": answer, "end": null, "events": [{ "t": "It is " }] }));
            assert_eq!(read, found, "{text}");
        }
    }

    #[test]
    fn an_answer_that_lacks_a_broken_piece_is_none() {
        for broken in [
            "data: {\"t\": \"92",
            r#"data: {"t": "\ud800"}"#,
            "data: {\"t\": \"92\", \"score\": 1e999}",
            "data:",
            "event: delta\ndata: ninety-two",
            "event: whole\ndata: \"92",
        ] {
            let text = format!("{HALF}{broken}\n\n");
            assert_eq!(read(&named(), &format!("{text}data: [DONE]\n\n")), Err("not-json"), "{broken}");
            assert_eq!(read(&named(), &text), Err("stream-cut"), "{broken}");
        }
        // What ends the answer may say that it is cut off.
        let end = format!("{HALF}event: done\ndata: {{\"finish\": \"length\"\n\n");
        assert_eq!(read(&named(), &end), Err("stream-cut"));
        assert_eq!(read(&named(), &format!("{end}data: [DONE]\n\n")), Err("not-json"));
    }

    #[test]
    fn a_broken_object_is_of_any_kind_where_data_say_of_which() {
        let broken = "event: other\ndata: {\"event\": \"agent_message\", \"answer\": \"\\ud800\"}\n\n";
        assert_eq!(read(&app(), &format!("{SAID}{broken}{END}")), Err("not-json"));
        let word = "event: other\ndata: still here\n\n";
        assert_eq!(read(&app(), &format!("{SAID}{word}{END}")).unwrap()["answer"], "It is 92.");
        let elsewhere = "event: other\ndata: {\"t\": \n\n";
        let found = read(&named(), &format!("{HALF}{elsewhere}data: [DONE]\n\n")).unwrap();
        assert_eq!(found["answer"], "It is ", "no kind of ours");
    }

    #[test]
    fn a_piece_that_is_no_text_makes_no_answer() {
        for other in ["[{\"type\": \"text\", \"text\": \"92\"}]", "{\"text\": \"92\"}", "92", "true", "[]"] {
            for name in ["message", "whole"] {
                let text = format!("{HALF}event: {name}\ndata: {{\"t\": {other}}}\n\ndata: [DONE]\n\n");
                assert_eq!(read(&named(), &text), Err("no-answer"), "{name} {other}");
            }
        }
        for nothing in ["{\"t\": null}", "{}", "{\"u\": 7}"] {
            let text = format!("{HALF}data: {nothing}\n\ndata: [DONE]\n\n");
            assert_eq!(read(&named(), &text).unwrap()["answer"], "It is ", "{nothing}");
        }
    }
}
