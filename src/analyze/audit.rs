//! The room's entry: observations in, every figure out.

use super::AnalyzeError;
use super::comparison::Comparison;
use super::figures::{Alignment, Analysis, KernelFigures, Power};
use super::round::significant;
use super::scoring::{Scores, Scoring};
use super::settings::Settings;
use super::stream::{self, Rows};
use super::{alignment, correctness, flips, kernel, ladder, overlap, power, soft, subgroup, trajectory, transitivity};
use crate::model::{Kernel, Observation, QuestionId, SnapshotName};
use std::collections::BTreeSet;

/// Computes every figure of an audit. The same observations and settings give the same figures, in any order of threads.
///
/// # Errors
/// Observations that do not make an audit: none at all, an id twice, unequal repeats, a missing snapshot or judgment.
///
/// ```
/// use churngate::{analyze::{Settings, analyze}, run::outside::parse};
/// let file = r#"{"id": "q1", "answers": {"old": ["x", "x"], "new": ["y", "y"]}, "labels": [["x", "y", "different"]]}"#;
/// let analysis = analyze(&parse(file, "answers.jsonl")?, &Settings::default())?;
/// let semantic = &analysis.kernels[1];
/// assert_eq!((semantic.churn.value(), semantic.stable_flips), (1.0, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn analyze(observations: &[Observation], settings: &Settings) -> Result<Analysis, AnalyzeError> {
    compute(observations, settings, Scoring::Texts(settings.normalisation))
}

/// The same from recorded scores in place of texts: the answers of the observations are names, and their gold is not read.
///
/// # Errors
/// As [`analyze`], or an answer that has no score.
pub fn analyze_recorded(
    observations: &[Observation],
    settings: &Settings,
    scores: &Scores,
) -> Result<Analysis, AnalyzeError> {
    compute(observations, settings, Scoring::Recorded(scores))
}

fn compute(observations: &[Observation], settings: &Settings, scoring: Scoring<'_>) -> Result<Analysis, AnalyzeError> {
    settings.check()?;
    check_ids(observations)?;
    if let Some(question) = scoring.unscored(observations) {
        return Err(AnalyzeError::Unscored(question.clone()));
    }
    let comparison = Comparison::build(observations, &settings.old, &settings.new, scoring)?;
    let kernels = kernels(observations, &comparison, settings)?;
    let flipped = flipped(&comparison);
    let repeats = comparison.lattice.map_or((0, 0), |lattice| (lattice.repeats().old, lattice.repeats().new));
    Ok(Analysis {
        questions: comparison.questions(),
        asked: comparison.asked.len() as u64,
        unchanged: comparison.unchanged,
        repeats,
        confidence: settings.confidence,
        kernels,
        flips: flips::list(&comparison, scoring),
        correctness: correctness::correctness(&comparison, scoring)?,
        overlap: overlap::overlap(observations, settings, |observation| flipped.contains(&observation.id))?,
        subgroups: subgroup::subgroups(observations, &comparison)?,
        power: smallest_detectable(&comparison, settings),
        ladder: ladder::ladder(observations, settings, scoring)?,
        trajectories: trajectory::trajectories(observations, &comparison, settings, scoring)?,
        closed_book: closed_book(&comparison, settings)?,
        transitivity: transitivity::transitivity(&comparison)?,
        soft: soft::soft(&comparison, settings)?,
        unknown: if comparison.asked.is_empty() { None } else { Some(correctness::unknown(&comparison, scoring)?) },
    })
}

fn check_ids(observations: &[Observation]) -> Result<(), AnalyzeError> {
    if observations.is_empty() {
        return Err(AnalyzeError::NoQuestions);
    }
    let mut seen = BTreeSet::new();
    match observations.iter().find(|observation| !seen.insert(&observation.id)) {
        Some(twice) => Err(AnalyzeError::DuplicateQuestion(twice.id.clone())),
        None => Ok(()),
    }
}

fn kernels(
    observations: &[Observation],
    comparison: &Comparison<'_>,
    settings: &Settings,
) -> Result<Vec<KernelFigures>, AnalyzeError> {
    let draws = stream::draw(&rows(comparison), settings.draws, settings.bootstrap_key);
    let of = |kernel, draws: &[i64]| kernel::figures(observations, comparison, kernel, draws, settings);
    Ok(vec![of(Kernel::Exact, &draws.exact)?, of(Kernel::Semantic, &draws.semantic)?])
}

/// The distinct rows of joint contrasts.
fn rows(comparison: &Comparison<'_>) -> Rows {
    let mut rows = Rows::new();
    if let Some(lattice) = comparison.lattice {
        for asked in &comparison.asked {
            let contrast = |kernel| lattice.contrast(asked.edges(kernel).agreeing());
            *rows.entry((contrast(Kernel::Exact), contrast(Kernel::Semantic))).or_default() += 1;
        }
    }
    if comparison.unchanged > 0 {
        *rows.entry((0, 0)).or_default() += comparison.unchanged;
    }
    rows
}

fn flipped<'a>(comparison: &Comparison<'a>) -> BTreeSet<&'a QuestionId> {
    comparison.asked.iter().filter(|asked| asked.is_flip()).map(|asked| &asked.observation.id).collect()
}

fn closed_book(comparison: &Comparison<'_>, settings: &Settings) -> Result<Option<Alignment>, AnalyzeError> {
    let asked = settings.closed_book.then(SnapshotName::closed_book);
    asked.map(|name| alignment::alignment(comparison, &name)).transpose()
}

fn smallest_detectable(comparison: &Comparison<'_>, settings: &Settings) -> Power {
    let units = comparison.lattice.map_or(1, |lattice| lattice.units());
    let moments = kernel::moments(&kernel::contrasts(comparison, Kernel::Semantic), units);
    let power = power::power(moments, settings.confidence.alpha());
    Power { smallest_detectable: significant(power.smallest_detectable) }
}
