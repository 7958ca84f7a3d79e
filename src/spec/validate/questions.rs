//! `questions`

use crate::spec::node::Node;
use crate::spec::problem::{Code, Problem};
use crate::spec::reader::Reader;
use crate::spec::types::QuestionsSpec;

/// Endings of question files that are understood.
const ENDINGS: &[&str] = &["jsonl", "ndjson", "json", "csv", "yaml", "yml"];

/// Where questions come from.
pub fn questions(section: Reader<'_>, empty: &Node, problems: &mut Vec<Problem>) -> Option<QuestionsSpec> {
    let file = section.text("file");
    if let Some(ending) = file.as_deref().and_then(unknown_ending) {
        let message = match ending.as_str() {
            "." => "a question file without an ending is not supported: its ending says how it is read".to_owned(),
            _ => format!("question files that end in `{ending}` are not supported in this version"),
        };
        let problem = Problem::new(Code::Unsupported, section.span("file"), message);
        problems.push(problem.help("write the questions as `.jsonl`, `.json`, `.csv` or `.yaml`"));
    }
    let select = section.section_or("select", empty)?;
    Some(QuestionsSpec {
        file: file?.into(),
        count: select.small("count"),
        seed: select.integer("seed")?,
        exclude: select.text("exclude").map(Into::into),
        only: select.text("only").map(Into::into),
    })
}

/// The ending, where it is not one that is understood.
fn unknown_ending(file: &str) -> Option<String> {
    let ending = file.rsplit('/').next()?.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
    (!ENDINGS.contains(&ending.as_str())).then(|| format!(".{}", crate::spec::mask::cleaned(&ending)))
}
