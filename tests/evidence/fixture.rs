//! One finished audit against a local server, shared by all tests of this file; each changes a copy.

pub use crate::harness::forge::{LEDGERS, forge, records};
use crate::harness::{Workspace, code, server::Server, stderr};
use anyhow::{Result, ensure};
use camino::{Utf8Path, Utf8PathBuf};
use churngate::model::Digest;
use serde_json::Value;
use std::{fmt::Write as _, fs, sync::OnceLock, time::Duration};

/// Stands in every text: question, document, answer and gold.
pub const MARK: &str = "zebra";
/// Questions, of which every third one has the same evidence in both snapshots.
pub const QUESTIONS: usize = 9;

/// The audit's files; `judge` names the judge's model.
pub fn workspace(server: &Server, judge: &str) -> Result<Workspace> {
    let workspace = Workspace::new()?;
    let (mut old, mut new, mut questions) = (String::new(), String::new(), String::new());
    for item in 0..QUESTIONS {
        let moved = if item % 3 == 0 { item } else { item + 500 };
        writeln!(old, r#"{{"id":"d{item}","text":"{MARK}document gadget{item} carries {item}."}}"#)?;
        writeln!(new, r#"{{"id":"d{item}","text":"{MARK}document gadget{item} carries {moved}."}}"#)?;
        writeln!(
            questions,
            r#"{{"id":"q{item}","question":"{MARK}question: what does gadget{item} carry?","answer":["{MARK}gold {item}","The {MARK}answer {item}."],"tags":["group{}"]}}"#,
            item % 2
        )?;
    }
    workspace.write("old.jsonl", old)?;
    workspace.write("new.jsonl", new)?;
    workspace.write("questions.jsonl", questions)?;
    let base = &server.base_url;
    workspace.write(
        "churngate.yaml",
        format!(
            "version: 1\nname: evidence\nquestions: {{ file: questions.jsonl }}\n\
             snapshots:\n  old: {{ path: old.jsonl }}\n  new: {{ path: new.jsonl }}\n\
             retrieve: {{ bm25: {{}}, top_k: 1 }}\n\
             generate:\n  openai: {{ model: m, base_url: \"{base}\", structured: plain }}\n  concurrency: 4\n\
             judge:\n  openai: {{ model: {judge}, base_url: \"{base}\" }}\n"
        ),
    )?;
    Ok(workspace)
}

/// Answers with the number in the evidence, and judges every pair as different.
pub fn answer(body: &Value) -> String {
    let said = |at: usize| body["messages"][at]["content"].as_str().unwrap_or_default().to_owned();
    let form = said(0);
    if let Some((_, pairs)) = form.split_once("\"different\":") {
        let member = |pair: &str| format!("\"{}\":\"different\"", pair.trim().trim_end_matches('.'));
        return format!("{{{}}}", pairs.split(',').map(member).collect::<Vec<_>>().join(","));
    }
    let number = said(1).split("carries ").nth(1).and_then(|rest| rest.split('.').next().map(str::to_owned));
    format!("{MARK}answer {}", number.unwrap_or_default())
}

/// A server that answers so.
pub fn server(latency: Duration) -> Result<Server> {
    Server::start(latency, Box::new(answer))
}

struct Finished {
    _workspace: Workspace,
    folder: Utf8PathBuf,
}

fn finished() -> Result<Finished> {
    let server = server(Duration::ZERO)?;
    let workspace = workspace(&server, "j")?;
    let output = workspace.churngate(&["run", "--quiet", "churngate.yaml"])?;
    ensure!([0, 1].contains(&code(&output)?), "{}", stderr(&output));
    let folder = Utf8PathBuf::try_from(workspace.run_folder()?)?;
    Ok(Finished { _workspace: workspace, folder })
}

/// A copy of a finished run, in a folder of its own.
pub struct Copy {
    workspace: Workspace,
}

impl Copy {
    /// Of the run that all tests share.
    pub fn new() -> Result<Self> {
        static RUN: OnceLock<Finished> = OnceLock::new();
        let run = if let Some(run) = RUN.get() {
            run
        } else {
            let run = finished()?;
            RUN.get_or_init(|| run)
        };
        let workspace = Workspace::new()?;
        let copy = Self { workspace };
        copy_folder(&run.folder, &copy.run())?;
        Ok(copy)
    }

    /// The run's folder.
    pub fn run(&self) -> Utf8PathBuf {
        self.path("run")
    }

    /// A path beside it.
    pub fn path(&self, name: &str) -> Utf8PathBuf {
        Utf8PathBuf::try_from(self.workspace.path(name)).unwrap_or_default()
    }

    /// The folder that both lie in.
    pub const fn workspace(&self) -> &Workspace {
        &self.workspace
    }
}

/// Copies a folder of plain files with the folders in it.
pub fn copy_folder(from: &Utf8Path, to: &Utf8Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in from.read_dir_utf8()? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// The digests in a run that stand for nothing.
pub fn some_digest() -> Value {
    Digest::of(b"something else").to_string().into()
}
