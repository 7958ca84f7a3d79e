//! `retrieve`

use super::{embed, http, preset, sql};
use crate::spec::node::Span;
use crate::spec::preset::Presets;
use crate::spec::problem::Problem;
use crate::spec::reader::Reader;
use crate::spec::types::{Bm25Spec, CommandSpec, OnMismatch, RetrieveBackend, RetrieveSpec};

/// How a question becomes evidence, and which snapshot variables that names.
pub struct Retrieve {
    /// The spec.
    pub spec: RetrieveSpec,
    /// The variables that requests name, each with the place to show.
    pub named: Vec<(String, Span)>,
    /// Whether requests are filled with variables, so that each must be named.
    pub fills_variables: bool,
}

/// How a question becomes evidence.
pub fn retrieve(section: Reader<'_>, presets: &mut Presets<'_>, problems: &mut Vec<Problem>) -> Option<Retrieve> {
    if section.node("preset").is_none() {
        preset::alone(&preset::ENGINE, section, problems);
    }
    let backend = backend(section, presets, problems);
    let vector = section.section("embed").map(|section| embed::embed(section, problems));
    let (backend, named) = backend?;
    embed::fit(section, &backend, problems);
    let spec = RetrieveSpec {
        backend,
        embed: match vector {
            Some(embed) => Some(embed?),
            None => None,
        },
        top_k: section.small("top_k")?,
        max_chars: section.small("max_chars")?,
        on_mismatch: match section.word("on_mismatch")? {
            "include" => OnMismatch::Include,
            _ => OnMismatch::Stop,
        },
        concurrency: section.small("concurrency")?,
    };
    let fills_variables = matches!(spec.backend, RetrieveBackend::Http(_) | RetrieveBackend::Sql(_));
    Some(Retrieve { spec, named, fills_variables })
}

fn backend(
    section: Reader<'_>,
    presets: &mut Presets<'_>,
    problems: &mut Vec<Problem>,
) -> Option<(RetrieveBackend, Vec<(String, Span)>)> {
    if let Some(bm25) = section.section("bm25") {
        return Some((RetrieveBackend::Bm25(Bm25Spec { chunk_chars: bm25.small("chunk_chars") }), Vec::new()));
    }
    if section.node("preset").is_some() {
        let (spec, named) = preset::preset(&preset::ENGINE, section, presets, problems)?;
        return Some((RetrieveBackend::Http(Box::new(spec)), named));
    }
    if let Some(section) = section.section("http") {
        let spec = http::http(section, problems)?;
        return Some((RetrieveBackend::Http(Box::new(spec)), http::named_variables(section)));
    }
    if let Some(section) = section.section("sql") {
        let (spec, named) = sql::sql(section, problems)?;
        return Some((RetrieveBackend::Sql(Box::new(spec)), named));
    }
    if let Some(command) = section.section("command") {
        return Some((RetrieveBackend::Command(self::command(command)?), Vec::new()));
    }
    section.section("file").map(|_| (RetrieveBackend::File, Vec::new()))
}

/// A program.
pub fn command(section: Reader<'_>) -> Option<CommandSpec> {
    Some(CommandSpec {
        argv: section.texts("argv").filter(|argv| !argv.is_empty())?,
        timeout_seconds: section.small("timeout_seconds")?,
        env: section.texts("env")?,
    })
}
