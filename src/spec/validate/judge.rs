//! `judge`

use super::model;
use super::retrieve::command;
use crate::model::Normalisation;
use crate::spec::problem::{Code, Problem};
use crate::spec::reader::Reader;
use crate::spec::types::{JudgeBackend, JudgeSpec, SecondJudgeSpec};

/// How answers are compared.
pub fn judge(section: Reader<'_>, problems: &mut Vec<Problem>) -> Option<JudgeSpec> {
    let backend = backend(section, problems);
    let again = again(section, problems);
    let second = section.section("second").map(|second| self::second(second, backend.as_ref(), problems));
    Some(JudgeSpec {
        backend: backend?,
        normalisation: match section.word("normalisation")? {
            "triviaqa" => Normalisation::TriviaQa,
            "none" => Normalisation::None,
            _ => Normalisation::Nq,
        },
        concurrency: section.small("concurrency")?,
        max_attempts: section.small("max_attempts")?,
        again,
        // One that cannot be read is reported, and no judge without it is made of the section.
        second: match second {
            Some(second) => Some(second?),
            None => None,
        },
    })
}

/// The sample of the second pass, where there is one.
fn again(section: Reader<'_>, problems: &mut Vec<Problem>) -> Option<u32> {
    if section.small("passes") == Some(2) {
        return section.small("self_consistency");
    }
    if section.node("self_consistency").is_some() {
        let message = "`self_consistency` is the sample of a second pass, and there is none";
        let problem = Problem::new(Code::Conflict, section.span("self_consistency"), message);
        problems.push(problem.help("add `passes: 2` beside it, or remove it"));
    }
    None
}

/// A judge that is asked for a second opinion must be another one by what the protocol holds of it: with other time limits or
/// another price it is the same, and so it comes out where the protocol is read back.
fn second(section: Reader<'_>, first: Option<&JudgeBackend>, problems: &mut Vec<Problem>) -> Option<SecondJudgeSpec> {
    let backend = backend(section, problems)?;
    if first.is_some_and(|first| backend.is(first)) {
        let problem = Problem::new(Code::Conflict, section.start(), "the second judge is the first one");
        problems.push(problem.help(
            "name another one, or ask the same judge again with `passes: 2`; time limits, prices and rates make no other judge",
        ));
    }
    Some(SecondJudgeSpec {
        backend,
        sample: section.small("sample")?,
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
