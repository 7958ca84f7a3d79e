//! A tree held against the table of keys: every unknown key, missing key and wrong value of one file at once.

use super::mask::quoted;
use super::node::{Entry, Kind, Node, Scalar};
use super::problem::{Code, Problem};
use super::scalar::{self, Fault, Read};
use super::suggest::nearest;
use super::surface::{Key, Need, Section, Shape, Text};

/// The longest key of a mapping with free keys, in bytes.
const MAX_KEY: usize = 256;

/// Reports everything about this node that does not fit the section. Keys that are `unneeded` may be missing in it.
pub fn check(root: &Node, section: &'static Section, unneeded: &'static [&'static str], problems: &mut Vec<Problem>) {
    Checker { problems, unneeded }.section(root, section, WHOLE);
}

/// The same, of a part that messages call `path`.
pub fn check_at(root: &Node, section: &'static Section, path: &str, problems: &mut Vec<Problem>) {
    Checker { problems, unneeded: &[] }.section(root, section, path);
}

/// Reports everything about this node that does not fit the shape. `path` says what it is.
pub fn check_shape(root: &Node, shape: &'static Shape, path: &str, problems: &mut Vec<Problem>) {
    Checker { problems, unneeded: &[] }.value(root, shape, path);
}

/// Problems beyond this number come without a suggestion: nobody reads them, and a hostile file could ask for many.
const SUGGESTED: usize = 200;

/// What messages call the whole spec.
const WHOLE: &str = "the spec";

struct Checker<'a> {
    problems: &'a mut Vec<Problem>,
    /// Keys of the whole spec that need not stand.
    unneeded: &'static [&'static str],
}

impl Checker<'_> {
    fn section(&mut self, node: &Node, section: &'static Section, path: &str) {
        if !self.is_map(node, section.one_of, path) {
            return;
        }
        for entry in node.entries() {
            match section.key(&entry.key) {
                Some(key) => self.value(&entry.value, &key.shape, &entry.key),
                None => self.unknown(entry, section, path),
            }
        }
        let whole = path == WHOLE;
        for key in section.keys.iter().filter(|key| !(whole && self.unneeded.contains(&key.name))) {
            self.need(node, key, path);
        }
        self.one_of(node, section, path);
    }

    /// Whether this is a mapping, or nothing at all, which counts as an empty one.
    /// `names` are keys of which one must stand: whoever writes only that name means the key with all its defaults.
    fn is_map(&mut self, node: &Node, names: &[&str], path: &str) -> bool {
        let empty = node.scalar().is_some_and(Scalar::is_null);
        if empty || matches!(node.kind, Kind::Map(_)) {
            return true;
        }
        let written = node.scalar().map(|scalar| scalar.text.as_str());
        let help = match names.iter().find(|name| written == Some(**name)) {
            Some(name) => format!("write `{{ {name}: {{}} }}`, with its own keys, if any, between the inner braces"),
            None if names.is_empty() => "write `key: value` lines below it, or `{}` for all defaults".to_owned(),
            None => format!("write one of `{}` below it, with its own keys", names.join("`, `")),
        };
        self.wrong_type(node, path, "a mapping", &help);
        false
    }

    fn wrong_type(&mut self, node: &Node, path: &str, wanted: &str, help: &str) {
        if node.kind != Kind::Refused {
            let found = node.kind.describe();
            let message = format!("expected {wanted} as {}, found {found}", place(path));
            self.problems.push(Problem::new(Code::WrongType, node.span.clone(), message).help(help));
        }
    }

    fn unknown(&mut self, entry: &Entry, section: &'static Section, path: &str) {
        let shown = quoted(&entry.key);
        let span = entry.key_span.clone();
        if section.later.contains(&entry.key.as_str()) {
            let message = format!("{shown} is not supported in this version");
            let help = format!("remove it; {}", known(section));
            self.problems.push(Problem::new(Code::Unsupported, span, message).help(help));
            return;
        }
        let message = format!("unknown key {shown} in {}", place(path));
        let mut problem = Problem::new(Code::UnknownKey, span, message).help(known(section));
        if self.problems.len() < SUGGESTED
            && let Some(near) = nearest(&entry.key, section.keys.iter().map(|key| key.name))
        {
            problem = problem.label(format!("did you mean `{near}`?"));
        }
        self.problems.push(problem);
    }

    /// Reports a key that must stand and does not, or that stands beside the one that takes its place.
    fn need(&mut self, node: &Node, key: &Key, path: &str) {
        match (key.need, node.get(key.name)) {
            (Need::Required, None) => self.missing(node, key, path),
            (Need::Unless(other), None) if node.get(other).is_none() => self.missing(node, key, path),
            (Need::Unless(other), Some(entry)) => {
                if let Some(other) = node.get(other) {
                    let message = format!("`{}` stands beside `{}`, which takes its place", key.name, other.key);
                    let problem = Problem::new(Code::Conflict, entry.key_span.clone(), message);
                    self.problems.push(problem.related(other.key_span.clone(), "here").help("keep one of them"));
                }
            }
            _ => {}
        }
    }

    fn missing(&mut self, node: &Node, key: &Key, path: &str) {
        let message = format!("the key `{}` is missing in {}", key.name, place(path));
        let help = format!("add `{}: {}`", key.name, example(&key.shape));
        self.problems.push(Problem::new(Code::MissingKey, start(node), message).help(help));
    }

    fn one_of(&mut self, node: &Node, section: &'static Section, path: &str) {
        let standing: Vec<&Entry> =
            node.entries().iter().filter(|entry| section.one_of.contains(&entry.key.as_str())).collect();
        let unbuilt = node.entries().iter().any(|entry| section.later.contains(&entry.key.as_str()));
        let choices = listed(section.one_of.iter().copied());
        match standing.as_slice() {
            [] if section.one_of.is_empty() || unbuilt => {}
            [] => {
                let message = format!("{} needs one of {choices}", place(path));
                let problem = Problem::new(Code::MissingKey, start(node), message);
                self.problems.push(problem.help(format!("add exactly one of {choices}")));
            }
            [first, rest @ ..] => {
                for entry in rest {
                    let message = format!("{} takes only one of {choices}", place(path));
                    let problem = Problem::new(Code::Conflict, entry.key_span.clone(), message);
                    self.problems
                        .push(problem.related(first.key_span.clone(), "the first one").help("keep one of them"));
                }
            }
        }
    }

    fn value(&mut self, node: &Node, shape: &'static Shape, path: &str) {
        match shape {
            Shape::Map(section) => self.section(node, section, path),
            Shape::Free { keys, values, max } => self.free(node, *keys, values, *max, path),
            Shape::List { items, min, max } => self.list(node, items, (*min, *max), path),
            Shape::Snapshot { rung, from } => self.snapshot(node, *rung, *from, path),
            Shape::Json => self.json(node),
            _ => self.single(node, shape, path),
        }
    }

    fn free(&mut self, node: &Node, keys: Text, values: &'static Shape, max: usize, path: &str) {
        if !self.is_map(node, &[], path) {
            return;
        }
        self.size(node, node.entries().len(), (0, max), path);
        for entry in node.entries() {
            let key = Scalar { text: entry.key.clone(), plain: false };
            self.report(&entry.key_span, scalar::text(&key, keys));
            self.value(&entry.value, values, &entry.key);
            self.key_length(entry);
        }
    }

    fn list(&mut self, node: &Node, items: &'static Shape, limits: (usize, usize), path: &str) {
        let Kind::List(entries) = &node.kind else {
            self.wrong_type(node, path, "a list", "write `- item` lines below it, or `[a, b]`");
            return;
        };
        self.size(node, entries.len(), limits, path);
        for entry in entries {
            self.value(entry, items, path);
        }
    }

    fn size(&mut self, node: &Node, len: usize, (min, max): (usize, usize), path: &str) {
        let code = if len > max { Code::TooLarge } else { Code::OutOfRange };
        if len < min || len > max {
            let message = format!("{} has {len} entries; allowed are {min} to {max}", place(path));
            let problem = Problem::new(code, start(node), message);
            let help = "add an entry, or leave the key out where it may be absent";
            self.problems.push(if len < min { problem.help(help) } else { problem });
        }
    }

    /// A snapshot's keys are free where they are variables, so that only their rules are checked here.
    fn snapshot(&mut self, node: &Node, rung: bool, from: bool, path: &str) {
        let help = "write `{ path: corpus }`, `{ git: base, path: corpus }` or variables such as `{ index: docs_v42 }`";
        if !matches!(node.kind, Kind::Map(_)) {
            self.wrong_type(node, path, "a mapping", help);
            return;
        }
        self.size(node, node.entries().len(), (1, 16), path);
        for entry in node.entries() {
            self.snapshot_entry(entry, from);
        }
        if rung && node.get("name").is_none() {
            let message = "a snapshot between old and new needs a `name`";
            let problem = Problem::new(Code::MissingKey, start(node), message);
            self.problems.push(problem.help("add `name: n3` or the like"));
        }
    }

    fn snapshot_entry(&mut self, entry: &Entry, from: bool) {
        if entry.key == "from" && !from {
            let problem = Problem::new(Code::Conflict, entry.key_span.clone(), "only `new` may be named by a file");
            self.problems.push(problem.help("write the snapshot's values here"));
            return;
        }
        let key = Scalar { text: entry.key.clone(), plain: false };
        self.report(&entry.key_span, scalar::text(&key, Text::Name));
        self.single(&entry.value, snapshot_shape(&entry.key), &entry.key);
    }

    fn json(&mut self, node: &Node) {
        match &node.kind {
            Kind::Scalar(scalar) => self.report(&node.span, scalar::json(scalar)),
            Kind::List(items) => items.iter().for_each(|item| self.json(item)),
            Kind::Map(entries) => entries.iter().for_each(|entry| {
                self.key_length(entry);
                self.json(&entry.value);
            }),
            Kind::Refused => {}
        }
    }

    fn key_length(&mut self, entry: &Entry) {
        if entry.key.len() > MAX_KEY {
            let message = format!("a key of {} bytes; at most {MAX_KEY} are read", entry.key.len());
            self.problems.push(Problem::new(Code::TooLarge, entry.key_span.clone(), message));
        }
    }

    fn single(&mut self, node: &Node, shape: &'static Shape, path: &str) {
        let Some(scalar) = node.scalar() else {
            self.wrong_type(node, path, wanted(shape), &format!("write it like `{}`", example(shape)));
            return;
        };
        if scalar.is_null() {
            self.wrong_type(node, path, wanted(shape), "write a value, or remove the key");
            return;
        }
        match shape {
            Shape::Text(rule) => self.report(&node.span, scalar::text(scalar, *rule)),
            Shape::Integer { min, max } => self.report(&node.span, scalar::integer(scalar, *min, *max)),
            Shape::Decimal { max } => self.report(&node.span, scalar::decimal(scalar, *max)),
            Shape::Points => self.report(&node.span, scalar::points(scalar)),
            Shape::Share => self.report(&node.span, scalar::share(scalar)),
            Shape::Confidence => self.report(&node.span, scalar::confidence(scalar)),
            Shape::Flag => self.report(&node.span, scalar::flag(scalar)),
            Shape::Word(words) => self.report(&node.span, scalar::word(scalar, words)),
            Shape::Map(_) | Shape::Free { .. } | Shape::List { .. } | Shape::Snapshot { .. } | Shape::Json => {}
        }
    }

    fn report<T>(&mut self, span: &super::node::Span, read: Read<T>) {
        if let Err(Fault { code, message, help, hidden }) = read {
            let mut problem = Problem::new(code, span.clone(), message);
            problem.help = help;
            problem.hidden = hidden;
            self.problems.push(problem);
        }
    }
}

/// The shape of one value of a snapshot.
#[must_use]
pub fn snapshot_shape(key: &str) -> &'static Shape {
    match key {
        "path" | "from" => &Shape::Text(Text::Path),
        "git" => &Shape::Text(Text::Revision),
        _ => &Shape::Text(Text::Name),
    }
}

/// The first byte of a node, for problems of things that are not there.
fn start(node: &Node) -> super::node::Span {
    node.span.start..node.span.start
}

fn place(path: &str) -> String {
    if path.starts_with("the ") { path.to_owned() } else { quoted(path) }
}

fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn known(section: &Section) -> String {
    if section.keys.is_empty() {
        return "there are no keys here; write `{}`".to_owned();
    }
    format!("known keys are {}", listed(section.keys.iter().map(|key| key.name)))
}

const fn wanted(shape: &Shape) -> &'static str {
    match shape {
        Shape::Map(_) | Shape::Free { .. } | Shape::Snapshot { .. } => "a mapping",
        Shape::List { .. } => "a list",
        Shape::Text(_) => "a text",
        Shape::Integer { .. } => "an integer",
        Shape::Decimal { .. } => "a number",
        Shape::Points | Shape::Share => "percentage points",
        Shape::Confidence => "a confidence level",
        Shape::Flag => "`true` or `false`",
        Shape::Word(_) => "a word",
        Shape::Json => "a JSON value",
    }
}

/// A value that would do, for remedies.
#[must_use]
pub fn example(shape: &Shape) -> String {
    match shape {
        Shape::Map(Section { one_of: [first, ..], .. }) => format!("{{ {first}: {{ ... }} }}"),
        Shape::Map(_) | Shape::Free { .. } => "{ ... }".to_owned(),
        Shape::List { .. } => "[ ... ]".to_owned(),
        Shape::Snapshot { .. } => "{ path: corpus }".to_owned(),
        Shape::Text(rule) => text_example(*rule).to_owned(),
        Shape::Integer { min, .. } => min.to_string(),
        Shape::Decimal { .. } => "0.7".to_owned(),
        Shape::Points => "3pp".to_owned(),
        Shape::Share => "1pp".to_owned(),
        Shape::Confidence => "95%".to_owned(),
        Shape::Flag => "true".to_owned(),
        Shape::Word(words) => words.first().copied().unwrap_or_default().to_owned(),
        Shape::Json => "{}".to_owned(),
    }
}

const fn text_example(rule: Text) -> &'static str {
    match rule {
        Text::Any | Text::Loose | Text::Lines => "text",
        Text::Name => "docs-search",
        Text::Variable => "OPENAI_API_KEY",
        Text::Header => "Accept",
        Text::Path => "questions.jsonl",
        Text::Revision => "base",
        Text::Url => "https://api.openai.com/v1",
        Text::Pointer => "/hits",
    }
}
