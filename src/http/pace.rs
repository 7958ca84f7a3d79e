//! How many calls to one server may be in flight, and how often it is called: fewer once it says that they are too many, more
//! again while it takes them, and never more than the spec allows. One pace a backend, so that the wishes of one server hold
//! up no other.

use super::attempts::{GOES_ALONE, allow, spread};
use super::opening::SILENT;
use super::rate::Rate;
use super::told::Told;
use super::{Attempted, Context, Reserved, Wish, chat::Facts, interrupted};
use crate::model::{Amount, Event, Failure, FailureClass, RateLimit, StageName};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, SemaphorePermit};

/// How long a server may refuse every call. Limits by the minute are over by then; what lasts longer is an outage.
const PATIENCE: Duration = Duration::from_mins(5);
/// How long no call is made after a refusal that asks for no wait; doubles with each that follows before an answer.
const FIRST_REST: Duration = Duration::from_millis(500);
/// The longest such time.
const LONGEST_REST: Duration = Duration::from_secs(30);

/// The same once it has refused every call for so long: few calls follow, and one that it takes ends the wait of all.
const REST_WHERE_OUT: Duration = Duration::from_secs(2);
/// How many further calls such a server gets, of units that it did not refuse before: those it refuses may be what it never takes.
const LAST_CALLS: u32 = SILENT * GOES_ALONE;

/// The calls that one server may have in flight. Halved when it refuses a call for there being too many, and raised by one after
/// as many answers in a row as may be in flight: additive increase, multiplicative decrease. After a refusal nobody calls for as
/// long as the server asks for; where it asks for nothing, for a time that doubles until it answers.
#[derive(Debug)]
pub struct Pace {
    /// Places before the calls in flight.
    line: Semaphore,
    permits: Semaphore,
    most: usize,
    patience: Duration,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    allowed: usize,
    /// Permits to be withdrawn as soon as they come back.
    owed: usize,
    answered: usize,
    /// How often the pace was lowered.
    lowered: u64,
    quiet_until: Option<Instant>,
    /// How long the next refusal that asks for no wait holds up all calls.
    rest: Duration,
    /// Since when every call was refused.
    refused_since: Option<Instant>,
    /// Whether that is longer than any server is waited for.
    is_out: bool,
    /// How many calls it refused since then.
    refused_since_out: u32,
    rate: Rate,
}

/// A place in the line before the calls in flight. Whoever has one records its attempt, so that its call can leave as soon as
/// another one is over: no server waits for our disk. The line is as long as the spec's limit of calls in flight, which bounds
/// the attempts that are on record and were not made when the power goes.
#[derive(Debug)]
pub struct InLine<'a> {
    pace: &'a Pace,
    /// Which attempt of its unit it is for; the last ones may not ask a server that is out.
    number: u32,
    _place: SemaphorePermit<'a>,
}

/// One call in flight; ends when it is dropped.
#[derive(Debug)]
pub struct InFlight<'a> {
    pace: &'a Pace,
    permit: Option<SemaphorePermit<'a>>,
    /// How often the pace had been lowered when it began.
    lowered: u64,
    _told: Told,
}

impl State {
    /// The server did something else than refuse a call for there being too many.
    fn is_there(&mut self) {
        (self.refused_since, self.is_out, self.refused_since_out) = (None, false, 0);
    }
}

impl Pace {
    /// At most so many calls in flight, and at least one; no more of them in a minute than `limit` says.
    #[must_use]
    pub fn new(most: u32, limit: RateLimit) -> Self {
        let most = (most as usize).clamp(1, Semaphore::MAX_PERMITS);
        let state = State {
            allowed: most,
            owed: 0,
            answered: 0,
            lowered: 0,
            quiet_until: None,
            rest: FIRST_REST,
            refused_since: None,
            is_out: false,
            refused_since_out: 0,
            rate: Rate::new(limit),
        };
        let (line, permits) = (Semaphore::new(most), Semaphore::new(most));
        Self { line, permits, most, patience: PATIENCE, state: Mutex::new(state) }
    }

    /// Waits for a place in line.
    ///
    /// # Errors
    /// The audit is cancelled meanwhile, or its time is up.
    pub async fn line_up(&self, context: &Context) -> Result<InLine<'_>, Failure> {
        // Nobody closes it: an error could only mean that the audit ends.
        let place = context.unless_ended(self.line.acquire()).await?.map_err(|_| interrupted())?;
        if context.cancel.is_cancelled() {
            Err(interrupted())
        } else {
            Ok(InLine { pace: self, number: u32::MAX, _place: place })
        }
    }

    async fn enter(
        &self,
        context: &Context,
        stage: StageName,
        tokens: u64,
        number: u32,
    ) -> Result<InFlight<'_>, Failure> {
        let mut has_slot = false;
        loop {
            // Nobody closes it: an error could only mean that the audit ends.
            let permit = context.unless_ended(self.permits.acquire()).await?.map_err(|_| interrupted())?;
            if self.is_over(number) {
                return Err(refused_throughout(self.patience));
            }
            // Whoever waits for the server takes no slot meanwhile: else all of them would go on at once, beyond the rate.
            if !has_slot && self.quiet(context).is_none() {
                has_slot = true;
                let slot = self.state().rate.take(tokens, Instant::now());
                wait(context, stage, "rate_limit", slot).await?;
            }
            let Some(quiet) = self.quiet(context) else {
                if !has_slot {
                    continue;
                }
                if context.cancel.is_cancelled() {
                    return Err(interrupted());
                }
                let (lowered, told) = (self.state().lowered, Told::of_call(&context.observer));
                return Ok(InFlight { pace: self, permit: Some(permit), lowered, _told: told });
            };
            drop(permit);
            // Whoever was refused may have had no attempt left and be gone: the wish is weighed by those who would wait for it.
            allow(context, quiet)?;
            wait(context, stage, "the server's limits", spread(quiet)).await?;
        }
    }

    /// What a call came to: how many tokens it was thought to take, and what the server said beside its reply.
    pub fn took(&self, thought: Amount, facts: &Facts) {
        let mut state = self.state();
        if let Some(took) = facts.amount() {
            state.rate.correct(thought.tokens, took.tokens);
        }
        let until = facts.hold.and_then(|hold| Instant::now().checked_add(hold));
        state.quiet_until = state.quiet_until.max(until);
    }

    fn raise(&self) {
        let mut state = self.state();
        state.rest = FIRST_REST;
        state.is_there();
        state.answered += 1;
        if state.answered < state.allowed || state.allowed == self.most {
            return;
        }
        state.answered = 0;
        state.allowed += 1;
        match state.owed.checked_sub(1) {
            Some(owed) => state.owed = owed,
            None => self.permits.add_permits(1),
        }
    }

    /// Several calls in flight are refused for one cause: of those that began at one pace only the first lowers it.
    fn lower(&self, began: u64, wait: Option<Duration>) {
        let (mut state, now) = (self.state(), Instant::now());
        state.answered = 0;
        let since = *state.refused_since.get_or_insert(now);
        state.refused_since_out += u32::from(state.is_out);
        state.is_out = now - since >= self.patience;
        if state.is_out {
            state.rest = REST_WHERE_OUT;
        }
        let is_first = began == state.lowered;
        let rest = if is_first { spread(state.rest) } else { Duration::ZERO };
        // A wish of nothing is none: it would have all calls made at once.
        let until = now.checked_add(wait.filter(|wait| !wait.is_zero()).unwrap_or(rest));
        state.quiet_until = state.quiet_until.max(until);
        if !is_first {
            return;
        }
        state.lowered += 1;
        state.rest = (state.rest * 2).min(LONGEST_REST);
        let allowed = (state.allowed / 2).max(1);
        let withdrawn = state.allowed - allowed;
        state.allowed = allowed;
        state.owed += withdrawn - self.permits.forget_permits(withdrawn);
    }

    /// Whether an attempt of this number gets no call any more. A unit that the server may never take does not speak for
    /// others: each of these may ask, until as many were refused as show that the server takes none.
    fn is_over(&self, number: u32) -> bool {
        let state = self.state();
        state.is_out && (number >= GOES_ALONE || state.refused_since_out >= LAST_CALLS)
    }

    /// What a call came to that was not made for this: whether its unit may be given up by itself.
    #[must_use]
    pub fn unmade<T>(&self, failure: Failure) -> Attempted<T> {
        if failure == refused_throughout(self.patience) {
            Attempted::Unserved(failure)
        } else {
            Attempted::Fatal(failure)
        }
    }

    /// The server gave no answer, and did not refuse the call for there being too many.
    fn failed(&self) {
        self.state().is_there();
    }

    /// How many calls may be in flight at most.
    #[must_use]
    pub const fn most(&self) -> usize {
        self.most
    }

    /// How many calls may be in flight now.
    #[must_use]
    pub fn allowed(&self) -> usize {
        self.state().allowed
    }

    /// How long no call may be made yet. A recording has no limits that a wait could keep.
    fn quiet(&self, context: &Context) -> Option<Duration> {
        if context.client.is_replaying() {
            return None;
        }
        let left = self.state().quiet_until?.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }

    /// A panic elsewhere leaves numbers that are still good.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'a> InLine<'a> {
    /// The same for the attempt of this number at its unit, from 0: a server that refuses every call is still asked for units that
    /// it did not refuse.
    #[must_use]
    pub fn for_attempt(self, number: u32) -> Self {
        Self { number, ..self }
    }

    /// Waits until a call may be made that no budget counts, and leaves the line.
    ///
    /// # Errors
    /// As [`Self::go`], but for the budget of calls.
    pub async fn begin(self, context: &Context, stage: StageName) -> Result<InFlight<'a>, Failure> {
        self.pace.enter(context, stage, 0, self.number).await
    }

    /// Waits until a call may be made that takes this at most, takes it out of the budget, and leaves the line. Long waits are
    /// told to the context's observer.
    ///
    /// # Errors
    /// The audit is cancelled meanwhile, its budget or its time is used up, or the server wishes for a longer wait than the
    /// audit may make.
    pub async fn go<'c>(
        self,
        context: &'c Context,
        stage: StageName,
        most: Amount,
    ) -> Result<(InFlight<'a>, Reserved<'c>), Failure> {
        let in_flight = self.pace.enter(context, stage, most.tokens, self.number).await?;
        // Not before its turn: what others have taken meanwhile counts.
        let reserved = context.budget.begin(most, &context.cancel).await?;
        Ok((in_flight, reserved))
    }
}

impl InFlight<'_> {
    /// What came of the call: an answer, or what a server that gave none says of the next call.
    pub fn came_to(&self, came: Result<(), Wish>) {
        match came {
            Ok(()) => self.pace.raise(),
            Err(Wish { refused: true, wait }) => self.pace.lower(self.lowered, wait),
            Err(Wish { refused: false, .. }) => self.pace.failed(),
        }
    }
}

fn refused_throughout(patience: Duration) -> Failure {
    let minutes = patience.as_secs() / 60;
    let message =
        format!("the server answered no call for {minutes} minutes: it refused all of them for there being too many");
    Failure::new(FailureClass::Incomplete, message).with_hint(
        "see what limits the account and the server have, and set `concurrency` and `rate_limit` below them; \
         then run the same command again to go on",
    )
}

/// Waits are told from this length on.
const WORTH_TELLING: Duration = Duration::from_secs(1);

async fn wait(context: &Context, stage: StageName, what: &'static str, time: Duration) -> Result<(), Failure> {
    if time.is_zero() {
        return Ok(());
    }
    if time >= WORTH_TELLING {
        context.observer.observe(Event::Waiting { stage, what, wait: time });
    }
    context.pause(time).await
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        let Some(permit) = self.permit.take() else { return };
        let mut state = self.pace.state();
        if let Some(owed) = state.owed.checked_sub(1) {
            state.owed = owed;
            permit.forget();
        }
    }
}

#[cfg(test)]
mod tests;
