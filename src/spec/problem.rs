//! Problems of a spec: a stable code, a place, what is wrong and what to do about it.

use super::node::Span;
use crate::model::{Failure, FailureClass};

macro_rules! codes {
    ($($(#[doc = $about:literal])* $name:ident => $text:literal,)*) => {
        /// What kind of problem it is. The texts are stable: scripts may rely on them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $($(#[doc = $about])* $name,)*
        }

        impl Code {
            /// Every code, in the order of their texts.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The stable text of the code.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

codes! {
    /// An alias, such as `*base`.
    Alias => "alias",
    /// A value that YAML versions read in different ways, where JSON is wanted.
    Ambiguous => "ambiguous-value",
    /// An anchor, such as `&base`.
    Anchor => "anchor",
    /// A URL that cannot be called.
    BadAddress => "bad-address",
    /// A text that breaks the rule of its key.
    BadText => "bad-text",
    /// Two values that cannot go together.
    Conflict => "conflict",
    /// A key that is a list or a mapping.
    ComplexKey => "complex-key",
    /// A `%` directive.
    Directive => "directive",
    /// A key twice in one mapping.
    DuplicateKey => "duplicate-key",
    /// A name twice in one list.
    DuplicateName => "duplicate-name",
    /// No document at all.
    Empty => "empty",
    /// A `<<` key.
    MergeKey => "merge-key",
    /// A key that must be there and is not.
    MissingKey => "missing-key",
    /// NaN or infinity.
    NotFinite => "not-finite",
    /// A number outside its limits.
    OutOfRange => "out-of-range",
    /// A placeholder that nothing fills.
    Placeholder => "placeholder",
    /// A key or password in the spec itself.
    Secret => "secret-in-spec",
    /// More than one YAML document.
    SeveralDocuments => "several-documents",
    /// Not YAML.
    Syntax => "syntax",
    /// A `!` tag.
    Tag => "tag",
    /// Too many levels.
    TooDeep => "too-deep",
    /// Too many bytes, items or characters.
    TooLarge => "too-large",
    /// A key that no version knows.
    UnknownKey => "unknown-key",
    /// A word that is not one of the allowed ones.
    UnknownWord => "unknown-word",
    /// A file that the spec names and that cannot be read.
    UnreadFile => "unread-file",
    /// A key of a later version.
    Unsupported => "unsupported",
    /// The spec could not be read although nothing else is wrong with it: a fault of this program.
    Unreadable => "unreadable",
    /// A list where a mapping is wanted, and the like.
    WrongType => "wrong-type",
    /// A percentage with another unit than the one wanted.
    WrongUnit => "wrong-unit",
}

/// One problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Its stable code.
    pub code: Code,
    /// Where it is, in bytes of the source.
    pub span: Span,
    /// What is wrong, as a lower-case fragment.
    pub message: String,
    /// What stands beside the marked place.
    pub label: Option<String>,
    /// What to do about it.
    pub help: Option<String>,
    /// Another place that has to do with it, and what it is.
    pub related: Option<(Span, String)>,
    /// Whether the marked text must not be shown, because it may be a key.
    pub hidden: bool,
}

impl Problem {
    /// A problem at this place.
    #[must_use]
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self { code, span, message: message.into(), label: None, help: None, related: None, hidden: false }
    }

    /// The same with a remedy.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same with a note at the marked place.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// The same with another place that has to do with it.
    #[must_use]
    pub fn related(mut self, span: Span, label: impl Into<String>) -> Self {
        self.related = Some((span, label.into()));
        self
    }

    /// The same with its marked text hidden.
    #[must_use]
    pub const fn hidden(mut self) -> Self {
        self.hidden = true;
        self
    }
}

/// Every problem of one spec, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecErrors {
    /// The problems; at least one.
    pub problems: Vec<Problem>,
    /// The file's name, for messages.
    pub file: String,
    /// The source, with everything that may be a key made unreadable. Spans still fit.
    pub(super) source: String,
}

impl SpecErrors {
    /// Sorts the problems by their places and hides in the source what must not be shown.
    #[must_use]
    pub(super) fn new(mut problems: Vec<Problem>, file: &str, source: &str) -> Self {
        problems.sort_by_key(|problem| (problem.span.start, problem.code));
        let hidden: Vec<Span> = problems.iter().filter(|one| one.hidden).map(|one| one.span.clone()).collect();
        let source = super::mask::mask_source(source, &hidden);
        Self { problems, file: file.to_owned(), source }
    }

    /// Line and column of a problem, from 1, the column in characters.
    #[must_use]
    pub fn position(&self, problem: &Problem) -> (usize, usize) {
        let before = self.source.get(..problem.span.start).unwrap_or(&self.source);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        (line, column)
    }
}

impl std::fmt::Display for SpecErrors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for SpecErrors {}

impl From<SpecErrors> for Failure {
    fn from(errors: SpecErrors) -> Self {
        let count = errors.problems.len();
        let noun = if count == 1 { "problem" } else { "problems" };
        let head = format!("read the spec `{}`: {count} {noun}", super::mask::cleaned(&errors.file));
        Self::new(FailureClass::Usage, format!("{head}\n{}", errors.render(false)))
    }
}
