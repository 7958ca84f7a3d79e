//! Recorder and player between a client and a server.

use super::{Player, Recorder};
use crate::http::{Call, CallError, Client, HeaderText, HttpSettings, Secrets, Unit};
use crate::model::FailureClass;
use camino::{Utf8Path, Utf8PathBuf};
use std::fs;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

const KEY: &str = "open-sesame";

fn client() -> Client {
    let settings = HttpSettings {
        connect_timeout: Duration::from_mins(1),
        read_timeout: Duration::from_mins(1),
        max_body_bytes: 1 << 20,
    };
    Client::new(settings).unwrap()
}

fn secrets() -> Arc<Secrets> {
    let mut secrets = Secrets::default();
    secrets.insert("K", KEY.to_owned().into());
    Arc::new(secrets)
}

fn unit(name: &str) -> Unit {
    Unit::of([name.to_owned()])
}

/// A server that numbers its replies.
async fn server() -> (String, TcpListener) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    (format!("http://{}/v1/ask?token={KEY}", listener.local_addr().unwrap()), listener)
}

async fn answer(listener: &TcpListener, text: &str) {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut heard = vec![0_u8; 4096];
    assert!(stream.read(&mut heard).await.unwrap() > 0);
    let start = format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", text.len());
    stream.write_all(format!("{start}{text}").as_bytes()).await.unwrap();
}

fn call(url: &str, body: &str) -> Call {
    let headers = vec![("authorization".to_owned(), HeaderText::Secret(format!("Bearer {KEY}").into()))];
    let body = Some(body.as_bytes().to_vec());
    Call { method: "POST", url: url.to_owned(), headers, body, timeout: Duration::from_mins(2), nonce: None }
}

/// Records these exchanges: for each the unit, what is asked, what is answered.
async fn record(folder: &Utf8Path, url: &str, listener: &TcpListener, exchanges: &[(&str, &str, &str)]) {
    let (recorder, _) = Recorder::begin(folder, secrets()).unwrap();
    let client = client().with_tape(Arc::new(recorder));
    for (name, asked, answered) in exchanges {
        let client = client.of(unit(name));
        let call = call(url, asked);
        let (came, ()) = tokio::join!(client.send(&call), answer(listener, answered));
        assert_eq!(came.unwrap().body, answered.as_bytes());
    }
    assert!(client.tape().unwrap().trouble().is_none());
}

fn replaying(folder: &Utf8Path) -> Client {
    client().with_tape(Arc::new(Player::open(folder, secrets()).unwrap().0))
}

async fn replayed(client: &Client, name: &str, url: &str, asked: &str) -> Result<String, CallError> {
    let reply = client.of(unit(name)).send(&call(url, asked)).await?;
    Ok(String::from_utf8(reply.body).unwrap())
}

fn temporary() -> (tempfile::TempDir, Utf8PathBuf) {
    let keep = tempfile::tempdir().unwrap();
    let folder = Utf8PathBuf::from_path_buf(keep.path().join("rec")).unwrap();
    (keep, folder)
}

#[tokio::test]
async fn each_unit_gets_its_own_replies_in_order_whatever_order_units_come_in() {
    let ((_keep, folder), (url, listener)) = (temporary(), server().await);
    let exchanges = [("b", "q", "b-1"), ("a", "q", "a-1"), ("b", "q", "b-2"), ("a", "other", "a-2"), ("a", "q", "a-3")];
    record(&folder, &url, &listener, &exchanges).await;
    let client = replaying(&folder);
    for (name, asked, wanted) in
        [("a", "q", "a-1"), ("a", "q", "a-3"), ("b", "q", "b-1"), ("a", "other", "a-2"), ("b", "q", "b-2")]
    {
        assert_eq!(replayed(&client, name, &url, asked).await.unwrap(), wanted);
    }
    assert_eq!(replayed(&client, "a", &url, "q").await, Err(CallError::NotRecorded));
}

#[tokio::test]
async fn what_an_earlier_process_has_had_is_passed_over() {
    let ((_keep, folder), (url, listener)) = (temporary(), server().await);
    record(&folder, &url, &listener, &[("a", "q", "1"), ("a", "other", "2"), ("a", "q", "3"), ("b", "q", "4")]).await;
    let client = replaying(&folder);
    client.tape().unwrap().skip(&unit("a"), 2);
    client.tape().unwrap().skip(&unit("c"), 2);
    assert_eq!(replayed(&client, "a", &url, "q").await.unwrap(), "3");
    assert_eq!(replayed(&client, "a", &url, "other").await, Err(CallError::NotRecorded));
    assert_eq!(replayed(&client, "b", &url, "q").await.unwrap(), "4");
}

#[tokio::test]
async fn a_miss_is_named_and_makes_no_connection() {
    let ((_keep, folder), (url, listener)) = (temporary(), server().await);
    record(&folder, &url, &listener, &[("a", "q", "1")]).await;
    let client = replaying(&folder);
    for (name, asked) in [("a", "another"), ("b", "q")] {
        assert_eq!(replayed(&client, name, &url, asked).await, Err(CallError::NotRecorded), "{name} {asked}");
    }
    let failure = client.tape().unwrap().trouble().unwrap();
    assert_eq!(failure.class, FailureClass::Incomplete);
    let host = listener.local_addr().unwrap();
    assert!(
        failure.message.contains(&format!("no reply to `POST {host}/v1/ask` for `a`; nobody was called")),
        "{failure}"
    );
    assert!(!failure.to_string().contains(KEY));
    // Nothing waits to be accepted.
    assert!(tokio::time::timeout(Duration::from_millis(50), listener.accept()).await.is_err());
}

#[tokio::test]
async fn faults_are_replayed_as_what_they_were() {
    let ((_keep, folder), (url, listener)) = (temporary(), server().await);
    drop(listener);
    let client_of = |tape| client().with_tape(tape).of(unit("a"));
    let recording = client_of(Arc::new(Recorder::begin(&folder, secrets()).unwrap().0));
    let slow = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let hanging = format!("http://{}/", slow.local_addr().unwrap());
    let short = Call { timeout: Duration::from_millis(50), ..call(&hanging, "q") };
    assert_eq!(recording.send(&call(&url, "q")).await.unwrap_err(), CallError::Connect);
    assert_eq!(recording.send(&short).await.unwrap_err(), CallError::Timeout);
    drop(recording);
    let replaying = client_of(Arc::new(Player::open(&folder, secrets()).unwrap().0));
    assert_eq!(replaying.send(&short).await.unwrap_err(), CallError::Timeout);
    assert_eq!(replaying.send(&call(&url, "q")).await.unwrap_err(), CallError::Connect);
}

#[tokio::test]
async fn a_recording_goes_on_where_a_crash_tore_it_and_has_one_writer() {
    let ((_keep, folder), (url, listener)) = (temporary(), server().await);
    record(&folder, &url, &listener, &[("a", "q", "1"), ("a", "q", "2")]).await;
    let path = folder.join("exchanges.jsonl");
    let whole = fs::read(&path).unwrap();
    assert!(!whole.windows(KEY.len()).any(|window| window == KEY.as_bytes()));
    fs::write(&path, &whole[..whole.len() - 5]).unwrap();
    let failure = Player::open(&folder, secrets()).unwrap_err();
    assert_eq!(failure.class, FailureClass::Evidence);
    assert!(failure.message.contains("line 3: cut off"), "{failure}");
    let (first, held) = Recorder::begin(&folder, secrets()).unwrap();
    assert_eq!(held, 1);
    let failure = Recorder::begin(&folder, secrets()).unwrap_err();
    assert!(failure.message.contains("in use by another process"), "{failure}");
    drop(first);
    record(&folder, &url, &listener, &[("a", "q", "2")]).await;
    assert_eq!(Player::open(&folder, secrets()).unwrap().1, 2);
}

#[test]
fn a_recording_whose_writer_was_just_killed_is_waited_for() {
    let (_keep, folder) = temporary();
    let (first, _) = Recorder::begin(&folder, secrets()).unwrap();
    let ending = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(60));
        drop(first);
    });
    let second = Recorder::begin(&folder, secrets());
    ending.join().unwrap();
    assert!(second.is_ok(), "{second:?}");
}
