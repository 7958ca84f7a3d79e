//! Churngate: the gate for a retrieval index rebuild.
//!
//! Data goes one way, and each arrow is a sealed ledger on disk:
//!
//! ```text
//! spec ──freeze──▶ protocol.lock ──retrieve──▶ evidence ──generate──▶ answers ──judge──▶ judgments ──analyze──▶ result ──▶ verdict ──▶ report
//! YAML            questions, order,            twice,                 R repeats,         blind, no gold          pure       gate        md json
//!                 prompts, seeds, rule         must match             write-ahead        gold opened after it    functions              terminal
//! ```

pub mod analyze;
pub mod cli;
pub mod freeze;
pub mod gate;
pub mod generate;
pub mod git;
pub mod http;
pub mod judge;
pub mod ledger;
pub mod model;
pub mod process;
pub mod publish;
pub mod recording;
pub mod report;
pub mod retrieve;
pub mod run;
pub mod spec;
