//! What looks like personal data: e-mail addresses, phone numbers, numbers of cards, bank accounts and social security.
//!
//! Each kind is asked for by a form that other texts seldom have, and by its check digits where it has some: a warning that
//! comes too often is read by nobody. What is found is never shown.

use std::collections::BTreeMap;

/// A kind of personal data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Personal {
    Email,
    Phone,
    Card,
    Account,
    SocialSecurity,
}

impl Personal {
    const fn name(self) -> &'static str {
        match self {
            Self::Email => "an e-mail address",
            Self::Phone => "a phone number",
            Self::Card => "a card number",
            Self::Account => "a bank account",
            Self::SocialSecurity => "a social security number",
        }
    }
}

/// How many places of a file seem to hold each kind, and the first of them.
#[derive(Default)]
pub(super) struct Found {
    kinds: BTreeMap<Personal, (u64, String)>,
}

impl Found {
    /// Looks through a text that stands at this place.
    pub(super) fn look(&mut self, text: &str, at: &str) {
        for kind in kinds(text) {
            self.kinds.entry(kind).or_insert_with(|| (0, at.to_owned())).0 += 1;
        }
    }

    /// What a person should know.
    pub(super) fn note(&self, what: &str, remedy: &str) -> Option<String> {
        let one = |(kind, (count, first)): (&Personal, &(u64, String))| {
            let times = if *count == 1 { String::new() } else { format!("{count} times, first ") };
            format!("{} ({times}on {first})", kind.name())
        };
        let found: Vec<String> = self.kinds.iter().map(one).collect();
        (!found.is_empty()).then(|| format!("{what} seem to hold {}; {remedy}", found.join(", ")))
    }
}

/// The kinds that a text seems to hold, each once.
fn kinds(text: &str) -> Vec<Personal> {
    let mut found = Vec::new();
    if has_email(text) {
        found.push(Personal::Email);
    }
    let bytes = text.as_bytes();
    let begins = |at: &usize| *at == 0 || !bytes[*at - 1].is_ascii_alphanumeric();
    let starts = (0..bytes.len()).filter(|at| matches!(bytes[*at], b'0'..=b'9' | b'+' | b'(' | b'A'..=b'Z'));
    for at in starts.filter(begins) {
        found.extend(number(&bytes[at..]).or_else(|| account(&bytes[at..])));
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn has_email(text: &str) -> bool {
    let name = |c: char| c.is_alphanumeric() || "._%+-".contains(c);
    text.match_indices('@').any(|(at, _)| {
        let before = text[..at].rsplit(|c| !name(c)).next().unwrap_or_default();
        let after = text[at + 1..].split(|c: char| !(c.is_alphanumeric() || "-.".contains(c))).next();
        let domain = after.unwrap_or_default().trim_end_matches('.');
        // `git` is nobody's name, but how hosts of repositories are reached.
        !before.is_empty() && before != "git" && is_domain(&domain.to_ascii_lowercase())
    })
}

/// A name with a top-level part of letters, none of those that are kept for examples.
fn is_domain(domain: &str) -> bool {
    let Some((rest, top)) = domain.rsplit_once('.') else { return false };
    let second = rest.rsplit('.').next().unwrap_or_default();
    let made_up = matches!(top, "example" | "test" | "invalid" | "localhost" | "local") || second == "example";
    top.len() >= 2 && top.chars().all(char::is_alphabetic) && !second.is_empty() && !made_up
}

/// More than any number with its separators has, in bytes.
const LONGEST: usize = 48;

/// A number in groups, as people write those of phones, cards and social security.
fn number(bytes: &[u8]) -> Option<Personal> {
    let apart = |byte: &u8| byte.is_ascii_digit() || b"+()-. ".contains(byte);
    let end = bytes.iter().take(LONGEST).take_while(|byte| apart(byte)).count();
    let shown = std::str::from_utf8(bytes.get(..end)?).ok()?.trim_end_matches([' ', '.', '-', '(', ')', '+']);
    if end == LONGEST || bytes.get(shown.len()).is_some_and(u8::is_ascii_alphanumeric) {
        return None;
    }
    let shape: String = shown.chars().map(|c| if c.is_ascii_digit() { 'd' } else { c }).collect();
    let digits: Vec<u8> = shown.bytes().filter(u8::is_ascii_digit).map(|digit| digit - b'0').collect();
    if is_phone(&shape, &digits) {
        Some(Personal::Phone)
    } else if is_card(&shape, &digits) {
        Some(Personal::Card)
    } else {
        (shape == "ddd-dd-dddd" && is_social_security(&digits)).then_some(Personal::SocialSecurity)
    }
}

/// `+` with 8 to 15 digits, or the groups of North America.
fn is_phone(shape: &str, digits: &[u8]) -> bool {
    let international = shape.starts_with("+d")
        && (8..=15).contains(&digits.len())
        && digits[0] != 0
        && !shape[1..].contains('+')
        && !shape.contains("  ");
    let american = ["ddd-ddd-dddd", "ddd.ddd.dddd", "(ddd) ddd-dddd", "(ddd)ddd-dddd"].contains(&shape);
    international || (american && digits[0] > 1)
}

/// Groups as printed on cards, or the beginnings and lengths of the large networks, with the right check digit.
fn is_card(shape: &str, digits: &[u8]) -> bool {
    let grouped = ["dddd dddd dddd dddd", "dddd-dddd-dddd-dddd", "dddd dddddd ddddd"].contains(&shape);
    let first = digits.iter().take(2).fold(0, |number, digit| number * 10 + u32::from(*digit));
    let network = match digits.len() {
        15 => matches!(first, 34 | 37),
        16 => matches!(first, 40..=49 | 51..=55),
        _ => false,
    };
    let bare = shape.bytes().all(|byte| byte == b'd');
    network && (grouped || bare) && luhn(digits)
}

/// The check of ISO/IEC 7812-1.
fn luhn(digits: &[u8]) -> bool {
    let doubled = |digit: u8| if digit > 4 { 2 * digit - 9 } else { 2 * digit };
    let add = |(place, digit): (usize, &u8)| u32::from(if place % 2 == 1 { doubled(*digit) } else { *digit });
    digits.iter().rev().enumerate().map(add).sum::<u32>().is_multiple_of(10)
}

fn is_social_security(digits: &[u8]) -> bool {
    let part =
        |range: std::ops::Range<usize>| digits[range].iter().fold(0, |number, digit| number * 10 + u32::from(*digit));
    let (area, group, serial) = (part(0..3), part(3..5), part(5..9));
    !matches!(area, 0 | 666 | 900..) && group > 0 && serial > 0
}

/// An IBAN: two letters, two digits, then 11 to 30 letters and digits, alone or in groups of four, with the check of
/// ISO 13616.
fn account(bytes: &[u8]) -> Option<Personal> {
    let mut number = Vec::new();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'A'..=b'Z' | b'0'..=b'9' => number.push(*byte),
            b' ' if number.len().is_multiple_of(4) => {}
            _ => break,
        }
        let ends = !bytes.get(at + 1).is_some_and(u8::is_ascii_alphanumeric);
        if ends && (15..=34).contains(&number.len()) && is_account(&number) {
            return Some(Personal::Account);
        }
        if number.len() > 34 {
            break;
        }
    }
    None
}

fn is_account(number: &[u8]) -> bool {
    let (head, tail) = number.split_at(4);
    let begins = head[..2].iter().all(u8::is_ascii_uppercase) && head[2..].iter().all(u8::is_ascii_digit);
    let value = |rest: u32, byte: &u8| match byte {
        b'0'..=b'9' => (rest * 10 + u32::from(byte - b'0')) % 97,
        letter => (rest * 100 + u32::from(letter - b'A') + 10) % 97,
    };
    begins && tail.iter().chain(head).fold(0, value) == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_give_away_is_noticed() {
        for (text, kind) in [
            ("Why does anna.muster@mail-server.org get no mail?", Personal::Email),
            ("Mail to O_Neil+x@uni.ac.uk.", Personal::Email),
            ("Call me: +49 30 901820.", Personal::Phone),
            ("Is (212) 555-0187 the support line?", Personal::Phone),
            ("212-555-0187", Personal::Phone),
            ("Card 4111 1111 1111 1111 was refused", Personal::Card),
            ("Card 4111111111111111 was refused", Personal::Card),
            ("Card 3782 822463 10005?", Personal::Card),
            ("Pay to DE89 3704 0044 0532 0130 00 please", Personal::Account),
            ("Pay to GB82WEST12345698765432", Personal::Account),
            ("My number is 219-09-9999, why?", Personal::SocialSecurity),
        ] {
            assert_eq!(kinds(text), [kind], "{text}");
        }
    }

    #[test]
    fn what_documentation_is_full_of_raises_no_alarm() {
        for text in [
            "How do I clone git@github.com:owner/repo.git?",
            "What does user@example.com in the docs mean, or a@b.test, root@localhost?",
            "How do I install @angular/core@17.0.2 or left-pad@latest?",
            "Does 192.168.100.200 differ from 10.0.0.1?",
            "Is 2026-08-10 12:30 before 1700000000000?",
            "Is 1234567890123456 a valid id, or 4111111111111112?",
            "What is 1 + 2 + 3, or 100+200?",
            "Since which version (1.2.3-4) is ISO 8601-1:2019 supported?",
            "Which of RFC 2822, RFC2822 and DE89 is right?",
            "What changed between 000-12-3456 and 123-00-4567?",
            "Is 978-0-306-40615-7 in print?",
        ] {
            assert_eq!(kinds(text), [], "{text}");
        }
    }

    #[test]
    fn a_note_counts_and_names_places_and_shows_nothing() {
        let mut found = Found::default();
        assert_eq!(found.note("questions", "look"), None);
        found.look("a@mail.org and b@mail.org", "line 3");
        found.look("c@mail.org, +49 30 901820", "line 5");
        let note = found.note("questions", "look at them").unwrap();
        assert_eq!(
            note,
            "questions seem to hold an e-mail address (2 times, first on line 3), a phone number (on line 5); look at them"
        );
    }
}
