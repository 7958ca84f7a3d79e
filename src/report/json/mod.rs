//! `result.json`: the versioned image of a result on disk.

mod diagnostics;
mod image;
mod v1;

#[cfg(test)]
mod tests;

use super::result::{AuditResult, FORMAT};
use crate::model::{Failure, FailureClass};
use image::Imaged;
use serde::Deserialize;

/// The greatest major version of the format that is read here.
const MAJOR: u64 = 1;

/// Why bytes are no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// Not JSON, or not the JSON of a result.
    #[error("the result cannot be read at line {line}, column {column}")]
    Malformed {
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
    },
    /// No version, or one that is not two numbers.
    #[error("the result names no format version such as `{FORMAT}`")]
    Unversioned,
    /// Written by a newer program.
    #[error("the result has format `{major}.{minor}`; this program reads formats up to `{MAJOR}`")]
    Newer {
        /// Its major version.
        major: u64,
        /// Its minor version.
        minor: u64,
    },
}

#[derive(Deserialize)]
struct Version {
    format: Option<String>,
}

/// The result as JSON: keys in a fixed order, floats in their shortest form, a line break at the end. The format is
/// always [`FORMAT`], whatever version the result was read from.
#[must_use]
pub fn json(result: &AuditResult) -> Vec<u8> {
    let image = AuditResult { format: FORMAT.to_owned(), ..result.clone() }.into_image();
    // Plain structs with string keys always serialise.
    let mut bytes = serde_json::to_vec_pretty(&image).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

/// Reads a result. Unknown keys are ignored, so that a newer minor version can be read.
///
/// # Errors
/// Bytes that are not the JSON of a result, or that were written in a newer major version of the format.
pub fn parse(bytes: &[u8]) -> Result<AuditResult, ParseError> {
    let version: Version = serde_json::from_slice(bytes).map_err(malformed)?;
    let (major, minor) = version.format.as_deref().and_then(version_of).ok_or(ParseError::Unversioned)?;
    if major != MAJOR {
        return Err(ParseError::Newer { major, minor });
    }
    serde_json::from_slice(bytes).map(AuditResult::from_image).map_err(malformed)
}

fn version_of(text: &str) -> Option<(u64, u64)> {
    let (major, minor) = text.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[expect(clippy::needless_pass_by_value, reason = "shaped for `map_err`")]
fn malformed(error: serde_json::Error) -> ParseError {
    ParseError::Malformed { line: error.line(), column: error.column() }
}

impl From<ParseError> for Failure {
    fn from(error: ParseError) -> Self {
        let message = format!("failed to read the result: {error}");
        match error {
            ParseError::Newer { .. } => Self::new(FailureClass::Usage, message).with_hint("install a newer churngate"),
            ParseError::Malformed { .. } | ParseError::Unversioned => Self::new(FailureClass::Evidence, message)
                .with_hint("run the audit again: answers and judgments are kept, only the result is written anew"),
        }
    }
}
