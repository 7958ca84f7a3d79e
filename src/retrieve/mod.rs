//! Snapshots to evidence: twice for each question, recorded, and sealed only where both passes match.
pub mod bm25;
pub mod corpus;
