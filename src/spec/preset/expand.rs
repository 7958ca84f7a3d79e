//! A preset with what a spec says of it, made into a section `http`. Values take the places of whole values; where a name
//! must stand within a text (a path, a pointer, a query language's own names), it must be made of plain characters.

use super::{Preset, Presets};
use crate::spec::mask::quoted;
use crate::spec::node::{Entry, Kind, Node, Scalar, Span};
use crate::spec::problem::{Code, Problem};
use crate::spec::suggest::nearest;
use std::collections::BTreeMap;

/// What a spec says beside the preset's name.
#[derive(Clone, Debug)]
pub struct Given<'a> {
    /// The server, without a trailing slash.
    pub base_url: Option<String>,
    /// The environment variable that holds the key; no key is sent where absent.
    pub key_env: Option<String>,
    /// The values of what the preset leaves open.
    pub with: Option<&'a Node>,
    /// What the section is made of, for the record.
    pub origin: String,
    /// Where the preset is named.
    pub span: Span,
}

/// The section. `None` where something is missing or does not fit, which is then among the problems of the spec, or of
/// the preset itself.
pub fn expand(
    preset: &Preset,
    given: &Given<'_>,
    presets: &mut Presets<'_>,
    problems: &mut Vec<Problem>,
) -> Option<Node> {
    let before = problems.len();
    let base_url = given.base_url.clone().or_else(|| preset.base_url.clone());
    if base_url.is_none() {
        let problem = Problem::new(Code::MissingKey, given.span.clone(), "the preset needs the server's `base_url`");
        problems.push(problem.help("add `base_url: https://search.example.com`"));
    }
    if given.key_env.is_some() && preset.key.is_empty() {
        let problem = Problem::new(Code::Conflict, given.span.clone(), "the preset has no header for a key");
        problems.push(problem.help("remove `key_env`"));
    }
    let values = values(preset, given, problems);
    let mut filling = Filling { base_url: base_url.unwrap_or_default(), values, bad: Vec::new() };
    let section = filling.node(&preset.http);
    let faults = presets.faults_of("", "");
    for (of_preset, problem) in filling.bad {
        if of_preset { faults.push(problem) } else { problems.push(Problem { span: given.span.clone(), ..problem }) }
    }
    if problems.len() > before || !faults.is_empty() {
        return None;
    }
    let mut section = section?;
    if let Kind::Map(entries) = &mut section.kind {
        entries.retain(|entry| entry.key != "origin");
        entries.push(entry("origin", text(&given.origin)));
        if let Some(env) = &given.key_env {
            entries.push(entry("secret_headers", Node { span: 0..0, kind: Kind::Map(key_headers(preset, env)) }));
        }
    }
    Some(section)
}

fn key_headers(preset: &Preset, env: &str) -> Vec<Entry> {
    let header = |(name, prefix): &(String, String)| {
        let parts = vec![entry("prefix", text(prefix)), entry("env", text(env))];
        entry(name, Node { span: 0..0, kind: Kind::Map(parts) })
    };
    preset.key.iter().map(header).collect()
}

fn entry(key: &str, value: Node) -> Entry {
    Entry { key: key.to_owned(), key_span: 0..0, value }
}

fn text(text: &str) -> Node {
    Node { span: 0..0, kind: Kind::Scalar(Scalar { text: text.to_owned(), plain: false }) }
}

/// The value of everything that the preset leaves open.
fn values(preset: &Preset, given: &Given<'_>, problems: &mut Vec<Problem>) -> BTreeMap<String, Option<Node>> {
    let said = given.with.map_or(&[][..], Node::entries);
    for entry in said {
        match preset.open.iter().find(|(name, _)| *name == entry.key) {
            Some((_, Some(default))) if !alike(default, &entry.value) => {
                let message = format!("{} is of another kind than the preset's own value", quoted(&entry.key));
                let problem = Problem::new(Code::WrongType, entry.value.span.clone(), message);
                problems.push(problem.help(format!("write {}", default.kind.describe())));
            }
            Some(_) => {}
            None => problems.push(unknown(entry, preset)),
        }
    }
    let value = |(name, default): &(String, Option<Node>)| {
        let value =
            said.iter().find(|entry| entry.key == *name).map(|entry| &entry.value).or(default.as_ref()).cloned();
        if value.is_none() {
            let problem = Problem::new(
                Code::MissingKey,
                given.span.clone(),
                format!("the preset needs a value of {}", quoted(name)),
            );
            problems.push(problem.help(format!("add `with: {{ {name}: ... }}`")));
        }
        (name.clone(), value)
    };
    preset.open.iter().map(value).collect()
}

fn unknown(entry: &Entry, preset: &Preset) -> Problem {
    let names = || preset.open.iter().map(|(name, _)| name.as_str());
    let message = format!("the preset leaves no {} open", quoted(&entry.key));
    let listed = names().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let help = if listed.is_empty() { "remove `with`".to_owned() } else { format!("it leaves open {listed}") };
    let problem = Problem::new(Code::UnknownKey, entry.key_span.clone(), message).help(help);
    match nearest(&entry.key, names()) {
        Some(near) => problem.label(format!("did you mean `{near}`?")),
        None => problem,
    }
}

/// Whether a value is of the kind of a default: a list, a number, a truth value or a text.
fn alike(default: &Node, value: &Node) -> bool {
    let json = |node: &Node| crate::spec::reader::json(node).unwrap_or_default();
    let (default, value) = (json(default), json(value));
    std::mem::discriminant(&default) == std::mem::discriminant(&value)
}

/// A place that a value takes within a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In a URL.
    Url,
    /// In a JSON pointer, where a dot in a name steps into an object.
    Pointer,
    /// A name of a query language.
    Name,
}

struct Filling {
    base_url: String,
    values: BTreeMap<String, Option<Node>>,
    /// Problems, each with whether it is the preset's own.
    bad: Vec<(bool, Problem)>,
}

impl Filling {
    /// The node with everything filled in; `None` where it stands for something that is left empty.
    fn node(&mut self, node: &Node) -> Option<Node> {
        let kind = match &node.kind {
            Kind::Scalar(scalar) => return self.scalar(scalar, &node.span),
            Kind::List(items) => Kind::List(items.iter().filter_map(|item| self.node(item)).collect()),
            Kind::Map(entries) => Kind::Map(entries.iter().filter_map(|entry| self.entry(entry)).collect()),
            Kind::Refused => Kind::Refused,
        };
        Some(Node { span: node.span.clone(), kind })
    }

    fn entry(&mut self, entry: &Entry) -> Option<Entry> {
        let key = match whole(&entry.key) {
            Some(name) => self.value(name, &entry.key_span)?.scalar()?.text.clone(),
            None => entry.key.clone(),
        };
        Some(Entry { key, key_span: entry.key_span.clone(), value: self.node(&entry.value)? })
    }

    fn scalar(&mut self, scalar: &Scalar, span: &Span) -> Option<Node> {
        if let Some(name) = whole(&scalar.text) {
            let value = self.value(name, span)?;
            let is_empty = value.scalar().is_some_and(|scalar| scalar.text.is_empty());
            return (!is_empty).then(|| Node { span: span.clone(), kind: value.kind });
        }
        let text = self.pasted(&scalar.text, span)?;
        Some(Node { span: span.clone(), kind: Kind::Scalar(Scalar { text, plain: scalar.plain }) })
    }

    /// The value of this name.
    fn value(&mut self, name: &str, span: &Span) -> Option<Node> {
        if let Some(value) = self.values.get(name) {
            return value.clone();
        }
        let message = format!("{} is nothing that the preset leaves open", quoted(name));
        self.bad.push((true, Problem::new(Code::Placeholder, span.clone(), message).help("name it under `with`")));
        None
    }

    /// A text with names pasted into it; `None` where one of them is left empty and is not marked by `?`, which leaves out
    /// the name and the slash before it alone.
    fn pasted(&mut self, template: &str, span: &Span) -> Option<String> {
        let (mut out, rest, begins) = match template.strip_prefix("{base_url}") {
            Some(rest) => (self.base_url.clone(), rest, Place::Url),
            None => (String::new(), template, Place::Pointer),
        };
        let mut rest = rest;
        while let Some(at) = rest.find("{with.").into_iter().chain(rest.find("<with.")).min() {
            let place = if rest[at..].starts_with('<') { Place::Name } else { begins };
            let close = if place == Place::Name { '>' } else { '}' };
            let (name, after) = rest[at + "{with.".len()..].split_once(close)?;
            let (name, may_lack) = name.strip_suffix('?').map_or((name, false), |name| (name, true));
            let value = self.value(name, span)?.scalar()?.text.clone();
            out.push_str(&rest[..at]);
            match (value.is_empty(), may_lack) {
                (false, _) => out.push_str(&self.fitted(name, &value, place)),
                (true, true) => out.truncate(out.trim_end_matches('/').len()),
                (true, false) => return None,
            }
            rest = after;
        }
        out.push_str(rest);
        Some(out)
    }

    /// A value as it may stand in its place.
    fn fitted(&mut self, name: &str, value: &str, place: Place) -> String {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let fits = match place {
            Place::Name => value.chars().all(plain) && !value.starts_with(|c: char| c.is_ascii_digit()),
            Place::Url | Place::Pointer => {
                value.chars().all(|c| plain(c) || "-.".contains(c)) && value.split('.').all(|part| !part.is_empty())
            }
        };
        if !fits {
            let message = format!("the value of {} is no plain name", quoted(name));
            let problem = Problem::new(Code::BadText, 0..0, message);
            self.bad.push((false, problem.help("letters, digits and `_`; `-` and `.` only where no query names it")));
        }
        if place == Place::Pointer { value.replace('.', "/") } else { value.to_owned() }
    }
}

/// The name in a text that is exactly `{{with.NAME}}`.
fn whole(text: &str) -> Option<&str> {
    text.strip_prefix("{{with.")?.strip_suffix("}}")
}
