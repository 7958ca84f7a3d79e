//! Churn by tag, for diagnosis only.

use super::AnalyzeError;
use super::comparison::{Asked, Comparison};
use super::figures::Subgroup;
use super::holm;
use super::lattice::{Lattice, fraction};
use super::randomisation::Patterns;
use crate::model::{Kernel, Observation};
use std::collections::{BTreeMap, BTreeSet};

/// The tags met so far, with what is counted of each: what they hold grows with their number, and with nothing else.
///
/// ```
/// use churngate::{analyze::{Settings, analyze}, run::outside::parse};
/// let file = r#"{"id": "q1", "answers": {"old": ["x", "x"], "new": ["y", "y"]}, "labels": [["x", "y", "different"]], "tags": ["people"]}"#;
/// let analysis = analyze(&parse(file, "answers.jsonl")?, &Settings::default())?;
/// let people = &analysis.subgroups[0];
/// assert_eq!((people.tag.as_str(), people.churn.value(), people.stable_flips), ("people", 1.0, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Tags(BTreeMap<String, Members>);

/// The questions of one tag.
#[derive(Clone, Debug, Default)]
struct Members {
    questions: u64,
    /// The sum of the contrasts, in lattice units.
    sum: i64,
    patterns: Patterns,
    flips: u64,
}

impl Tags {
    /// Takes one question, with its comparison where it was asked.
    pub fn take(&mut self, observation: &Observation, asked: Option<&(Asked<'_>, Lattice)>) {
        for tag in observation.tags.iter().collect::<BTreeSet<_>>() {
            if !self.0.contains_key(tag) {
                self.0.insert(tag.clone(), Members::default());
            }
            let Some(members) = self.0.get_mut(tag) else { continue };
            members.questions += 1;
            if let Some((asked, lattice)) = asked {
                members.sum += lattice.contrast(asked.semantic.agreeing());
                members.patterns.take(&asked.semantic, *lattice);
                members.flips += u64::from(asked.is_flip());
            }
        }
    }

    /// D̂ of the semantic kernel by tag, in the order of tags, with p-values corrected by Holm over the tags.
    ///
    /// # Errors
    /// Those of [`Patterns::p_value`].
    pub fn finish(&self, comparison: &Comparison) -> Result<Vec<Subgroup>, AnalyzeError> {
        let figures = self.0.iter().map(|(tag, members)| figures(tag, members, comparison));
        let mut subgroups = figures.collect::<Result<Vec<Subgroup>, AnalyzeError>>()?;
        let adjusted = holm::adjust(&subgroups.iter().map(|subgroup| subgroup.p).collect::<Vec<f64>>());
        for (subgroup, adjusted) in subgroups.iter_mut().zip(adjusted) {
            subgroup.adjusted_p = adjusted;
        }
        Ok(subgroups)
    }
}

fn figures(tag: &str, members: &Members, comparison: &Comparison) -> Result<Subgroup, AnalyzeError> {
    let p = match comparison.lattice {
        Some(lattice) => members.patterns.p_value(lattice, Kernel::Semantic)?,
        None => 1.0,
    };
    Ok(Subgroup {
        tag: tag.to_owned(),
        questions: members.questions,
        churn: fraction(members.sum, comparison.units(), members.questions)?,
        p,
        adjusted_p: p,
        stable_flips: members.flips,
    })
}
