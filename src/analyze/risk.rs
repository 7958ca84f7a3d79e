//! How much of a question's evidence changed, as a number to rank questions by.

/// The change of one ranked list into another, from 0 (the same members) to 1 (none in common). A member at rank r counts
/// 1/r, since readers lean on what comes first; the weights of what went and of what came are averaged. An order alone
/// counts nothing here: the same members in another order are 0.
#[must_use]
pub fn turnover<T: PartialEq>(old: &[T], new: &[T]) -> f64 {
    match (old.is_empty(), new.is_empty()) {
        (true, true) => 0.0,
        (true, false) | (false, true) => 1.0,
        (false, false) => f64::midpoint(missing(old, new), missing(new, old)),
    }
}

/// The share of the weight of one list that the other one does not have.
fn missing<T: PartialEq>(list: &[T], other: &[T]) -> f64 {
    let weights = || (1_u32..).map(|rank| 1.0 / f64::from(rank));
    let all: f64 = list.iter().zip(weights()).map(|(_, weight)| weight).sum();
    let gone: f64 =
        list.iter().zip(weights()).filter(|(item, _)| !other.contains(item)).map(|(_, weight)| weight).sum();
    if all > 0.0 { gone / all } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::turnover;
    use proptest::prelude::*;

    #[test]
    fn what_stands_first_counts_most() {
        let old = ["a", "b", "c"];
        assert!(turnover(&old, &["a", "b", "c"]).abs() < 1e-12);
        assert!(turnover(&old, &["c", "a", "b"]).abs() < 1e-12);
        assert!((turnover(&old, &["x", "y", "z"]) - 1.0).abs() < 1e-12);
        // 1/(1 + 1/2 + 1/3) = 6/11 of the weight is at the first rank, 2/11 at the third.
        assert!((turnover(&old, &["x", "b", "c"]) - 6.0 / 11.0).abs() < 1e-12);
        assert!((turnover(&old, &["a", "b", "x"]) - 2.0 / 11.0).abs() < 1e-12);
    }

    #[test]
    fn no_evidence_on_one_side_is_all_that_can_change() {
        assert!((turnover(&[1], &[]) - 1.0).abs() < 1e-12);
        assert!((turnover(&[], &[1]) - 1.0).abs() < 1e-12);
        assert!(turnover::<u8>(&[], &[]).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn it_is_symmetric_and_a_share(old in prop::collection::vec(0_u8..9, 0..9), new in prop::collection::vec(0_u8..9, 0..9)) {
            let value = turnover(&old, &new);
            prop_assert!((0.0..=1.0 + 1e-12).contains(&value));
            prop_assert!((value - turnover(&new, &old)).abs() < 1e-12);
        }
    }
}
