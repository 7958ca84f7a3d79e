//! Churn by tag, for diagnosis only.

use super::AnalyzeError;
use super::comparison::{Asked, Comparison};
use super::figures::Subgroup;
use super::lattice::fraction;
use super::{holm, randomisation};
use crate::model::{Kernel, Observation};
use std::collections::BTreeMap;

/// The questions of one tag.
#[derive(Default)]
struct Members<'c, 'a> {
    asked: Vec<&'c Asked<'a>>,
    unchanged: u64,
}

/// D̂ of the semantic kernel by tag, in the order of tags, with p-values corrected by Holm over the tags.
///
/// # Errors
/// Those of [`randomisation::p_value`].
///
/// ```
/// use churngate::{analyze::{Settings, analyze}, run::outside::parse};
/// let file = r#"{"id": "q1", "answers": {"old": ["x", "x"], "new": ["y", "y"]}, "labels": [["x", "y", "different"]], "tags": ["people"]}"#;
/// let analysis = analyze(&parse(file, "answers.jsonl")?, &Settings::default())?;
/// let people = &analysis.subgroups[0];
/// assert_eq!((people.tag.as_str(), people.churn.value(), people.stable_flips), ("people", 1.0, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn subgroups(observations: &[Observation], comparison: &Comparison<'_>) -> Result<Vec<Subgroup>, AnalyzeError> {
    let mut members: BTreeMap<&str, Members<'_, '_>> = BTreeMap::new();
    for asked in &comparison.asked {
        for tag in distinct(&asked.observation.tags) {
            members.entry(tag).or_default().asked.push(asked);
        }
    }
    for observation in observations.iter().filter(|observation| observation.unchanged) {
        for tag in distinct(&observation.tags) {
            members.entry(tag).or_default().unchanged += 1;
        }
    }
    let figures = members.into_iter().map(|(tag, members)| figures(tag, &members, comparison));
    let mut subgroups = figures.collect::<Result<Vec<Subgroup>, AnalyzeError>>()?;
    let adjusted = holm::adjust(&subgroups.iter().map(|subgroup| subgroup.p).collect::<Vec<f64>>());
    for (subgroup, adjusted) in subgroups.iter_mut().zip(adjusted) {
        subgroup.adjusted_p = adjusted;
    }
    Ok(subgroups)
}

fn distinct(tags: &[String]) -> std::collections::BTreeSet<&str> {
    tags.iter().map(String::as_str).collect()
}

fn figures(tag: &str, members: &Members<'_, '_>, comparison: &Comparison<'_>) -> Result<Subgroup, AnalyzeError> {
    let questions = members.asked.len() as u64 + members.unchanged;
    let edges = || members.asked.iter().map(|asked| &asked.semantic);
    let (sum, units, p) = match comparison.lattice {
        Some(lattice) => {
            let sum = edges().map(|edges| lattice.contrast(edges.agreeing())).sum();
            (sum, lattice.units(), randomisation::p_value(edges(), lattice, Kernel::Semantic)?)
        }
        None => (0, 1, 1.0),
    };
    Ok(Subgroup {
        tag: tag.to_owned(),
        questions,
        churn: fraction(sum, units, questions)?,
        p,
        adjusted_p: p,
        stable_flips: members.asked.iter().filter(|asked| asked.is_flip()).count() as u64,
    })
}
