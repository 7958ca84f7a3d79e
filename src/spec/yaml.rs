//! YAML text to nodes. The one place that knows which YAML library there is.
//!
//! Values keep their text as written: nothing here guesses that `yes` is a truth value or `1e3` a number. What has no
//! place in a spec (anchors, aliases, merge keys, tags, directives, several documents, keys twice) is reported here.

use super::node::{Entry, Kind, Node, Scalar, Span};
use super::problem::{Code, Problem};
use serde_saphyr::granit_parser::{self, ErrorKind, Event, Options, Parser, ScalarStyle, ScanError};
use std::collections::BTreeMap;

/// The largest spec, in bytes.
pub const MAX_BYTES: usize = 1 << 20;
/// How deep lists and mappings may lie in one another.
pub const MAX_DEPTH: usize = 24;

/// What is read, for messages, and how large it may be.
#[derive(Clone, Copy, Debug)]
pub struct Sort {
    /// With its article, such as `a spec`.
    pub one: &'static str,
    /// By itself, such as `the spec`.
    pub this: &'static str,
    /// Its largest size in bytes.
    pub max_bytes: usize,
    /// What to do about an empty one.
    pub begin: &'static str,
}

/// The spec of an audit.
pub const SPEC: Sort = Sort { one: "a spec", this: "the spec", max_bytes: MAX_BYTES, begin: "start with `version: 1`" };

/// A preset.
pub const PRESET: Sort =
    Sort { one: "a preset", this: "the preset", max_bytes: MAX_BYTES, begin: "start with `preset: 1`" };

/// Reads the one document of this text. Problems are added to the list; `None` where there is no document to go on with.
pub fn read(text: &str, sort: Sort, problems: &mut Vec<Problem>) -> Option<Node> {
    if text.len() > sort.max_bytes {
        let message = format!("{} has {} bytes; at most {} are read", sort.this, text.len(), sort.max_bytes);
        problems.push(Problem::new(Code::TooLarge, 0..0, message));
        return None;
    }
    let mut tree = Tree::new(text, sort, problems);
    for event in Parser::new_from_str_with_options(text, options()) {
        match event {
            Ok((event, span)) => match tree.take(event, tree.place(span)) {
                Step::On => {}
                Step::Stop => break,
            },
            Err(error) => {
                tree.scan_error(&error);
                return None;
            }
        }
    }
    let root = tree.root.take();
    if root.is_none() && problems.is_empty() {
        problems.push(Problem::new(Code::Empty, 0..0, format!("{} is empty", sort.this)).help(sort.begin));
    }
    root
}

fn options() -> Options {
    granit_parser::options! {
        strict_indentation: true,
        disallow_directives: true,
        emit_unresolved_aliases: true,
        emit_comments: false,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    }
}

impl Sort {
    fn too_deep(self) -> String {
        format!("{} is at most {MAX_DEPTH} levels deep", self.one)
    }
}

enum Step {
    On,
    Stop,
}

/// A list or mapping that is not closed yet.
enum Open {
    List(Span, Vec<Node>),
    Map(Span, Pairs),
}

/// A mapping under construction.
#[derive(Default)]
struct Pairs {
    entries: Vec<Entry>,
    places: BTreeMap<String, Span>,
    key: Option<Node>,
}

struct Tree<'a> {
    text: &'a str,
    sort: Sort,
    problems: &'a mut Vec<Problem>,
    open: Vec<Open>,
    root: Option<Node>,
    documents: usize,
}

impl<'a> Tree<'a> {
    fn new(text: &'a str, sort: Sort, problems: &'a mut Vec<Problem>) -> Self {
        Self { text, sort, problems, open: Vec::new(), root: None, documents: 0 }
    }

    /// The bytes of a parser's span, always within the text and at character boundaries.
    fn place(&self, span: granit_parser::Span) -> Span {
        let range = span.byte_range().unwrap_or(0..0);
        let start = floor(self.text, range.start);
        start..floor(self.text, range.end).max(start)
    }

    fn take(&mut self, event: Event<'_>, span: Span) -> Step {
        match event {
            Event::DocumentStart(..) => return self.document(span),
            Event::Scalar(text, style, anchor, tag) => {
                self.no_properties(&span, anchor != 0, tag.is_some());
                let scalar = Scalar { text: text.into_owned(), plain: style == ScalarStyle::Plain };
                self.put(Node { span, kind: Kind::Scalar(scalar) });
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.no_properties(&span, anchor != 0, tag.is_some());
                self.open.push(Open::List(span, Vec::new()));
            }
            Event::MappingStart(_, anchor, tag) => {
                self.no_properties(&span, anchor != 0, tag.is_some());
                self.open.push(Open::Map(span, Pairs::default()));
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(&span),
            Event::Alias(_) | Event::UnresolvedAlias(_) => self.alias(span),
            _ => {}
        }
        self.depth()
    }

    /// The parser limits block and flow nesting each; this limits both together.
    fn depth(&mut self) -> Step {
        match self.open.last() {
            Some(Open::List(span, _) | Open::Map(span, _)) if self.open.len() > MAX_DEPTH => {
                let message = format!("more than {MAX_DEPTH} levels of lists and mappings");
                let problem = Problem::new(Code::TooDeep, span.start..span.start, message);
                self.problems.push(problem.help(self.sort.too_deep()));
                Step::Stop
            }
            _ => Step::On,
        }
    }

    fn document(&mut self, span: Span) -> Step {
        self.documents += 1;
        if self.documents == 1 {
            return Step::On;
        }
        let problem = Problem::new(Code::SeveralDocuments, span, format!("{} is one YAML document", self.sort.one));
        self.problems.push(problem.help("keep each document in a file of its own"));
        Step::Stop
    }

    fn no_properties(&mut self, span: &Span, anchor: bool, tag: bool) {
        if anchor {
            let message = format!("anchors are not allowed in {}", self.sort.one);
            let problem = Problem::new(Code::Anchor, anchor_before(self.text, span), message);
            self.problems.push(problem.help("write the value out where it is needed"));
        }
        if tag {
            let problem =
                Problem::new(Code::Tag, span.clone(), format!("YAML tags are not allowed in {}", self.sort.one));
            self.problems.push(problem.help("remove the tag; what a value counts as follows from its key"));
        }
    }

    fn alias(&mut self, span: Span) {
        let message = format!("aliases are not allowed in {}", self.sort.one);
        let problem = Problem::new(Code::Alias, span.clone(), message);
        self.problems.push(problem.help("write the value out, or quote it if it is a text that begins with `*`"));
        self.put(Node { span, kind: Kind::Refused });
    }

    fn close(&mut self, end: &Span) {
        let node = match self.open.pop() {
            Some(Open::List(span, items)) => Node { span: span.start..end.end.max(span.end), kind: Kind::List(items) },
            Some(Open::Map(span, pairs)) => {
                Node { span: span.start..end.end.max(span.end), kind: Kind::Map(pairs.entries) }
            }
            None => return,
        };
        self.put(node);
    }

    /// Puts a finished node where it belongs: into the innermost open list or mapping, or at the root.
    fn put(&mut self, node: Node) {
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open::List(_, items)) => items.push(node),
            Some(Open::Map(_, pairs)) => match pairs.key.take() {
                None => pairs.key = Some(node),
                Some(key) => add(pairs, key, node, self.sort, self.problems),
            },
        }
    }

    fn scan_error(&mut self, error: &ScanError) {
        let at = floor(self.text, error.marker().byte_offset().unwrap_or(0));
        let end = self.text[at..].chars().next().map_or(at, |next| at + next.len_utf8());
        let (code, help) = match error.kind() {
            ErrorKind::RecursionLimitExceeded => (Code::TooDeep, self.sort.too_deep()),
            ErrorKind::DirectiveDisallowed => (Code::Directive, "remove the line that begins with `%`".to_owned()),
            ErrorKind::UnclosedQuotedScalar | ErrorKind::InvalidQuotedScalarIndent => {
                (Code::Syntax, "a quote before this place is not closed; close it on its own line".to_owned())
            }
            _ => {
                let help = "nothing after this place was read; check quotes, brackets and indentation";
                (Code::Syntax, help.to_owned())
            }
        };
        let message = match code {
            Code::Directive => format!("YAML directives are not allowed in {}", self.sort.one),
            _ => format!("not valid YAML: {}", plain_words(&error.kind().to_string())),
        };
        self.problems.push(Problem::new(code, at..end, message).help(help));
    }
}

/// The parser's words without its capital letter; a name such as `YAML` keeps its own.
fn plain_words(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) if !letters.as_str().starts_with(char::is_uppercase) => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => text.to_owned(),
    }
}

/// The anchor of a value: the last `&` before it that begins a word, or the value where there is none.
fn anchor_before(text: &str, value: &Span) -> Span {
    let begins =
        |at: &usize| !text[..*at].ends_with(|before: char| !before.is_whitespace() && !"[{,:".contains(before));
    let found = text[..value.start].rmatch_indices('&').map(|(at, _)| at).find(begins);
    found.map_or_else(
        || value.clone(),
        |at| {
            let ends = |c: char| c.is_whitespace() || "[]{},".contains(c);
            at..text[at..].find(ends).map_or(text.len(), |length| at + length)
        },
    )
}

fn add(pairs: &mut Pairs, key: Node, value: Node, sort: Sort, problems: &mut Vec<Problem>) {
    let Kind::Scalar(scalar) = key.kind else {
        if key.kind != Kind::Refused {
            let problem = Problem::new(Code::ComplexKey, key.span, "a key must be a single text");
            problems.push(problem.help("a text with braces, such as `\"{{question}}\"`, must stand in quotes"));
        }
        return;
    };
    if scalar.plain && scalar.text == "<<" {
        let problem = Problem::new(Code::MergeKey, key.span, format!("merge keys are not allowed in {}", sort.one));
        problems.push(problem.help("write the keys out where they are needed"));
        return;
    }
    if let Some(first) = pairs.places.get(&scalar.text) {
        let message = format!("the key {} stands here twice", super::mask::quoted(&scalar.text));
        let problem = Problem::new(Code::DuplicateKey, key.span, message).related(first.clone(), "first here");
        problems.push(problem.help("keep one of the two"));
        return;
    }
    pairs.places.insert(scalar.text.clone(), key.span.clone());
    pairs.entries.push(Entry { key: scalar.text, key_span: key.span, value });
}

/// The nearest character boundary at or before this byte, within the text.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
