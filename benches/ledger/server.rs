//! Attempts a second at 64 in flight against a local server without latency, through the whole stage that asks: prompts,
//! client, records before and after each call, blobs, seal.

use crate::{ROUNDS, in_turn, median, settle};
use camino::Utf8Path;
use churngate::freeze::{self, Frozen};
use churngate::generate::generate;
use churngate::http::{Budget, Client, Context, HttpSettings, Secrets};
use churngate::ledger::stage::Answers;
use churngate::ledger::{Durability, RunFolder};
use churngate::model::Silent;
use churngate::retrieve::retrieve;
use churngate::run::{self, Prepared, Request};
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Two snapshots, two repeats.
const CALLS_A_QUESTION: u32 = 4;

/// The server, in a process of its own: says where it is, then answers until its standard input ends.
pub fn serve() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    println!("http://{}/v1", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                // A connection that breaks is the end of its client.
                let _ = answer(&stream);
            });
        }
    });
    let mut rest = String::new();
    std::io::stdin().read_to_string(&mut rest).expect("the end of the input");
}

fn answer(stream: &TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    let mut number = 0_u64;
    loop {
        let (mut length, mut line) = (0, String::new());
        loop {
            line.clear();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let lower = line.trim_end().to_ascii_lowercase();
            if let Some(value) = lower.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
            if lower.is_empty() {
                break;
            }
        }
        std::io::copy(&mut (&mut reader).take(length), &mut std::io::sink())?;
        number += 1;
        let id = format!("{:?}-{number}", std::thread::current().id());
        let reply = format!(
            r#"{{"id":"{id}","object":"chat.completion","created":0,"model":"m-1","choices":[{{"index":0,"finish_reason":"stop","message":{{"role":"assistant","content":"answer {id}"}}}}],"usage":{{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12}}}}"#
        );
        let head =
            format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", reply.len());
        (&mut (&*stream)).write_all(format!("{head}{reply}").as_bytes())?;
    }
}

/// The other process, ended with this value.
struct Server {
    child: Child,
    base_url: String,
}

impl Server {
    fn start() -> Self {
        let own = std::env::current_exe().expect("this program");
        let mut child = Command::new(own)
            .arg("--serve")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut base_url = String::new();
        BufReader::new(child.stdout.take().expect("its output")).read_line(&mut base_url).expect("its address");
        Self { child, base_url: base_url.trim().to_owned() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// Alternates both settings, each round in a folder of its own. Old folders are removed at the very end.
pub fn attempts(root: &Utf8Path, questions: u32) {
    let server = Server::start();
    let audit = root.join("audit");
    let generate = format!(
        "openai: {{ model: m, base_url: \"{}\", structured: plain }}\n  concurrency: 64\n  unchanged_evidence: sample",
        server.base_url
    );
    write_audit(&audit, &generate, questions, |number, of_new| {
        format!("gadget{number} carries {}.", if of_new { number + 1 } else { number })
    });
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let calls = f64::from(questions * CALLS_A_QUESTION);
    let (mut durable, mut fast, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    // The first round warms up and is not counted.
    for round in 0..=2 * ROUNDS {
        let rate = |durability| {
            let folder = root.join(format!("server-{round}-{durability:?}"));
            calls / runtime.block_on(ask(&audit, &folder, durability)).as_secs_f64()
        };
        let (with, without) = in_turn(round, rate);
        if round > 0 {
            durable.push(with);
            fast.push(without);
            ratios.push(with / without);
        }
    }
    let (low, high) = ratios.iter().fold((f64::MAX, 0.0_f64), |(low, high), ratio| (low.min(*ratio), high.max(*ratio)));
    println!(
        "{calls} attempts, 64 in flight, local server: durable {:.0}/s, not durable {:.0}/s, ratio {:.2} (medians of {} \
         rounds; ratios from {low:.2} to {high:.2}: {ratios:.2?})",
        median(durable),
        median(fast),
        median(ratios.clone()),
        ratios.len()
    );
}

/// Writes an audit of two snapshots that are answered this way; `document` is the document about a question in the old or the new one.
pub fn write_audit(audit: &Utf8Path, generate: &str, questions: u32, document: impl Fn(u32, bool) -> String) {
    std::fs::create_dir_all(audit).expect("a folder");
    let (mut asked, mut old, mut new) = (String::new(), String::new(), String::new());
    for number in 0..questions {
        writeln!(asked, r#"{{"id":"q{number}","question":"Since which version does Chrome support gadget{number}?"}}"#)
            .expect("a string");
        for (of_new, snapshot) in [(false, &mut old), (true, &mut new)] {
            writeln!(snapshot, r#"{{"id":"d{number}","text":"{}"}}"#, document(number, of_new)).expect("a string");
        }
    }
    let spec = format!(
        "version: 1\nname: bench\nquestions: {{ file: questions.jsonl }}\n\
         snapshots:\n  old: {{ path: old.jsonl }}\n  new: {{ path: new.jsonl }}\n\
         retrieve: {{ bm25: {{}}, top_k: 1 }}\n\
         generate:\n  {generate}\njudge: {{ embedded: {{}} }}\n"
    );
    for (name, text) in [("questions.jsonl", asked), ("old.jsonl", old), ("new.jsonl", new), ("churngate.yaml", spec)] {
        std::fs::write(audit.join(name), text).expect("the audit is written");
    }
}

/// The time that the stage takes, from the first prompt to the seal; what comes before is not counted.
async fn ask(audit: &Utf8Path, folder: &Utf8Path, durability: Durability) -> Duration {
    let (prepared, context) = (prepare(audit).await, context());
    let folder = RunFolder::open_with(folder, durability).expect("the folder opens");
    let frozen: Frozen = freeze::freeze(&folder, prepared.protocol).expect("the protocol freezes");
    let evidence = retrieve(&frozen, &folder, &context).await.expect("the evidence seals");
    settle();
    let begun = Instant::now();
    generate::<Answers>(&frozen.protocol, &folder, &evidence, &context).await.expect("the answers seal");
    begun.elapsed()
}

/// The audit that was written here.
pub async fn prepare(audit: &Utf8Path) -> Prepared {
    let spec = audit.join("churngate.yaml");
    let request = Request {
        spec: &spec,
        runs: None,
        base: None,
        new: &[],
        shard: None,
        evidence_alone: false,
        is_set: |_| false,
        tool_version: "bench",
    };
    let draft = run::read(request).expect("the audit is read");
    run::prepare(draft, None).await.expect("the audit is prepared")
}

/// The outside world of a measurement.
pub fn context() -> Context {
    let settings = HttpSettings {
        connect_timeout: Duration::from_secs(10),
        read_timeout: Duration::from_mins(1),
        max_body_bytes: 1 << 20,
    };
    Context {
        client: Client::new(settings).expect("a client"),
        secrets: Arc::new(Secrets::default()),
        observer: Arc::new(Silent),
        cancel: CancellationToken::new(),
        budget: Arc::new(Budget::new(None, None)),
        concurrency: None,
    }
}
