//! `generate`

use super::model;
use super::retrieve::command;
use crate::spec::problem::{Code, Problem};
use crate::spec::reader::Reader;
use crate::spec::types::{GenerateBackend, GenerateSpec, ReaderSpec, ReplicaSpec, UnchangedEvidence};

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

/// A generator that replicates an audit must be another one by what the protocol holds of it: time limits, prices and rates make
/// no other generator.
pub fn replicate(
    section: Reader<'_>,
    first: Option<&GenerateBackend>,
    problems: &mut Vec<Problem>,
) -> Option<ReplicaSpec> {
    let backend = backend(section, problems)?;
    if matches!(first, Some(GenerateBackend::BlackBox(_))) {
        let message = "`replicate` asks a second generator by the evidence of the first, and a black box shows none";
        let problem = Problem::new(Code::Conflict, section.start(), message);
        problems.push(problem.help("remove it, or audit the other system with `answer` in a spec of its own"));
    }
    if first.is_some_and(|first| backend.is(first)) {
        let problem = Problem::new(Code::Conflict, section.start(), "the second generator is the first one");
        problems.push(problem.help(
            "name another model or program; `generate.repeats` already asks the first one again, and time limits, prices and \
             rates make no other generator",
        ));
    }
    Some(ReplicaSpec {
        backend,
        sample: section.small("sample")?,
        concurrency: section.small("concurrency")?,
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
