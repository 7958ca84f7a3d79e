//! An OpenAI-compatible server that answers every call after a fixed time, and a client that shows how close to the ideal
//! anybody can come to it on this machine. The standard library alone: `benches/peers/efficiency.py` compiles it with rustc.
//!
//!     latency_server serve MILLISECONDS       says its address, then serves until its standard input ends
//!     latency_server load ADDRESS CALLS AT_ONCE

use std::io::{BufRead, BufReader, Result, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Connections that are served at once: more than any tool here opens.
const CONNECTIONS: usize = 256;

/// What the server saw since it was last asked.
#[derive(Default)]
struct Seen {
    calls: u64,
    in_flight: u64,
    most_in_flight: u64,
    first: Option<Instant>,
    last: Option<Instant>,
}

impl Seen {
    fn begin(&mut self) {
        self.calls += 1;
        self.in_flight += 1;
        self.most_in_flight = self.most_in_flight.max(self.in_flight);
        self.first.get_or_insert_with(Instant::now);
    }

    fn end(&mut self) {
        self.in_flight -= 1;
        self.last = Some(Instant::now());
    }

    /// Calls, the most of them at once, and the seconds from the first one's arrival to the last one's reply.
    fn told(&self) -> String {
        let seconds = self.first.zip(self.last).map_or(0.0, |(first, last)| (last - first).as_secs_f64());
        format!(r#"{{"calls":{},"most_in_flight":{},"seconds":{seconds:.6}}}"#, self.calls, self.most_in_flight)
    }
}

/// The first line and the body of the next request; `None` at the end of the connection.
fn read(reader: &mut impl BufRead) -> Result<Option<(String, Vec<u8>)>> {
    let mut first = String::new();
    if reader.read_line(&mut first)? == 0 {
        return Ok(None);
    }
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim_end().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some((first, body)))
}

fn reply(mut stream: &TcpStream, body: &str) -> Result<()> {
    let length = body.len();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n");
    stream.write_all([head.as_bytes(), body.as_bytes()].concat().as_slice())
}

/// An answer by the bytes of the request, and an id of its own.
fn completion(body: &[u8]) -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let hash = body.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3));
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    format!(
        r#"{{"id":"chatcmpl-{number:032}","object":"chat.completion","created":0,"model":"m-1","choices":[{{"index":0,"finish_reason":"stop","message":{{"role":"assistant","content":"answer {}"}}}}],"usage":{{"prompt_tokens":100,"completion_tokens":3,"total_tokens":103}}}}"#,
        hash % 1_000
    )
}

fn connection(stream: &TcpStream, latency: Duration, seen: &Mutex<Seen>) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    while let Some((first, body)) = read(&mut reader)? {
        if first.starts_with("GET") {
            let told = std::mem::take(&mut *seen.lock().expect("the count")).told();
            reply(stream, &told)?;
            continue;
        }
        let begun = Instant::now();
        seen.lock().expect("the count").begin();
        let completion = completion(&body);
        std::thread::sleep(latency.saturating_sub(begun.elapsed()));
        // Before the reply leaves: its client may call again before this thread goes on.
        seen.lock().expect("the count").end();
        reply(stream, &completion)?;
    }
    Ok(())
}

fn serve(latency: Duration) -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("{}", listener.local_addr()?);
    let seen = Arc::new(Mutex::new(Seen::default()));
    // All threads are there before the first call: a client that opens many connections at once waits for none of them to be made.
    for _ in 0..CONNECTIONS {
        let (seen, listener) = (Arc::clone(&seen), listener.try_clone()?);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A connection that breaks is the end of its client.
                drop(connection(&stream, latency, &seen));
            }
        });
    }
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).map(drop)
}

fn calls(address: &str, left: &AtomicU64) -> Result<()> {
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(&stream);
    let body = r#"{"model":"m-1","messages":[{"role":"user","content":"What does gadget carry?"}]}"#;
    let length = body.len();
    let call = format!("POST /v1/chat/completions HTTP/1.1\r\nhost: local\r\ncontent-length: {length}\r\n\r\n{body}");
    while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok() {
        (&stream).write_all(call.as_bytes())?;
        read(&mut reader)?;
    }
    Ok(())
}

/// So many calls, so many at once; says how long they took.
fn load(address: &str, count: u64, at_once: u64) {
    let (begun, left) = (Instant::now(), AtomicU64::new(count));
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| calls(address, &left).expect("the server answers"));
        }
    });
    println!("{:.6}", begun.elapsed().as_secs_f64());
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |text: &String| text.parse::<u64>().expect("a number");
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve", _] => serve(Duration::from_millis(number(&arguments[1]))),
        ["load", address, _, _] => {
            load(address, number(&arguments[2]), number(&arguments[3]));
            Ok(())
        }
        _ => panic!("usage: latency_server serve MILLISECONDS | load ADDRESS CALLS AT_ONCE"),
    }
}
