//! What a query came to where it gave no rows.

use super::tls;
use crate::http::Wish;
use crate::model::{Failure, FailureClass};
use crate::retrieve::limits::MAX_CELL_BYTES;
use crate::retrieve::remote::Judged;
use tokio_postgres::error::{DbError, Severity, SqlState};

/// Why a query gave no rows. Holds no text of the server's, which could quote a question or a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::retrieve) enum SqlError {
    /// It may go well the next time.
    Passing(&'static str),
    /// It would not: a code, what is wrong, and what to do about it.
    Lasting(&'static str, String, &'static str),
}

impl SqlError {
    pub(super) fn lasting(code: &'static str, what: impl Into<String>, hint: &'static str) -> Self {
        Self::Lasting(code, what.into(), hint)
    }

    /// What an error of the PostgreSQL client is, by its code alone.
    pub(super) fn of_postgres(error: &tokio_postgres::Error) -> Self {
        let Some(state) = error.code() else { return Self::Passing("no-connection") };
        let code = state.code();
        let (name, hint) = match code.get(..2).unwrap_or_default() {
            _ if *state == SqlState::QUERY_CANCELED => return Self::Passing("timeout"),
            "08" | "53" | "57" | "58" => return Self::Passing("server-unavailable"),
            "40" | "55" => return Self::Passing("conflict"),
            "28" => ("key-refused", "check the address in the environment, and the rights of its user"),
            "25" => ("writes", "a retrieval query only reads"),
            "3F" | "3D" => ("index-unknown", "check the snapshot's variables; names are quoted, so case counts"),
            _ if *state == SqlState::UNDEFINED_TABLE || *state == SqlState::UNDEFINED_COLUMN => {
                ("index-unknown", "check the snapshot's variables; names are quoted, so case counts")
            }
            _ if *state == SqlState::INSUFFICIENT_PRIVILEGE => {
                ("key-refused", "give the user the right to read what the query names")
            }
            _ if *state == SqlState::SYNTAX_ERROR => (
                "request-refused",
                "a retrieval query is one `SELECT`, `WITH`, `VALUES` or `TABLE`; try it with `psql`",
            ),
            _ => ("request-refused", "try the query of `retrieve.sql` with `psql`"),
        };
        Self::lasting(name, format!("the database refuses the query with SQLSTATE {code} ({name})"), hint)
    }

    /// What an error of the PostgreSQL client is where it makes a connection.
    pub(super) fn of_connecting(error: &tokio_postgres::Error, has_tls: bool) -> Self {
        match error.code() {
            Some(state) if *state == SqlState::INVALID_AUTHORIZATION_SPECIFICATION && !has_tls => Self::lasting(
                "key-refused",
                "the database refuses a connection without TLS with SQLSTATE 28000 (key-refused)",
                "write `sslmode=require` in the address, which the server may insist on; else check its `pg_hba.conf` and the user",
            ),
            Some(state) if *state == SqlState::INVALID_AUTHORIZATION_SPECIFICATION => Self::lasting(
                "key-refused",
                "the database refuses the connection with SQLSTATE 28000 (key-refused)",
                "check the user and the database in the address, and the server's `pg_hba.conf`",
            ),
            Some(_) => Self::of_postgres(error),
            None => tls::refused(error).or_else(|| unproved(error)).unwrap_or(Self::Passing("no-connection")),
        }
    }

    /// What an error of the PostgreSQL client is where the server takes the query and its values.
    pub(super) fn of_declaring(error: &tokio_postgres::Error) -> Self {
        let severity = error.as_db_error().and_then(DbError::parsed_severity);
        match error.code() {
            // A pooler says the same of its own troubles, and ends the connection with it.
            Some(state) if *state == SqlState::PROTOCOL_VIOLATION && severity == Some(Severity::Error) => {
                foreign_value()
            }
            _ => Self::of_postgres(error),
        }
    }

    /// The same error, with the environment variable whose address it is about.
    pub(super) fn at(self, variable: &str) -> Self {
        match self {
            Self::Lasting(code, what, hint) => {
                Self::Lasting(code, format!("{what}; its address is in `{variable}`"), hint)
            }
            passing @ Self::Passing(_) => passing,
        }
    }

    pub(super) fn of_sqlite(error: &rusqlite::Error) -> Self {
        use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked, NotADatabase, OperationInterrupted};
        let hint = "try the query of `retrieve.sql` with `sqlite3`";
        let Some(code) = error.sqlite_error_code() else {
            return Self::lasting("request-refused", "the query cannot be bound or read", hint);
        };
        match code {
            OperationInterrupted => Self::Passing("timeout"),
            DatabaseBusy | DatabaseLocked => Self::Passing("conflict"),
            NotADatabase => {
                Self::lasting("index-unknown", "the file is no SQLite database", "check the snapshot's `path`")
            }
            _ => {
                let extended = error.sqlite_error().map_or(0, |error| error.extended_code);
                Self::lasting("request-refused", format!("SQLite refuses the query with code {extended}"), hint)
            }
        }
    }

    /// The failure that it is outside of a retrieval.
    pub(super) fn failure(self, what: &str) -> Failure {
        let (why, hint) = match self {
            Self::Passing(reason @ "no-connection") => (
                format!("the database did not answer ({reason})"),
                "check the address in the environment variable that `url_env` names, and that the server runs; then run the same command again",
            ),
            Self::Passing(reason) => (format!("the database did not answer ({reason})"), "run the same command again"),
            Self::Lasting(_, why, hint) => (why, hint),
        };
        Failure::new(FailureClass::Incomplete, format!("{what}: {why}")).with_hint(hint)
    }

    pub(in crate::retrieve) fn judged(self) -> Judged {
        match self {
            Self::Passing(reason) => Judged::Invalid { reason, wish: Wish::NONE, said: None },
            Self::Lasting(reason, what, hint) => {
                let failure = Failure::new(FailureClass::Incomplete, what).with_hint(hint);
                Judged::Fatal { reason, failure }
            }
        }
    }
}

/// Where the password is not proved as the address or the server wants it. The library has no other sign of it than these
/// words, its own.
fn unproved(error: &tokio_postgres::Error) -> Option<SqlError> {
    let said = error.to_string();
    let (what, hint) = if said == "invalid configuration" {
        (
            "the database wants a password, and the address has none",
            "write it as `postgres://reader:PASSWORD@host:5432/docs`",
        )
    } else if said == "authentication error" {
        (
            "the database and this program agree on no way to prove the password",
            "let the server use `scram-sha-256`; `channel_binding=require` in the address needs TLS that ends in the server",
        )
    } else {
        return None;
    };
    Some(SqlError::lasting("key-refused", what, hint))
}

/// A column of another type than text or integer.
pub(super) fn type_of(column: usize) -> SqlError {
    let what = format!("column {} of the query is neither text nor an integer", column + 1);
    SqlError::lasting("column-type", what, "cast it, as in `CAST(id AS TEXT)`")
}

/// A cell above the limit of documents.
pub(super) fn too_large(column: usize) -> SqlError {
    let what = format!("column {} of the query has a text above {} MiB", column + 1, MAX_CELL_BYTES >> 20);
    SqlError::lasting("document-too-large", what, "let the query cut it, as in `substr(body, 1, 100000)`")
}

/// A numbered place for a value, which the query has of its own.
pub(super) fn foreign_value() -> SqlError {
    let what = "the query of `retrieve.sql` has places for values that nothing fills";
    SqlError::lasting(
        "request-refused",
        what,
        "write `:question`, `:top_k`, `:words` and `:vector`, and no numbered place",
    )
}
