//! Which request meets which fault: a function of its body and of how often that body was asked for, never of chance or
//! of time, and a count of all that was drawn.

use churngate::model::Digest;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What a server does in place of answering.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// 429, with a short wait.
    Busy,
    /// 429, with a wait that is far longer than what a client would take by itself.
    BusyForLong,
    /// 500.
    Broken,
    /// Nothing, for longer than the client waits.
    Hang,
    /// The connection ends in the middle of the body.
    Cut,
    /// A body that ends in the middle of its JSON.
    HalfJson,
    /// No body.
    Empty,
}

/// Of a thousand requests, how many meet each.
const SHARES: [(Fault, u64); 7] = [
    (Fault::Busy, 197),
    (Fault::BusyForLong, 3),
    (Fault::Broken, 50),
    (Fault::Hang, 30),
    (Fault::Cut, 30),
    (Fault::HalfJson, 30),
    (Fault::Empty, 20),
];

/// So many requests with one body can fail; later ones are answered, so that no cell waits for a minute.
const FAILING: usize = 4;

impl Fault {
    /// The code that the program counts it under.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Busy | Self::BusyForLong => "rate-limited",
            Self::Broken => "server-error",
            Self::Hang => "timed-out",
            Self::Cut => "reply-cut",
            Self::HalfJson => "not-json",
            Self::Empty => "empty-body",
        }
    }

    /// How long the client is asked to wait.
    pub const fn wait(self) -> Option<Duration> {
        match self {
            Self::Busy => Some(Duration::from_millis(20)),
            Self::BusyForLong => Some(Duration::from_secs(2)),
            _ => None,
        }
    }

    fn drawn(body: &str, turn: usize) -> Option<Self> {
        let digest = Digest::of(format!("{turn} {body}").as_bytes());
        let draw = digest.as_bytes().iter().take(8).fold(0_u64, |sum, byte| (sum << 8) | u64::from(*byte)) % 1_000;
        let mut below = 0;
        SHARES.iter().filter(|_| turn < FAILING).find_map(|(fault, share)| {
            below += share;
            (draw < below).then_some(*fault)
        })
    }
}

/// What becomes of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawn {
    /// It fails.
    Fails(Fault),
    /// It is answered; so many with the same body were before.
    Answered(usize),
}

#[derive(Debug, Default)]
struct Of {
    asked: usize,
    answered: usize,
    not_before: Option<Instant>,
}

#[derive(Debug, Default)]
struct Seen {
    bodies: BTreeMap<String, Of>,
    faults: BTreeMap<Fault, u64>,
    too_early: u64,
}

/// The faults of one server, and its own count of them.
#[derive(Debug)]
pub struct Faults {
    on: AtomicBool,
    seen: Mutex<Seen>,
}

impl Faults {
    /// Switched on.
    pub fn on() -> Self {
        Self { on: AtomicBool::new(true), seen: Mutex::default() }
    }

    /// Forgets what was counted, and answers everything from now on.
    pub fn end(&self) {
        self.on.store(false, Ordering::SeqCst);
        *self.seen() = Seen::default();
    }

    /// What becomes of the next request with this body.
    pub fn draw(&self, body: &Value) -> Drawn {
        let body = body.to_string();
        let mut seen = self.seen();
        let Seen { bodies, faults, too_early } = &mut *seen;
        let of = bodies.entry(body.clone()).or_default();
        *too_early += u64::from(of.not_before.take().is_some_and(|then| Instant::now() < then));
        let fault = Fault::drawn(&body, of.asked).filter(|_| self.on.load(Ordering::SeqCst));
        of.asked += 1;
        if let Some(fault) = fault {
            of.not_before = fault.wait().map(|wait| Instant::now() + wait);
            *faults.entry(fault).or_default() += 1;
            return Drawn::Fails(fault);
        }
        of.answered += 1;
        Drawn::Answered(of.answered - 1)
    }

    /// How often each fault was met.
    pub fn met(&self) -> BTreeMap<Fault, u64> {
        self.seen().faults.clone()
    }

    /// For each body that was asked for, how often it was answered.
    pub fn answered(&self) -> Vec<usize> {
        self.seen().bodies.values().map(|of| of.answered).collect()
    }

    /// Requests whose body was refused before, and that came before the time they were told. Means something only where
    /// no two units of work have one body.
    pub fn too_early(&self) -> u64 {
        self.seen().too_early
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
