//! Progress: a bar on a terminal, plain lines elsewhere.

use super::output;
use crate::model::{Amount, Event, Observer, StageName};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often a plain line is printed at most.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Prints events to standard error.
pub struct Progress {
    state: Mutex<State>,
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
    spent: Amount,
    last_wait: Option<Instant>,
}

impl Progress {
    /// Starts with nothing done.
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
            spent: Amount::default(),
            last_wait: None,
        };
        Self { state: Mutex::new(state) }
    }
}

impl Observer for Progress {
    fn observe(&self, event: Event) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).take(event);
    }
}

impl State {
    fn take(&mut self, event: Event) {
        match event {
            Event::Started { stage, done, total } => self.begin(stage, done, total),
            Event::Advanced(_) => self.advance(),
            Event::Retrying { reason, wait, .. } => self.retry(reason, wait),
            Event::Waiting { what, wait, .. } => self.waiting(wait, &format!("for {what}")),
            Event::Spent(amount) => self.spent = amount,
            Event::Sealed(stage) => self.seal(stage),
            Event::Note(text) => self.say(&text),
        }
    }

    fn begin(&mut self, stage: StageName, done: u64, total: u64) {
        let now = Instant::now();
        (self.stage, self.first, self.done, self.total) = (Some(stage), done, done, total);
        (self.started, self.last_line, self.retries) = (now, now, 0);
        if self.terminal {
            let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(8));
            if let Ok(style) = ProgressStyle::with_template("{msg:10} {bar:30} {pos}/{len} {per_sec} {eta}") {
                bar.set_style(style);
            }
            bar.set_message(name(stage));
            bar.set_position(done);
            self.bar = Some(bar);
        } else if done > 0 {
            self.say(&format!("{}: goes on with {done} of {total} done", name(stage)));
        }
    }

    fn advance(&mut self) {
        self.done += 1;
        match &self.bar {
            Some(bar) => bar.inc(1),
            None if self.last_line.elapsed() >= LINE_EVERY => {
                self.last_line = Instant::now();
                self.say(&self.line());
            }
            None => {}
        }
    }

    /// One plain line: done of total, rate, retries.
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    fn line(&self) -> String {
        let seconds = self.started.elapsed().as_secs_f64().max(0.001);
        let rate = (self.done - self.first) as f64 / seconds;
        let stage = self.stage.map_or("", name);
        let (done, total, retries, cost) = (self.done, self.total, self.retries, self.cost());
        format!("{stage}: {done}/{total} done, {rate:.1} a second, {retries} retries{cost}")
    }

    fn retry(&mut self, reason: &'static str, wait: Duration) {
        self.retries += 1;
        self.waiting(wait, &format!("after {reason}"));
    }

    /// On a terminal the last wait is shown; elsewhere long ones are, and not more often than other lines.
    fn waiting(&mut self, wait: Duration, why: &str) {
        let text = format!("waiting {:.1} s {why}", wait.as_secs_f64());
        let told = self.last_wait.is_some_and(|told| told.elapsed() < LINE_EVERY);
        match &self.bar {
            Some(bar) => bar.set_message(format!("{text}{}", self.cost())),
            None if wait >= LINE_EVERY && !told => {
                self.last_wait = Some(Instant::now());
                let stage = self.stage.map_or("", name);
                self.say(&format!("{stage}: {text}"));
            }
            None => {}
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
        let retries = if self.retries == 0 { String::new() } else { format!(", {} retries", self.retries) };
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

const fn name(stage: StageName) -> &'static str {
    match stage {
        StageName::Retrieve => "retrieve",
        StageName::Generate => "generate",
        StageName::Judge => "judge",
        StageName::JudgeAgain => "judge again",
        StageName::JudgeSecond => "second judge",
        StageName::Replicate => "second generator",
        StageName::JudgeReplica => "judge of the second generator",
    }
}
