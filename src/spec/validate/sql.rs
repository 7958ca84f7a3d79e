//! `retrieve.sql`

use crate::spec::node::Span;
use crate::spec::problem::{Code, Problem};
use crate::spec::reader::Reader;
use crate::spec::statement::{Dialect, Piece, Value, pieces};
use crate::spec::types::{SqlEngine, SqlSpec};

/// A database, and which snapshot variables its queries name.
pub fn sql(section: Reader<'_>, problems: &mut Vec<Problem>) -> Option<(SqlSpec, Vec<(String, Span)>)> {
    let mut named = Vec::new();
    places(section, problems);
    let values = statement("query", section, &mut named, problems);
    if let Some(values) = &values
        && !values.iter().any(|value| *value != Value::TopK)
    {
        let problem = Problem::new(Code::Placeholder, section.span("query"), "the query does not take the question");
        problems.push(problem.help("write `:question`, `:words` or `:vector` where it belongs, without quotes"));
    }
    for (key, what) in [("state", "the state"), ("sample", "a sample")] {
        for value in statement(key, section, &mut named, problems).unwrap_or_default() {
            let message = format!("{what} of a snapshot depends on no question, and takes no {value:?}");
            problems.push(Problem::new(Code::Placeholder, section.span(key), message.to_lowercase()).help("remove it"));
        }
    }
    let engine = match (section.section("postgres"), section.section("sqlite")) {
        (Some(postgres), _) => SqlEngine::Postgres { url_env: postgres.text("url_env")? },
        (None, Some(sqlite)) => SqlEngine::Sqlite { file: sqlite.text("file").map(Into::into) },
        (None, None) => return None,
    };
    let spec = SqlSpec {
        engine,
        query: section.text("query")?,
        state: section.text("state"),
        sample: section.text("sample"),
        timeout_seconds: section.small("timeout_seconds")?,
    };
    Some((spec, named))
}

/// Reports places for values that the queries have of their own: nothing would fill them, or one of ours would.
fn places(section: Reader<'_>, problems: &mut Vec<Problem>) {
    let dialect = if section.node("postgres").is_some() { Dialect::Postgres } else { Dialect::Sqlite };
    for key in ["query", "state", "sample"] {
        let pieces = section.text(key).and_then(|query| pieces(&query).ok()).unwrap_or_default();
        let own = pieces.into_iter().find_map(|piece| match piece {
            Piece::Place(place) if dialect.takes(&place) => Some(place),
            _ => None,
        });
        if let Some(place) = own {
            let message = format!("`{key}` has a place for a value of its own, `{place}`");
            let help = if key == "query" {
                "write `:question`, `:top_k`, `:words` or `:vector`, which are numbered for you; quote what is text"
            } else {
                "write the value itself; quote what is text"
            };
            problems.push(Problem::new(Code::Placeholder, section.span(key), message).help(help));
        }
    }
}

/// The values that a query takes; its names go to those that were named before.
fn statement(
    key: &str,
    section: Reader<'_>,
    named: &mut Vec<(String, Span)>,
    problems: &mut Vec<Problem>,
) -> Option<Vec<Value>> {
    let (query, span) = (section.text(key)?, section.span(key));
    let pieces = match pieces(&query) {
        Ok(pieces) => pieces,
        Err(problem) => {
            let problem = Problem::new(Code::BadText, span, format!("`{key}` is not one statement: {problem}"));
            problems.push(problem.help("write one `SELECT`; quote what is text with single quotes"));
            return None;
        }
    };
    let mut values = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Text(_) | Piece::Place(_) => {}
            Piece::Value(value) => values.push(value),
            Piece::Name(name) => named.push((name, span.clone())),
        }
    }
    Some(values)
}
