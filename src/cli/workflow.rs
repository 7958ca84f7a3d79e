//! Printing in a workflow's log, where the runner reads every line for commands.

use crate::publish::log;

/// Whether a workflow's step is what prints.
fn in_workflow() -> bool {
    std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true")
}

/// Prints a warning: as an annotation in a workflow, on standard error elsewhere.
pub fn warn(message: &str) {
    if in_workflow() {
        println!("{}", log::warning(message));
    } else {
        eprintln!("warning: {message}");
    }
}

/// Prints an error, which may quote text from outside.
pub fn error(message: &str) {
    let quiet = if in_workflow() { log::quiet(message) } else { message.to_owned() };
    eprintln!("error: {quiet}");
}
