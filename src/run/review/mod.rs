//! `churngate review`: a person labels pairs of a finished run by hand, and the judge is held against the labels.
//!
//! The run is read, and nothing of it is written: labels lie in a folder of their own inside its folder, which no other command
//! reads. They come after the outcome, so that no figure, rule or verdict may follow from them.

mod labels;
mod pairs;
mod sheet;
#[cfg(test)]
mod tests;

use super::{RESULT, evidence, manifest, recompute, shard};
use crate::analyze::review::{HandLabel, Labels, Pair, Stratum, between, confirmed};
use crate::ledger;
use crate::model::{Digest, Failure, FailureClass, Fraction, Kernel, QuestionId};
use crate::report::AuditResult;
use crate::report::review::{Between, Review, ReviewFigures, sheet as written};
use crate::spec::variables;
use camino::{Utf8Path, Utf8PathBuf};
pub(super) use labels::FOLDER;
use labels::{Header, LabelFile};
use sheet::Sheet;
use std::collections::BTreeSet;

/// What is to be reviewed.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The run's folder.
    pub run: &'a Utf8Path,
    /// Who labels: a plain name.
    pub reviewer: &'a str,
    /// Stable flips, worst first; all of them where absent.
    pub flips: Option<usize>,
    /// Pairs of the blind sample; all judged pairs where absent.
    pub sample: Option<usize>,
}

/// A review that goes on from the labels that were given before.
#[derive(Debug)]
pub struct Reviewing {
    review: Review,
    file: LabelFile,
    result: AuditResult,
    folder: Utf8PathBuf,
}

/// Opens a review. `given` is a file that [`Reviewing::write`] wrote and somebody filled in: its labels are taken, all of them
/// or, where anything in it is wrong, none.
///
/// # Errors
/// The run is not finished, has no texts or no answers, or the file is wrong: class [`FailureClass::Usage`]. The run or the
/// labels that are kept in it are damaged: class [`FailureClass::Evidence`].
pub fn review(request: Request<'_>, given: Option<&Utf8Path>) -> Result<Reviewing, Failure> {
    check_name(request.reviewer)?;
    let result = finished(request.run)?;
    let sheet = given.map(Sheet::read).transpose()?;
    let header = Header::new(result.protocol, head(&result)?, request.reviewer);
    let file = LabelFile::read(request.run, header)?;
    let named = sheet.iter().flat_map(Sheet::ids).chain(file.labels().keys().copied());
    let flips = flips(&result, request.flips);
    let reviewed = flips.len() as u64;
    let selected = pairs::select(request.run, flips, request.sample, named.collect())?;
    file.check(&selected.pairs)?;
    let review = Review {
        name: result.name.clone(),
        protocol: result.protocol,
        judgments: file.header().judgments,
        judge: result.machinery.judge.clone(),
        verdict: result.decision.verdict,
        reviewer: request.reviewer.to_owned(),
        labels_file: file.path().to_string(),
        judged: selected.judged,
        flips: result.analysis.flips.len() as u64,
        reviewed,
        pairs: selected.pairs,
        labels: file.labels().clone(),
        figures: None,
    };
    let mut reviewing = Reviewing { review, file, result, folder: request.run.to_owned() };
    if let Some(sheet) = sheet {
        let labels = sheet.labels(&reviewing.review.pairs, &reviewing.file)?;
        reviewing.give(&labels)?;
    }
    Ok(reviewing)
}

impl Reviewing {
    /// The review as far as it has come.
    #[must_use]
    pub const fn review(&self) -> &Review {
        &self.review
    }

    /// The wanted pairs without a label, in the order in which they are shown.
    #[must_use]
    pub fn open_pairs(&self) -> Vec<Pair> {
        let is_open = |pair: &&Pair| !self.review.labels.contains_key(&pair.id);
        self.review.wanted().filter(is_open).cloned().collect()
    }

    /// Labels a pair. The label is on the disk when this returns.
    ///
    /// # Errors
    /// Another process labels under this name, or the file system refuses.
    pub fn label(&mut self, pair: Digest, label: HandLabel) -> Result<(), Failure> {
        self.give(&[(pair, label)])
    }

    fn give(&mut self, labels: &[(Digest, HandLabel)]) -> Result<(), Failure> {
        self.file.give(labels)?;
        self.review.labels.extend(labels.iter().copied());
        Ok(())
    }

    /// Writes the wanted pairs to a new file, to be filled in: no snapshot, no label of the judge's, and the reviewer's own
    /// labels where there are any.
    ///
    /// # Errors
    /// The file's name ends neither in `.jsonl` nor in `.csv`, it exists, or it cannot be written: class
    /// [`FailureClass::Usage`].
    pub fn write(&self, file: &Utf8Path) -> Result<(), Failure> {
        let bytes = written(self.review.wanted(), &self.review.labels, sheet::format(file)?);
        sheet::write(file, &bytes)
    }

    /// The review with its figures, where every pair is labelled or they are wanted all the same. From then on the labels that
    /// were given stay as they are: whoever has seen what the judge said can no longer label these pairs blindly.
    ///
    /// # Errors
    /// Labels of another reviewer are damaged, or it cannot be written down that figures were shown.
    pub fn finish(mut self, reveal: bool) -> Result<Review, Failure> {
        if self.review.nothing().is_none() && (reveal || self.review.left() == 0) {
            let figures = self.figures()?;
            // Nothing is shown before it stands on the disk that it was.
            self.file.reveal()?;
            self.review.figures = Some(figures);
        }
        Ok(self.review)
    }

    fn figures(&self) -> Result<ReviewFigures, Failure> {
        let Review { pairs, labels, .. } = &self.review;
        let alpha = self.result.analysis.confidence.alpha();
        let confirmed = confirmed(pairs, labels);
        let questions = self.result.analysis.questions.max(1);
        let semantic = self.result.analysis.kernels.iter().find(|figures| figures.kernel == Kernel::Semantic);
        Ok(ReviewFigures {
            sample: Stratum::of(pairs.iter().filter(|pair| pair.sampled), labels, alpha),
            flips: Stratum::of(pairs.iter().filter(|pair| pair.flip), labels, alpha),
            confirmed,
            confirmed_interval: confirmed.interval(alpha),
            churn: semantic.map_or(Fraction { numerator: 0, denominator: 1 }, |figures| figures.churn),
            refuted: Fraction {
                numerator: i64::try_from(confirmed.refuted).unwrap_or(i64::MAX),
                denominator: questions,
            },
            between: self.between()?,
        })
    }

    /// Every two reviewers with a pair in common, this one and those whose labels lie beside.
    fn between(&self) -> Result<Vec<Between>, Failure> {
        let own = (self.review.reviewer.clone(), self.review.labels.clone());
        let mut reviewers: Vec<(String, Labels)> = vec![own];
        reviewers.extend(labels::others(&self.folder, self.file.header())?);
        reviewers.sort_by(|one, other| one.0.cmp(&other.0));
        let mut all = Vec::new();
        for (at, (one, first)) in reviewers.iter().enumerate() {
            for (other, second) in &reviewers[at + 1..] {
                let table = between(first, second);
                if table.pairs() > 0 {
                    all.push(Between { names: [one.clone(), other.clone()], table });
                }
            }
        }
        Ok(all)
    }
}

fn check_name(reviewer: &str) -> Result<(), Failure> {
    if variables::is_plain(reviewer) {
        return Ok(());
    }
    Err(usage("the name of the reviewer is no plain name".to_owned())
        .with_hint("use letters, digits, `-`, `_` and `.`, beginning with a letter or a digit"))
}

/// The result of a run that can be reviewed: finished, whole, with its texts, and with answers.
fn finished(run: &Utf8Path) -> Result<AuditResult, Failure> {
    ledger::must_hold_a_run(run)?;
    if manifest::is_export(run) {
        return Err(usage(format!("`{run}` is an export: its texts are left out, so that nobody can label them"))
            .with_hint("review the run that it was made from"));
    }
    shard::refuse(run)?;
    evidence::refuse(run, "nothing was answered, so that there is nothing to label")?;
    if run.join(RESULT).symlink_metadata().is_err() {
        return Err(usage(format!("the run `{run}` is not finished: it has no `{RESULT}`"))
            .with_hint("`churngate run` with its spec goes on with it"));
    }
    let result = recompute::recorded(run)?;
    result.ok_or_else(|| usage(format!("`{run}` holds no run")))
}

fn head(result: &AuditResult) -> Result<Digest, Failure> {
    let found = result.record.heads.iter().find(|(name, _)| name == "judgments");
    let missing = || Failure::new(FailureClass::Evidence, "the result names no head of the judgments");
    found.map(|(_, head)| *head).ok_or_else(missing)
}

/// The questions of the worst flips.
fn flips(result: &AuditResult, most: Option<usize>) -> BTreeSet<QuestionId> {
    let flips = &result.analysis.flips;
    flips.iter().take(most.unwrap_or(flips.len())).map(|flip| flip.question.clone()).collect()
}

fn usage(message: String) -> Failure {
    Failure::new(FailureClass::Usage, message)
}
