//! `churngate analyze`.

use super::arguments::AnalyzeArguments;
use crate::model::{Confidence, Failure, SnapshotName};
use crate::run::foreign::{self, Request};
use crate::spec::GateSpec;

/// Draws of the preregistered stream, as in a spec that names no number.
const DRAWS: u32 = 50_000;

/// Computes the statistics of answers and labels made elsewhere, and prints them as any other result.
pub fn analyze(arguments: &AnalyzeArguments) -> Result<u8, Failure> {
    let name = |text: &String| SnapshotName(text.clone());
    let request = Request {
        file: arguments.file.clone(),
        old: name(&arguments.old),
        new: name(&arguments.new),
        between: arguments.between.iter().map(name).collect(),
        placebo: arguments.placebo,
        closed_book: arguments.closed_book,
        normalisation: arguments.normalisation.into(),
        confidence: Confidence::default(),
        draws: DRAWS,
        gate: GateSpec::published(),
        tool_version: super::VERSION,
    };
    let result = foreign::analyze(&request)?;
    super::report::print(&result, &arguments.format)?;
    Ok(super::run::exit_code(&result))
}
