//! SQLite in a file that is opened to be read alone, and is taken as hostile.

use super::call::{Bound, Cells, DOCUMENT, Query};
use super::error::SqlError;
use crate::retrieve::limits::MAX_CELL_BYTES;
use camino::{Utf8Path, Utf8PathBuf};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What holds for every connection: the file's own schema may call nothing that could do harm, and nothing is written.
const SETTINGS: &str =
    "PRAGMA trusted_schema = OFF; PRAGMA query_only = ON; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0;";

/// The database files of an audit, with their idle connections.
pub(super) struct Sqlite {
    base: Utf8PathBuf,
    timeout: Duration,
    idle: Arc<Mutex<Vec<(Utf8PathBuf, Connection)>>>,
}

impl Sqlite {
    pub(super) fn new(base: Utf8PathBuf, timeout: Duration) -> Self {
        Self { base, timeout, idle: Arc::default() }
    }

    /// The rows of a query. It is interrupted when its time is over.
    pub(super) async fn rows(&self, query: Query) -> Result<Vec<Cells>, SqlError> {
        let ended = |_| SqlError::Passing("interrupted");
        let file = self.base.join(query.file.clone().unwrap_or_default());
        let idle = Arc::clone(&self.idle);
        let taken = take(&idle, &file);
        let open = file.clone();
        let opened = tokio::task::spawn_blocking(move || taken.map_or_else(|| connect(&open), Ok));
        let connection = opened.await.map_err(ended)?.map_err(|error| SqlError::of_sqlite(&error))?;
        let interrupt = connection.get_interrupt_handle();
        let mut work = tokio::task::spawn_blocking(move || {
            let rows = read(&connection, &query);
            if rows.is_ok() {
                idle.lock().unwrap_or_else(PoisonError::into_inner).push((file, connection));
            }
            rows
        });
        if let Ok(rows) = tokio::time::timeout(self.timeout, &mut work).await {
            return rows.map_err(ended)?;
        }
        interrupt.interrupt();
        work.await.map_err(ended)?
    }
}

fn take(idle: &Mutex<Vec<(Utf8PathBuf, Connection)>>, file: &Utf8Path) -> Option<Connection> {
    let mut idle = idle.lock().unwrap_or_else(PoisonError::into_inner);
    let at = idle.iter().position(|(known, _)| known == file)?;
    Some(idle.swap_remove(at).1)
}

/// Opens a file as one that never changes: no lock is taken and no file made beside it.
fn connect(file: &Utf8Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(uri(file), flags)?;
    connection.execute_batch(SETTINGS)?;
    Ok(connection)
}

/// The path as a URI, every byte but those of plain names in hexadecimal.
fn uri(file: &Utf8Path) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    format!("file:{}?immutable=1", file.as_str().bytes().map(byte).collect::<String>())
}

fn read(connection: &Connection, query: &Query) -> Result<Vec<Cells>, SqlError> {
    let said = |error: rusqlite::Error| SqlError::of_sqlite(&error);
    let mut statement = connection.prepare(&query.sql).map_err(said)?;
    if !statement.readonly() || statement.column_count() == 0 {
        return Err(SqlError::lasting(
            "writes",
            "the query of `retrieve.sql` gives no rows",
            "a retrieval query is a `SELECT`",
        ));
    }
    if statement.parameter_count() != query.values.len() {
        return Err(super::error::foreign_value());
    }
    for (number, value) in query.values.iter().enumerate() {
        match value {
            Bound::Text(text) => statement.raw_bind_parameter(number + 1, text),
            Bound::Integer(integer) => statement.raw_bind_parameter(number + 1, integer),
        }
        .map_err(said)?;
    }
    let columns = columns(&statement.column_names().collect::<Vec<_>>(), query.columns)?;
    let mut rows = statement.raw_query();
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(said)? {
        found.push(columns.iter().map(|column| cell(row, *column)).collect::<Result<_, _>>()?);
        if found.len() >= query.rows as usize {
            break;
        }
    }
    Ok(found)
}

/// The numbers of the columns that are wanted; `None` for the last where the query does not have it.
pub(super) fn columns(names: &[&str], wanted: &[&str]) -> Result<Vec<Option<usize>>, SqlError> {
    if wanted.is_empty() {
        return Ok((0..names.len()).map(Some).collect());
    }
    let place = |wanted: &&str| match names.iter().position(|name| name == wanted) {
        None if DOCUMENT.last() != Some(wanted) => {
            let what = format!("the query of `retrieve.sql` gives no column `{wanted}`");
            Err(SqlError::lasting(
                "no-column",
                what,
                "name the columns `id`, `text` and, if there is one, `url`, with `AS`",
            ))
        }
        found => Ok(found),
    };
    wanted.iter().map(place).collect()
}

fn cell(row: &Row<'_>, column: Option<usize>) -> Result<Option<String>, SqlError> {
    let Some(column) = column else { return Ok(None) };
    match row.get_ref(column).map_err(|error| SqlError::of_sqlite(&error))? {
        ValueRef::Null => Ok(None),
        ValueRef::Integer(number) => Ok(Some(number.to_string())),
        ValueRef::Text(text) if text.len() > MAX_CELL_BYTES => Err(super::error::too_large(column)),
        ValueRef::Text(text) => match std::str::from_utf8(text) {
            Ok(text) => Ok(Some(text.to_owned())),
            Err(_) => {
                Err(SqlError::lasting("not-utf8", "the database holds text that is not UTF-8", "convert it to UTF-8"))
            }
        },
        ValueRef::Real(_) | ValueRef::Blob(_) => Err(super::error::type_of(column)),
    }
}
