//! The outside world of a run: keys from the environment, the client, progress, Ctrl-C.

use super::progress::Progress;
use crate::http::{Budget, Client, Context, HttpSettings, Secrets};
use crate::model::{Failure, FailureClass, Observer, Silent};
use crate::spec::Spec;
use secrecy::SecretString;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Starts logging to standard error: warnings, or more with `-v`.
pub fn start_logging(verbose: u8) {
    let level = match verbose {
        0 => "warn",
        1 => "churngate=info",
        _ => "churngate=debug",
    };
    let subscriber = tracing_subscriber::fmt().with_env_filter(level).with_writer(std::io::stderr).finish();
    // A second call in one process (as in tests) keeps the first subscriber, which is what is wanted.
    drop(tracing::subscriber::set_global_default(subscriber));
}

/// Makes the context of one run.
///
/// # Errors
/// A key that the spec names is not set or no text; the client cannot be built.
pub fn context(spec: &Spec, tasks: Option<u32>, quiet: bool) -> Result<Context, Failure> {
    let settings = HttpSettings { connect_timeout: Duration::from_secs(10), max_body_bytes: 16 << 20 };
    let observer: Arc<dyn Observer> = if quiet { Arc::new(Silent) } else { Arc::new(Progress::start()) };
    let minutes = spec.budget.minutes.map(|minutes| Instant::now() + Duration::from_secs(u64::from(minutes) * 60));
    Ok(Context {
        client: Client::new(settings)?,
        secrets: Arc::new(secrets(spec)?),
        observer,
        cancel: CancellationToken::new(),
        budget: Arc::new(Budget::new(spec.budget.calls, minutes)),
        concurrency: tasks,
    })
}

/// The keys that the spec names, all missing ones told at once.
fn secrets(spec: &Spec) -> Result<Secrets, Failure> {
    let mut secrets = Secrets::default();
    let mut missing = Vec::new();
    for name in spec.secret_names() {
        match std::env::var(name) {
            Ok(key) if usable(&key) => secrets.insert(name, SecretString::from(key)),
            Ok(_) => missing.push(format!("environment variable `{name}` is empty or holds a control character")),
            Err(_) => missing.push(format!("environment variable `{name}` is not set")),
        }
    }
    if missing.is_empty() {
        return Ok(secrets);
    }
    Err(Failure::new(FailureClass::Usage, missing.join("\n"))
        .with_hint("the spec names it as a key; set it, or remove `key_env` where the server needs none"))
}

/// A key must fit into one header line.
fn usable(key: &str) -> bool {
    !key.is_empty() && !key.chars().any(char::is_control)
}

/// Cancels the run at the first Ctrl-C; ends the process at the second.
pub async fn cancel_on_interrupt(cancel: CancellationToken) {
    if tokio::signal::ctrl_c().await.is_err() {
        return;
    }
    cancel.cancel();
    eprintln!("interrupted: waiting for the calls in flight; press Ctrl-C again to stop at once");
    if tokio::signal::ctrl_c().await.is_ok() {
        std::process::exit(i32::from(FailureClass::Incomplete.exit_code()));
    }
}
