//! `churngate export`: a finished run without its texts, which can still be verified.

use super::manifest::{self, Manifest};
use super::recompute::{self, Computed, Locks};
use super::{audit, claims, classes, evidence, origin, shard, verify};
use crate::ledger;
use crate::model::{Answer, Failure, FailureClass};
use crate::report::{self, AuditResult};
use camino::Utf8Path;

/// What was exported.
#[derive(Debug)]
pub struct Exported {
    /// The result, with ids and digests in the place of texts.
    pub result: AuditResult,
    /// How many figures of the report are traced to their records.
    pub claims: usize,
}

/// Verifies the run and copies it without its texts into the new folder `to`: the protocol and the ledgers byte for
/// byte, what the figures need of the texts (`classes.jsonl`), the result and the report with ids and digests in the
/// place of texts, and the claim matrix. The copy is verified as well, and must come to the run's own figures.
///
/// # Errors
/// The run does not verify: class [`FailureClass::Evidence`]. `to` exists: class [`FailureClass::Usage`]. The file
/// system refuses: then nothing is left at `to`.
pub fn export(run: &Utf8Path, to: &Utf8Path) -> Result<Exported, Failure> {
    refuse_existing(to)?;
    if manifest::is_export(run) {
        return Err(Failure::new(FailureClass::Usage, format!("`{run}` is an export already"))
            .with_hint("it can be copied as it is"));
    }
    shard::refuse(run)?;
    evidence::refuse(run, "there are no answers whose texts could be left out")?;
    let whole = verified(run)?;
    let beside = to.parent().filter(|parent| !parent.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
    let unwritten = |error: std::io::Error| {
        Failure::new(FailureClass::Usage, format!("failed to write `{to}`: {}", error.kind()))
            .with_hint("make the folder that it lies in, or name another one with `--output`")
    };
    // Under another name until it is whole: what a kill leaves is in nobody's way.
    let building = tempfile::Builder::new().prefix(".exporting-").tempdir_in(beside).map_err(unwritten)?;
    let path = Utf8Path::from_path(building.path()).map(|path| path.join("export"));
    let path = path.ok_or_else(|| Failure::new(FailureClass::Usage, format!("the path of `{to}` is not UTF-8")))?;
    ledger::export(run, &path)?;
    let exported = fill(run, &path, &whole)?;
    refuse_existing(to)?;
    fs_err::rename(&path, to).map_err(unwritten)?;
    Ok(exported)
}

fn refuse_existing(to: &Utf8Path) -> Result<(), Failure> {
    match to.symlink_metadata() {
        Ok(_) => Err(exists(to)),
        Err(_) => Ok(()),
    }
}

fn exists(to: &Utf8Path) -> Failure {
    Failure::new(FailureClass::Usage, format!("`{to}` exists already; nothing is written over it"))
        .with_hint("name another folder with `--output`")
}

fn fill(run: &Utf8Path, to: &Utf8Path, whole: &AuditResult) -> Result<Exported, Failure> {
    audit::write_from(to, classes::FILE, &mut ledger::open_plain_file(&run.join(classes::FILE))?)?;
    if let Some(rule) = origin::bytes(run)? {
        audit::write(to, origin::FILE, &rule)?;
    }
    let computed = recompute::compute_without_texts(to, &Locks::open(to)?)?;
    check_same_figures(&computed, whole)?;
    let matrix = claims::matrix(to, &computed)?;
    let [json, markdown] = manifest::CLAIMS;
    audit::write(to, json, &matrix.json())?;
    audit::write(to, markdown, matrix.markdown().as_bytes())?;
    let [result, page] = manifest::REPORTS;
    audit::write(to, result, &report::json(&computed.result))?;
    audit::write(to, page, report::markdown(&computed.result).as_bytes())?;
    audit::write(to, manifest::MANIFEST, &Manifest::new(computed.result.protocol).bytes())?;
    Ok(Exported { result: verified(to)?, claims: matrix.claims.len() })
}

/// The result of what verifies.
fn verified(folder: &Utf8Path) -> Result<AuditResult, Failure> {
    verify::verify(folder)?
        .result
        .ok_or_else(|| Failure::new(FailureClass::Evidence, format!("`{folder}` has no result of its own")))
}

/// Whether figures, verdict and validity are those of the whole run.
fn check_same_figures(computed: &Computed, whole: &AuditResult) -> Result<(), Failure> {
    if without_texts(computed.result.clone()) == without_texts(whole.clone()) {
        return Ok(());
    }
    Err(Failure::new(FailureClass::Evidence, "the figures do not come out again without the texts".to_owned())
        .with_hint("this is a fault of the program: keep the run's folder and report it"))
}

/// A result with nothing in it that texts alone decide.
fn without_texts(mut result: AuditResult) -> AuditResult {
    result.flips.clear();
    let Ok(any) = Answer::parse("any", 3) else { return result };
    for flip in &mut result.analysis.flips {
        (flip.old, flip.new) = (any.clone(), any.clone());
    }
    result
}
