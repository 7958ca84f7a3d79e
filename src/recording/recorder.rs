//! Writes exchanges down.

use super::error::RecordingError;
use super::exchange::{Exchange, Header, MAX_LINE, of_parts};
use super::file::{End, Recorded};
use super::told;
use crate::http::{Call, CallError, Reply, Secrets, Tape, Unit};
use crate::model::{Digest, Failure, FailureClass};
use camino::Utf8Path;
use std::collections::HashMap;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A tape that lets every call be made and keeps what came back, one line an exchange, in the order in which they ended.
///
/// A line is with the operating system before the audit learns what the call came to: what is in a ledger is on the tape.
/// Where a line cannot be written no further call is made.
#[derive(Debug)]
pub struct Recorder {
    secrets: Arc<Secrets>,
    /// How many exchanges of each unit it held at its start.
    held: HashMap<Digest, u64>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    recorded: Recorded,
    failure: Option<String>,
}

impl Recorder {
    /// Begins a recording in this folder, or goes on with the one that is there. Returns it and how many exchanges it holds.
    ///
    /// # Errors
    /// The folder cannot be made, another process records into it, or what is there is damaged.
    pub fn begin(folder: &Utf8Path, secrets: Arc<Secrets>) -> Result<(Self, u64), Failure> {
        let (recorded, held) = begun(folder)?;
        let (state, all) = (Mutex::new(State { recorded, failure: None }), held.values().sum());
        Ok((Self { secrets, held, state }, all))
    }

    fn write(&self, exchange: &Exchange) {
        let mut state = self.state();
        if state.failure.is_some() {
            return;
        }
        let written = match exchange.line() {
            Some(line) => state.recorded.file.write_all(&line).map_err(|error| error.kind().to_string()),
            None => Err(format!("an exchange has more than {MAX_LINE} bytes")),
        };
        state.failure = written.err();
    }

    /// A panic elsewhere leaves a file that is still good.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens the file, checks what it holds, cuts what a crash tore, and stands at its end.
fn begun(folder: &Utf8Path) -> Result<(Recorded, HashMap<Digest, u64>), RecordingError> {
    let mut recorded = Recorded::open_to_write(folder)?;
    let mut held: HashMap<Digest, u64> = HashMap::new();
    let end = recorded.read(|exchange, _| *held.entry(of_parts(&exchange.unit)).or_default() += 1)?;
    let go_on = |recorded: &mut Recorded| {
        if let End::Torn(whole) = end {
            recorded.file.set_len(whole)?;
        }
        if recorded.file.seek(SeekFrom::End(0))? == 0 {
            let mut header = serde_json::to_vec(&Header::new())?;
            header.push(b'\n');
            recorded.file.write_all(&header)?;
        }
        Ok(())
    };
    go_on(&mut recorded).map_err(|error: std::io::Error| RecordingError::io("write", &recorded.path, &error))?;
    Ok((recorded, held))
}

impl Tape for Recorder {
    fn replays(&self) -> bool {
        false
    }

    fn play(&self, _call: &Call, _unit: &Unit) -> Option<Result<Reply, CallError>> {
        // What cannot be recorded is not paid for.
        self.state().failure.is_some().then_some(Err(CallError::NotKept))
    }

    fn keep(&self, call: &Call, unit: &Unit, came: &Result<Reply, CallError>) {
        let request = told::request(call, &self.secrets);
        let latency = came.as_ref().map_or(Duration::ZERO, |reply| reply.latency);
        let kept = came.as_ref().map(|reply| told::reply(reply, &self.secrets)).map_err(|error| *error);
        self.write(&Exchange::new(unit, request, kept, latency));
    }

    fn skip(&self, _unit: &Unit, _replies: u64) {}

    fn lacks(&self, unit: &Unit, replies: u64) -> bool {
        self.held.get(&of_parts(unit.parts())).copied().unwrap_or(0) < replies
    }

    fn trouble(&self) -> Option<Failure> {
        let state = self.state();
        let why = state.failure.as_ref()?;
        let message = format!("failed to write the recording `{}`: {why}", state.recorded.path);
        Some(Failure::new(FailureClass::Incomplete, message).with_hint(
            "make room; what the last call came to is not in the recording, so that it is of no whole run any more: record again into \
             fresh folders (`--record` and `--runs`), or go on without `--record`",
        ))
    }
}
