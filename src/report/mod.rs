//! Result -> terminal, Markdown, HTML, JUnit, JSON: one file a format, one list of them in `formats`. Pure: it is given a result and gives back text.
//!
//! A result is turned into one [`document`](self) that all formats for people render, so that all of them say the
//! same. Whatever comes from outside (questions, answers, documents, names, words of servers) reaches a format only
//! through `escape`, never raw.
#![deny(clippy::disallowed_methods, reason = "a report is a function of its result alone")]

pub mod claims;
pub mod diff;
mod document;
mod drawing;
mod escape;
#[cfg(test)]
mod escape_tests;
mod excerpt;
pub mod explanation;
mod failure;
#[cfg(test)]
mod first_line_tests;
#[cfg(test)]
mod fixtures;
mod formats;
mod html;
mod json;
mod junit;
mod markdown;
mod matrix;
mod numbers;
mod picture;
pub mod result;
pub mod review;
mod terminal;
#[cfg(test)]
mod tests;
mod unproved;
pub mod usual;
mod view;

pub use claims::{Claim, Kind, Ledger, Source, claims};
pub use diff::{
    AuditCost, DIFF_FORMATS, DiffFormat, EvidenceDiff, QuestionAtRisk, diff_html, diff_json, diff_line,
    diff_markdown_within, diff_text,
};
pub use excerpt::excerpt;
pub use explanation::{
    CallPlan, EXPLANATION_FORMAT, Estimate, EvidenceChange, Explanation, Given, Settled, StepAnswers, explanation_json,
    explanation_text, plan_text,
};
pub use failure::{failure_within, plain, plain_apart};
pub use formats::{FORMATS, Format};
pub use html::html;
pub use json::{ParseError, json, parse};
pub use junit::junit;
pub use markdown::{MARKDOWN_BUDGET, markdown, markdown_as, markdown_within};
pub use matrix::{ClaimMatrix, FlipRecords, RecordSpan, SourceFacts};
pub use result::*;
pub use terminal::{next_steps, passed_over, terminal};
pub use unproved::Unproved;
pub use usual::{evidence_has_remarks, has_remarks};

// Whoever publishes a result reads these from it.
pub use crate::analyze::{ClusterBounds, KernelFigures, Overlap};
pub use crate::gate::{Decision, Verdict};
