//! Progress: a bar on a terminal, plain lines elsewhere.

use super::output;
use crate::model::{Amount, Event, Observer, StageName};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::IsTerminal as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often a plain line is printed at most.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Two lines, neither of which is wider than the terminal.
const BAR: &str = "{prefix} {wide_bar} {pos}/{len} {per_sec} {eta}\n{wide_msg}";
/// How often what is shown is looked at.
const TICK: Duration = Duration::from_secs(1);

/// Prints events to standard error.
pub struct Progress {
    state: Arc<Mutex<State>>,
}

struct State {
    terminal: bool,
    bar: Option<ProgressBar>,
    stage: Option<StageName>,
    started: Instant,
    last_line: Instant,
    first: u64,
    done: u64,
    total: u64,
    retries: u64,
    last_retry: &'static str,
    /// How many calls began at which moments and are not over.
    in_flight: BTreeMap<Instant, u32>,
    /// Until when no call is made, and what for.
    held: Option<Wait>,
    /// Until when the next attempt waits, and after what.
    pausing: Option<Wait>,
    spent: Amount,
    last_wait: Option<Instant>,
}

struct Wait {
    until: Instant,
    why: String,
}

impl Progress {
    /// Starts with nothing done. What happens is shown when it happens; that nothing happens, by a thread of its own, which ends
    /// with this.
    pub fn start() -> Self {
        let now = Instant::now();
        let state = State {
            terminal: std::io::stderr().is_terminal(),
            bar: None,
            stage: None,
            started: now,
            last_line: now,
            first: 0,
            done: 0,
            total: 0,
            retries: 0,
            last_retry: "",
            in_flight: BTreeMap::new(),
            held: None,
            pausing: None,
            spent: Amount::default(),
            last_wait: None,
        };
        let state = Arc::new(Mutex::new(state));
        let shown = Arc::downgrade(&state);
        std::thread::spawn(move || {
            while let Some(state) = shown.upgrade() {
                locked(&state).tick();
                drop(state);
                std::thread::sleep(TICK);
            }
        });
        Self { state }
    }
}

impl Observer for Progress {
    fn observe(&self, event: Event) {
        locked(&self.state).take(event);
    }
}

/// A panic elsewhere leaves numbers that are still good.
fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    fn take(&mut self, event: Event) {
        match event {
            Event::Started { stage, done, total } => self.begin(stage, done, total),
            Event::Advanced(_) => self.advance(),
            Event::Retrying { reason, wait, .. } => self.retry(reason, wait),
            Event::Waiting { what, wait, .. } => self.hold(wait, format!("for {what}")),
            Event::Called(at) => *self.in_flight.entry(at).or_default() += 1,
            Event::Over(at) => self.over(at),
            Event::Spent(amount) => self.spent = amount,
            Event::Sealed(stage) => self.seal(stage),
            Event::Note(text) => self.say(&text),
        }
    }

    fn begin(&mut self, stage: StageName, done: u64, total: u64) {
        let now = Instant::now();
        (self.stage, self.first, self.done, self.total) = (Some(stage), done, done, total);
        (self.started, self.last_line, self.retries) = (now, now, 0);
        (self.held, self.pausing) = (None, None);
        if self.terminal {
            let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(8));
            if let Ok(style) = ProgressStyle::with_template(BAR) {
                bar.set_style(style);
            }
            bar.set_prefix(name(stage));
            bar.set_position(done);
            bar.reset_eta();
            bar.set_message(self.standing());
            self.bar = Some(bar);
        } else if done > 0 {
            self.say(&format!("{}: goes on with {done} of {total} done", name(stage)));
        } else if total > 0 {
            self.say(&format!("{}: {total} to do", name(stage)));
        }
    }

    fn advance(&mut self) {
        self.done += 1;
        match &self.bar {
            Some(bar) => bar.inc(1),
            None => self.tell(),
        }
    }

    /// Shows how it stands, whether or not anything has happened.
    fn tick(&mut self) {
        match &self.bar {
            Some(bar) => bar.set_message(self.standing()),
            None => self.tell(),
        }
    }

    /// A plain line, where it is time for one.
    fn tell(&mut self) {
        if self.stage.is_some() && self.last_line.elapsed() >= LINE_EVERY {
            self.last_line = Instant::now();
            self.say(&self.line());
        }
    }

    /// One plain line: done of total, rate, and how it stands.
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    fn line(&self) -> String {
        let seconds = self.started.elapsed().as_secs_f64().max(0.001);
        let rate = (self.done - self.first) as f64 / seconds;
        let stage = self.stage.map_or("", name);
        let (done, total, standing) = (self.done, self.total, self.standing());
        format!("{stage}: {done}/{total} done, {rate:.1} a second, {standing}")
    }

    /// Retries, calls in flight, what is waited for, and what is spent.
    fn standing(&self) -> String {
        let parts = [Some(self.retried()), self.flying(), self.waits(Instant::now())];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        format!("{}{}", parts.join(", "), self.cost())
    }

    fn retried(&self) -> String {
        match self.retries {
            0 => "0 retries".to_owned(),
            1 => format!("1 retry ({})", self.last_retry),
            many => format!("{many} retries (last {})", self.last_retry),
        }
    }

    fn flying(&self) -> Option<String> {
        let (oldest, _) = self.in_flight.first_key_value()?;
        let (calls, age) = (self.in_flight.values().sum::<u32>(), oldest.elapsed().as_secs());
        Some(if calls == 1 {
            format!("1 in flight for {age} s")
        } else {
            format!("{calls} in flight for up to {age} s")
        })
    }

    /// What holds up every call, or the next attempt where nothing else goes on.
    fn waits(&self, now: Instant) -> Option<String> {
        let pausing = self.pausing.as_ref().filter(|_| self.in_flight.is_empty());
        let wait = [self.held.as_ref(), pausing].into_iter().flatten().find(|wait| wait.until > now)?;
        Some(waiting(wait.until - now, &wait.why))
    }

    fn retry(&mut self, reason: &'static str, wait: Duration) {
        self.retries += 1;
        self.last_retry = reason;
        let why = format!("after {reason}");
        self.announce(wait, &why);
        later(&mut self.pausing, wait, why);
    }

    fn hold(&mut self, wait: Duration, why: String) {
        self.announce(wait, &why);
        later(&mut self.held, wait, why);
    }

    fn over(&mut self, at: Instant) {
        if let Entry::Occupied(mut calls) = self.in_flight.entry(at) {
            *calls.get_mut() -= 1;
            if *calls.get() == 0 {
                calls.remove();
            }
        }
    }

    /// Where there is no terminal, a long wait is told at once, and not more often than other lines.
    fn announce(&mut self, wait: Duration, why: &str) {
        let told = self.last_wait.is_some_and(|told| told.elapsed() < LINE_EVERY);
        if self.bar.is_none() && wait >= LINE_EVERY && !told {
            self.last_wait = Some(Instant::now());
            let stage = self.stage.map_or("", name);
            self.say(&format!("{stage}: {}", waiting(wait, why)));
        }
    }

    /// What is spent so far, as the end of a line; nothing where nothing is.
    fn cost(&self) -> String {
        if self.spent.tokens == 0 { String::new() } else { format!(", {}", self.spent) }
    }

    fn seal(&mut self, stage: StageName) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
        self.stage = None;
        let retries = if self.retries == 0 { String::new() } else { format!(", {}", self.retried()) };
        let seconds = self.started.elapsed().as_secs_f64();
        let cost = self.cost();
        self.say(&format!("{}: {} done in {seconds:.1} s{retries}{cost}", name(stage), self.total));
    }

    /// Notes are texts of ours; what they quote is shown without control characters.
    fn say(&self, text: &str) {
        let shown: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        match &self.bar {
            Some(bar) => bar.println(shown),
            None => output::say(&shown),
        }
    }
}

/// Keeps the wait that is over later.
fn later(kept: &mut Option<Wait>, wait: Duration, why: String) {
    let Some(until) = Instant::now().checked_add(wait) else { return };
    if kept.as_ref().is_none_or(|kept| kept.until < until) {
        *kept = Some(Wait { until, why });
    }
}

fn waiting(wait: Duration, why: &str) -> String {
    format!("waiting {:.1} s {why}", wait.as_secs_f64())
}

const fn name(stage: StageName) -> &'static str {
    match stage {
        StageName::Retrieve => "retrieve",
        StageName::Generate => "generate",
        StageName::Judge => "judge",
        StageName::JudgeAgain => "judge again",
        StageName::JudgeSecond => "second judge",
        StageName::Replicate => "second generator",
        StageName::JudgeReplica => "judge of the second generator",
        StageName::Explain => "explain",
    }
}
