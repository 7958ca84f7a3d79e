//! Numbers as people read them. All formats print a figure through these functions, so that all print the same.

use crate::model::{Fraction, PercentagePoints};

/// Decimals of percentage points in reports.
pub(in crate::report) const DECIMALS: u32 = 2;

/// Decimals at most, where it takes more to tell a figure from its limit: the least figure that is not its limit lies that near only
/// beyond a thousand million questions.
pub(in crate::report) const MOST_DECIMALS: u32 = 16;

/// A share as percentage points, rounded half up.
pub(in crate::report) fn pp(share: Fraction) -> String {
    share.to_pp(DECIMALS)
}

/// The same with a sign, for differences.
pub(in crate::report) fn signed_pp(share: Fraction) -> String {
    let text = pp(share);
    if share.numerator > 0 { format!("+{text}") } else { text }
}

/// A share of 1 in floating point as percentage points, rounded half up; a dash where it is no number.
pub(in crate::report) fn pp_float(share: f64) -> String {
    float(share * 100.0, DECIMALS)
}

/// A share as a percentage.
pub(in crate::report) fn percent(share: Fraction) -> String {
    format!("{}%", pp(share))
}

/// A figure in words; a dash where there is none.
pub(in crate::report) fn or_dash(told: Option<String>) -> String {
    told.unwrap_or_else(|| "–".to_owned())
}

/// `part` of `whole` as a percentage; a dash where `whole` is nothing.
pub(in crate::report) fn percent_of(part: u64, whole: u64) -> String {
    match (i64::try_from(part), whole) {
        (Ok(numerator), 1..) => percent(Fraction { numerator, denominator: whole }),
        _ => "–".to_owned(),
    }
}

/// A number with this many decimals, rounded half up; a dash where it is no number.
pub(in crate::report) fn float(value: f64, decimals: u32) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let scale = f64::from(10_u32.pow(decimals.min(9)));
    let rounded = (value * scale + 0.5).floor() / scale;
    // Adding zero turns a negative zero into zero.
    format!("{:.*}", decimals as usize, rounded + 0.0)
}

/// A limit such as `3 pp`, exactly as written in the spec.
pub(in crate::report) fn limit(value: PercentagePoints) -> String {
    value.to_string().replace("pp", " pp")
}

/// A p-value or a share of draws: two significant digits where it is small, never a bare zero.
pub(in crate::report) fn probability(value: f64) -> String {
    match value {
        small if small <= 0.0 => "below 1e-300".to_owned(),
        small if small < 0.001 => format!("{small:.1e}"),
        other => float(other, 3),
    }
}

/// A count with commas between groups of three digits.
pub(in crate::report) fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut grouped = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// `1 question`, `2 questions`.
pub(in crate::report) fn counted(value: u64, noun: &str) -> String {
    let ending = if value == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", count(value))
}

/// A duration in its two greatest units.
pub(in crate::report) fn duration(milliseconds: u64) -> String {
    let seconds = milliseconds / 1000;
    match seconds {
        0 => format!("{milliseconds} ms"),
        1..=59 => format!("{seconds} s"),
        60..=3599 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_round_half_up_without_a_negative_zero() {
        assert_eq!(float(4.5625, 3), "4.563");
        assert_eq!(float(-0.125, 2), "-0.12");
        assert_eq!(float(-0.001, 2), "0.00");
        assert_eq!(float(f64::NAN, 2), "–");
    }

    #[test]
    fn probabilities_are_never_a_bare_zero() {
        assert_eq!(probability(0.0), "below 1e-300");
        assert_eq!(probability(1.63e-9), "1.6e-9");
        assert_eq!(probability(0.0330), "0.033");
        assert_eq!(probability(1.0), "1.000");
    }

    #[test]
    fn counts_are_grouped_and_durations_short() {
        assert_eq!([0, 999, 1000, 50_000, 1_234_567].map(count), ["0", "999", "1,000", "50,000", "1,234,567"]);
        assert_eq!([7, 7_000, 125_000, 7_380_000].map(duration), ["7 ms", "7 s", "2 min 5 s", "2 h 3 min"]);
        assert_eq!([counted(1, "question"), counted(2, "question")], ["1 question", "2 questions"]);
    }

    #[test]
    fn a_share_of_nothing_is_a_dash() {
        assert_eq!(percent_of(3, 0), "–");
        assert_eq!(percent_of(111, 400), "27.75%");
    }
}
