//! The claim matrix as files: `claims.json` for programs, `claims.md` for people.

use super::claims::{Claim, Ledger};
use super::escape::Untrusted;
use crate::model::{Digest, QuestionId};
use serde::Serialize;

/// The version of `claims.json`.
const FORMAT: &str = "1.0";
/// The command that recomputes every figure; `RUN` is the folder.
const COMMAND: &str = "churngate verify RUN";
/// Characters of a place or of what is shown there.
const SHOWN: usize = 400;

/// All claims of a report, with the records they come from.
#[derive(Clone, Debug)]
pub struct ClaimMatrix {
    /// The run's name: the digest of its protocol.
    pub run: Digest,
    /// What is named by the claims, each once.
    pub sources: Vec<SourceFacts>,
    /// The claims.
    pub claims: Vec<Claim>,
    /// The records behind each stable flip.
    pub flips: Vec<FlipRecords>,
}

/// One source, as it lies on disk.
#[derive(Clone, Debug, Serialize)]
pub struct SourceFacts {
    /// Its name.
    pub name: String,
    /// The file in the run's folder.
    pub file: String,
    /// The digest of the file, or the head of the ledger.
    pub digest: Digest,
    /// Which records of the ledger; absent where the whole file is meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub records: Option<RecordSpan>,
}

/// Records of one kind.
#[derive(Clone, Debug, Serialize)]
pub struct RecordSpan {
    /// `attempt`, `outcome`, `note` or `seal`.
    pub r#type: &'static str,
    /// Whether the outcome was accepted; absent for what is no outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<bool>,
    /// How many. For a seal: the records that it closes.
    pub count: u64,
    /// The `seq` of the first and of the last; absent for a seal, which has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<(u64, u64)>,
}

/// The records of one question, by `seq`: its evidence notes, accepted answers, packet and judgments.
#[derive(Clone, Debug)]
pub struct FlipRecords {
    /// The question.
    pub question: QuestionId,
    /// The numbers, by ledger.
    pub records: Vec<(Ledger, Vec<u64>)>,
}

#[derive(Serialize)]
struct Image<'a> {
    format: &'static str,
    run: Digest,
    sources: &'a [SourceFacts],
    claims: Vec<ClaimImage<'a>>,
    flips: Vec<FlipImage<'a>>,
}

#[derive(Serialize)]
struct ClaimImage<'a> {
    section: &'static str,
    figure: &'a str,
    shown: &'a str,
    sources: Vec<String>,
    command: &'static str,
}

#[derive(Serialize)]
struct FlipImage<'a> {
    question: &'a QuestionId,
    records: serde_json::Map<String, serde_json::Value>,
}

impl<'a> ClaimImage<'a> {
    fn of(claim: &'a Claim) -> Self {
        let Claim { section, figure, shown, sources } = claim;
        let sources = sources.iter().map(|source| source.name()).collect();
        Self { section, figure, shown, sources, command: COMMAND }
    }
}

impl ClaimMatrix {
    /// `claims.json`.
    #[must_use]
    pub fn json(&self) -> Vec<u8> {
        let claims = self.claims.iter().map(ClaimImage::of).collect();
        let records = |flip: &FlipRecords| {
            flip.records.iter().map(|(ledger, numbers)| (ledger.name().to_owned(), numbers.clone().into())).collect()
        };
        let flips = self.flips.iter().map(|flip| FlipImage { question: &flip.question, records: records(flip) });
        let image = Image { format: FORMAT, run: self.run, sources: &self.sources, claims, flips: flips.collect() };
        // Plain structs with string keys always serialise.
        let mut bytes = serde_json::to_vec_pretty(&image).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// `claims.md`.
    #[must_use]
    pub fn markdown(&self) -> String {
        let introduction = format!(
            "# Where each figure comes from\n\nRun `{}`. Each line is a place of the report that shows a figure. `{COMMAND}`, \
             with this folder in the place of `RUN`, recomputes all of them from the sources named beside them.\n\n",
            self.run
        );
        [introduction, self.sources_table(), self.claims_tables(), self.flips_table()].concat()
    }

    fn sources_table(&self) -> String {
        let row = |facts: &SourceFacts| {
            let records = facts.records.as_ref().map_or_else(|| "whole file".to_owned(), RecordSpan::words);
            format!("| {} | `{}` | {records} | `{}` |\n", facts.name, facts.file, facts.digest)
        };
        let rows: String = self.sources.iter().map(row).collect();
        format!("## Sources\n\n| source | file | records | digest or head |\n| :-- | :-- | :-- | :-- |\n{rows}\n")
    }

    fn claims_tables(&self) -> String {
        let row = |claim: &Claim| {
            let names: Vec<String> = claim.sources.iter().map(|source| source.name()).collect();
            format!("| {} | {} | {} |\n", cell(&claim.figure), cell(&claim.shown), names.join(", "))
        };
        let sections = self.claims.chunk_by(|one, other| one.section == other.section);
        let table = |claims: &[Claim]| {
            let title = claims.first().map_or("", |claim| claim.section);
            let rows: String = claims.iter().map(row).collect();
            format!("## {title}\n\n| figure | shown | sources |\n| :-- | :-- | :-- |\n{rows}\n")
        };
        sections.map(table).collect()
    }

    fn flips_table(&self) -> String {
        if self.flips.is_empty() {
            return String::new();
        }
        let row = |flip: &FlipRecords| {
            let numbers = flip
                .records
                .iter()
                .map(|(_, numbers)| numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(", "));
            let cells: Vec<String> = std::iter::once(cell(&flip.question.0)).chain(numbers).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let rows: String = self.flips.iter().map(row).collect();
        let head = "| question | evidence | answers | judgments |\n| :-- | :-- | :-- | :-- |\n";
        format!("## Records of the stable flips, by `seq`\n\n{head}{rows}")
    }
}

fn cell(text: &str) -> String {
    Untrusted::new(text).cell(SHOWN)
}

impl RecordSpan {
    fn words(&self) -> String {
        if self.seq.is_none() {
            return format!("the seal of {} records", self.count);
        }
        let accepted = match self.accepted {
            Some(true) => ", accepted",
            Some(false) => ", not accepted",
            None => "",
        };
        let range = self.seq.map_or_else(String::new, |(first, last)| format!(", seq {first} to {last}"));
        format!("{} of type `{}`{accepted}{range}", self.count, self.r#type)
    }
}
