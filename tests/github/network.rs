//! The way to the server, by the real program: a base with a path, a proxy, and hosts that none is used for.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};

/// A server that notes the first line of each request and refuses all of them. Ends with the test's process.
fn listener() -> (String, Receiver<String>) {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap().to_string();
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for stream in server.incoming() {
            let mut stream = stream.unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut first, mut length) = (String::new(), 0);
            reader.read_line(&mut first).unwrap();
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                if line.trim().is_empty() {
                    break;
                }
            }
            reader.read_exact(&mut vec![0; length]).unwrap();
            let body = r#"{"message":"Resource not accessible by integration"}"#;
            let reply = format!("HTTP/1.1 403 x\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len());
            stream.write_all(reply.as_bytes()).unwrap();
            // Nobody listens any more once the test is done.
            let _gone = sender.send(first);
        }
    });
    (address, lines)
}

/// Publishes with these variables: exit code and what was said.
fn publish(variables: &[(&str, &str)]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("result.json"), include_str!("../fixtures/github/incompatible.json")).unwrap();
    let event = folder.path().join("event.json");
    let payload =
        r#"{"number":5,"pull_request":{"number":5,"head":{"sha":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"}}}"#;
    std::fs::write(&event, payload).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_churngate"));
    command.args(["publish", "--unverified", "--require-publish"]).arg(folder.path()).env_clear();
    command.env("GITHUB_EVENT_NAME", "pull_request").env("GITHUB_EVENT_PATH", event).env("GITHUB_RUN_ID", "1");
    command.env("GITHUB_REPOSITORY", "octo/repo").env("GITHUB_TOKEN", "t0ken").envs(variables.iter().copied());
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

/// What was drawn before is looked up before the commit is marked.
const PATHS: [&str; 6] = [
    "/prefix/api/graphql",
    "/prefix/api/v3/user",
    "/prefix/api/v3/repos/octo/repo/issues/5/comments?per_page=100&page=1",
    "/prefix/api/v3/repos/octo/repo/commits/bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb/statuses?per_page=100&page=1",
    "/prefix/api/v3/repos/octo/repo/statuses/bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
    "/prefix/api/v3/repos/octo/repo/issues/5/comments?per_page=100&page=1",
];

#[test]
fn a_base_with_a_path_is_asked_below_it() {
    let (address, lines) = listener();
    let (code, said) = publish(&[("GITHUB_API_URL", &format!("http://{address}/prefix/api/v3"))]);
    assert_eq!(code, Some(6), "{said}");
    assert!(!said.contains("t0ken"), "{said}");
    let asked: Vec<String> = lines.try_iter().collect();
    assert_eq!(asked.len(), PATHS.len(), "{asked:?}");
    for (line, path) in asked.iter().zip(PATHS) {
        assert_eq!(line.split(' ').nth(1), Some(path));
    }
}

#[test]
fn a_proxy_is_used_for_every_call() {
    let (proxy, lines) = listener();
    let variables = [
        ("GITHUB_API_URL", "https://ghe.example.invalid/prefix/api/v3".to_owned()),
        ("HTTPS_PROXY", format!("http://{proxy}")),
    ];
    let (code, said) = publish(&variables.each_ref().map(|(name, value)| (*name, value.as_str())));
    assert_eq!(code, Some(6), "{said}");
    let asked: Vec<String> = lines.try_iter().collect();
    // The proxy is asked for a way to the host and sees nothing of what goes through it.
    assert!(asked.len() >= 2, "{asked:?} {said}");
    for line in asked {
        assert_eq!(line.trim_end(), "CONNECT ghe.example.invalid:443 HTTP/1.1");
    }
}

#[test]
fn a_proxy_that_would_read_the_token_is_told_nothing() {
    let (proxy, lines) = listener();
    let base = "http://ghe.example.invalid/prefix/api/v3";
    let (code, said) = publish(&[("GITHUB_API_URL", base), ("HTTP_PROXY", &format!("http://{proxy}"))]);
    assert_eq!((code, lines.try_iter().count()), (Some(6), 0), "{said}");
    assert!(said.contains("a proxy would read the key"), "{said}");
}

#[test]
fn a_host_without_a_proxy_is_called_directly() {
    let (address, lines) = listener();
    let (proxy, through) = listener();
    let base = format!("http://{address}/prefix/api/v3");
    let variables = [("HTTP_PROXY", format!("http://{proxy}")), ("NO_PROXY", "example.org,127.0.0.1".to_owned())];
    let [one, two] = &variables;
    let (code, said) = publish(&[("GITHUB_API_URL", &base), (one.0, &one.1), (two.0, &two.1)]);
    assert_eq!(code, Some(6), "{said}");
    assert_eq!((lines.try_iter().count(), through.try_iter().count()), (PATHS.len(), 0), "{said}");
}

#[test]
fn a_token_with_white_space_at_an_end_is_refused_and_never_sent() {
    let (address, lines) = listener();
    let base = format!("http://{address}");
    for token in ["t0ken-31415 ", " t0ken-31415", "t0ken-31415\n"] {
        let (code, said) = publish(&[("GITHUB_API_URL", &base), ("GITHUB_TOKEN", token)]);
        assert_eq!(code, Some(6), "{said}");
        assert!(said.contains("`GITHUB_TOKEN`") && said.contains("hint") && !said.contains("31415"), "{said}");
        assert!(said.contains("the mark was not published: there is no token"), "{said}");
    }
    assert!(lines.try_recv().is_err(), "something was sent");
}
