//! The pace of calls, by itself.

use super::*;
use crate::http::{Budget, Call, CallError, Reply, Tape, Unit};
use futures_util::FutureExt as _;
use std::sync::Arc;

fn context_until(deadline: Option<Instant>) -> Context {
    Context { budget: Arc::new(Budget::new(None, deadline)), ..Context::for_tests() }
}

fn pace(most: u32) -> (Pace, Context) {
    (Pace::new(most, RateLimit::default()), context_until(None))
}

/// Enters with a call of ten tokens.
async fn enter<'a>(pace: &'a Pace, context: &Context) -> Result<InFlight<'a>, Failure> {
    pace.enter(context, StageName::Judge, 10, u32::MAX).await
}

fn refusal(wait: Option<Duration>) -> Result<(), Wish> {
    Err(Wish { refused: true, wait })
}

/// One call that the server refuses, and perhaps says how long to wait.
async fn refused(pace: &Pace, context: &Context, wait: Option<Duration>) {
    enter(pace, context).await.unwrap().came_to(refusal(wait));
}

/// Ends the time in which nobody calls.
fn rested(pace: &Pace) {
    pace.state().quiet_until = None;
}

#[tokio::test]
async fn a_limit_of_the_spec_spreads_calls_and_headers_hold_them() {
    let limit = RateLimit { requests_per_minute: Some(600), tokens_per_minute: None };
    let (pace, context) = (Pace::new(8, limit), context_until(None));
    let started = Instant::now();
    for _ in 0..3 {
        assert!(enter(&pace, &context).await.is_ok());
    }
    assert!(started.elapsed() >= Duration::from_millis(200));
    let hold = Some(Duration::from_millis(300));
    pace.took(Amount::default(), &Facts { hold, ..Facts::default() });
    assert_eq!(pace.allowed(), 8, "a header is no refusal");
    let since = Instant::now();
    assert!(enter(&pace, &context).await.is_ok());
    assert!(since.elapsed() >= Duration::from_millis(290));
}

#[tokio::test]
async fn the_pace_falls_by_half_and_rises_by_one() {
    let (pace, context) = pace(8);
    let mut calls = Vec::new();
    for _ in 0..8 {
        calls.push(enter(&pace, &context).await.unwrap());
    }
    assert!(enter(&pace, &context).now_or_never().is_none(), "nine calls are in flight");
    for call in &calls {
        call.came_to(refusal(None));
    }
    assert_eq!(pace.allowed(), 4, "all of them were refused for one cause");
    drop(calls);
    rested(&pace);
    let mut four = Vec::new();
    for _ in 0..4 {
        four.push(enter(&pace, &context).now_or_never().unwrap().unwrap());
    }
    assert!(enter(&pace, &context).now_or_never().is_none());
    four[0].came_to(refusal(None));
    assert_eq!(pace.allowed(), 2, "these began at the lower pace");
    drop(four);
    rested(&pace);
    let two = [enter(&pace, &context).await.unwrap(), enter(&pace, &context).await.unwrap()];
    assert!(enter(&pace, &context).now_or_never().is_none());
    for call in &two {
        call.came_to(Ok(()));
    }
    assert_eq!(pace.allowed(), 3);
    assert!(enter(&pace, &context).now_or_never().is_some());
    for _ in 0..100 {
        two[0].came_to(Ok(()));
    }
    assert_eq!(pace.allowed(), 8);
}

#[tokio::test]
async fn a_wish_holds_up_every_call_and_counts_once() {
    let (pace, context) = pace(8);
    // Long enough for five refusals on the slowest machine.
    let wish = Duration::from_millis(700);
    let mut calls = Vec::new();
    for _ in 0..5 {
        calls.push(enter(&pace, &context).await.unwrap());
    }
    let started = Instant::now();
    for call in &calls {
        call.came_to(refusal(Some(wish)));
    }
    assert_eq!(pace.allowed(), 4);
    drop(calls);
    assert!(enter(&pace, &context).await.is_ok());
    assert!(started.elapsed() >= wish);
    refused(&pace, &context, Some(Duration::from_mins(10))).await;
    context.cancel.cancel();
    assert_eq!(enter(&pace, &context).await.unwrap_err().message, "interrupted");
}

#[tokio::test]
async fn what_one_server_wishes_holds_up_no_other() {
    let ((generator, context), (judge, _)) = (pace(2), pace(2));
    refused(&generator, &context, Some(Duration::from_mins(10))).await;
    assert!(enter(&generator, &context).now_or_never().is_none());
    for _ in 0..20 {
        enter(&judge, &context).now_or_never().unwrap().unwrap().came_to(Ok(()));
    }
    assert_eq!((generator.allowed(), judge.allowed()), (1, 2));
}

#[tokio::test]
async fn the_end_of_the_budgets_time_ends_every_wait() {
    let soon = || context_until(Some(Instant::now() + Duration::from_millis(30)));
    let slow = RateLimit { requests_per_minute: Some(1), tokens_per_minute: None };
    let (of_the_server, of_the_spec, of_others) = (pace(2).0, Pace::new(2, slow), Pace::new(1, RateLimit::default()));
    refused(&of_the_server, &context_until(None), Some(Duration::from_mins(10))).await;
    drop(enter(&of_the_spec, &context_until(None)).await.unwrap());
    let _in_flight = enter(&of_others, &context_until(None)).await.unwrap();
    for (pace, wait, said) in [
        (&of_the_server, "Retry-After", "longer than the audit may"),
        (&of_the_spec, "a slot", "the budget of minutes is used up"),
        (&of_others, "a place", "the budget of minutes is used up"),
    ] {
        let failure = enter(pace, &soon()).await.unwrap_err();
        assert_eq!(failure.class, FailureClass::Incomplete, "{wait}");
        assert!(failure.message.contains(said), "{wait}: {failure}");
    }
}

#[tokio::test]
async fn a_wish_beyond_what_the_audit_may_wait_holds_nobody_who_comes_after_it() {
    let (pace, context) = pace(2);
    refused(&pace, &context, Some(Duration::from_secs(99_999))).await;
    let failure = enter(&pace, &context).now_or_never().unwrap().unwrap_err();
    assert_eq!(failure.class, FailureClass::Incomplete);
    assert!(failure.message.contains("would have to wait 99999 s, longer than the audit may"), "{failure}");
    assert_eq!(failure.hint.as_deref(), Some("run the same command again later to go on"));
}

/// Answers every call with nothing.
#[derive(Debug)]
struct Blank;

impl Tape for Blank {
    fn replays(&self) -> bool {
        true
    }

    fn play(&self, _: &Call, _: &Unit) -> Option<Result<Reply, CallError>> {
        Some(Err(CallError::NotRecorded))
    }

    fn keep(&self, _: &Call, _: &Unit, _: &Result<Reply, CallError>) {}

    fn skip(&self, _: &Unit, _: u64) {}

    fn lacks(&self, _: &Unit, _: u64) -> bool {
        false
    }

    fn trouble(&self) -> Option<Failure> {
        None
    }
}

#[tokio::test]
async fn a_replay_is_held_by_no_wish() {
    let (pace, mut context) = pace(2);
    context.client = context.client.clone().with_tape(Arc::new(Blank));
    for seconds in [60, 99_999] {
        refused(&pace, &context, Some(Duration::from_secs(seconds))).await;
        assert!(enter(&pace, &context).now_or_never().unwrap().is_ok(), "{seconds} s");
    }
}

#[tokio::test]
async fn who_waits_for_the_server_takes_no_slot_meanwhile() {
    let limit = RateLimit { requests_per_minute: Some(300), tokens_per_minute: None };
    let (pace, context) = (Pace::new(8, limit), context_until(None));
    pace.lower(0, Some(Duration::from_millis(700)));
    let mut waiting = futures_util::future::join_all((0..4).map(|_| enter(&pace, &context)));
    assert!((&mut waiting).now_or_never().is_none(), "all of them wait");
    let after = Instant::now() + Duration::from_millis(700);
    assert!(waiting.await.iter().all(Result::is_ok));
    // Four calls at 300 a minute: the last one comes three slots of 200 ms after the first.
    assert!(after.elapsed() >= Duration::from_millis(590), "{:?}", after.elapsed());
}

#[tokio::test]
async fn as_many_stand_in_line_as_may_be_in_flight_and_the_budget_counts_when_their_turn_comes() {
    let (pace, mut context) = pace(2);
    context.budget = Arc::new(Budget::new(Some(3), None));
    let most = Amount { tokens: 10, nano_usd: 0 };
    let go = |in_line: InLine<'static>| in_line.go(Box::leak(Box::new(context.clone())), StageName::Judge, most);
    let pace: &'static Pace = Box::leak(Box::new(pace));
    let (first, second) = (pace.line_up(&context).await.unwrap(), pace.line_up(&context).await.unwrap());
    assert!(pace.line_up(&context).now_or_never().is_none(), "the line is full");
    let (_first, second) = (go(first).await.unwrap(), go(second).await.unwrap());
    let (third, fourth) = (pace.line_up(&context).await.unwrap(), pace.line_up(&context).await.unwrap());
    let mut third = Box::pin(go(third));
    assert!((&mut third).now_or_never().is_none(), "two calls are in flight");
    drop(second);
    let third = third.await.unwrap();
    drop(third);
    let failure = go(fourth).await.unwrap_err();
    assert!(failure.message.contains("the budget of calls is used up"), "{failure}");
}

#[tokio::test]
async fn at_least_one_call_may_be_made() {
    let (pace, context) = pace(0);
    for _ in 0..5 {
        refused(&pace, &context, None).await;
        rested(&pace);
    }
    assert!(enter(&pace, &context).await.is_ok());
}

#[tokio::test]
async fn after_refusals_without_a_wish_nobody_calls_for_a_time_that_doubles_until_an_answer() {
    let (pace, context) = pace(8);
    let rests = async |wait| {
        refused(&pace, &context, wait).await;
        let rest = pace.quiet(&context).unwrap_or_default().as_millis();
        rested(&pace);
        rest
    };
    for least in [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000] {
        let rest = rests(None).await;
        // Some of it may be over already.
        assert!((least - 100..=least * 5 / 4).contains(&rest), "{rest} for {least}");
    }
    assert!((1_900..=2_000).contains(&rests(Some(Duration::from_secs(2))).await), "what is wished for is granted");
    assert!(rests(Some(Duration::ZERO)).await > 20_000, "a wish of nothing is none");
    enter(&pace, &context).await.unwrap().came_to(Ok(()));
    assert!((400..=625).contains(&rests(None).await), "after an answer it begins anew");
}

#[tokio::test]
async fn a_refusal_of_calls_that_were_in_flight_together_counts_once() {
    let (pace, context) = pace(8);
    let mut calls = Vec::new();
    for _ in 0..8 {
        calls.push(enter(&pace, &context).await.unwrap());
    }
    for call in &calls {
        call.came_to(refusal(None));
    }
    assert!(pace.quiet(&context).unwrap() <= Duration::from_millis(625));
}

#[tokio::test]
async fn what_fails_for_another_cause_holds_nobody_up() {
    let (pace, context) = pace(8);
    enter(&pace, &context).await.unwrap().came_to(Err(Wish { refused: false, wait: Some(Duration::from_mins(1)) }));
    assert_eq!((pace.allowed(), pace.quiet(&context)), (8, None));
}

#[tokio::test]
async fn a_server_that_fails_otherwise_in_between_has_not_refused_every_call() {
    let (mut pace, context) = pace(8);
    pace.patience = Duration::from_millis(50);
    for _ in 0..2 {
        refused(&pace, &context, None).await;
        tokio::time::sleep(pace.patience).await;
        rested(&pace);
        enter(&pace, &context).await.unwrap().came_to(Err(Wish::NONE));
    }
    refused(&pace, &context, None).await;
    rested(&pace);
    assert!(enter(&pace, &context).await.is_ok());
    let other = Failure::new(FailureClass::Incomplete, "the disk is full");
    assert!(matches!(pace.unmade::<()>(other), Attempted::Fatal(_)));
    assert!(matches!(pace.unmade::<()>(refused_throughout(pace.patience)), Attempted::Unserved(_)));
}

#[tokio::test]
async fn a_server_that_refuses_every_call_for_minutes_is_out_until_it_answers() {
    let (mut pace, context) = pace(8);
    pace.patience = Duration::from_millis(50);
    for _ in 0..3 {
        refused(&pace, &context, None).await;
        rested(&pace);
    }
    tokio::time::sleep(pace.patience).await;
    assert!(enter(&pace, &context).await.is_ok(), "who waited as long as the server wished may ask");
    refused(&pace, &context, None).await;
    rested(&pace);
    let failure = enter(&pace, &context).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Incomplete);
    assert!(failure.message.contains("answered no call"), "{failure}");
    // One that was in flight meanwhile.
    pace.raise();
    assert!(enter(&pace, &context).await.is_ok());
}

/// A call for the attempt of this number at its unit, at a server that is out at its first refusal.
async fn attempted<'a>(pace: &'a Pace, context: &Context, number: u32) -> Result<InFlight<'a>, Failure> {
    rested(pace);
    pace.enter(context, StageName::Generate, 10, number).await
}

#[tokio::test]
async fn units_that_a_server_never_takes_do_not_speak_for_others() {
    for (most, bad) in [(1, 1), (1, 9), (2, 9), (8, 9), (64, 9)] {
        let (mut pace, context) = pace(most);
        pace.patience = Duration::ZERO;
        for _ in 0..bad {
            for number in 0..2 {
                attempted(&pace, &context, number).await.unwrap().came_to(refusal(None));
            }
            assert!(attempted(&pace, &context, 2).await.is_err(), "it goes by itself");
        }
        attempted(&pace, &context, 0).await.unwrap().came_to(Ok(()));
        assert!(attempted(&pace, &context, 2).await.is_ok(), "the server takes calls: {most} {bad}");
    }
}

#[tokio::test]
async fn a_server_that_takes_none_of_them_either_gets_few_calls_more_one_at_a_time() {
    let (mut pace, context) = pace(1);
    pace.patience = Duration::ZERO;
    refused(&pace, &context, None).await;
    let mut calls = 0;
    while let Ok(call) = attempted(&pace, &context, 0).await {
        assert!(attempted(&pace, &context, 0).now_or_never().is_none(), "one is in flight");
        call.came_to(refusal(None));
        assert!(pace.quiet(&context).unwrap() <= Duration::from_millis(2_500));
        calls += 1;
    }
    assert_eq!(calls, LAST_CALLS);
    assert!(matches!(pace.unmade::<()>(refused_throughout(pace.patience)), Attempted::Unserved(_)));
}
