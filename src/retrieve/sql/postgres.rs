//! PostgreSQL over TCP or a Unix socket, directly or through a pooler that gives every transaction another connection.

use super::address::Address;
use super::call::{Bound, Cells, Query};
use super::error::SqlError;
use super::sqlite::columns;
use super::tls::{Asked, Io, Tls};
use crate::model::Failure;
use crate::retrieve::limits::MAX_CELL_BYTES;
use bytes::BytesMut;
use std::error::Error;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_postgres::config::Host;
use tokio_postgres::types::{Format, IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{Client, IsolationLevel, SimpleQueryMessage, SimpleQueryRow};

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(20);
/// What a query may take beyond the limit that the server holds it to, before the connection is given up.
const GRACE: Duration = Duration::from_secs(5);

/// A server, with its idle connections.
pub(super) struct Postgres {
    address: Address,
    tls: Option<Tls>,
    /// The environment variable that holds the address.
    variable: String,
    timeout: Duration,
    idle: Mutex<Vec<Client>>,
}

impl Postgres {
    /// # Errors
    /// The address, which this variable holds, is none. It is never shown.
    pub(super) fn new(url: &str, variable: &str, timeout: Duration) -> Result<Self, Failure> {
        let address = Address::read(url, variable)?;
        let tls = address.tls(variable)?;
        Ok(Self { address, tls, variable: variable.to_owned(), timeout, idle: Mutex::default() })
    }

    /// The rows of a query, in a transaction that can write nothing.
    pub(super) async fn rows(&self, query: &Query) -> Result<Vec<Cells>, SqlError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut client = match idle.filter(|client| !client.is_closed()) {
            Some(client) => client,
            None => self.connect().await.map_err(|error| error.at(&self.variable))?,
        };
        let read = tokio::time::timeout(self.timeout + GRACE, read(&mut client, query, self.timeout));
        let rows = read.await.map_err(|_| SqlError::Passing("timeout"))?;
        if rows.is_ok() {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(client);
        }
        rows
    }

    async fn connect(&self) -> Result<Client, SqlError> {
        let unreachable = SqlError::Passing("no-connection");
        let stream = tokio::time::timeout(CONNECT, self.stream()).await.map_err(|_| unreachable.clone())?;
        let stream = stream.map_err(|_| unreachable.clone())?;
        let connected = tokio::time::timeout(CONNECT, self.address.config.connect_raw(stream, Asked(self.tls.clone())));
        let connected = connected.await.map_err(|_| unreachable)?;
        let (client, connection) = connected.map_err(|error| SqlError::of_connecting(&error, self.tls.is_some()))?;
        // It ends when the client is dropped; its errors are those of the client's own calls.
        tokio::spawn(async move { drop(connection.await) });
        Ok(client)
    }

    async fn stream(&self) -> std::io::Result<Box<dyn Io>> {
        let Address { host, port, .. } = &self.address;
        Ok(match host {
            Host::Tcp(name) => Box::new(TcpStream::connect((self.address.place(name).as_str(), *port)).await?),
            #[cfg(unix)]
            Host::Unix(folder) => {
                Box::new(tokio::net::UnixStream::connect(folder.join(format!(".s.PGSQL.{port}"))).await?)
            }
        })
    }
}

/// The query becomes a cursor, by an unnamed statement: a named one would stay behind in a pooler's connection and meet those
/// of others there. Its rows come as text, so that no type has to be looked up, which the library does by named statements;
/// and no more of them come than are wanted.
async fn read(client: &mut Client, query: &Query, timeout: Duration) -> Result<Vec<Cells>, SqlError> {
    let said = |error: tokio_postgres::Error| SqlError::of_postgres(&error);
    let begin = client.build_transaction().read_only(true).isolation_level(IsolationLevel::RepeatableRead);
    let transaction = begin.start().await.map_err(said)?;
    // All rows are wanted: without this a cursor's plan favours the first ones. A cursor never gets parallel workers.
    let limits = format!("SET LOCAL statement_timeout = {}; SET LOCAL cursor_tuple_fraction = 1", timeout.as_millis());
    transaction.batch_execute(&limits).await.map_err(said)?;
    let values: Vec<(&(dyn ToSql + Sync), Type)> =
        query.values.iter().map(|value| (value as &(dyn ToSql + Sync), Type::UNKNOWN)).collect();
    let declaration = format!("DECLARE evidence NO SCROLL CURSOR FOR\n{}", query.sql);
    transaction.execute_typed(&declaration, &values).await.map_err(|error| SqlError::of_declaring(&error))?;
    let fetched = transaction.simple_query(&format!("FETCH {} FROM evidence", query.rows)).await.map_err(said)?;
    let rows = cells(&fetched, query.columns)?;
    transaction.rollback().await.map_err(said)?;
    Ok(rows)
}

/// The wanted columns of what came.
fn cells(messages: &[SimpleQueryMessage], wanted: &'static [&'static str]) -> Result<Vec<Cells>, SqlError> {
    let (mut places, mut rows) = (Vec::new(), Vec::new());
    for message in messages {
        match message {
            SimpleQueryMessage::RowDescription(described) => {
                let names: Vec<&str> = described.iter().map(tokio_postgres::SimpleColumn::name).collect();
                places = columns(&names, wanted)?;
            }
            SimpleQueryMessage::Row(row) => {
                rows.push(places.iter().map(|place| cell(row, *place)).collect::<Result<_, _>>()?);
            }
            _ => {}
        }
    }
    Ok(rows)
}

fn cell(row: &SimpleQueryRow, column: Option<usize>) -> Result<Option<String>, SqlError> {
    let Some(column) = column else { return Ok(None) };
    match row.try_get(column).map_err(|error| SqlError::of_postgres(&error))? {
        Some(text) if text.len() > MAX_CELL_BYTES => Err(super::error::too_large(column)),
        cell => Ok(cell.map(str::to_owned)),
    }
}

/// Values are sent as text and without a type, so that the server reads them as whatever type their place in the query has.
impl ToSql for Bound {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Text(text) => out.extend_from_slice(text.as_bytes()),
            Self::Integer(number) => out.extend_from_slice(number.to_string().as_bytes()),
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    fn encode_format(&self, _: &Type) -> Format {
        Format::Text
    }

    to_sql_checked!();
}
