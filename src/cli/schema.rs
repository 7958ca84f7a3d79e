//! `churngate schema`.

use super::output;
use crate::model::Failure;
use crate::spec;

/// Prints the spec's JSON Schema.
pub fn schema() -> Result<u8, Failure> {
    output::write(spec::json_schema().as_bytes())?;
    Ok(0)
}
