//! What of a call may be written down: everything that tells it from other calls, and no key.

use super::exchange::{Body, Kept, Request};
use crate::http::{self, Call, HeaderText, Reply, Secrets};

/// What stands in place of a value that may be a key.
const HIDDEN: &str = "[key]";
/// What stands in place of what every call has for itself alone: a call that is made again asks the same by it.
const NONCE: &str = "[nonce]";

/// What a name that may be of a key has in it, whatever stands around it.
const PARTS: [&str; 3] = ["passwd", "pwd", "session"];

/// Words of a name whose value may be a key.
const KEYS: [&str; 14] = [
    "apikey",
    "auth",
    "authorization",
    "code",
    "cookie",
    "credential",
    "credentials",
    "key",
    "password",
    "secret",
    "sig",
    "signature",
    "subscriptionkey",
    "token",
];

/// The request of a call, without keys and without its nonce.
pub(super) fn request(call: &Call, secrets: &Secrets) -> Request {
    let headers = call.headers.iter().map(|header| told(header, secrets));
    let mut headers: Vec<(String, String)> = headers.map(|(name, value)| (name, lasting(value, call))).collect();
    headers.sort_unstable();
    let body = |body: &Vec<u8>| match String::from_utf8(secrets.redact(body.clone())) {
        Ok(text) => Body::of(lasting(text, call).as_bytes()),
        Err(bytes) => Body::of(bytes.as_bytes()),
    };
    Request {
        method: call.method.to_owned(),
        url: lasting(text(&url(&call.url), secrets), call),
        headers,
        body: call.body.as_ref().map(body),
    }
}

/// What is left of a text where the call is made again. A nonce has the form of a UUID, which is written alike in URLs, headers
/// and JSON.
fn lasting(text: String, call: &Call) -> String {
    match call.nonce.as_deref() {
        Some(nonce) if !nonce.is_empty() => text.replace(nonce, NONCE),
        _ => text,
    }
}

/// Where a call goes to, for people: method, host and path.
pub(super) fn place(call: &Call) -> String {
    let url = call.url.split(['?', '#']).next().unwrap_or_default();
    let url = url.split_once("://").map_or(url, |(_, rest)| rest);
    format!("{} {}", call.method, url.replace(|c: char| c.is_control() || c == '`', " "))
}

/// What is kept of a reply: the body as the audit itself keeps it, and of the headers those that the program reads.
pub(super) fn reply(reply: &Reply, secrets: &Secrets) -> Kept {
    let read = reply.headers.iter().filter(|(name, _)| is_read(name));
    Kept {
        status: reply.status,
        headers: read.map(|(name, value)| (name.clone(), text(value, secrets))).collect(),
        body: Body::of(&secrets.redact(reply.body.clone())),
    }
}

fn told((name, value): &(String, HeaderText), secrets: &Secrets) -> (String, String) {
    let shown = match value {
        HeaderText::Plain(value) if !may_be_key(name) => text(value, secrets),
        HeaderText::Plain(_) | HeaderText::Secret(_) => HIDDEN.to_owned(),
    };
    (name.to_ascii_lowercase(), shown)
}

/// The URL with the values of parameters hidden that may be keys.
fn url(url: &str) -> String {
    let Some((place, query)) = url.split_once('?') else { return url.to_owned() };
    let parameter = |parameter: &str| match parameter.split_once('=') {
        Some((name, _)) if may_be_key(name) => format!("{name}={HIDDEN}"),
        _ => parameter.to_owned(),
    };
    let parameters: Vec<String> = query.split('&').map(parameter).collect();
    format!("{place}?{}", parameters.join("&"))
}

/// Whether a header or a parameter of this name may hold a key. A name is taken by its words: `keyword` is none.
fn may_be_key(name: &str) -> bool {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let is_key = |word: String| KEYS.contains(&word.as_str()) || PARTS.iter().any(|part| word.contains(part));
    words.map(str::to_ascii_lowercase).any(is_key)
}

/// What the program reads, and the kind of content, which is for people. Each by its whole name: a server can write what it was
/// sent into a name too.
fn is_read(name: &str) -> bool {
    http::headers_read().any(|read| read == name) || name == "content-type"
}

fn text(text: &str, secrets: &Secrets) -> String {
    String::from_utf8_lossy(&secrets.redact(text.as_bytes().to_vec())).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn secrets(key: &str) -> Secrets {
        let mut secrets = Secrets::default();
        secrets.insert("K", key.to_owned().into());
        secrets
    }

    fn call(key: &str, query: &str) -> Call {
        let plain = |name: &str, value: &str| (name.to_owned(), HeaderText::Plain(value.to_owned()));
        let headers = vec![
            plain("X-Index", "docs_v1"),
            plain("X-Goog-Api-Key", "written in the spec"),
            plain("X-SessionId", "written in the spec"),
            ("Authorization".to_owned(), HeaderText::Secret(format!("Bearer {key}").into())),
            ("x-secret-of-a-preset".to_owned(), HeaderText::Secret(key.to_owned().into())),
        ];
        let body = Some(format!("{{\"q\": \"{key} {query}\"}}").into_bytes());
        let url = format!("https://h/v1?keyword=a&sig={key}&access_token={key}&q={query}");
        Call { method: "POST", url, headers, body, timeout: Duration::ZERO, nonce: None }
    }

    #[test]
    fn no_key_is_in_what_is_told_nor_in_its_digest() {
        let one = request(&call("sesame-sesame", "x"), &secrets("sesame-sesame"));
        let shown = serde_json::to_string(&one).unwrap();
        assert!(!shown.contains("sesame") && !shown.contains("written in the spec"), "{shown}");
        insta::assert_snapshot!(one.url, @"https://h/v1?keyword=a&sig=[key]&access_token=[key]&q=x");
        let names: Vec<&str> = one.headers.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["authorization", "x-goog-api-key", "x-index", "x-secret-of-a-preset", "x-sessionid"]);
        let other = request(&call("another-key-altogether", "x"), &secrets("another-key-altogether"));
        assert_eq!(one.identity(), other.identity(), "nobody can try keys out on the digest");
    }

    #[test]
    fn what_tells_requests_apart_is_kept() {
        let secrets = secrets("sesame-sesame");
        let one = request(&call("sesame-sesame", "x"), &secrets).identity();
        assert_ne!(one, request(&call("sesame-sesame", "y"), &secrets).identity());
        let mut other = call("sesame-sesame", "x");
        other.headers[0].1 = HeaderText::Plain("docs_v2".to_owned());
        assert_ne!(one, request(&other, &secrets).identity(), "a header that names the index");
    }

    #[test]
    fn a_call_that_is_made_again_is_the_same_but_for_its_nonce() {
        let secrets = Secrets::default();
        let asked = |nonce: &str, question: &str| {
            let mut call = call("sesame-sesame", nonce);
            call.headers.push(("x-conversation".to_owned(), HeaderText::Plain(nonce.to_owned())));
            call.body = Some(format!("{{\"q\":\"{question}\",\"user\":\"{nonce}\"}}").into_bytes());
            call.nonce = Some(nonce.to_owned());
            request(&call, &secrets)
        };
        let (one, other) = ("01234567-89ab-4cde-a012-3456789abcde", "11111111-89ab-4cde-a012-3456789abcde");
        assert_eq!(asked(one, "x"), asked(other, "x"));
        assert_eq!(asked(one, "x").body, Some(Body::Text("{\"q\":\"x\",\"user\":\"[nonce]\"}".to_owned())));
        assert_ne!(asked(one, "x").identity(), asked(one, "y").identity(), "what is asked tells them apart");
        assert_ne!(asked(one, "x").identity(), asked(one, one).identity(), "a nonce in another place");
        let mut none = call("sesame-sesame", one);
        none.nonce = Some(String::new());
        assert!(request(&none, &secrets).url.ends_with(one), "nothing is no nonce");
    }

    #[test]
    fn of_a_reply_only_headers_that_are_read_are_kept_and_no_key() {
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let headers = vec![
            header("set-cookie", "a=b"),
            header("date", "Sun, 06 Nov 1994 08:49:37 GMT"),
            header("retry-after", "3"),
            header("x-ratelimit-remaining-tokens", "0"),
            header("x-ratelimit-sesame-sesame", "1"),
            header("anthropic-ratelimit-sesame-sesame", "1"),
            header("content-type", "text/sesame-sesame"),
        ];
        let body = b"your key sesame-sesame is refused".to_vec();
        let kept = reply(&Reply { status: 401, headers, body, latency: Duration::ZERO }, &secrets("sesame-sesame"));
        let names: Vec<&str> = kept.headers.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["date", "retry-after", "x-ratelimit-remaining-tokens", "content-type"]);
        assert_eq!(kept.headers[3].1, "text/[key]");
        assert_eq!(kept.body, Body::Text("your key [key] is refused".to_owned()));
    }

    /// The rooms of a stage, and the names of the headers that their code asks a reply for.
    fn asked_for() -> Vec<(String, String)> {
        let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let (mut folders, mut found) = (
            vec![source.join("http"), source.join("retrieve"), source.join("generate"), source.join("judge")],
            Vec::new(),
        );
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let text = std::fs::read_to_string(&path).unwrap();
                let code = text.split("#[cfg(test)]").next().unwrap_or_default();
                let asked =
                    code.split(".header(").skip(1).filter_map(|rest| rest.split_once(')')).map(|(name, _)| name);
                found.extend(asked.map(|name| (path.display().to_string(), name.to_owned())));
            }
        }
        found
    }

    #[test]
    fn every_header_that_the_program_asks_for_is_kept() {
        // A literal is a name itself. What is asked for by a constant or a field stands in the lists of `http`, which hold
        // nothing else.
        let lists = ["DATE", "RETRY_AFTER", "RETRY_AFTER_MS", "name", "self.reset"];
        let asked = asked_for();
        assert!(asked.len() >= 5, "{asked:?}");
        for (path, name) in asked.iter().filter(|(path, name)| !(path.ends_with("tar.rs") && name.is_empty())) {
            let is_kept = name
                .strip_prefix('"')
                .map_or(lists.contains(&name.as_str()), |name| is_read(name.trim_end_matches('"')));
            assert!(is_kept, "{path} asks for the header {name}, which no recording keeps");
        }
        let known: Vec<&str> = http::headers_read().collect();
        for name in
            ["date", "retry-after", "retry-after-ms", "x-ratelimit-reset-tokens", "anthropic-ratelimit-requests-limit"]
        {
            assert!(known.contains(&name), "{name}");
        }
        assert_eq!(known.len(), 15);
    }
}
