//! The work of one command, and what ends it early: Ctrl-C, a request to end, a closed terminal.

use super::{output, tape};
use crate::http::Context;
use crate::model::{Failure, FailureClass};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

/// How long calls in flight may take after an interrupt.
const GRACE: Duration = Duration::from_secs(30);

/// The threads of one command's work.
pub struct Work<'a> {
    context: &'a Context,
    /// Taken when it ends.
    runtime: Option<Runtime>,
}

impl<'a> Work<'a> {
    /// Begins.
    ///
    /// # Errors
    /// The system gives no threads.
    pub fn new(context: &'a Context) -> Result<Self, Failure> {
        let runtime = super::runtime()?;
        #[cfg(unix)]
        runtime.block_on(async { outlive_a_limit_of_files() });
        Ok(Self { context, runtime: Some(runtime) })
    }

    /// Does some of it, with interrupts listened to beside it. What is given up at the second one is dropped, and the programs
    /// that it started end with it; ledgers that were open are closed, with all in them that was said to be recorded.
    ///
    /// # Errors
    /// Those of the work; what went wrong with the tape; or that it was given up.
    pub fn does<T>(&self, work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
        let Some(runtime) = &self.runtime else { return Err(given_up("it ended before".to_owned())) };
        let context = self.context;
        runtime.block_on(async {
            tokio::select! {
                finished = work => tape::standing(finished, context),
                failure = interrupted_twice(&context.cancel) => Err(failure),
            }
        })
    }
}

impl Drop for Work<'_> {
    /// After an interrupt nothing waits for what still has a thread of its own, such as a search: nobody is left to take what it
    /// comes to, and what it may have half written is what a crash leaves.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take().filter(|_| self.context.cancel.is_cancelled()) {
            runtime.shutdown_background();
        }
    }
}

/// Cancels the run at the first interrupt and ends at the second, or when the calls in flight have had their time, with
/// what is then to be said.
async fn interrupted_twice(cancel: &CancellationToken) -> Failure {
    tokio::select! {
        () = interrupted() => {}
        () = hung_up() => {}
    }
    cancel.cancel();
    let seconds = GRACE.as_secs();
    output::say(&format!(
        "interrupted: waiting up to {seconds} seconds for the calls in flight; interrupt again to stop at once"
    ));
    // A terminal that closes may say so twice, by its shell and by the system: nobody asked again.
    tokio::select! {
        () = interrupted() => given_up("interrupted twice: the calls in flight were given up".to_owned()),
        () = tokio::time::sleep(GRACE) => given_up(format!("interrupted: calls in flight were given up after {seconds} seconds")),
    }
}

fn given_up(why: String) -> Failure {
    Failure::new(FailureClass::Incomplete, why).with_hint("run the same command again to go on")
}

/// Ends at Ctrl-C, or where the system asks the process to end. Never ends where no signal can be had.
async fn interrupted() {
    let pressed = async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    #[cfg(unix)]
    let asked = signalled(tokio::signal::unix::SignalKind::terminate());
    #[cfg(not(unix))]
    let asked = std::future::pending::<()>();
    tokio::select! {
        () = asked => {}
        () = pressed => {}
    }
}

/// Ends where the terminal closes. Never ends where whoever started the process has it outlive its terminal: to listen would undo
/// what `nohup` did.
async fn hung_up() {
    #[cfg(unix)]
    if !outlives_its_terminal() {
        return signalled(tokio::signal::unix::SignalKind::hangup()).await;
    }
    std::future::pending::<()>().await;
}

/// Has a file that reaches the limit of its size (`ulimit -f`) fail to be written, as on a full disk: the signal that comes with it
/// would end the process without a word.
#[cfg(unix)]
fn outlive_a_limit_of_files() {
    // Where nobody can listen to it, the process ends as it would have.
    drop(tokio::signal::unix::signal(tokio::signal::unix::SignalKind::from_raw(SIGXFSZ)));
}

/// The number of that signal on every Unix that this program is built for.
#[cfg(unix)]
const SIGXFSZ: std::ffi::c_int = 25;

#[cfg(unix)]
async fn signalled(kind: tokio::signal::unix::SignalKind) {
    if let Ok(mut signal) = tokio::signal::unix::signal(kind) {
        signal.recv().await;
    } else {
        std::future::pending::<()>().await;
    }
}

/// Whether a closed terminal is passed over, as the system says where it does. Elsewhere a process whose errors do not go to a
/// terminal may be one of `nohup`, which sends them elsewhere.
#[cfg(unix)]
fn outlives_its_terminal() -> bool {
    use std::io::IsTerminal as _;
    let status = fs_err::read_to_string("/proc/self/status").ok();
    status.and_then(|status| ignores_hangup(&status)).unwrap_or_else(|| !std::io::stderr().is_terminal())
}

/// Whether a process with this `/proc/PID/status` ignores the first signal, which is SIGHUP on every Unix.
#[cfg(unix)]
fn ignores_hangup(status: &str) -> Option<bool> {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(mask.trim(), 16).ok().map(|mask| mask & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::time::Instant;

    #[test]
    fn nothing_waits_for_a_thread_once_the_work_was_interrupted_and_else_everything_does() {
        for interrupted in [true, false] {
            let context = Context::for_tests();
            let (done, is_done) = mpsc::channel();
            let work = Work::new(&context).unwrap();
            let begun = Instant::now();
            let pause = if interrupted { GRACE } else { Duration::from_millis(200) };
            work.does(async {
                drop(tokio::task::spawn_blocking(move || {
                    std::thread::sleep(pause);
                    done.send(())
                }));
                tokio::time::sleep(Duration::from_millis(50)).await;
                Ok(())
            })
            .unwrap();
            if interrupted {
                context.cancel.cancel();
            }
            drop(work);
            assert_eq!(is_done.try_recv().is_ok(), !interrupted);
            assert!(begun.elapsed() < GRACE / 2);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_process_says_whether_it_ignores_that_its_terminal_closes() {
        let status = |mask: &str| format!("Name:\tx\nSigBlk:\t0000000000000001\nSigIgn:\t{mask}\n");
        for (mask, ignores) in
            [("0000000000001001", Some(true)), ("0000000000001000", Some(false)), ("", None), ("x", None)]
        {
            assert_eq!(ignores_hangup(&status(mask)), ignores, "{mask}");
        }
        assert_eq!(ignores_hangup("Name:\tx\n"), None);
    }
}
