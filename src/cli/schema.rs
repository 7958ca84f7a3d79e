//! `churngate schema`.

use crate::spec;

/// Prints the spec's JSON Schema.
pub fn schema() -> u8 {
    print!("{}", spec::json_schema());
    0
}
