//! Arguments, one file a command, terminal output, exit codes. Alone prints, alone takes keys and settings from
//! the environment.

mod analyze;
mod arguments;
mod check;
mod context;
mod diff;
mod explain;
mod export;
mod init;
mod merge;
mod output;
mod progress;
mod publish;
mod report;
mod review;
mod run;
mod schema;
mod tape;
mod verify;
mod work;

use crate::model::{Failure, FailureClass};
use arguments::{Arguments, Command};
use camino::{Utf8Path, Utf8PathBuf};
use clap::Parser as _;
use std::ffi::OsString;
use std::process::ExitCode;

/// The version of this program, as it stands in ledgers and reports.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The width of a report where it is not printed to a terminal.
const WIDTH: u16 = 100;

/// Reads the arguments, does what they say, prints, and gives the exit code of the table in the README.
#[must_use]
pub fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            if let (true, Some(file)) = (error.use_stderr(), failure_file(std::env::args_os().skip(1))) {
                keep(&file, &error.to_string());
            }
            // Help and version are no errors; clap knows which stream they belong to.
            let code = if error.use_stderr() { FailureClass::Usage.exit_code() } else { 0 };
            // What could not be printed is no verdict: never exit code 1.
            let printed = output::unless_closed(error.print()).is_ok();
            return ExitCode::from(if printed { code } else { FailureClass::Incomplete.exit_code() });
        }
    };
    let failure_file = arguments.failure_file.clone();
    match dispatch(arguments) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            output::say(&format!("error: {failure}"));
            if let Some(file) = failure_file {
                keep(&file, &failure.to_string());
            }
            ExitCode::from(failure.class.exit_code())
        }
    }
}

/// The file for what went wrong, of arguments that cannot be read as a whole.
fn failure_file(arguments: impl Iterator<Item = OsString>) -> Option<Utf8PathBuf> {
    const NAME: &str = "--failure-file";
    let mut arguments = arguments.take_while(|argument| argument != "--").map(|argument| argument.into_string().ok());
    while let Some(argument) = arguments.next() {
        let Some(argument) = argument else { continue };
        match argument.strip_prefix(NAME) {
            Some("") => return arguments.next().flatten().map(Utf8PathBuf::from),
            Some(file) if file.starts_with('=') => return Some(Utf8PathBuf::from(&file[1..])),
            _ => {}
        }
    }
    None
}

/// Keeps what went wrong for whoever publishes it. That it cannot be kept does not change what went wrong.
fn keep(file: &Utf8Path, failure: &str) {
    if let Err(error) = fs_err::write(file, failure) {
        output::warn(&format!("failed to write `{file}`: {}", error.kind()));
    }
}

fn dispatch(arguments: Arguments) -> Result<u8, Failure> {
    match arguments.command {
        Command::Check(arguments) => check::check(&arguments),
        Command::Run(arguments) => run::run(&arguments),
        Command::Merge(arguments) => merge::merge(&arguments),
        Command::Diff(arguments) => diff::diff(&arguments),
        Command::Verify(arguments) => verify::verify(&arguments),
        Command::Explain(arguments) => explain::explain(&arguments),
        Command::Export(arguments) => export::export(&arguments),
        Command::Report(arguments) => report::report(&arguments),
        Command::Review(arguments) => review::review(&arguments),
        Command::Analyze(arguments) => analyze::analyze(&arguments),
        Command::Publish(arguments) => publish::publish(&arguments),
        Command::Init(arguments) => init::init(&arguments),
        Command::Schema => schema::schema(),
    }
}

/// Replies that are read before the calls leave that wait for them. Of many that come close together the first few are followed
/// by calls while the others are read, instead of all calls leaving together, whose replies then come together again.
const REPLIES_TOGETHER: usize = 4;

/// One thread for all calls: what they wait for is elsewhere, and a reply that one thread reads and another one handles costs
/// two more switches than the call itself. What takes long has threads of its own.
fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().max_io_events_per_tick(REPLIES_TOGETHER).build().map_err(|error| {
        Failure::new(FailureClass::Incomplete, format!("failed to start the runtime: {}", error.kind()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_for_what_went_wrong_is_found_among_arguments_that_cannot_be_read() {
        let found =
            |arguments: &[&str]| failure_file(arguments.iter().map(OsString::from)).map(Utf8PathBuf::into_string);
        let file = Some("a b".to_owned());
        assert_eq!(found(&["run", "--bogus", "--failure-file=a b"]), file);
        assert_eq!(found(&["--failure-file", "a b", "run", "--bogus"]), file);
        assert_eq!(found(&["run", "--failure-files=x", "--failure-file=a b", "--", "-s"]), file);
        for none in [&["run", "--bogus"][..], &["run", "--", "--failure-file=a"], &["--failure-file"], &[]] {
            assert_eq!(found(none), None, "{none:?}");
        }
    }
}
