//! Question files: bytes to rows, rows to questions. Gold answers stay unread here.

mod bytes;
mod csv_rows;
mod fields;
mod json_cursor;
mod json_rows;
mod near;
mod personal;
mod place;
mod read;
mod rows;
mod squad;
#[cfg(test)]
mod tests;
mod yaml_rows;

pub(super) use bytes::text;
pub(super) use fields::{GOLD, TRUTH};
pub(super) use read::{MAX_NAME, id_of, question, read, row_text, shown, trimmed};
pub(super) use rows::{Format, Row, each, each_of};
