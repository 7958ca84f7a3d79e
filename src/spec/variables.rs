//! The variables of a snapshot that stand outside of a spec: in a file, or on the command line. Plain names, whoever wrote
//! them.

use super::node::{Node, Scalar};
use super::problem::{Code, Problem, SpecErrors};
use super::surface::{Shape, Text};
use super::{check, scalar, yaml};
use std::collections::BTreeMap;

/// What such a file holds: names and plain values, as in a spec.
static FILE: Shape = Shape::Free { keys: Text::Name, values: &Shape::Text(Text::Name), max: 16 };

const SORT: yaml::Sort = yaml::Sort {
    one: "a file of variables",
    this: "the file",
    max_bytes: yaml::MAX_BYTES,
    begin: "write `name: value`",
};

/// Reads a file of variables: one YAML mapping of plain names. `file` is its name, for messages only.
///
/// # Errors
/// Every problem of the text, each with its place and a remedy.
pub fn parse(text: &str, file: &str) -> Result<BTreeMap<String, String>, SpecErrors> {
    let mut problems = Vec::new();
    let root = yaml::read(text, SORT, &mut problems);
    if let Some(root) = &root {
        check::check_shape(root, &FILE, "the file", &mut problems);
    }
    match root {
        Some(root) if problems.is_empty() => Ok(values(&root)),
        _ => {
            if problems.is_empty() {
                problems.push(Problem::new(Code::Unreadable, 0..0, "the file could not be read"));
            }
            Err(SpecErrors::new(problems, file, text))
        }
    }
}

fn values(root: &Node) -> BTreeMap<String, String> {
    let value = |entry: &super::node::Entry| Some((entry.key.clone(), entry.value.scalar()?.text.clone()));
    root.entries().iter().filter_map(value).collect()
}

/// Whether a text is a plain name: letters, digits, `-`, `_` and `.`.
#[must_use]
pub fn is_plain(text: &str) -> bool {
    scalar::text(&Scalar { text: text.to_owned(), plain: false }, Text::Name).is_ok()
}

/// Reads `NAME=VALUE`, both plain names.
///
/// # Errors
/// What is wrong with it, as a phrase.
pub fn assignment(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write it as `NAME=VALUE`")?;
    for part in [name, value] {
        let part = Scalar { text: part.to_owned(), plain: false };
        scalar::text(&part, Text::Name).map_err(|fault| match fault.help {
            Some(help) => format!("{}; {help}", fault.message),
            None => fault.message,
        })?;
    }
    Ok((name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_names_plain_values() {
        let read = parse("# chosen by the change\nindex: docs_v42\nalias: '7'\n", "index.yaml").unwrap();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(read, BTreeMap::from([pair("index", "docs_v42"), pair("alias", "7")]));
    }

    #[test]
    fn urls_paths_templates_and_structures_are_refused() {
        for value in [
            "https://evil.example/x",
            "../other",
            "a/b",
            "'{{question}}'",
            "'{index}'",
            "[a]",
            "{ a: b }",
            "",
            "'a b'",
            "'a\nb'",
            "-x",
            ".hidden",
            "..",
            "'@x'",
            "a?b=c",
            "a%2Fb",
            "ä",
            "*anchor",
            "!!tag x",
        ] {
            assert!(parse(&format!("index: {value}\n"), "f").is_err(), "{value}");
        }
        for file in ["", "just text", "[a]", "index: a\nindex: b", "'a b': c", &"x".repeat(2 << 20), "a: b\n---\na: c"]
        {
            assert!(parse(file, "f").is_err(), "{file:.20}");
        }
        let many = (0..17).map(|number| format!("v{number}: x")).collect::<Vec<_>>().join("\n");
        assert!(parse(&many, "f").is_err());
    }

    #[test]
    fn problems_name_file_line_and_column() {
        let said = parse("index: docs_v42\nhost: https://evil.example\n", "index.yaml").unwrap_err().to_string();
        assert!(said.contains("index.yaml:2:7") && said.contains("is not a plain name"), "{said}");
    }

    #[test]
    fn assignments_are_two_plain_names() {
        assert_eq!(assignment("index=docs_v42"), Ok(("index".to_owned(), "docs_v42".to_owned())));
        for bad in ["index", "=x", "index=", "index=a/b", "index=a=b", "in dex=a", "index=https://h", "index={{q}}"] {
            assert!(assignment(bad).is_err(), "{bad}");
        }
    }
}
