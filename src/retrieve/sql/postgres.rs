//! PostgreSQL over TCP or a Unix socket.

use super::call::{Bound, Cells, Query};
use super::error::SqlError;
use super::sqlite::columns;
use super::tls::{Io, Tls};
use crate::model::{Failure, FailureClass};
use crate::retrieve::limits::MAX_CELL_BYTES;
use bytes::BytesMut;
use std::error::Error;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::types::{Format, IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{Client, Config, IsolationLevel, Row};

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(20);
/// What a query may take beyond the limit that the server holds it to, before the connection is given up.
const GRACE: Duration = Duration::from_secs(5);

/// A server, with its idle connections.
pub(super) struct Postgres {
    config: Config,
    host: Host,
    port: u16,
    timeout: Duration,
    idle: Mutex<Vec<Client>>,
}

impl Postgres {
    /// # Errors
    /// The address is none. It is never shown.
    pub(super) fn new(url: &str, timeout: Duration) -> Result<Self, Failure> {
        let refused = |what: &str| {
            Failure::new(FailureClass::Usage, format!("the address of the database {what}")).with_hint(
                "write it as `postgres://reader:PASSWORD@host:5432/docs`; what is not plain in it is percent-encoded",
            )
        };
        let url = plain_mode(url.trim());
        let mut config: Config = url.parse().map_err(|_| refused("cannot be read"))?;
        let [host] = config.get_hosts() else { return Err(refused("does not name exactly one host")) };
        let host = host.clone();
        let port = config.get_ports().first().copied().unwrap_or(5432);
        // Whoever says nothing of TLS, which is `Prefer` to the library, gets it, except where no network lies between.
        if config.get_ssl_mode() == SslMode::Prefer {
            config.ssl_mode(if is_local(&host) { SslMode::Disable } else { SslMode::Require });
        }
        config.application_name("churngate");
        Ok(Self { config, host, port, timeout, idle: Mutex::default() })
    }

    /// The rows of a query, in a transaction that can write nothing.
    pub(super) async fn rows(&self, query: &Query) -> Result<Vec<Cells>, SqlError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut client = match idle.filter(|client| !client.is_closed()) {
            Some(client) => client,
            None => self.connect().await?,
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
        let stream = async {
            let stream: Box<dyn Io> = match &self.host {
                Host::Tcp(name) => Box::new(TcpStream::connect((name.as_str(), self.port)).await?),
                #[cfg(unix)]
                Host::Unix(folder) => {
                    let socket = folder.join(format!(".s.PGSQL.{}", self.port));
                    Box::new(tokio::net::UnixStream::connect(socket).await?)
                }
            };
            Ok::<_, std::io::Error>(stream)
        };
        let stream = tokio::time::timeout(CONNECT, stream).await.map_err(|_| unreachable.clone())?;
        let stream = stream.map_err(|_| unreachable.clone())?;
        let tls = Tls { host: if let Host::Tcp(name) = &self.host { name.clone() } else { String::new() } };
        let connected = tokio::time::timeout(CONNECT, self.config.connect_raw(stream, tls));
        let (client, connection) =
            connected.await.map_err(|_| unreachable)?.map_err(|error| SqlError::of_postgres(&error))?;
        // It ends when the client is dropped; its errors are those of the client's own calls.
        tokio::spawn(async move { drop(connection.await) });
        Ok(client)
    }
}

/// The address with the modes that the library has no word for: a certificate is always held against the system's
/// authorities and the host's name, so that the strict modes ask for what `require` gets.
fn plain_mode(url: &str) -> String {
    let is_url = ["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme));
    let from = url.rfind('?').filter(|_| is_url).unwrap_or(0);
    let (before, parameters) = url.split_at(from);
    let strict = ["sslmode=verify-full", "sslmode=verify-ca"];
    before.to_owned() + &strict.iter().fold(parameters.to_owned(), |text, mode| text.replace(mode, "sslmode=require"))
}

fn is_local(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback()),
        #[cfg(unix)]
        Host::Unix(_) => true,
    }
}

async fn read(client: &mut Client, query: &Query, timeout: Duration) -> Result<Vec<Cells>, SqlError> {
    let said = |error: tokio_postgres::Error| SqlError::of_postgres(&error);
    let begin = client.build_transaction().read_only(true).isolation_level(IsolationLevel::RepeatableRead);
    let transaction = begin.start().await.map_err(said)?;
    let limit = format!("SET LOCAL statement_timeout = {}", timeout.as_millis());
    transaction.batch_execute(&limit).await.map_err(said)?;
    let statement = transaction.prepare(&query.sql).await.map_err(said)?;
    let names: Vec<&str> = statement.columns().iter().map(tokio_postgres::Column::name).collect();
    let columns = columns(&names, query.columns)?;
    // The library takes another number of values for a bug of its caller's.
    if statement.params().len() != query.values.len() {
        return Err(super::error::foreign_value());
    }
    let values: Vec<&(dyn ToSql + Sync)> = query.values.iter().map(|value| value as &(dyn ToSql + Sync)).collect();
    let portal = transaction.bind(&statement, &values).await.map_err(said)?;
    let most = i32::try_from(query.rows).unwrap_or(i32::MAX);
    let rows = transaction.query_portal(&portal, most).await.map_err(said)?;
    let cells = |row: &Row| columns.iter().map(|column| cell(row, *column)).collect();
    let rows = rows.iter().map(cells).collect::<Result<_, _>>()?;
    transaction.rollback().await.map_err(said)?;
    Ok(rows)
}

fn cell(row: &Row, column: Option<usize>) -> Result<Option<String>, SqlError> {
    let Some(column) = column else { return Ok(None) };
    let kind = row.columns().get(column).map(|column| column.type_().clone());
    let read = match kind {
        Some(Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME | Type::UNKNOWN) => {
            row.try_get::<_, Option<String>>(column)
        }
        Some(Type::INT2) => row.try_get::<_, Option<i16>>(column).map(|number| number.map(|number| number.to_string())),
        Some(Type::INT4) => row.try_get::<_, Option<i32>>(column).map(|number| number.map(|number| number.to_string())),
        Some(Type::INT8) => row.try_get::<_, Option<i64>>(column).map(|number| number.map(|number| number.to_string())),
        _ => return Err(super::error::type_of(column)),
    };
    match read.map_err(|error| SqlError::of_postgres(&error))? {
        Some(text) if text.len() > MAX_CELL_BYTES => Err(super::error::too_large(column)),
        cell => Ok(cell),
    }
}

/// Values are sent as text, so that the server reads them as whatever type their place in the query has.
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

#[cfg(test)]
mod tests {
    use super::{Postgres, plain_mode};
    use std::time::Duration;
    use tokio_postgres::config::SslMode;

    #[test]
    fn tls_that_is_asked_for_is_kept_however_it_is_written_and_without_a_word_a_network_gets_it() {
        let mode = |url: &str| Postgres::new(url, Duration::from_secs(1)).unwrap().config.get_ssl_mode();
        for address in ["host=localhost sslmode = require", "host=localhost sslmode=verify-full password=a?b"] {
            assert_eq!(mode(address), SslMode::Require, "{address}");
        }
        assert_eq!(mode("postgres://localhost/d"), SslMode::Disable);
        assert_eq!(mode("postgres://db.example/d"), SslMode::Require);
        assert_eq!(mode("host=db.example sslmode = disable"), SslMode::Disable);
    }

    #[test]
    fn strict_modes_are_those_that_hold_anyway_and_nothing_else_of_an_address_changes() {
        assert_eq!(plain_mode("postgres://a@h/d?sslmode=verify-full&x=1"), "postgres://a@h/d?sslmode=require&x=1");
        assert_eq!(plain_mode("host=h sslmode=verify-ca user=a"), "host=h sslmode=require user=a");
        assert_eq!(plain_mode("postgres://sslmode=verify-ca@h/d?a=1"), "postgres://sslmode=verify-ca@h/d?a=1");
    }
}
