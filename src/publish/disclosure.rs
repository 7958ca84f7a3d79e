//! What a pull request may show of the texts that were audited.

use crate::model::Answer;
use crate::report::{AuditResult, EvidenceDiff, Explanation};

/// How much of the audited texts is shown where the public may read it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Disclosure {
    /// Ids of questions and documents only.
    Ids,
    /// The questions' texts as well.
    Questions,
    /// Questions, answers, and what came and went in the evidence.
    #[default]
    Answers,
}

/// What stands in the place of a text that is not shown.
const HIDDEN: &str = "(not shown)";

/// The result without the texts that must not be shown. No figure changes.
#[must_use]
pub fn disclosed(result: &AuditResult, disclosure: Disclosure) -> AuditResult {
    let mut result = result.clone();
    if disclosure == Disclosure::Answers {
        return result;
    }
    for flip in &mut result.flips {
        HIDDEN.clone_into(&mut flip.old_answer);
        HIDDEN.clone_into(&mut flip.new_answer);
        flip.gold.clear();
        let cited = flip.cited.iter_mut().flat_map(|cited| cited.lost.iter_mut().chain(&mut cited.gained));
        for line in flip.left.iter_mut().chain(&mut flip.came).chain(cited) {
            HIDDEN.clone_into(&mut line.excerpt);
        }
        if disclosure == Disclosure::Ids {
            HIDDEN.clone_into(&mut flip.text);
        }
    }
    for flip in &mut result.analysis.flips {
        if let Ok(hidden) = Answer::parse(HIDDEN, HIDDEN.len()) {
            flip.old = hidden.clone();
            flip.new = hidden;
        }
    }
    result
}

/// The same of what changed in the evidence alone.
#[must_use]
pub fn disclosed_evidence(diff: &EvidenceDiff, disclosure: Disclosure) -> EvidenceDiff {
    let mut diff = diff.clone();
    if disclosure == Disclosure::Answers {
        return diff;
    }
    for question in &mut diff.at_risk {
        for line in question.lost.iter_mut().chain(&mut question.gained) {
            HIDDEN.clone_into(&mut line.excerpt);
        }
        if disclosure == Disclosure::Ids {
            HIDDEN.clone_into(&mut question.text);
        }
    }
    diff
}

/// The same of the explanation of a flip.
#[must_use]
pub fn disclosed_explanation(told: &Explanation, disclosure: Disclosure) -> Explanation {
    let mut told = told.clone();
    if disclosure == Disclosure::Answers {
        return told;
    }
    let of_steps = told.steps.iter_mut().flat_map(|step| step.answers.iter_mut().map(|(_, answer)| answer));
    let of_run = told.old.answers.iter_mut().chain(&mut told.new.answers);
    let excerpts = told.changes.iter_mut().flat_map(|change| [&mut change.old_excerpt, &mut change.new_excerpt]);
    for text in of_steps.chain(of_run).chain(excerpts.flatten()) {
        HIDDEN.clone_into(text);
    }
    if disclosure == Disclosure::Ids {
        HIDDEN.clone_into(&mut told.text);
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::publish::fixtures::blocking;
    use crate::report::{CitedChange, EvidenceLine};

    #[test]
    fn each_step_shows_less() {
        let mut result = blocking();
        let line = |excerpt: &str| vec![EvidenceLine { id: "d-1".to_owned(), excerpt: excerpt.to_owned() }];
        result.flips[0].cited =
            Some(CitedChange { lost: line("lost excerpt"), gained: line("gained excerpt"), shared: 1 });
        let shown = |disclosure| serde_json::to_string(&disclosed(&result, disclosure)).unwrap();
        let secrets = [
            "old answer text",
            "new answer text",
            "gold text",
            "left excerpt",
            "came excerpt",
            "lost excerpt",
            "gained excerpt",
        ];
        assert!(secrets.iter().all(|secret| shown(Disclosure::Answers).contains(secret)));
        for disclosure in [Disclosure::Questions, Disclosure::Ids] {
            let text = shown(disclosure);
            assert!(!secrets.iter().any(|secret| text.contains(secret)), "{text}");
            assert_eq!(text.contains("question text"), disclosure == Disclosure::Questions);
            assert!(text.contains("q-1"));
        }
    }
}
