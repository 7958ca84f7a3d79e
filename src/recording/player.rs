//! Answers calls from a recording.

use super::error::RecordingError;
use super::exchange::{Exchange, of_parts};
use super::file::{End, Place, Recorded};
use super::told;
use crate::http::{Call, CallError, Reply, Secrets, Tape, Unit};
use crate::model::{Digest, Failure, FailureClass};
use camino::Utf8Path;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A tape that answers every call from a recording and lets none be made.
///
/// The k-th time that a unit of work sends a request, it gets what the k-th such exchange of this unit came to. Calls of one
/// unit never overlap, so the order in which units are worked on changes nothing.
#[derive(Debug)]
pub struct Player {
    secrets: Arc<Secrets>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    recorded: Recorded,
    left: HashMap<Key, VecDeque<Waiting>>,
    /// The keys of each unit, so that it can be told which replies come first.
    of_unit: HashMap<Digest, Vec<Key>>,
    failure: Option<Failure>,
}

/// A unit and a request.
type Key = (Digest, Digest);

/// A reply that was not given yet.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    place: Place,
    /// Its number among all of its unit, from 0.
    number: u64,
}

impl Player {
    /// Opens the recording in this folder and checks all of it. Returns it and how many exchanges it holds.
    ///
    /// # Errors
    /// There is none; it is a link or the like; a line is damaged, cut off or too long.
    pub fn open(folder: &Utf8Path, secrets: Arc<Secrets>) -> Result<(Self, u64), Failure> {
        let (state, held) = State::read(folder)?;
        Ok((Self { secrets, state: Mutex::new(state) }, held))
    }

    /// A panic elsewhere leaves a recording that is still good.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn read(folder: &Utf8Path) -> Result<(Self, u64), RecordingError> {
        let recorded = Recorded::open(folder)?;
        let (mut left, mut of_unit, mut lines) = (HashMap::new(), HashMap::new(), 1);
        let mut counts: HashMap<Digest, u64> = HashMap::new();
        let end = recorded.read(|exchange, place| {
            let unit = of_parts(&exchange.unit);
            let key = (unit, exchange.identity);
            let count = counts.entry(unit).or_default();
            let waiting: &mut VecDeque<Waiting> = left.entry(key).or_default();
            if waiting.is_empty() {
                of_unit.entry(unit).or_insert_with(Vec::new).push(key);
            }
            waiting.push_back(Waiting { place, number: *count });
            *count += 1;
            lines = place.line;
        })?;
        if let End::Torn(_) = end {
            return Err(recorded.damaged(lines + 1, "cut off: the recording was not finished".to_owned()));
        }
        Ok((Self { recorded, left, of_unit, failure: None }, lines - 1))
    }

    /// The next reply to this request of this unit.
    fn next(&mut self, key: &Key) -> Result<Option<Exchange>, RecordingError> {
        let waiting = self.left.get_mut(key).and_then(VecDeque::pop_front);
        waiting.map(|Waiting { place, .. }| self.recorded.at(place)).transpose()
    }

    fn missing(&mut self, call: &Call, unit: &Unit, key: &Key) {
        let held = if self.left.contains_key(key) { "no further reply" } else { "no reply" };
        let what = told::place(call);
        let path = &self.recorded.path;
        let message = format!("the recording `{path}` has {held} to `{what}` for `{unit}`; nobody was called");
        let failure = Failure::new(FailureClass::Incomplete, message).with_hint(
            "record the audit again with fresh folders for `--record` and `--runs`, since a run that is there is gone on with: what \
             is asked follows from spec, questions and snapshots, and from earlier replies, which may be others where the \
             recorded audit was killed",
        );
        self.failure.get_or_insert(failure);
    }
}

impl Tape for Player {
    fn replays(&self) -> bool {
        true
    }

    fn play(&self, call: &Call, unit: &Unit) -> Option<Result<Reply, CallError>> {
        let key = (of_parts(unit.parts()), told::request(call, &self.secrets).identity());
        let mut state = self.state();
        let came = match state.next(&key) {
            Ok(Some(exchange)) => exchange.came().unwrap_or(Err(CallError::NotRecorded)),
            Ok(None) => {
                state.missing(call, unit, &key);
                Err(CallError::NotRecorded)
            }
            Err(error) => {
                state.failure.get_or_insert(error.into());
                Err(CallError::NotRecorded)
            }
        };
        Some(came)
    }

    fn keep(&self, _call: &Call, _unit: &Unit, _came: &Result<Reply, CallError>) {}

    fn skip(&self, unit: &Unit, replies: u64) {
        let mut state = self.state();
        let keys = state.of_unit.get(&of_parts(unit.parts())).cloned().unwrap_or_default();
        for key in keys {
            if let Some(waiting) = state.left.get_mut(&key) {
                waiting.retain(|waiting| waiting.number >= replies);
            }
        }
    }

    fn lacks(&self, _unit: &Unit, _replies: u64) -> bool {
        false
    }

    fn trouble(&self) -> Option<Failure> {
        let state = self.state();
        let Failure { class, message, hint } = state.failure.as_ref()?;
        Some(Failure { class: *class, message: message.clone(), hint: hint.clone() })
    }
}
