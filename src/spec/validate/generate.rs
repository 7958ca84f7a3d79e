//! `generate`

use super::model;
use super::retrieve::command;
use crate::spec::problem::Problem;
use crate::spec::reader::Reader;
use crate::spec::types::{GenerateBackend, GenerateSpec, ReaderSpec, UnchangedEvidence};

/// How evidence becomes an answer.
pub fn generate(section: Reader<'_>, problems: &mut Vec<Problem>) -> Option<GenerateSpec> {
    let backend = backend(section, problems);
    Some(GenerateSpec {
        backend: backend?,
        repeats: section.small("repeats")?,
        max_answer_bytes: section.small("max_answer_bytes")?,
        prompt: section.text("prompt").map(Into::into),
        concurrency: section.small("concurrency")?,
        unchanged_evidence: match section.word("unchanged_evidence")? {
            "sample" => UnchangedEvidence::Sample,
            _ => UnchangedEvidence::Zero,
        },
        max_attempts: section.small("max_attempts")?,
    })
}

fn backend(section: Reader<'_>, problems: &mut Vec<Problem>) -> Option<GenerateBackend> {
    if let Some(named) = model::named(section) {
        return model::server(named, problems).map(GenerateBackend::Model);
    }
    if let Some(program) = section.section("command") {
        return command(program).map(GenerateBackend::Command);
    }
    let reader = section.section("reader")?;
    let (temperature_milli, _) = reader.decimal("temperature")?;
    Some(GenerateBackend::Reader(ReaderSpec { temperature_milli, seed: reader.integer("seed")? }))
}
