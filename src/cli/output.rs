//! The two streams. A stream that cannot be written to is never a panic: standard output that fails is a failure of the
//! command, unless nobody reads it any more; standard error that fails is nobody's to tell.

use crate::model::{Failure, FailureClass};
use crate::publish::log;
use std::io::{self, Write as _};

/// Writes bytes of a report to standard output, at once.
///
/// # Errors
/// The stream is full.
pub fn write(bytes: &[u8]) -> Result<(), Failure> {
    let mut output = io::stdout().lock();
    let written = output.write_all(bytes).and_then(|()| output.flush());
    unless_closed(written).map_err(|error| {
        Failure::new(FailureClass::Incomplete, format!("failed to write to standard output: {}", error.kind()))
    })
}

/// What a write came to. Where nobody reads the stream any more, what is left is dropped: whoever has read enough, as
/// `head -1` has after a line, changes nothing of what the command came to.
///
/// # Errors
/// The stream fails in any other way.
pub fn unless_closed(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Writes a line to standard output, with nothing in it that a workflow's runner would take for a command.
///
/// # Errors
/// The stream is full.
pub fn line(text: &str) -> Result<(), Failure> {
    write(format!("{}\n", log::quiet(text)).as_bytes())
}

/// Says something on standard error, which may quote text from outside.
pub fn say(text: &str) {
    let said = writeln!(std::io::stderr().lock(), "{}", log::quiet(text));
    // There is no other stream to complain on.
    drop(said);
}

/// Says a warning: as an annotation in a workflow, on standard error elsewhere.
pub fn warn(message: &str) {
    let hosted = std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true");
    if hosted {
        // A warning that cannot be shown does not fail the command.
        drop(write(format!("{}\n", log::warning(message)).as_bytes()));
    } else {
        say(&format!("warning: {message}"));
    }
}
