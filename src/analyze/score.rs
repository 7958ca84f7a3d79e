//! Exact match and token F1 of one answer against its gold answers.

use crate::model::{Answer, Normalisation};
use std::collections::BTreeMap;

/// The gold answers of one question, normalised.
#[derive(Clone, Debug)]
pub struct GoldAnswers {
    normalisation: Normalisation,
    texts: Vec<String>,
}

impl GoldAnswers {
    /// `None` where there are none.
    #[must_use]
    pub fn new(aliases: &[String], normalisation: Normalisation) -> Option<Self> {
        let texts: Vec<String> = aliases.iter().map(|alias| normalisation.apply(alias)).collect();
        (!texts.is_empty()).then_some(Self { normalisation, texts })
    }

    /// Exact match: the normalised answer equals a normalised alias.
    #[must_use]
    pub fn matches(&self, answer: &Answer) -> bool {
        self.texts.contains(&self.normalisation.apply(answer.as_str()))
    }

    /// The largest token F1 over the aliases; 0 where no token is shared, also where both texts are empty.
    ///
    /// ```
    /// use churngate::{analyze::score::GoldAnswers, model::{Answer, Normalisation}};
    /// let gold = GoldAnswers::new(&["Executor".to_owned()], Normalisation::Nq).unwrap();
    /// let answer = Answer::parse("Darth Vader's flagship was the Executor", 512).unwrap();
    /// assert!((gold.f1(&answer) - 1.0 / 3.0).abs() < 1e-12);
    /// assert!(!gold.matches(&answer));
    /// ```
    #[must_use]
    pub fn f1(&self, answer: &Answer) -> f64 {
        let said = self.normalisation.apply(answer.as_str());
        self.texts.iter().map(|text| token_f1(&said, text)).fold(0.0, f64::max)
    }
}

/// Harmonic mean of precision and recall over the multisets of tokens: `2 shared / (said + meant)`.
#[expect(clippy::cast_precision_loss, reason = "numbers of tokens are far below 2^53")]
fn token_f1(said: &str, meant: &str) -> f64 {
    let mut left: BTreeMap<&str, usize> = BTreeMap::new();
    for token in meant.split_whitespace() {
        *left.entry(token).or_default() += 1;
    }
    let meant_count: usize = left.values().sum();
    let (mut said_count, mut shared) = (0, 0);
    for token in said.split_whitespace() {
        said_count += 1;
        if let Some(count) = left.get_mut(token).filter(|count| **count > 0) {
            *count -= 1;
            shared += 1;
        }
    }
    if shared == 0 { 0.0 } else { 2.0 * f64::from(shared) / (said_count + meant_count) as f64 }
}
