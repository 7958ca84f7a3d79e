//! A local OpenAI-compatible server that answers by a function of the request, counts, and can be slow.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use std::{
    io::{BufReader, Write as _},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

/// What the server saw of one request.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The whole request body.
    pub body: Value,
    /// The id of the response that was sent.
    pub response_id: String,
}

/// A function from a request body to the text of the answer.
pub type Answerer = dyn Fn(&Value) -> String + Send + Sync;

/// The server; serves until the test process ends.
pub struct Server {
    /// Its base URL, up to and including `/v1`.
    pub base_url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    count: Arc<AtomicU64>,
}

impl Server {
    /// Starts it on a free port of the loopback interface.
    pub fn start(latency: Duration, answer: Box<Answerer>) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let base_url = format!("http://{}/v1", listener.local_addr()?);
        let (seen, count) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicU64::new(0)));
        let state = Arc::new(State { seen: Arc::clone(&seen), count: Arc::clone(&count), latency, answer });
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&state);
                // A client that is killed breaks its connection: nothing to do about it here.
                thread::spawn(move || drop(state.serve(stream)));
            }
        });
        Ok(Self { base_url, seen, count })
    }

    /// Requests answered so far.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::SeqCst)
    }

    /// All requests so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

struct State {
    seen: Arc<Mutex<Vec<Seen>>>,
    count: Arc<AtomicU64>,
    latency: Duration,
    answer: Box<Answerer>,
}

impl State {
    fn serve(&self, stream: TcpStream) -> Result<()> {
        stream.set_nodelay(true)?;
        let mut reader = BufReader::new(stream.try_clone()?);
        let mut writer = stream;
        while let Some(body) = read_request(&mut reader)? {
            let number = self.count.fetch_add(1, Ordering::SeqCst);
            let response_id = format!("response-{number}");
            let text = (self.answer)(&body);
            self.seen
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(Seen { body, response_id: response_id.clone() });
            thread::sleep(self.latency);
            let reply = json!({
                "id": response_id,
                "object": "chat.completion",
                "created": 0,
                "model": "test-model-1",
                "choices": [{ "index": 0, "finish_reason": "stop", "message": { "role": "assistant", "content": text } }],
                "usage": { "prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12 },
            })
            .to_string();
            write!(
                writer,
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{reply}",
                reply.len()
            )?;
            writer.flush()?;
        }
        Ok(())
    }
}

/// One request's JSON body; `None` at the end of the connection.
fn read_request(reader: &mut impl std::io::BufRead) -> Result<Option<Value>> {
    let mut length = 0_usize;
    let mut first = true;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            anyhow::ensure!(first, "the request was cut");
            return Ok(None);
        }
        first = false;
        let line = line.trim_end().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse()?;
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some(serde_json::from_slice(&body).context("the request's body is no JSON")?))
}
