//! One question as a query, and its rows as evidence.

use super::error::SqlError;
use super::{postgres::Postgres, sqlite::Sqlite};
use crate::http::Context;
use crate::http::fill::any_of;
use crate::model::{Digest, Document, Evidence, Failure, FailureClass, Question};
use crate::retrieve::engine::Sample;
use crate::retrieve::limits::STORED;
use crate::retrieve::remote::Made;
use crate::spec::statement::{Piece, Value, pieces};
use crate::spec::{SqlEngine, SqlSpec};
use camino::{Utf8Path, Utf8PathBuf};
use secrecy::ExposeSecret;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

/// One row: id, text and URL, or whatever a query of state gives.
pub(super) type Cells = Vec<Option<String>>;

/// A database, as the spec describes it, with its open connections.
pub(in crate::retrieve) struct Database<'a> {
    spec: &'a SqlSpec,
    top_k: u32,
    max_chars: u32,
    engine: Engine,
}

enum Engine {
    Postgres(Box<Postgres>),
    Sqlite(Sqlite),
}

/// A statement with the values that are bound to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::retrieve) struct Query {
    /// With numbered places for values.
    pub(super) sql: String,
    /// In the order of their numbers.
    pub(super) values: Vec<Bound>,
    /// The database file, for SQLite.
    pub(super) file: Option<Utf8PathBuf>,
    /// The columns that are wanted, in this order; all of them where there are none.
    pub(super) columns: &'static [&'static str],
    /// Rows at most.
    pub(super) rows: u32,
}

/// A value that is bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    Text(String),
    Integer(i64),
}

/// The columns of a retrieval query. The last may be missing.
pub(super) const DOCUMENT: &[&str] = &["id", "text", "url"];
/// The columns of a query of stored documents.
const SAMPLE: &[&str] = &["text", "vector"];
/// How often a query about a snapshot is tried where it may go well the next time.
const ATTEMPTS: u32 = 3;

impl<'a> Database<'a> {
    /// # Errors
    /// The variable that holds the address is not set.
    pub(in crate::retrieve) fn new(
        spec: &'a SqlSpec,
        (top_k, max_chars): (u32, u32),
        base: &Utf8Path,
        context: &Context,
    ) -> Result<Self, Failure> {
        let timeout = Duration::from_secs(u64::from(spec.timeout_seconds));
        let engine = match &spec.engine {
            SqlEngine::Postgres { url_env } => {
                let url = context.secrets.get(url_env).ok_or_else(|| not_set(url_env))?;
                Engine::Postgres(Box::new(Postgres::new(url.expose_secret(), url_env, timeout)?))
            }
            SqlEngine::Sqlite { .. } => Engine::Sqlite(Sqlite::new(base.to_owned(), timeout)),
        };
        Ok(Self { spec, top_k, max_chars, engine })
    }

    /// The query for one question to one snapshot.
    ///
    /// # Errors
    /// The query names a variable that the snapshot does not have, or a vector where there is none.
    pub(in crate::retrieve) fn query(
        &self,
        question: &Question,
        vector: Option<&[f64]>,
        variables: &BTreeMap<String, String>,
    ) -> Result<Query, Failure> {
        let bind = |value| {
            Ok(match value {
                Value::Question => Bound::Text(question.text.clone()),
                Value::TopK => Bound::Integer(i64::from(self.top_k)),
                Value::Words => Bound::Text(any_of(&question.text)),
                Value::Vector => Bound::Text(vector.map(in_brackets).ok_or("there is no `retrieve.embed`")?),
            })
        };
        let (sql, values) = self.filled(&self.spec.query, variables, &bind)?;
        Ok(Query { sql, values, file: self.file(variables), columns: DOCUMENT, rows: self.top_k })
    }

    /// The query of a snapshot's state, where the spec has one.
    pub(super) fn state(&self, variables: &BTreeMap<String, String>) -> Result<Option<Query>, Failure> {
        let Some(state) = &self.spec.state else { return Ok(None) };
        let (sql, values) = self.filled(state, variables, &|_| Err("it is asked of no question".to_owned()))?;
        Ok(Some(Query { sql, values, file: self.file(variables), columns: &[], rows: super::state::ROWS + 1 }))
    }

    /// A few stored documents with their vectors, where the spec has a query of them.
    ///
    /// # Errors
    /// The database does not answer, refuses, or gives something else.
    pub(in crate::retrieve) async fn sample(
        &self,
        variables: &BTreeMap<String, String>,
    ) -> Result<Option<Vec<Sample>>, Failure> {
        let Some(sample) = &self.spec.sample else { return Ok(None) };
        let (sql, values) = self.filled(sample, variables, &|_| Err("it is asked of no question".to_owned()))?;
        let query = Query { sql, values, file: self.file(variables), columns: SAMPLE, rows: STORED };
        let rows = self.insist(&query).await.map_err(|error| error.failure("failed to look at stored vectors"))?;
        rows.into_iter().map(stored).collect::<Option<_>>().map(Some).ok_or_else(no_vector)
    }

    /// The rows of a query, which is tried again where it may go well the next time.
    pub(super) async fn insist(&self, query: &Query) -> Result<Vec<Cells>, SqlError> {
        let mut rows = self.rows(query).await;
        for _ in 1..ATTEMPTS {
            if matches!(rows, Err(SqlError::Passing(_))) {
                rows = self.rows(query).await;
            }
        }
        rows
    }

    /// The database file of a snapshot, for SQLite.
    pub(super) fn file(&self, variables: &BTreeMap<String, String>) -> Option<Utf8PathBuf> {
        match &self.spec.engine {
            SqlEngine::Postgres { .. } => None,
            SqlEngine::Sqlite { file } => file.clone().or_else(|| variables.get("path").map(Into::into)),
        }
    }

    fn filled(
        &self,
        query: &str,
        variables: &BTreeMap<String, String>,
        bind: &dyn Fn(Value) -> Result<Bound, String>,
    ) -> Result<(String, Vec<Bound>), Failure> {
        let sign = if matches!(self.engine, Engine::Postgres(_)) { '$' } else { '?' };
        fill(query, variables, sign, bind).map_err(|problem| {
            Failure::new(FailureClass::Usage, format!("failed to fill the query of `retrieve.sql`: {problem}"))
        })
    }

    /// Runs the query once and says what it came to.
    pub(in crate::retrieve) async fn make(&self, query: &Query) -> Made {
        let started = Instant::now();
        let judged = match self.rows(query).await.and_then(|rows| self.evidence(rows)) {
            Ok(evidence) => crate::retrieve::remote::Judged::Accepted(evidence),
            Err(error) => error.judged(),
        };
        Made { status: None, body: None, latency: started.elapsed(), judged }
    }

    pub(super) async fn rows(&self, query: &Query) -> Result<Vec<Cells>, SqlError> {
        match &self.engine {
            Engine::Postgres(postgres) => postgres.rows(query).await,
            Engine::Sqlite(sqlite) => sqlite.rows(query.clone()).await,
        }
    }

    fn evidence(&self, rows: Vec<Cells>) -> Result<Evidence, SqlError> {
        let document = |cells: Cells| {
            let mut cells = cells.into_iter();
            let mut next = || cells.next().flatten();
            let id = next().filter(|id| !id.is_empty()).ok_or(SqlError::Passing("item-without-id"))?;
            let text = next().ok_or(SqlError::Passing("item-without-text"))?;
            Ok(Document::compact(id, next(), &text, self.max_chars as usize))
        };
        let documents = rows.into_iter().take(self.top_k as usize).map(document).collect::<Result<_, _>>()?;
        Ok(Evidence { documents })
    }
}

impl Query {
    /// The digest of what is asked. The address is not part of it.
    pub(in crate::retrieve) fn digest(&self) -> Digest {
        let values = self.values.iter().map(|value| match value {
            Bound::Text(text) => text.clone(),
            Bound::Integer(number) => number.to_string(),
        });
        let parts: Vec<String> = [self.sql.clone()].into_iter().chain(values).collect();
        Digest::of_parts(parts.iter().map(String::as_bytes))
    }
}

/// The statement with names set in and numbered places for values, each value once.
fn fill(
    query: &str,
    variables: &BTreeMap<String, String>,
    sign: char,
    bind: &dyn Fn(Value) -> Result<Bound, String>,
) -> Result<(String, Vec<Bound>), String> {
    let (mut sql, mut order, mut values) = (String::new(), Vec::new(), Vec::new());
    for piece in pieces(query)? {
        match piece {
            // The spec has none that the database would take for the place of a value.
            Piece::Text(text) | Piece::Place(text) => sql.push_str(&text),
            Piece::Name(name) => {
                let value = variables.get(&name).ok_or_else(|| format!("the snapshot has no variable `{name}`"))?;
                let _ = write!(sql, "\"{}\"", identifier(value)?);
            }
            Piece::Value(value) => {
                if !order.contains(&value) {
                    order.push(value);
                    values.push(bind(value)?);
                }
                let number = order.iter().position(|known| *known == value).unwrap_or_default() + 1;
                let _ = write!(sql, "{sign}{number}");
            }
        }
    }
    Ok((sql, values))
}

/// A name as it stands between double quotes. Specs allow plain names alone; this is for whatever comes another way.
fn identifier(name: &str) -> Result<&str, String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let fits = !name.is_empty() && name.len() <= 63 && name.chars().all(plain);
    fits.then_some(name)
        .ok_or_else(|| "a variable is no plain name of at most 63 letters, digits, `-`, `_` and `.`".to_owned())
}

/// A stored document; none without a text or with something else than numbers in brackets.
fn stored(row: Cells) -> Option<Sample> {
    let mut cells = row.into_iter();
    let (text, vector) = (cells.next()??, cells.next()??);
    let vector: Vec<f64> = serde_json::from_str(&vector).ok()?;
    (!text.is_empty() && !vector.is_empty()).then_some((text, vector))
}

fn no_vector() -> Failure {
    let message =
        "`sample` of `retrieve.sql` gives a row without a text, or whose vector is not written as `[0.25,-1]`";
    Failure::new(FailureClass::Usage, message)
        .with_hint("cast it, as in `SELECT body AS text, embedding::text AS vector`")
}

fn in_brackets(vector: &[f64]) -> String {
    let numbers: Vec<String> = vector.iter().map(ToString::to_string).collect();
    format!("[{}]", numbers.join(","))
}

fn not_set(variable: &str) -> Failure {
    Failure::new(FailureClass::Usage, format!("the environment variable `{variable}` is not set"))
        .with_hint("it holds the address of the database, such as `postgres://reader:PASSWORD@host/docs`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(query: &str, value: &str) -> Result<(String, Vec<Bound>), String> {
        let variables = BTreeMap::from([("table".to_owned(), value.to_owned())]);
        let bind = |value| {
            Ok(match value {
                Value::TopK => Bound::Integer(8),
                value => Bound::Text(format!("{value:?}")),
            })
        };
        fill(query, &variables, '$', &bind)
    }

    #[test]
    fn values_are_numbered_and_names_are_quoted() {
        let (sql, values) = filled("SELECT :question, :top_k, :question FROM {table} -- {x}", "Docs-v2").unwrap();
        assert_eq!(sql, "SELECT $1, $2, $1 FROM \"Docs-v2\" -- {x}");
        assert_eq!(values, [Bound::Text("Question".to_owned()), Bound::Integer(8)]);
        assert!(filled("SELECT {other}", "a").unwrap_err().contains("no variable `other`"));
        for hostile in ["a\"; DROP TABLE b; --", "", "a b", "ä", &"x".repeat(64)] {
            assert!(filled("SELECT * FROM {table}", hostile).is_err(), "{hostile}");
        }
    }

    #[test]
    fn vectors_are_numbers_in_brackets() {
        assert_eq!(in_brackets(&[0.25, -1.0, 1e-7]), "[0.25,-1,0.0000001]");
    }
}
