//! The `churngate` program: a few lines around the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    churngate::cli::main()
}
