//! `retrieve.preset` and `answer.preset`: a preset and what the spec says of it, made into a section of requests.

use super::model::base_address;
use super::{answer, http};
use crate::model::Digest;
use crate::spec::HttpAnswerSpec;
use crate::spec::check;
use crate::spec::mask::quoted;
use crate::spec::node::{Node, Span};
use crate::spec::preset::{self, Given, Of, Presets};
use crate::spec::problem::{Code, Problem};
use crate::spec::reader::Reader;
use crate::spec::suggest::nearest;
use crate::spec::surface::{ANSWER_HTTP, HTTP, Section};
use crate::spec::types::HttpRetrieveSpec;

/// The keys that only a preset makes something of.
const BESIDE: &[&str] = &["base_url", "key_env", "with"];

/// A kind of preset: where it belongs, and how the section that it comes to is read.
pub struct Sort<T> {
    of: Of,
    table: &'static Section,
    read: fn(Reader<'_>, &mut Vec<Problem>) -> Option<T>,
    example: &'static str,
}

/// Those of search engines.
pub const ENGINE: Sort<HttpRetrieveSpec> =
    Sort { of: Of::Retrieve, table: &HTTP, read: http::http, example: "elasticsearch" };
/// Those of deployed systems.
pub const SYSTEM: Sort<HttpAnswerSpec> =
    Sort { of: Of::Answer, table: &ANSWER_HTTP, read: answer::http, example: "dify" };

/// Reports keys that stand without a preset.
pub fn alone<T>(sort: &Sort<T>, section: Reader<'_>, problems: &mut Vec<Problem>) {
    for name in BESIDE.iter().filter(|name| section.node(name).is_some()) {
        let message = format!("`{name}` belongs to a preset, and there is none");
        let problem = Problem::new(Code::Conflict, section.span(name), message);
        problems.push(problem.help(format!("name one: `preset: {}`", sort.example)));
    }
}

/// The requests that a preset comes to, and the snapshot variables that they name.
pub fn preset<T>(
    sort: &Sort<T>,
    section: Reader<'_>,
    presets: &mut Presets<'_>,
    problems: &mut Vec<Problem>,
) -> Option<(T, Vec<(String, Span)>)> {
    let (name, span) = (section.text("preset")?, section.span("preset"));
    if section.node("base_url").is_some() && !base_address(&section.text("base_url")?, section, problems) {
        return None;
    }
    let text = find(sort.of, &name, &span, presets, problems)?;
    let preset = presets.read(&name, text)?;
    if preset.of != sort.of {
        problems.push(misplaced(&name, preset.of, span));
        return None;
    }
    let given = Given {
        base_url: section.text("base_url").map(|url| url.trim_end_matches('/').to_owned()),
        key_env: section.text("key_env"),
        with: section.node("with"),
        origin: format!("preset {name}, SHA-256 {}", Digest::of(text.as_bytes())),
        span: span.clone(),
    };
    let node = preset::expand(&preset, &given, presets, problems)?;
    let (spec, mut names) = understand(sort, &node, presets.faults_of(&name, text))?;
    names.sort();
    names.dedup();
    Some((spec, names.into_iter().map(|name| (name, span.clone())).collect()))
}

/// The section made of a preset, held against the table as if it stood in a spec.
fn understand<T>(sort: &Sort<T>, node: &Node, faults: &mut Vec<Problem>) -> Option<(T, Vec<String>)> {
    check::check_at(node, sort.table, "http", faults);
    let reader = Reader::new(node, sort.table);
    let spec = (sort.read)(reader, faults).filter(|_| faults.is_empty())?;
    Some((spec, http::named_variables(reader).into_iter().map(|(name, _)| name).collect()))
}

fn misplaced(name: &str, of: Of, span: Span) -> Problem {
    let section = of.section();
    let message = format!("the preset {} belongs to `{section}`", quoted(name));
    Problem::new(Code::Conflict, span, message).help(format!("name it there: `{section}: {{ preset: {name} }}`"))
}

fn find<'a>(of: Of, name: &str, span: &Span, presets: &Presets<'a>, problems: &mut Vec<Problem>) -> Option<&'a str> {
    if let Some(text) = preset::built_in(name) {
        return Some(text);
    }
    if preset::is_path(name) {
        let text = presets.file(name);
        if text.is_none() {
            let problem =
                Problem::new(Code::Unreadable, span.clone(), format!("the preset {} was not read", quoted(name)));
            problems.push(problem.help("a preset file is read beside the spec, by `check`, `run` and `diff`"));
        }
        return text;
    }
    let names: Vec<&str> = match of {
        Of::Retrieve => preset::preset_names().collect(),
        Of::Answer => preset::answer_preset_names().collect(),
    };
    let listed = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let message = format!("there is no preset {}", quoted(name));
    let mut problem = Problem::new(Code::UnknownWord, span.clone(), message)
        .help(format!("built in are {listed}; a file of your own ends in `.yaml`"));
    if let Some(near) = nearest(name, names) {
        problem = problem.label(format!("did you mean `{near}`?"));
    }
    problems.push(problem);
    None
}
