//! What the table of keys is made of.

/// A mapping with fixed keys.
#[derive(Debug)]
pub struct Section {
    /// Its keys.
    pub keys: &'static [Key],
    /// Keys of which exactly one must stand: they choose a backend, a kernel or a condition.
    pub one_of: &'static [&'static str],
    /// Keys that a later version will know.
    pub later: &'static [&'static str],
}

/// One key of a section.
#[derive(Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What its value looks like.
    pub shape: Shape,
    /// Whether it must stand, and what holds where it does not.
    pub need: Need,
    /// One sentence about it.
    pub about: &'static str,
}

/// Whether a key must stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// It must.
    Required,
    /// It must, unless this key stands, which takes its place: the two never stand together.
    Unless(&'static str),
    /// It need not; nothing holds in its place.
    Optional,
    /// It need not; this value holds, written as in a spec.
    Default(&'static str),
}

/// What a value looks like.
#[derive(Debug)]
pub enum Shape {
    /// A mapping with fixed keys.
    Map(&'static Section),
    /// A mapping with free keys.
    Free {
        /// The rule of its keys.
        keys: Text,
        /// Its values.
        values: &'static Shape,
        /// Entries at most.
        max: usize,
    },
    /// A list.
    List {
        /// Its items.
        items: &'static Shape,
        /// Items at least.
        min: usize,
        /// Items at most.
        max: usize,
    },
    /// A snapshot: `{ path }`, `{ git, path }` or variables; with a `name` where it is a rung.
    Snapshot {
        /// Whether it is a rung between old and new.
        rung: bool,
        /// Whether a file may name its variables: `{ from }`.
        from: bool,
    },
    /// A text.
    Text(Text),
    /// An integer within limits.
    Integer {
        /// The smallest.
        min: u64,
        /// The largest.
        max: u64,
    },
    /// A decimal number from 0 to a largest, with at most three digits behind the point.
    Decimal {
        /// The largest.
        max: u64,
    },
    /// Percentage points, such as `3pp`, from -100pp to 100pp.
    Points,
    /// A share from 0 to 100, such as `1pp` or `1%`.
    Share,
    /// A confidence level, such as `95` or `95%`.
    Confidence,
    /// `true` or `false`.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Any JSON value.
    Json,
}

/// The rule of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    /// Any text that is not empty, without control characters.
    Any,
    /// Any text without control characters, or an empty one.
    Loose,
    /// Any text that is not empty, of one or more lines.
    Lines,
    /// Letters, digits, `-`, `_` and `.`; begins with a letter or digit; at most 64 characters.
    Name,
    /// The name of an environment variable.
    Variable,
    /// The name of an HTTP header.
    Header,
    /// A relative path with forward slashes.
    Path,
    /// A git revision.
    Revision,
    /// An http or https URL.
    Url,
    /// A JSON pointer, empty or beginning with `/`.
    Pointer,
}

impl Section {
    /// The key of this name.
    #[must_use]
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }
}

impl Key {
    /// A key that must stand.
    #[must_use]
    pub const fn required(name: &'static str, shape: Shape, about: &'static str) -> Self {
        Self { name, shape, need: Need::Required, about }
    }

    /// A key that must stand, unless another one takes its place.
    #[must_use]
    pub const fn unless(name: &'static str, other: &'static str, shape: Shape, about: &'static str) -> Self {
        Self { name, shape, need: Need::Unless(other), about }
    }

    /// A key that need not stand.
    #[must_use]
    pub const fn optional(name: &'static str, shape: Shape, about: &'static str) -> Self {
        Self { name, shape, need: Need::Optional, about }
    }

    /// A key with a default.
    #[must_use]
    pub const fn default(name: &'static str, shape: Shape, value: &'static str, about: &'static str) -> Self {
        Self { name, shape, need: Need::Default(value), about }
    }
}
