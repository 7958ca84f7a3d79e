//! The server `llmock` (`PyPI`), written by others, and a proxy in front of it.
//!
//! It refuses, breaks and hangs when it is told to, in the form of the interface that it imitates, keeps a journal of its
//! own, and grades its client. Bodies that are cut, no JSON or empty it can give to streams alone, so that the proxy damages
//! sound replies of its for those.

use super::shares::{Drawn, Fault, Faults};
use super::{HANG, own};
use crate::harness::{
    self,
    raw::{RawServer, Reply, Request},
};
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

/// The program, where it is installed beside the tests' Python.
pub fn program() -> Result<Option<PathBuf>> {
    let python = harness::python("llmock")?;
    Ok(python.map(|python| python.with_file_name("llmock")))
}

/// The process; ends with this value.
#[derive(Debug)]
pub struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// The server as its proxies know it, which serve until the test process ends.
#[derive(Debug)]
pub struct Llmock {
    address: SocketAddr,
    /// Held alone while it is told what to do to the next request.
    told: RwLock<()>,
}

/// A reply as it came.
struct Came {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Llmock {
    /// Starts it on a free port of the loopback interface.
    pub fn start(program: &Path) -> Result<(Process, Arc<Self>)> {
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let child = Command::new(program)
            .args(["serve", "--host", "127.0.0.1", "--log-level", "error", "--port", &address.port().to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let (mut process, server) = (Process(child), Self { address, told: RwLock::default() });
        while server.say("GET", "/health", "").is_err() {
            ensure!(process.0.try_wait()?.is_none(), "llmock has ended");
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok((process, Arc::new(server)))
    }

    /// A proxy in front of it, with these faults.
    pub fn behind(self: &Arc<Self>, faults: Arc<Faults>) -> Result<RawServer> {
        let server = Arc::clone(self);
        RawServer::start(move |request| {
            let reply = match faults.draw(&request.body) {
                Drawn::Answered(_) => server.forward(request).map(whole),
                Drawn::Fails(fault) => server.fail(fault, request),
            };
            // The audit then does not come to the end that the test wants.
            reply.unwrap_or_else(|error| Reply::json(401, &json!({ "error": { "message": error.to_string() } })))
        })
    }

    /// How many requests it answered with each status, by its own journal.
    pub fn journal(&self) -> Result<Vec<u64>> {
        let journal = self.say("GET", "/_llmock/requests", "")?;
        let requests = journal["requests"].as_array().context("no journal")?;
        Ok(requests.iter().filter_map(|request| request["status"].as_u64()).collect())
    }

    /// What it holds against its client, by its own verdict: the codes of all findings that are errors.
    pub fn errors(&self) -> Result<Vec<String>> {
        let verdict = self.say("GET", "/_llmock/verdict", "")?;
        let findings = verdict["findings"].as_array().context("no verdict")?.iter();
        let errors = findings.filter(|finding| finding["severity"] == "error");
        Ok(errors.filter_map(|finding| finding["code"].as_str()).map(str::to_owned).collect())
    }

    fn forward(&self, request: &Request) -> Result<Came> {
        let _others_too = self.told.read().unwrap_or_else(PoisonError::into_inner);
        receive(self.send(&request.method, &request.path, &request.body.to_string())?)
    }

    fn fail(&self, fault: Fault, request: &Request) -> Result<Reply> {
        let seconds = |wait: Duration| json!(wait.as_secs_f64());
        Ok(match fault {
            Fault::Busy | Fault::BusyForLong => {
                let wait = seconds(fault.wait().context("no wait")?);
                whole(self.refuse(&json!({ "type": "fail", "status": 429, "retry_after": wait }), request)?)
            }
            Fault::Broken => whole(self.refuse(&json!({ "type": "fail", "status": 500 }), request)?),
            Fault::Hang => whole(receive(self.hang(&json!({ "type": "delay", "seconds": seconds(HANG) }), request)?)?),
            Fault::Cut => own::cut(&self.forward(request)?.body),
            Fault::HalfJson => {
                let body = self.forward(request)?.body;
                Reply::Full(200, Vec::new(), body[..body.len() / 2].to_vec())
            }
            Fault::Empty => {
                self.forward(request)?;
                Reply::Full(200, Vec::new(), Vec::new())
            }
        })
    }

    /// Tells to refuse the next request, and sends that.
    fn refuse(&self, behavior: &Value, request: &Request) -> Result<Came> {
        let _alone = self.told.write().unwrap_or_else(PoisonError::into_inner);
        self.tell(behavior)?;
        receive(self.send(&request.method, &request.path, &request.body.to_string())?)
    }

    /// Tells to hold the next request back, sends that, and goes on when it was taken. The reply is read by the caller.
    fn hang(&self, behavior: &Value, request: &Request) -> Result<TcpStream> {
        let _alone = self.told.write().unwrap_or_else(PoisonError::into_inner);
        self.tell(behavior)?;
        let stream = self.send(&request.method, &request.path, &request.body.to_string())?;
        while self.say("GET", "/_llmock/scenario", "")?["pending"] != json!([]) {
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(stream)
    }

    fn tell(&self, behavior: &Value) -> Result<Value> {
        self.say("POST", "/_llmock/scenario", &json!({ "behaviors": [behavior] }).to_string())
    }

    fn say(&self, method: &str, path: &str, body: &str) -> Result<Value> {
        let came = receive(self.send(method, path, body)?)?;
        ensure!(came.status < 300, "{method} {path}: {}", came.status);
        Ok(serde_json::from_slice(&came.body)?)
    }

    fn send(&self, method: &str, path: &str, body: &str) -> Result<TcpStream> {
        let mut stream = TcpStream::connect(self.address)?;
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: llmock\r\nconnection: close\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n\r\n{body}"
        )?;
        Ok(stream)
    }
}

fn receive(mut stream: TcpStream) -> Result<Came> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes)?;
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").context("no reply")?;
    let head = String::from_utf8(bytes[..end].to_vec())?;
    let status = head.split(' ').nth(1).context("no status")?.parse()?;
    Ok(Came { status, head, body: bytes[end + 4..].to_vec() })
}

/// A reply as it came, with the headers that say how long to wait.
fn whole(came: Came) -> Reply {
    let header = |name: &'static str| {
        let mut lines = came.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| (name, value.to_owned()))
    };
    let headers = ["retry-after", "retry-after-ms"].into_iter().filter_map(header).collect();
    Reply::Full(came.status, headers, came.body)
}
