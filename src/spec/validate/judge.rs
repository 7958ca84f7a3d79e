//! `judge`

use super::model;
use super::retrieve::command;
use crate::model::Normalisation;
use crate::spec::problem::Problem;
use crate::spec::reader::Reader;
use crate::spec::types::{JudgeBackend, JudgeSpec};

/// How answers are compared.
pub fn judge(section: Reader<'_>, problems: &mut Vec<Problem>) -> Option<JudgeSpec> {
    let backend = backend(section, problems);
    Some(JudgeSpec {
        backend: backend?,
        normalisation: match section.word("normalisation")? {
            "triviaqa" => Normalisation::TriviaQa,
            "none" => Normalisation::None,
            _ => Normalisation::Nq,
        },
        concurrency: section.small("concurrency")?,
        max_attempts: section.small("max_attempts")?,
    })
}

fn backend(section: Reader<'_>, problems: &mut Vec<Problem>) -> Option<JudgeBackend> {
    if let Some(named) = model::named(section) {
        return model::server(named, problems).map(JudgeBackend::Model);
    }
    if let Some(program) = section.section("command") {
        return command(program).map(JudgeBackend::Command);
    }
    section.section("embedded").map(|_| JudgeBackend::Embedded)
}
