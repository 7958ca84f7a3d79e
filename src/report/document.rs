//! What a report says, before any format: sections of blocks of lines. Formats render it and add no facts.

use super::escape::Untrusted;
use super::picture::Bar;
use crate::gate::Verdict;

/// A whole report, in the order in which it is read.
pub(in crate::report) struct Document<'a> {
    /// The verdict, where there is one to go by; a comparison of evidence alone has none.
    pub verdict: Option<Verdict>,
    /// The verdict and one sentence why, or what it is instead.
    pub headline: String,
    /// The audit and its few most telling numbers.
    pub summary: Line<'a>,
    /// What must be known before a number is believed.
    pub warnings: Vec<Line<'a>>,
    /// Everything else.
    pub sections: Vec<Section<'a>>,
    /// Where all of it is, what is left out for want of space as well.
    pub whole: &'static str,
}

/// A part of a report with a title.
pub(in crate::report) struct Section<'a> {
    /// Which one it is.
    pub topic: Topic,
    /// What the title adds where the section is folded.
    pub teaser: String,
    /// What is always shown.
    pub blocks: Vec<Block<'a>>,
    /// What may be left out, from the end, where space is short.
    pub entries: Vec<Vec<Block<'a>>>,
    /// How many entries stand open; the rest is folded.
    pub open_entries: usize,
}

/// The sections a report can have, in reading order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::report) enum Topic {
    /// D̂ by kernel.
    Churn,
    /// D̂ of the rebuild alone.
    Placebo,
    /// The rule, line by line.
    Rule,
    /// Snapshots and machinery.
    Changed,
    /// Stable flips.
    Flips,
    /// Flows of correctness.
    Correctness,
    /// Questions whose evidence changed.
    AtRisk,
    /// Evidence turnover.
    Turnover,
    /// Overlap of the documents that answers cite.
    Cited,
    /// Adjacent snapshots.
    Ladder,
    /// Stable flips along the snapshots between, and beside the closed book.
    Trajectories,
    /// Bounds over clusters of questions.
    Clusters,
    /// The soft kernel.
    Soft,
    /// Whether labels are transitive.
    Transitivity,
    /// Tags.
    Subgroups,
    /// Attempts and cells.
    Validity,
    /// Power and cost.
    Sample,
    /// What a whole audit would take.
    Whole,
    /// Commands and digests.
    Reproduce,
}

/// One block of a section.
pub(in crate::report) enum Block<'a> {
    /// A sentence or several.
    Paragraph(Line<'a>),
    /// Short facts.
    List(Vec<Line<'a>>),
    /// Figures.
    Table(Table<'a>),
    /// Bounds against limits, to be drawn.
    Picture(Vec<Bar>),
    /// What was and what is.
    Diff(Vec<DiffLine<'a>>),
    /// Commands to copy; ours alone.
    Commands(Vec<String>),
}

/// A table. Every row has as many cells as there are columns.
pub(in crate::report) struct Table<'a> {
    /// Titles, and whether figures stand below them (which are set to the right).
    pub columns: Vec<(&'static str, bool)>,
    /// Its rows.
    pub rows: Vec<Vec<Line<'a>>>,
}

/// One line of what was (`-`), what is (`+`) or what holds for both (a space).
pub(in crate::report) struct DiffLine<'a> {
    /// `-`, `+` or a space.
    pub sign: char,
    /// What the line shows.
    pub label: &'static str,
    /// The text and the greatest number of characters shown of each part.
    pub texts: Vec<(Untrusted<'a>, usize)>,
    /// Our own words after it.
    pub remark: String,
}

/// A line of text.
#[derive(Clone, Default)]
pub(in crate::report) struct Line<'a>(pub Vec<Part<'a>>);

/// A part of a line.
#[derive(Clone)]
pub(in crate::report) enum Part<'a> {
    /// Our words and numbers. No character of them is markup in any format.
    Ours(String),
    /// The same, with emphasis.
    Strong(String),
    /// Our digests and names, literally; without backticks.
    Code(String),
    /// Text from outside, shown literally up to a number of characters.
    Theirs(Untrusted<'a>, usize),
    /// A sentence from outside.
    Prose(Untrusted<'a>, usize),
}

impl<'a> Line<'a> {
    /// A line of our own words.
    pub(in crate::report) fn ours(text: impl Into<String>) -> Self {
        Self::default().and(text)
    }

    /// A line that begins with emphasis.
    pub(in crate::report) fn strong(text: impl Into<String>) -> Self {
        Self(vec![Part::Strong(text.into())])
    }

    /// Adds our own words.
    pub(in crate::report) fn and(mut self, text: impl Into<String>) -> Self {
        self.0.push(Part::Ours(text.into()));
        self
    }

    /// Adds one of our digests or names.
    pub(in crate::report) fn code(mut self, text: impl Into<String>) -> Self {
        self.0.push(Part::Code(text.into()));
        self
    }

    /// Adds text from outside.
    pub(in crate::report) fn theirs(mut self, text: &'a str, limit: usize) -> Self {
        self.0.push(Part::Theirs(Untrusted::new(text), limit));
        self
    }

    /// Adds a sentence from outside.
    pub(in crate::report) fn prose(mut self, text: &'a str, limit: usize) -> Self {
        self.0.push(Part::Prose(Untrusted::new(text), limit));
        self
    }
}

impl Topic {
    /// Its title.
    pub(in crate::report) const fn title(self) -> &'static str {
        match self {
            Self::Churn => "Excess churn",
            Self::Placebo => "The rebuild alone",
            Self::Rule => "The rule, line by line",
            Self::Changed => "What changed",
            Self::Flips => "Stable flips",
            Self::Correctness => "Correctness",
            Self::AtRisk => "Questions at risk",
            Self::Turnover => "Evidence turnover",
            Self::Cited => "Documents as cited",
            Self::Ladder => "Snapshots between",
            Self::Trajectories => "Where flips stand to other snapshots",
            Self::Clusters => "Bounds over clusters",
            Self::Soft => "Soft similarity",
            Self::Transitivity => "Labels that contradict one another",
            Self::Subgroups => "Subgroups",
            Self::Validity => "Validity",
            Self::Sample => "What this sample could detect, and its cost",
            Self::Whole => "What a whole audit would take",
            Self::Reproduce => "Reproduce, verify, override",
        }
    }

    /// Whether it stands open.
    pub(in crate::report) const fn is_open(self) -> bool {
        matches!(self, Self::Churn | Self::Placebo | Self::Changed | Self::Flips | Self::AtRisk)
    }
}

impl<'a> Section<'a> {
    /// A section without entries.
    pub(in crate::report) fn new(topic: Topic, teaser: impl Into<String>, blocks: Vec<Block<'a>>) -> Self {
        Self { topic, teaser: teaser.into(), blocks, entries: Vec::new(), open_entries: 0 }
    }
}
