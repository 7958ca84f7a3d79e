//! Question files: bytes to rows, rows to questions. Gold answers stay unread here.

mod bytes;
mod csv_rows;
mod fields;
mod json_rows;
mod read;
mod rows;

pub(super) use bytes::text;
pub(super) use fields::GOLD;
pub(super) use read::{id_of, read, row_text, shown};
pub(super) use rows::{Format, Row, rows};
