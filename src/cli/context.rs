//! The outside world of a run: keys from the environment, the client, progress.

use super::arguments::TapeArguments;
use super::progress::Progress;
use super::tape;
use crate::http::{Budget, Client, Context, HttpSettings, Secrets};
use crate::model::{Failure, FailureClass, Observer, Silent};
use crate::spec::{Named, RetrieveBackend, Spec, SqlEngine};
use secrecy::SecretString;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Makes the context of one run.
///
/// # Errors
/// A key that the spec names is not set or no text; the client cannot be built.
pub fn context(spec: &Spec, tape: &TapeArguments, tasks: Option<u32>, quiet: bool) -> Result<Context, Failure> {
    made(spec, &spec.named(), tape, tasks, quiet)
}

/// Makes the context of retrieval alone, which needs no key of a generator or a judge.
///
/// # Errors
/// As [`context`], of the keys that retrieval needs.
pub fn for_retrieval(spec: &Spec, tape: &TapeArguments, tasks: Option<u32>, quiet: bool) -> Result<Context, Failure> {
    made(spec, &spec.named_in_retrieval(), tape, tasks, quiet)
}

/// Makes the context of some calls to the generator alone, of which there may be so many.
///
/// # Errors
/// As [`context`], of the keys that the generator needs.
pub fn for_generation(spec: &Spec, calls: Option<u64>, tasks: Option<u32>, quiet: bool) -> Result<Context, Failure> {
    let context = made(spec, &spec.named_in_generation(), &TapeArguments::default(), tasks, quiet)?;
    Ok(Context { budget: Arc::new(Budget::new(calls, None)), ..context })
}

fn made(
    spec: &Spec,
    named: &Named<'_>,
    tape: &TapeArguments,
    tasks: Option<u32>,
    quiet: bool,
) -> Result<Context, Failure> {
    let settings = HttpSettings {
        connect_timeout: Duration::from_secs(10),
        read_timeout: Duration::from_mins(1),
        max_body_bytes: 16 << 20,
    };
    let observer: Arc<dyn Observer> = if quiet { Arc::new(Silent) } else { Arc::new(Progress::start()) };
    let minutes = spec.budget.minutes.map(|minutes| Instant::now() + Duration::from_secs(u64::from(minutes) * 60));
    let secrets = Arc::new(if tape.replay.is_some() { secrets_of_a_replay(spec, named)? } else { secrets(named)? });
    Ok(Context {
        client: tape::between(Client::new(settings)?, tape, named, &secrets, &*observer)?,
        secrets,
        observer,
        cancel: CancellationToken::new(),
        budget: Arc::new(Budget::new(spec.budget.calls, minutes).limited(spec.budget.tokens, spec.budget.nano_usd)),
        concurrency: tasks,
    })
}

/// The keys that the spec names, all missing ones told at once.
fn secrets(named: &Named<'_>) -> Result<Secrets, Failure> {
    let missing = missing(named);
    if missing.is_empty() {
        return Ok(held(named));
    }
    Err(Failure::new(FailureClass::Usage, missing.join("\n")).with_hint(
        "the spec names it; set it, or take it out of `key_env`, `secret_headers` or `env` where it is not needed",
    ))
}

/// The same where no server is called: keys of servers need not be there. What programs and databases are given must.
fn secrets_of_a_replay(spec: &Spec, named: &Named<'_>) -> Result<Secrets, Failure> {
    let Named { keys, passed } = named;
    let of_a_database = |name: &&str| match &spec.retrieve.backend {
        RetrieveBackend::Sql(sql) => matches!(&sql.engine, SqlEngine::Postgres { url_env } if url_env == name),
        _ => false,
    };
    let needed = Named { keys: keys.iter().copied().filter(of_a_database).collect(), passed: passed.clone() };
    let mut secrets = secrets(&needed)?;
    for name in keys.difference(&needed.keys).copied() {
        let key = std::env::var(name).ok().filter(|key| fault(key).is_none()).unwrap_or_else(|| UNUSED.to_owned());
        secrets.insert(name, SecretString::from(key));
    }
    Ok(secrets)
}

/// What stands for a key that nobody is sent: too short to be looked for in replies.
const UNUSED: &str = "unused";

/// The variables' values, where they are set.
fn held(named: &Named<'_>) -> Secrets {
    let mut secrets = Secrets::default();
    for name in named.keys.iter().chain(&named.passed).copied() {
        if let Ok(key) = std::env::var(name) {
            secrets.insert(name, SecretString::from(key));
        }
    }
    secrets
}

/// What is wrong with the variables that the spec names, a line each: a key must fit into a header, what is passed on to a
/// program only has to be there.
pub fn missing_secrets(spec: &Spec) -> Vec<String> {
    missing(&spec.named())
}

fn missing(named: &Named<'_>) -> Vec<String> {
    let problem = |name: &str| match std::env::var(name) {
        Ok(key) => fault(&key).map(|fault| format!("environment variable `{name}` {fault}")),
        Err(_) => Some(not_set(name)),
    };
    let passed = |name: &str| std::env::var(name).is_err().then(|| not_set(name));
    let Named { keys, passed: others } = named;
    let others = others.iter().copied().filter(|name| !keys.contains(name)).filter_map(passed);
    keys.iter().copied().filter_map(problem).chain(others).collect()
}

fn not_set(name: &str) -> String {
    format!("environment variable `{name}` is not set")
}

/// Why a text is no key: it must fit into one header line, and come back from a server as it was sent. HTTP takes white space at its
/// ends away.
pub(super) fn fault(key: &str) -> Option<&'static str> {
    match key.trim() {
        "" => Some("is empty"),
        trimmed if trimmed.len() < key.len() => Some("begins or ends with white space, such as a line break"),
        _ if key.chars().any(char::is_control) => Some("holds a control character"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_no_white_space_at_its_ends_and_no_control_characters() {
        for key in ["key-1", "a b", "schlüssel", "postgres://reader:PASSWORD@host/docs"] {
            assert_eq!(fault(key), None, "{key}");
        }
        for (key, wrong) in [
            ("", "is empty"),
            (" \n", "is empty"),
            ("key-1 ", "white space"),
            (" key-1", "white space"),
            ("key-1\n", "white space"),
            ("\tkey-1", "white space"),
            ("key-1\u{a0}", "white space"),
            ("key\n1", "control character"),
            ("key\u{7}1", "control character"),
        ] {
            assert!(fault(key).is_some_and(|fault| fault.contains(wrong)), "{key:?}");
        }
    }
}
