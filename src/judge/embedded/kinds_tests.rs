//! Kinds of answers that differ by a sign, a figure or a small word, and the true paraphrases beside them.

use super::{judge, labelled::Half, labelled::parse};
use crate::model::Label::{Different, Same};
use proptest::prelude::*;

/// A question and two answers.
type Case = (&'static str, &'static str, &'static str);

/// Judges every case in both orders.
fn hold(different: &[Case], same: &[Case]) {
    for (cases, label) in [(different, Different), (same, Same)] {
        for (question, one, other) in cases {
            assert_eq!(judge(question, one, other), label, "{question}: {one} | {other}");
            assert_eq!(judge(question, other, one), label, "{question}: {other} | {one}");
        }
    }
}

#[test]
fn versions_are_compared_part_by_part_and_measures_by_value() {
    hold(
        &[
            ("which version added it", "1.1", "1.10"),
            ("which version added it", "version 2.3", "version 2.30"),
            ("which python is required", "Python 3.1", "Python 3.10 or later"),
            ("which release is it", "v2.5", "v2.50"),
            ("which section says so", "section 3.1", "section 3.10"),
            ("which version added it", "1.2.0", "1.20.0"),
            ("which address is it", "10.0.0.0", "10"),
        ],
        &[
            ("which version added it", "3.0", "3.0.0"),
            ("which version added it", "1.2.0", "1.2"),
            ("which version added it", "version 3", "3.0"),
            ("which version added it", "since version 12", "12"),
            ("which version added it", "12 or later", "12+"),
            ("which version added it", "12 or later", "12"),
            ("how heavy is it", "5.0 kg", "5 kg"),
            ("how heavy is it", "1.50 kg", "1.5 kg"),
            ("how much is it", "$1.50", "$1.5"),
            ("how many are there", "1.50 million", "1.5 million"),
        ],
    );
}

#[test]
fn what_is_said_differs_from_its_denial_down_to_one_word() {
    hold(
        &[
            ("what is its status", "deprecated", "not deprecated"),
            ("what is its status", "supported", "not supported"),
            ("what happens to the file", "deleted", "never deleted"),
            ("how many are there", "5", "not 5"),
            ("is the field mandatory", "It is required", "It is not required"),
        ],
        &[
            ("what is its status", "not deprecated", "It is not deprecated"),
            ("what is its status", "It isn't supported", "not supported"),
            ("which perfume is it", "Chanel No. 5", "Chanel No 5"),
            ("which number is it", "No. 5", "5"),
        ],
    );
}

#[test]
fn not_knowing_says_nothing_about_anything() {
    hold(
        &[
            ("where does it work", "Not available in Firefox", "Not available in Safari"),
            ("where does it work", "Not available in Firefox", "UNKNOWN"),
            ("what is stored", "No information about users", "No information about passwords"),
            ("what does she say", "I do not know the password", "UNKNOWN"),
            ("what is the limit", "not specified by the contract, set by the admin", "unknown"),
            ("what was found", "No evidence of water", "No evidence of life"),
        ],
        &[
            ("where is it", "UNKNOWN", "Not mentioned in the documents"),
            ("where is it", "UNKNOWN", "It cannot be determined from the evidence provided"),
            ("where is it", "I don't know", "There is not enough information to answer the question."),
            ("where is it", "UNKNOWN", "The documents do not say"),
            ("where is it", "unknown", "The provided context does not mention this"),
            ("where is it", "n/a", "No information available"),
        ],
    );
}

#[test]
fn currencies_are_units_of_their_own() {
    hold(
        &[
            ("how much is it", "¥500", "$500"),
            ("how much is it", "₹500", "$500"),
            ("how much is it", "₽500", "₺500"),
            ("how much is it", "A$5", "US$5"),
            ("how much is it", "A$5", "$5"),
            ("how much is it", "5 cents", "$5"),
            ("how much is it", "CHF 5", "USD 5"),
            ("how much is it", "500 yen", "500 dollars"),
        ],
        &[
            ("how much is it", "JPY 500", "¥500"),
            ("how much is it", "500 yen", "¥500"),
            ("how much is it", "US$5", "$5"),
            ("how much is it", "5 US dollars", "$5"),
            ("how much is it", "€5 million", "5 million euros"),
            ("how much is it", "£5", "5 pounds"),
            ("how heavy is it", "5 lb", "5 pounds"),
            ("how many dollars is it", "$5", "5"),
        ],
    );
}

#[test]
fn other_operators_and_signs_say_something_else() {
    hold(
        &[
            ("how much memory", "<5", ">5"),
            ("how much memory", "≥ 8", "≤ 8"),
            ("how much memory", ">= 8", "<= 8"),
            ("which test is it", "x == y", "x != y"),
            ("which test is it", "a<b", "a>b"),
            ("which test is it", "!found", "found"),
            ("what is the balance", "-$5", "$5"),
            ("what is the balance", "$-5", "$5"),
            ("what is the balance", "(-5)", "5"),
            ("how cold is it", "minus 40 degrees", "40 degrees"),
            ("which factor is it", "10^3", "10^-3"),
            ("what does it show", "true ✅", "true ❌"),
            ("which blood group is it", "O+", "O-"),
        ],
        &[
            ("how much memory", "≥ 8", "at least 8"),
            ("how much memory", ">= 8", "8 or more"),
            ("how cold is it", "-40 °C", "minus 40 degrees Celsius"),
            ("which factor is it", "10³", "10^3"),
            ("which setting is it", "timeout = 30", "timeout 30"),
            ("is it so", "Yes!", "Yes"),
            ("which tag is it", "<video>", "video"),
            ("where is it", "Paris 🇫🇷", "Paris"),
            ("how warm is it", "+5 °C", "5 °C"),
        ],
    );
}

#[test]
fn ranges_lists_and_bounds_are_not_their_members() {
    hold(
        &[
            ("how many retries", "3", "3 to 5"),
            ("how many retries", "3", "between 3 and 5"),
            ("when was it", "1914-1918", "1914"),
            ("which versions", "8", "8, 11 and 17"),
            ("which ports", "80", "80 and 443"),
            ("how many", "5", "at least 5"),
            ("how many", "5", "no more than 5"),
            ("how many", "5", "5+"),
            ("how many", "up to 5", "from 5"),
            ("how many", "at least 5", "at most 5"),
            ("which system is it", "Windows", "Windows 11"),
        ],
        &[
            ("how many retries", "3-5", "3 to 5"),
            ("how many retries", "3-5", "between 3 and 5"),
            ("how many", "no more than 5", "at most 5"),
            ("how many", "5 people or more", "at least 5 people"),
            ("when was it", "11 July 1921", "1921"),
            ("what was growth in 2019", "5% in 2019", "5%"),
        ],
    );
}

#[test]
fn order_counts_where_numbers_belong_together() {
    hold(
        &[
            ("what was the score", "2-1", "1-2"),
            ("what is the ratio", "3:1", "1:3"),
            ("what share is it", "3/4", "4/3"),
            ("when is it", "10:30", "30:10"),
            ("where is it", "40 N, 74 W", "74 N, 40 W"),
            ("where is it", "40 N, 74 W", "40 W, 74 N"),
            ("which size is it", "1920x1080", "1080x1920"),
            ("what is there", "2 cats and 3 dogs", "3 cats and 2 dogs"),
            ("which date is it", "2/3/2020", "3/2/2020"),
        ],
        &[
            ("which versions", "8, 11 and 17", "17, 8, 11"),
            ("what is there", "2 cats and 3 dogs", "3 dogs and 2 cats"),
            ("what was the score", "the score was 2–1", "2-1"),
            ("which size is it", "1,920 x 1,080", "1920×1080"),
            ("which date is it", "2/3/2020", "March 2, 2020"),
        ],
    );
}

#[test]
fn other_scripts_keep_their_vowels_and_voices() {
    hold(
        &[
            ("who is it", "राम", "रोम"),
            ("where is it", "दिल्ली", "दल्ला"),
            ("what is it", "バス", "パス"),
            ("what is it", "かき", "がき"),
            ("what is it", "มี", "มื"),
            ("what is it", "கல்", "கால்"),
            ("what is it", "দিন", "দান"),
            ("what is it", "আমার সোনার বাংলা", "আমার সোনার বাংলো"),
            ("what is it", "الكتابة", "الكاتبة"),
        ],
        &[
            ("where is it", "दिल्ली", "दिल्ली।"),
            ("what is it", "ﾊﾟｽ", "パス"),
            ("who sang it", "Beyonce", "Beyoncé"),
            ("where is it", "Ёлка", "Елка"),
            ("what is said", "שָׁלוֹם", "שלום"),
        ],
    );
}

#[test]
fn roman_numerals_count_after_a_name() {
    hold(
        &[
            ("which king was it", "Henry V", "Henry VI"),
            ("which king was it", "Henry V of England", "Henry VI of England"),
            ("which king was it", "Louis X", "Louis XI"),
            ("which pope was it", "John XXII", "John XXIII"),
            ("which phone is it", "iPhone X", "iPhone XI"),
        ],
        &[
            ("which king was it", "Henry V", "Henry the Fifth"),
            ("which pope was it", "Pius XII", "Pius 12"),
            ("who was it", "Malcolm X", "malcolm x"),
        ],
    );
}

#[test]
fn raised_figures_and_fractions_keep_their_value() {
    hold(
        &[
            ("how large is it", "10²", "102"),
            ("how many cups", "1½", "11/2"),
            ("which share is it", "½", "1.2"),
            ("how many passed", "2 of 4", "3 of 6"),
            ("how many passed", "3 of 4", "3"),
            ("how large is it", "100 km²", "100 km"),
        ],
        &[
            ("how many cups", "1½", "1.5"),
            ("how many cups", "1½", "1 1/2"),
            ("which share is it", "½", "0.5"),
            ("how many passed", "3 out of 4", "3/4"),
            ("how large is it", "100 km²", "100 square kilometres"),
        ],
    );
}

#[test]
fn letters_units_and_parts_of_addresses_count() {
    hold(
        &[
            ("which address is it", "user@a.com", "user@b.com"),
            ("which folder is it", "/usr/a", "/usr/b"),
            ("which folder is it", "/a/b", "/b/a"),
            ("which call is it", "array.sort()", "array.reverse()"),
            ("what is it", "Plan A", "Plan B"),
            ("what is it", "0x1F", "0x1E"),
            ("what is it", "an mp3 file", "an mp4 file"),
            ("what is it", "hepatitis A", "hepatitis"),
            ("what is the latency", "5 ns", "5 ms"),
            ("how fast is it", "5 knots", "5 mph"),
            ("how strong is it", "5 mW", "5 MW"),
            ("how large is it", "16 Gb", "16 GB"),
            ("how tall is it", "5'", "5\""),
        ],
        &[
            ("how strong is it", "5 MW", "5 megawatts"),
            ("how large is it", "16 Gb", "2 GB"),
            ("how large is it", "16 gb", "16 GB"),
            ("how tall is it", "5'", "5 feet"),
            ("how many are there", "\"5\"", "5"),
        ],
    );
}

#[test]
fn no_tuned_pair_that_differs_in_figures_alone_is_the_same() {
    let text = fs_err::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/data/judge/pairs.jsonl")).unwrap();
    let kinds = ["number", "range", "script", "sign", "unit", "version"];
    for pair in parse(&text).unwrap() {
        if pair.half() == Half::Tuned && !pair.same && kinds.contains(&pair.kind.as_str()) {
            assert_eq!(judge(&pair.question, &pair.a, &pair.b), Different, "{}", pair.id);
        }
    }
}

proptest! {
    #[test]
    fn another_number_in_the_same_words_is_another_answer(
        (before, after) in (prop_oneof![Just(""), Just("Apollo "), Just("$"), Just("at least "), Just("-")],
            prop_oneof![Just(""), Just(" km"), Just(" goals"), Just("%"), Just(" or more")]),
        one in 0_u32..3000,
        other in 0_u32..3000,
    ) {
        prop_assume!(one != other);
        let (one, other) = (format!("{before}{one}{after}"), format!("{before}{other}{after}"));
        prop_assert_eq!(judge("how many are there", &one, &other), Different);
    }

    #[test]
    fn another_sign_before_the_same_number_is_another_answer(
        (one, other) in proptest::sample::subsequence(vec!["< ", "> ", "≤ ", "≥ ", "≠ ", "± "], 2)
            .prop_map(|signs| (signs[0], signs[1])),
        number in 0_u32..3000,
        unit in prop_oneof![Just(""), Just(" GB"), Just(" users")],
    ) {
        let (one, other) = (format!("{one}{number}{unit}"), format!("{other}{number}{unit}"));
        prop_assert_eq!(judge("how many are there", &one, &other), Different);
    }
}
