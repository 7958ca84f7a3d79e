//! A server whose every reply is written by the test: any status, headers and bytes, or none at all.

use anyhow::{Context as _, Result};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Write as _},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

/// One request as it arrived.
#[derive(Clone, Debug)]
pub struct Request {
    /// Its number among all, from 0.
    pub number: usize,
    /// `POST` or the like.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Headers, their names in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body.
    pub body: Value,
}

/// What is sent back.
pub enum Reply {
    /// A status, further header lines, and a body.
    Full(u16, Vec<(&'static str, String)>, Vec<u8>),
    /// These bytes, one after the other with a pause, then the end of the connection.
    Drip(Vec<u8>, Duration),
    /// These bytes, then the end of the connection.
    Cut(Vec<u8>),
    /// Nothing for so long, then the end of the connection.
    Hang(Duration),
}

impl Reply {
    /// A body in JSON.
    pub fn json(status: u16, body: &Value) -> Self {
        Self::Full(status, Vec::new(), body.to_string().into_bytes())
    }
}

/// A function from a request to its reply.
pub type Handler = dyn Fn(&Request) -> Reply + Send + Sync;

/// The server; serves until the test process ends.
pub struct RawServer {
    /// `http://127.0.0.1:PORT`
    pub host: String,
    seen: Arc<Mutex<Vec<Request>>>,
    connections: Arc<AtomicUsize>,
}

impl RawServer {
    /// Starts it on a free port of the loopback interface.
    pub fn start(handler: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let host = format!("http://{}", listener.local_addr()?);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (log, handler) = (Arc::clone(&seen), Arc::new(handler));
        let connections = Arc::new(AtomicUsize::new(0));
        let accepted = Arc::clone(&connections);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                accepted.fetch_add(1, Ordering::SeqCst);
                let (log, handler) = (Arc::clone(&log), Arc::clone(&handler));
                // A client that gives up breaks its connection: nothing to do about it here.
                thread::spawn(move || drop(serve(stream, &log, &*handler)));
            }
        });
        Ok(Self { host, seen, connections })
    }

    /// Connections so far, whether or not a request came over them.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// All requests so far.
    pub fn seen(&self) -> Vec<Request> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn serve(stream: TcpStream, log: &Mutex<Vec<Request>>, handler: &Handler) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut writer = stream;
    while let Some(mut request) = read(&mut reader)? {
        {
            let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
            request.number = log.len();
            log.push(request.clone());
        }
        match handler(&request) {
            Reply::Full(status, headers, body) => {
                let lines: Vec<String> = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
                let lines = lines.concat();
                write!(
                    writer,
                    "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n{lines}content-length: {}\r\n\r\n",
                    body.len()
                )?;
                writer.write_all(&body)?;
                writer.flush()?;
            }
            Reply::Drip(bytes, pause) => {
                for byte in bytes {
                    writer.write_all(&[byte])?;
                    writer.flush()?;
                    thread::sleep(pause);
                }
                return Ok(());
            }
            Reply::Cut(bytes) => {
                writer.write_all(&bytes)?;
                return Ok(());
            }
            Reply::Hang(time) => {
                thread::sleep(time);
                return Ok(());
            }
        }
    }
    Ok(())
}

/// One request; `None` at the end of the connection.
fn read(reader: &mut impl BufRead) -> Result<Option<Request>> {
    let mut first = String::new();
    if reader.read_line(&mut first)? == 0 {
        return Ok(None);
    }
    let mut words = first.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next().context("a method")?, words.next().context("a path")?);
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        anyhow::ensure!(reader.read_line(&mut line)? > 0, "the request was cut");
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").map_or(Ok(0), |length| length.parse())?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let body = if body.is_empty() { Value::Null } else { serde_json::from_slice(&body)? };
    Ok(Some(Request { number: 0, method, path, headers, body }))
}
