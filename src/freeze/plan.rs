//! Bytes in, protocol out. Pure: the same inputs give the same protocol, byte for byte.

use super::document::{Document, Prompts, Questions};
use super::ids::Ids;
use super::protocol::{Origin, Sources};
use super::{FreezeError, Protocol, ResolvedSnapshot, Samples, gold, prompts, questions, seeds, select, store};
use crate::model::Digest;
use crate::spec::Spec;
use camino::Utf8PathBuf;

/// Everything that a protocol is made of.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// The validated spec.
    pub spec: Spec,
    /// The folder it lies in.
    pub base: Utf8PathBuf,
    /// The question file's name; its ending says its format.
    pub questions_name: String,
    /// The question file's bytes.
    pub questions_bytes: Vec<u8>,
    /// The bytes of the file of excluded ids, where the spec names one.
    pub exclude_bytes: Option<Vec<u8>>,
    /// The bytes of the file of ids that alone are asked, where the spec names one.
    pub only_bytes: Option<Vec<u8>>,
    /// The bytes of the answer prompt, where the spec names one.
    pub prompt_bytes: Option<Vec<u8>>,
    /// The snapshots in the audit's order, the closed book last.
    pub snapshots: Vec<ResolvedSnapshot>,
    /// The version of this program.
    pub tool_version: &'static str,
}

/// The templates of a protocol.
pub(super) struct Templates {
    pub answer: String,
    pub judge: String,
}

/// Reads the questions, selects, and derives every digest. Of gold answers only the form is checked.
///
/// # Errors
/// The question file, its gold, the excluded ids or the prompt cannot be used, there are too few questions, or the protocol would
/// not be read back as it is.
pub fn plan(inputs: Inputs) -> Result<Protocol, FreezeError> {
    let prompt = inputs.spec.generate.prompt.as_ref().map_or("the built-in prompt", |path| path.as_str()).to_owned();
    let answer = match &inputs.prompt_bytes {
        Some(bytes) => own_prompt(bytes, &prompt)?,
        None => prompts::ANSWER.to_owned(),
    };
    let templates = Templates { answer, judge: prompts::JUDGE.to_owned() };
    let Inputs {
        spec, base, questions_name, questions_bytes, exclude_bytes, only_bytes, snapshots, tool_version, ..
    } = inputs;
    let sources = Sources { questions: questions_bytes, exclude: exclude_bytes, only: only_bytes };
    let protocol = assemble(spec, base, &questions_name, sources, templates, snapshots, tool_version)?;
    store::comes_back(protocol.lock_bytes())?;
    gold::check(&protocol.origin.sources.questions, &questions_name)?;
    Ok(protocol)
}

/// The protocol of these parts: what `plan` makes of inputs, and `load` of what lies in a run folder.
pub(super) fn assemble(
    spec: Spec,
    base: Utf8PathBuf,
    questions_name: &str,
    sources: Sources,
    templates: Templates,
    snapshots: Vec<ResolvedSnapshot>,
    tool_version: &str,
) -> Result<Protocol, FreezeError> {
    let ids = Ids::read(&spec.questions, sources.exclude.as_deref(), sources.only.as_deref())?;
    let (all, mut notes) = questions::read(&sources.questions, questions_name)?;
    let select = &spec.questions;
    notes.extend(ids.unknown(&all)?);
    let questions = select::select(all, &ids, select.seed, select.count, questions_name)?;
    let digests = Questions::of(&sources, &questions);
    let of_prompts =
        Prompts { answer: Digest::of(templates.answer.as_bytes()), judge: Digest::of(templates.judge.as_bytes()) };
    let document = Document::new(tool_version, spec.canonical(), digests, &snapshots, of_prompts);
    let lock_bytes = document.bytes()?;
    let digest = Digest::of(&lock_bytes);
    let samples = Samples::draw(&spec, digest, &questions);
    Ok(Protocol {
        digest,
        spec_digest: document.spec_digest,
        spec,
        base,
        snapshots,
        questions,
        answer_prompt: templates.answer,
        judge_prompt: templates.judge,
        seeds: seeds::derive(digest),
        is_part: false,
        samples,
        origin: Origin { tool_version: tool_version.to_owned(), notes, lock_bytes, sources },
    })
}

/// A prompt of the user's own: text with both placeholders and no other, without its last line break.
fn own_prompt(bytes: &[u8], file: &str) -> Result<String, FreezeError> {
    let bad = |fault: String| FreezeError::Prompt { file: file.to_owned(), fault };
    let text = questions::text(bytes).map_err(|(line, fault)| bad(format!("line {line}: {fault}")))?;
    if text.len() > 64 * 1024 {
        return Err(bad(format!("it has {} bytes; at most 65536 are read", text.len())));
    }
    prompts::check(text).map_err(bad)?;
    Ok(text.replace("\r\n", "\n"))
}
