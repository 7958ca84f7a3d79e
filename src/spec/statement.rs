//! A query with its places for values: what stands outside of strings and comments, and nowhere else.

/// A part of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// SQL as written.
    Text(String),
    /// A value that is bound, never pasted: `:question`, `:top_k`, `:words`, `:vector`.
    Value(Value),
    /// The name of a schema, table or column: `{table}`.
    Name(String),
    /// What some database takes for the place of a value: `$1`, `?`, `?1`, `$name`, `@name`, `:name`.
    Place(String),
}

/// A database, as far as it decides what is the place of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// `$1` alone: `?` and `@` are operators, and `:` cuts arrays.
    Postgres,
    /// All of them.
    Sqlite,
}

impl Dialect {
    /// Whether this is the place of a value.
    #[must_use]
    pub fn takes(self, place: &str) -> bool {
        let rest = place.strip_prefix('$');
        self == Self::Sqlite || rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    }
}

/// What can be bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    /// The question's text.
    Question,
    /// How many documents are wanted.
    TopK,
    /// The question's words, each in double quotes, with `OR` between them: a query of SQLite's full text search.
    Words,
    /// The question's vector, as `[0.25,-1]`.
    Vector,
}

const VALUES: &[(&str, Value)] =
    &[("question", Value::Question), ("top_k", Value::TopK), ("words", Value::Words), ("vector", Value::Vector)];

/// The parts of one statement.
///
/// # Errors
/// A string or comment that does not end, a brace around no name, or a second statement.
pub fn pieces(query: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut rest = query.trim_end().trim_end_matches(';');
    while let Some(next) = rest.chars().next() {
        let (piece, length) = match next {
            '\'' | '"' => (None, quoted(rest, next)?),
            '-' if rest.starts_with("--") => (None, rest.find('\n').unwrap_or(rest.len())),
            '/' if rest.starts_with("/*") => (None, comment(rest)?),
            '$' => dollars(rest, &text)?,
            '?' | '@' => place(rest),
            ';' => return Err("more than one statement".to_owned()),
            '{' => name(rest)?,
            ':' => value(rest, &text),
            _ => (None, next.len_utf8()),
        };
        match piece {
            None => text.push_str(&rest[..length]),
            Some(piece) => {
                pieces.push(Piece::Text(std::mem::take(&mut text)));
                pieces.push(piece);
            }
        }
        rest = &rest[length..];
    }
    pieces.push(Piece::Text(text));
    Ok(pieces)
}

/// The length of a string or a quoted name; a doubled quote begins the next one, which comes to the same.
fn quoted(rest: &str, quote: char) -> Result<usize, String> {
    let end = rest[1..].find(quote).map(|at| at + 2);
    end.ok_or_else(|| format!("a {quote} is never closed"))
}

/// The length of a comment, which may hold others.
fn comment(rest: &str) -> Result<usize, String> {
    let (mut depth, mut at) = (0_usize, 0);
    while at < rest.len() {
        let tail = &rest[at..];
        if tail.starts_with("/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if tail.starts_with("*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return Ok(at);
            }
        } else {
            at += tail.chars().next().map_or(1, char::len_utf8);
        }
    }
    Err("a comment is never closed".to_owned())
}

/// PostgreSQL's `$tag$...$tag$`, the place of a value, or the sign alone, which can stand within a name.
fn dollars(rest: &str, before: &str) -> Result<(Option<Piece>, usize), String> {
    let tag = rest[1..].find('$').map(|at| &rest[..at + 2]);
    let word = |c: char| c.is_alphanumeric() || c == '_';
    match tag
        .filter(|tag| tag[1..tag.len() - 1].chars().all(word) && !tag[1..].starts_with(|c: char| c.is_ascii_digit()))
    {
        None if before.ends_with(word) => Ok((None, 1)),
        None => Ok(place(rest)),
        Some(tag) => {
            let end = rest[tag.len()..].find(tag).map(|at| at + 2 * tag.len());
            end.map(|end| (None, end)).ok_or_else(|| format!("a string that begins with {tag} is never closed"))
        }
    }
}

fn name(rest: &str) -> Result<(Option<Piece>, usize), String> {
    let end = rest.find('}').ok_or("a { is never closed")?;
    let name = &rest[1..end];
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty() || !name.chars().all(plain) {
        return Err("a { that no name of a snapshot's variable follows".to_owned());
    }
    Ok((Some(Piece::Name(name.to_owned())), end + 1))
}

/// A value; not within a cast such as `::text`. Any other word may be the place of one that nobody fills.
fn value(rest: &str, before: &str) -> (Option<Piece>, usize) {
    if before.ends_with(':') {
        return (None, 1);
    }
    let word = word(rest);
    let known = VALUES.iter().find(|(name, _)| *name == word);
    known.map_or_else(|| place(rest), |(_, value)| (Some(Piece::Value(*value)), word.len() + 1))
}

/// A sign and the word or the number after it, as a place for a value; the sign alone where nothing follows it, but for `?`.
fn place(rest: &str) -> (Option<Piece>, usize) {
    let word = word(rest);
    if word.is_empty() && !rest.starts_with('?') {
        return (None, 1);
    }
    let length = word.len() + 1;
    (Some(Piece::Place(rest[..length].to_owned())), length)
}

/// The letters, digits and underscores after a sign.
fn word(rest: &str) -> &str {
    let rest = &rest[1..];
    rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).map_or(rest, |end| &rest[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(query: &str) -> Result<String, String> {
        let shown = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Value(value) => format!("<{value:?}>"),
            Piece::Name(name) => format!("<{name}>"),
            Piece::Place(place) => format!("[{place}]"),
        };
        Ok(pieces(query)?.iter().map(shown).collect())
    }

    #[test]
    fn values_and_names_are_found_outside_of_strings_and_comments_alone() {
        let query = "SELECT id::text, x[1:n] FROM {schema}.{table-2} WHERE a = ':question' AND \"{b}\" @@ :question -- :top_k {x}\n\
                     /* :words /* {y} */ */ AND c = $t$ :vector {z} ''' $t$ LIMIT :top_k;\n";
        let expected = "SELECT id::text, x[1[:n]] FROM <schema>.<table-2> WHERE a = ':question' AND \"{b}\" @@ <Question> -- :top_k {x}\n\
                        /* :words /* {y} */ */ AND c = $t$ :vector {z} ''' $t$ LIMIT <TopK>";
        assert_eq!(shown(query).unwrap(), expected);
        assert_eq!(
            shown("SELECT :words, :vector, :questions, $1, 'it''s :top_k'").unwrap(),
            "SELECT <Words>, <Vector>, [:questions], [$1], 'it''s :top_k'"
        );
        assert_eq!(
            shown("SELECT a$1, $2::int, ?, ?3, @n, $n, a @> b, a @@ c, a::text, '$4', \"?\", $$ $5 $$ -- $6").unwrap(),
            "SELECT a$1, [$2]::int, [?], [?3], [@n], [$n], a @> b, a @@ c, a::text, '$4', \"?\", $$ $5 $$ -- $6"
        );
    }

    #[test]
    fn what_is_the_place_of_a_value_is_for_each_database_to_say() {
        for (place, of_postgres) in
            [("$1", true), ("$12", true), ("$n", false), ("?", false), ("?1", false), (":n", false)]
        {
            assert_eq!((Dialect::Postgres.takes(place), Dialect::Sqlite.takes(place)), (of_postgres, true), "{place}");
        }
    }

    #[test]
    fn what_does_not_end_or_goes_on_is_refused() {
        for (query, problem) in [
            ("SELECT 'a", "never closed"),
            ("SELECT \"a", "never closed"),
            ("SELECT /* /* */", "never closed"),
            ("SELECT $a$ b", "never closed"),
            ("SELECT {a", "never closed"),
            ("SELECT {a b}", "no name"),
            ("SELECT 1; DROP TABLE a", "more than one"),
            ("SELECT 1;;SELECT 2;", "more than one"),
        ] {
            assert!(shown(query).unwrap_err().contains(problem), "{query}");
        }
        assert_eq!(shown("SELECT 'é;' ; ").unwrap(), "SELECT 'é;' ");
    }
}
