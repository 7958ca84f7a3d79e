//! The claim matrix: each figure that a report shows, and the records that it comes from. Read off the very document that
//! the formats render, so that no figure is left out.

use super::document::{Block, Document, Line, Part, Section, Table, Topic};
use super::picture::picture;
use super::result::AuditResult;
use super::view;

/// A ledger of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ledger {
    /// Questions as vectors.
    Vectors,
    /// What was retrieved.
    Evidence,
    /// What was answered.
    Answers,
    /// What was judged.
    Judgments,
    /// What the same judge said of a sample once more.
    Again,
    /// What a second judge said of a sample.
    Second,
    /// What a second generator answered to a sample.
    ReplicaAnswers,
    /// What was judged of that.
    ReplicaJudgments,
}

/// A kind of record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Calls that were about to be made.
    Attempts,
    /// Outcomes that were accepted.
    Accepted,
    /// Outcomes that were not.
    NotAccepted,
    /// Decisions without a call.
    Notes,
    /// The closing line.
    Seal,
}

/// Where a figure comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// What was frozen.
    Protocol,
    /// Where the rule came from, on a pull request.
    Rule,
    /// Equality after normalisation, and how answers stand to gold.
    Classes,
    /// Records of one kind in one ledger.
    Records(Ledger, Kind),
}

/// One place of the report with a figure in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The section.
    pub section: &'static str,
    /// What the figure is: a table's row and column, or what kind of line it stands in.
    pub figure: String,
    /// What is shown there, without texts from outside.
    pub shown: String,
    /// What it comes from.
    pub sources: Vec<Source>,
}

use Kind::{Accepted, Attempts, NotAccepted, Notes, Seal};
use Ledger::{Again, Answers, Evidence, Judgments, ReplicaAnswers, ReplicaJudgments, Second, Vectors};
use Source::{Classes, Protocol, Records, Rule};

/// What D̂ of either kernel comes from. A question whose packet is not judged is left out of both.
const CHURN: &[Source] = &[
    Protocol,
    Classes,
    Records(Answers, Accepted),
    Records(Answers, Notes),
    Records(Judgments, Accepted),
    Records(Judgments, Notes),
];
/// What a figure about the evidence of questions comes from, flips among them.
const TURNOVER: &[Source] = &[Records(Evidence, Accepted), Records(Evidence, Notes)];
/// What was spent, and what became of it.
const COURSE: &[Source] = &[
    Records(Vectors, Attempts),
    Records(Vectors, Accepted),
    Records(Vectors, NotAccepted),
    Records(Vectors, Notes),
    Records(Evidence, Notes),
    Records(Answers, Attempts),
    Records(Answers, NotAccepted),
    Records(Judgments, Attempts),
    Records(Judgments, NotAccepted),
    Records(Again, Attempts),
    Records(Again, NotAccepted),
    Records(Second, Attempts),
    Records(Second, NotAccepted),
    Records(ReplicaAnswers, Attempts),
    Records(ReplicaAnswers, NotAccepted),
    Records(ReplicaJudgments, Attempts),
    Records(ReplicaJudgments, NotAccepted),
];
/// What diagnostics of judge and generator come from.
const DIAGNOSTICS: &[Source] = &[
    Records(Again, Accepted),
    Records(Again, Notes),
    Records(Second, Accepted),
    Records(Second, Notes),
    Records(ReplicaAnswers, Accepted),
    Records(ReplicaAnswers, Notes),
    Records(ReplicaJudgments, Accepted),
    Records(ReplicaJudgments, Notes),
];
/// What names the ledgers.
const SEALS: &[Source] = &[
    Protocol,
    Classes,
    Records(Vectors, Seal),
    Records(Evidence, Seal),
    Records(Answers, Seal),
    Records(Judgments, Seal),
    Records(Again, Seal),
    Records(Second, Seal),
    Records(ReplicaAnswers, Seal),
    Records(ReplicaJudgments, Seal),
];

impl Source {
    /// Its name in the matrix.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Protocol => "protocol".to_owned(),
            Self::Rule => "rule".to_owned(),
            Self::Classes => "classes".to_owned(),
            Self::Records(ledger, kind) => format!("{}.{}", ledger.name(), kind.name()),
        }
    }
}

impl Ledger {
    /// Every one, in the order of a run.
    pub const ALL: [Self; 8] = [Vectors, Evidence, Answers, Judgments, Again, Second, ReplicaAnswers, ReplicaJudgments];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Vectors => "vectors",
            Self::Evidence => "evidence",
            Self::Answers => "answers",
            Self::Judgments => "judgments",
            Self::Again => "judgments-again",
            Self::Second => "judgments-second",
            Self::ReplicaAnswers => "answers-replica",
            Self::ReplicaJudgments => "judgments-replica",
        }
    }
}

impl Kind {
    /// Every one.
    pub const ALL: [Self; 5] = [Attempts, Accepted, NotAccepted, Notes, Seal];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Attempts => "attempts",
            Self::Accepted => "accepted",
            Self::NotAccepted => "not_accepted",
            Self::Notes => "notes",
            Self::Seal => "seal",
        }
    }
}

/// Every place of the report that shows a figure, in reading order.
#[must_use]
pub fn claims(result: &AuditResult) -> Vec<Claim> {
    let document = view::document(result);
    let mut matrix = Matrix { claims: Vec::new(), section: "Verdict", sources: join(&[CHURN, &[Rule]]) };
    matrix.head(&document);
    for section in &document.sections {
        matrix.section(section);
    }
    matrix.claims
}

fn join(parts: &[&[Source]]) -> Vec<Source> {
    let mut sources = parts.concat();
    sources.sort();
    sources.dedup();
    sources
}

/// What the figures of a section come from.
fn sources(topic: Topic) -> Vec<Source> {
    match topic {
        Topic::Churn
        | Topic::Rule
        | Topic::Cited
        | Topic::Clusters
        | Topic::Ladder
        | Topic::Trajectories
        | Topic::Transitivity
        | Topic::Soft
        | Topic::Subgroups
        | Topic::Correctness => join(&[CHURN]),
        Topic::Changed => vec![Protocol],
        Topic::Flips | Topic::Turnover | Topic::AtRisk | Topic::Placebo => join(&[CHURN, TURNOVER]),
        Topic::Validity => join(&[CHURN, COURSE, DIAGNOSTICS]),
        Topic::Sample | Topic::Whole => join(&[CHURN, COURSE]),
        Topic::Reproduce => join(&[SEALS]),
    }
}

/// Collects claims.
struct Matrix {
    claims: Vec<Claim>,
    section: &'static str,
    sources: Vec<Source>,
}

impl Matrix {
    fn head(&mut self, document: &Document<'_>) {
        self.add("headline", document.headline.clone());
        self.add("summary", words(&document.summary));
        for warning in &document.warnings {
            self.add("warning", words(warning));
        }
    }

    fn section(&mut self, section: &Section<'_>) {
        (self.section, self.sources) = (section.topic.title(), sources(section.topic));
        self.add("title", section.teaser.clone());
        for block in section.blocks.iter().chain(section.entries.iter().flatten()) {
            self.block(block);
        }
    }

    fn block(&mut self, block: &Block<'_>) {
        match block {
            Block::Paragraph(line) => self.add("sentence", words(line)),
            Block::List(lines) => lines.iter().for_each(|line| self.add("fact", words(line))),
            Block::Table(table) => self.table(table),
            Block::Picture(bars) => picture(bars).into_iter().for_each(|line| self.add("picture", line)),
            Block::Diff(lines) => lines.iter().for_each(|line| self.add(line.label, line.remark.clone())),
            Block::Commands(lines) => lines.iter().for_each(|line| self.add("command", line.clone())),
        }
    }

    fn table(&mut self, table: &Table<'_>) {
        for row in &table.rows {
            let names = row.iter().zip(&table.columns).filter(|(_, (_, figures))| !figures);
            let name: Vec<String> = names.map(|(cell, _)| named(cell)).filter(|name| !name.is_empty()).collect();
            for (cell, (column, _)) in row.iter().zip(&table.columns) {
                self.add(&format!("{}: {column}", name.join(", ")), words(cell));
            }
        }
    }

    /// Takes what is shown at a place, where there is a figure in it.
    fn add(&mut self, figure: &str, shown: String) {
        if shown.contains(|character: char| character.is_ascii_digit()) {
            let (section, sources) = (self.section, self.sources.clone());
            self.claims.push(Claim { section, figure: figure.to_owned(), shown, sources });
        }
    }
}

/// What a line says in words of ours. A text from outside is left out.
fn words(line: &Line<'_>) -> String {
    let part = |part: &Part<'_>| match part {
        Part::Ours(text) | Part::Strong(text) | Part::Code(text) => text.clone(),
        Part::Theirs(..) => "…".to_owned(),
        Part::Prose(text, limit) => text.terminal(*limit),
    };
    line.0.iter().map(part).collect()
}

/// What a row is called: names of ours, and names of snapshots and tags.
fn named(cell: &Line<'_>) -> String {
    let part = |part: &Part<'_>| match part {
        Part::Ours(text) | Part::Strong(text) | Part::Code(text) => text.clone(),
        Part::Theirs(text, limit) | Part::Prose(text, limit) => text.terminal(*limit),
    };
    cell.0.iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixtures::{compatible, incompatible, inconclusive};

    #[test]
    fn each_kernel_has_its_figures_and_no_text_from_outside_is_claimed() {
        let matrix = claims(&incompatible());
        let churn = matrix.iter().find(|claim| claim.figure.contains("semantic") && claim.figure.ends_with("D̂ (pp)"));
        assert!(churn.is_some_and(|claim| claim.sources.contains(&Records(Judgments, Accepted))), "{matrix:?}");
        let result = incompatible();
        for flip in &result.flips {
            for text in [&flip.text, &flip.old_answer, &flip.new_answer] {
                assert!(matrix.iter().all(|claim| !claim.shown.contains(text.as_str())), "{text}");
            }
        }
    }

    #[test]
    fn every_claim_has_sources_and_every_name_is_unique() {
        for result in [incompatible(), compatible(), inconclusive()] {
            let matrix = claims(&result);
            assert!(matrix.len() > 20);
            assert!(matrix.iter().all(|claim| !claim.sources.is_empty() && !claim.shown.is_empty()));
        }
        let records = Ledger::ALL.into_iter().flat_map(|ledger| Kind::ALL.map(|kind| Records(ledger, kind)));
        let names: std::collections::BTreeSet<String> =
            records.chain([Protocol, Rule, Classes]).map(Source::name).collect();
        assert_eq!(names.len(), 43);
    }
}
