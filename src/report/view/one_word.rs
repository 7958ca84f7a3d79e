//! A judge that says one word to everything.

use super::headline::figures;
use crate::analyze::Judged;
use crate::model::{Kernel, PercentagePoints};
use crate::report::document::Line;
use crate::report::numbers;
use crate::report::result::AuditResult;
use std::cmp::Ordering;

/// Questions with labels from which on one word for all of them is told.
const QUESTIONS: u64 = 10;
/// Excess churn to the letter from which on one word for all of it is no mere rewording any more.
const LOUD: PercentagePoints = PercentagePoints::from_units(PercentagePoints::UNITS_IN_ONE / 2);

/// Whether every label of the judge is the same word. It decides nothing: answers may be such.
pub(super) fn warning<'a>(result: &AuditResult) -> Option<Line<'a>> {
    let judged = result.analysis.judged.as_ref().filter(|judged| judged.questions >= QUESTIONS)?;
    let Judged { questions, pairs, same } = *judged;
    let all = format!("{} of {}", numbers::counted(pairs, "label"), numbers::counted(questions, "question"));
    if same == 0 {
        return Some(Line::ours(format!(
            "The judge told all answers apart: all {all} say that the two differ. Under such a judge every rewording is churn."
        )));
    }
    (same == pairs).then(|| match changed_to_the_letter(result) {
        Some([within, cross]) => Line::ours(format!(
            "The judge told no answers apart: all {all} say that the two mean the same, though repeats of one snapshot agree to \
             the letter in {within} of pairs and old with new in {cross}. Either nothing changed but words, or the judge does not judge: \
             read some of these answers before the verdict is believed.",
        )),
        None => Line::ours(format!(
            "The judge told no answers apart: all {all} say that the two mean the same. Under such a judge no meaning can change."
        )),
    })
}

/// The agreement to the letter within and across, where the second lies far below the first.
fn changed_to_the_letter(result: &AuditResult) -> Option<[String; 2]> {
    let exact = figures(&result.analysis, Kernel::Exact)?;
    let agreement = exact.agreement.as_ref()?;
    let loud = exact.churn_asked?.compare(LOUD) != Ordering::Less;
    loud.then(|| [agreement.within, agreement.cross].map(numbers::percent))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::document::Part;
    use crate::report::fixtures::{compatible, fraction};

    fn text<'a>(part: &'a Part<'_>) -> &'a str {
        if let Part::Ours(text) = part { text } else { "something of others" }
    }

    fn told(questions: u64, same: u64, churn: i64) -> Option<String> {
        let mut result = compatible();
        result.analysis.judged = Some(Judged { questions, pairs: 40, same });
        let exact = &mut result.analysis.kernels[0];
        exact.churn_asked = Some(fraction(churn, 100));
        let agreement = exact.agreement.as_mut().expect("answers");
        (agreement.within, agreement.cross) = (fraction(95, 100), fraction(95 - churn, 100));
        warning(&result).map(|line| line.0.iter().map(text).collect())
    }

    #[test]
    fn one_word_for_everything_is_told_from_ten_questions_on_and_louder_where_words_changed() {
        insta::assert_snapshot!([(10, 40, 49), (10, 40, 50), (70, 40, 95), (10, 0, 5)]
            .map(|(questions, same, churn)| told(questions, same, churn).expect("a warning")).join("\n"), @r#"
The judge told no answers apart: all 40 labels of 10 questions say that the two mean the same. Under such a judge no meaning can change.
The judge told no answers apart: all 40 labels of 10 questions say that the two mean the same, though repeats of one snapshot agree to the letter in 95.00% of pairs and old with new in 45.00%. Either nothing changed but words, or the judge does not judge: read some of these answers before the verdict is believed.
The judge told no answers apart: all 40 labels of 70 questions say that the two mean the same, though repeats of one snapshot agree to the letter in 95.00% of pairs and old with new in 0.00%. Either nothing changed but words, or the judge does not judge: read some of these answers before the verdict is believed.
The judge told all answers apart: all 40 labels of 10 questions say that the two differ. Under such a judge every rewording is churn.
"#);
        for (questions, same) in [(9, 40), (9, 0), (10, 1), (10, 39)] {
            assert_eq!(told(questions, same, 95), None);
        }
    }
}
