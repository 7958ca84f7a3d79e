//! Dates in the forms that answers use, and when one is contained in another.

/// A date of which some parts may be unsaid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Date {
    /// Year; negative before the common era.
    pub year: Option<i32>,
    /// Month from 1.
    pub month: Option<u32>,
    /// Day of the month from 1.
    pub day: Option<u32>,
    /// Whether day and month may stand the other way round (`04/05/1999`).
    pub either: bool,
}

impl Date {
    /// Whether both say the same day, month or year as far as the less precise one says anything: one must contain the
    /// other (`1921` and `11 July 1921`), and `11 July` does not contain `July 1921`.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        // Two dates in figures are read in the same order, whichever it is.
        let turned = if self.either && other.either { *other } else { other.turned() };
        [*other, turned].iter().any(|way| self.says_all_of(way) || way.says_all_of(self))
    }

    fn turned(self) -> Self {
        if self.either { Self { month: self.day, day: self.month, ..self } } else { self }
    }

    fn says_all_of(&self, coarse: &Self) -> bool {
        fn part<T: PartialEq + Copy>(fine: Option<T>, coarse: Option<T>) -> bool {
            coarse.is_none() || fine == coarse
        }
        part(self.year, coarse.year) && part(self.month, coarse.month) && part(self.day, coarse.day)
    }

    /// A date in figures with the year last: day and month in either order where both are possible.
    #[must_use]
    pub fn figures(first: u32, second: u32, year: i32) -> Option<Self> {
        let date = |month, day, either| Some(Self { year: Some(year), month: Some(month), day: Some(day), either });
        match (first, second) {
            (1..=12, 1..=12) => date(first, second, first != second),
            (1..=12, 13..=31) => date(first, second, false),
            (13..=31, 1..=12) => date(second, first, false),
            _ => None,
        }
    }
}

/// The month of this name in lower case: whole, or by its usual abbreviation.
#[must_use]
pub fn month(word: &str) -> Option<u32> {
    const NAMES: &[&str] = &[
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let matches = |name: &&str| {
        **name == *word || (word.len() == 3 && name.starts_with(word)) || (word == "sept" && **name == *"september")
    };
    NAMES.iter().position(matches).and_then(|index| u32::try_from(index + 1).ok())
}

/// Whether the word names a day of the week.
#[must_use]
pub fn weekday(word: &str) -> bool {
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"].contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn date(year: Option<i32>, month: Option<u32>, day: Option<u32>) -> Date {
        Date { year, month, day, either: false }
    }

    #[test]
    fn a_year_is_contained_in_a_full_date_and_no_other_year_is() {
        let full = date(Some(1921), Some(7), Some(11));
        assert!(full.same(&date(Some(1921), None, None)));
        assert!(date(None, Some(7), Some(11)).same(&full));
        assert!(!full.same(&date(Some(1922), None, None)));
        assert!(!date(None, Some(7), Some(11)).same(&date(Some(1921), Some(7), None)));
    }

    #[test]
    fn ambiguous_figures_match_both_ways() {
        let figures = Date::figures(4, 5, 1999).unwrap();
        assert!(figures.same(&date(Some(1999), Some(4), Some(5))));
        assert!(date(Some(1999), Some(5), Some(4)).same(&figures));
        assert!(!Date::figures(4, 25, 1999).unwrap().same(&date(Some(1999), Some(4), Some(5))));
        assert!(!figures.same(&Date::figures(5, 4, 1999).unwrap()));
        assert_eq!(Date::figures(25, 25, 1999), None);
    }

    #[test]
    fn months_are_known_by_name_and_abbreviation() {
        assert_eq!(
            ["may", "sep", "sept", "december", "mar"].map(month),
            [Some(5), Some(9), Some(9), Some(12), Some(3)]
        );
        assert_eq!(["ma", "marc", "mayor", ""].map(month), [None; 4]);
    }
}
