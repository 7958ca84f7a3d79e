//! A text as whoever reads it may read it: as it stands, after one or more readings as JSON, and with its `%XX` or the entities of
//! HTML resolved; and each of these without control characters, which whoever shows a text may leave out.
//!
//! A server that sends a key back may write it in any spelling of JSON, and JSON that lies in a string of JSON is spelled twice.
//! So it is not the spellings that are looked for, but the key in what each reading gives.

use std::borrow::Cow;
use std::ops::Range;

/// Readings as JSON, one of the other's outcome: a reply, the text in it, and one more of each.
const DEPTH: usize = 4;
/// Bytes of an entity that is read, its `&` and a `;` among them: `&#x10FFFF;`.
const LONGEST_ENTITY: usize = 10;

/// What one reading gives.
struct Reading<'a> {
    bytes: Cow<'a, [u8]>,
    /// Where each byte begins in the text; absent where that is its own place.
    places: Option<Vec<usize>>,
    /// The text's length.
    end: usize,
}

/// Where any of these words stands in any reading of a text: ranges of its bytes, in order, none of which touch. A word that is
/// part of another one does not hide it.
pub fn places_of(words: &[&[u8]], text: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if words.is_empty() {
        return found;
    }
    let mut reading = Some(Reading { bytes: Cow::Borrowed(text), places: None, end: text.len() });
    for _ in 0..=DEPTH {
        let Some(current) = reading else { break };
        current.find(words, &mut found);
        for other in [percent, entity] {
            // A link within a link is spelled twice.
            let once = current.read(other);
            let twice = once.as_ref().and_then(|once| once.read(other));
            once.iter().chain(&twice).for_each(|reading| reading.find(words, &mut found));
        }
        reading = current.read(escape);
    }
    joined(found)
}

impl Reading<'_> {
    fn place(&self, at: usize) -> usize {
        self.places.as_ref().map_or(at, |places| places.get(at).copied().unwrap_or(self.end))
    }

    fn find(&self, words: &[&[u8]], found: &mut Vec<Range<usize>>) {
        let places = |(at, length)| self.place(at)..self.place(at + length);
        found.extend(occurrences(words, &self.bytes).map(places));
        let kept = shown(&self.bytes);
        if kept.len() < self.bytes.len() {
            let bytes: Vec<u8> = kept.iter().map(|at| self.bytes[*at]).collect();
            let places = |(at, length)| self.place(kept[at])..self.place(kept[at + length - 1] + 1);
            found.extend(occurrences(words, &bytes).map(places));
        }
    }

    /// Reads once more. `token` gives what stands at the start of some bytes and how many of them spell it, or nothing where the
    /// first one stands for itself. `None` where all do.
    fn read(&self, token: fn(&[u8]) -> Option<(char, usize)>) -> Option<Reading<'static>> {
        let (mut bytes, mut places, mut at) = (Vec::new(), Vec::new(), 0);
        let mut resolved = false;
        while let Some((first, rest)) = self.bytes.get(at..).and_then(<[u8]>::split_first) {
            let place = self.place(at);
            let token = matches!(first, b'\\' | b'%' | b'&').then(|| token(&self.bytes[at..])).flatten();
            if let Some((sign, length)) = token {
                bytes.extend_from_slice(sign.encode_utf8(&mut [0; 4]).as_bytes());
                at += length.min(1 + rest.len());
                resolved = true;
            } else {
                bytes.push(*first);
                at += 1;
            }
            places.resize(bytes.len(), place);
        }
        resolved.then_some(Reading { bytes: Cow::Owned(bytes), places: Some(places), end: self.end })
    }
}

/// Where each of these words stands in some bytes, and its length.
fn occurrences<'a>(words: &'a [&'a [u8]], bytes: &'a [u8]) -> impl Iterator<Item = (usize, usize)> + 'a {
    words.iter().filter(|word| !word.is_empty()).flat_map(move |word| {
        let places = bytes.windows(word.len()).enumerate().filter(move |(_, window)| window == word);
        places.map(move |(at, _)| (at, word.len()))
    })
}

/// The places of all bytes that belong to no control character.
fn shown(bytes: &[u8]) -> Vec<usize> {
    // U+0080 to U+009F take two bytes.
    let begins_two = |at: usize| matches!(bytes.get(at..at + 2), Some([0xc2, 0x80..=0x9f]));
    let is_control = |at: usize| bytes[at].is_ascii_control() || begins_two(at) || (at > 0 && begins_two(at - 1));
    (0..bytes.len()).filter(|at| !is_control(*at)).collect()
}

/// A sign that JSON spells with a backslash.
fn escape(bytes: &[u8]) -> Option<(char, usize)> {
    let sign = match bytes.get(..2)? {
        b"\\n" => '\n',
        b"\\r" => '\r',
        b"\\t" => '\t',
        b"\\b" => '\u{8}',
        b"\\f" => '\u{c}',
        [b'\\', other @ (b'"' | b'\\' | b'/')] => char::from(*other),
        b"\\u" => return unicode(bytes),
        _ => return None,
    };
    Some((sign, 2))
}

/// `\uXXXX`, or two of them that are one sign together.
fn unicode(bytes: &[u8]) -> Option<(char, usize)> {
    let unit = |at: usize| {
        let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
        hexadecimal(digits).and_then(|number| u16::try_from(number).ok())
    };
    let first = unit(0)?;
    if let Some(sign) = char::from_u32(u32::from(first)) {
        return Some((sign, 6));
    }
    let pair = unit(6).and_then(|second| char::decode_utf16([first, second]).next()?.ok());
    Some(pair.map_or((char::REPLACEMENT_CHARACTER, 6), |sign| (sign, 12)))
}

/// `%XX` of a sign of ASCII: keys have no others.
fn percent(bytes: &[u8]) -> Option<(char, usize)> {
    let digits = bytes.get(..3)?.strip_prefix(b"%")?;
    let sign = u8::try_from(hexadecimal(digits)?).ok().filter(u8::is_ascii)?;
    Some((char::from(sign), 3))
}

/// An entity of HTML, as pages of errors have them: `&amp;`, `&#43;`, `&#x2B;`.
fn entity(bytes: &[u8]) -> Option<(char, usize)> {
    let name = bytes.get(..LONGEST_ENTITY.min(bytes.len()))?.strip_prefix(b"&")?;
    let end = name.iter().position(|byte| *byte == b';')?;
    let sign = match &name[..end] {
        b"amp" => '&',
        b"lt" => '<',
        b"gt" => '>',
        b"quot" => '"',
        b"apos" => '\'',
        [b'#', b'x' | b'X', digits @ ..] => char::from_u32(hexadecimal(digits)?)?,
        [b'#', digits @ ..] => char::from_u32(str::from_utf8(digits).ok()?.parse().ok()?)?,
        _ => return None,
    };
    Some((sign, end + 2))
}

fn hexadecimal(digits: &[u8]) -> Option<u32> {
    let text = str::from_utf8(digits).ok().filter(|text| text.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
    u32::from_str_radix(text, 16).ok()
}

fn joined(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    let mut out: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match out.last_mut() {
            // Two keys side by side stay two.
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => out.push(range),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KEY: &str = "Ab+cd/EF-12==";

    fn found(text: &str) -> Vec<&str> {
        places_of(&[KEY.as_bytes()], text.as_bytes()).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn a_key_is_found_in_every_spelling_of_json_and_of_a_url() {
        for spelled in [
            KEY,
            r"Ab\u002Bcd/EF-12==",
            r"Ab+cd\/EF-12==",
            r"Ab+cd\\/EF-12==",
            r"Ab+cd\\\/EF\\u002d12==",
            r"Ab\u005cu002bcd/EF-12\u003D=",
            r"\u0041\u0062\u002b\u0063\u0064\u002f\u0045\u0046\u002d\u0031\u0032\u003d\u003d",
            "Ab%2Bcd%2fEF-12%3D=",
            r"Ab\u00252Bcd%2FEF-12==",
            "Ab%252Bcd%252FEF-12==",
            "Ab&#43;cd&#x2F;EF-12&#x3D;=",
            r"Ab\u0026#43;cd/EF-12==",
            "Ab&amp;#43;cd/EF-12==",
        ] {
            assert_eq!(found(&format!("{{\"a\": \"x {spelled}é y\"}}")), [spelled]);
        }
    }

    #[test]
    fn a_key_is_found_where_control_characters_break_it_and_none_around_it_are_taken() {
        for broken in [
            "Ab+cd\u{7}/EF-12==",
            "Ab+cd\r\n/EF-\u{85}12=\u{7f}=",
            r"Ab+cd\u0007/EF-12==",
            r"Ab+cd\n/EF\u009f-12==",
            r"Ab+cd\\n/EF-12==",
            "Ab+cd%0a/EF-12==",
            "Ab+cd&#10;/EF-12==",
        ] {
            assert_eq!(found(&format!("x\n\u{7}{broken}\u{9f}\n y")), [broken]);
        }
        assert_eq!(found(&format!("\n{KEY}\n{KEY}\u{85}")), [KEY, KEY]);
        assert!(found("Ab+cd /EF-12== Ab+cd\u{a0}/EF-12== Ab+cd\u{c2}/EF-12==").is_empty());
    }

    #[test]
    fn what_is_no_spelling_of_it_stands() {
        for text in [
            "Ab+cd/EF-12=",
            r"Ab\u002",
            r"\",
            r"\u",
            "%",
            "%2",
            r"\uD800\u0041",
            "100% sure",
            "",
            "&",
            "&#",
            "&#;",
            "&#x;",
            "&#99999999;",
            "&none;",
            "&#55296;",
        ] {
            assert!(found(text).is_empty(), "{text}");
        }
        assert!(places_of(&[b""], b"abc").is_empty());
    }

    #[test]
    fn a_key_within_another_hides_no_part_of_it() {
        let longer = format!("{KEY}TAIL99");
        let text = format!("{longer} {KEY}{KEY}");
        for words in [[KEY.as_bytes(), longer.as_bytes()], [longer.as_bytes(), KEY.as_bytes()]] {
            let found: Vec<_> = places_of(&words, text.as_bytes()).into_iter().map(|range| &text[range]).collect();
            assert_eq!(found, [longer.as_str(), KEY, KEY]);
        }
    }

    proptest! {
        #[test]
        fn what_json_writers_write_is_found_however_deep(key in "[ -~]{8,20}", around in "[a-z\\\\\"é%/]{0,6}", depth in 0_usize..=4) {
            let mut text = format!("{around}{key}{around}");
            for _ in 0..depth {
                text = serde_json::to_string(&text).unwrap();
            }
            let places = places_of(&[key.as_bytes()], text.as_bytes());
            prop_assert!(!places.is_empty());
            // Nothing of it is left: what is cut out, cut out again of what is left, is nowhere.
            let mut left = text.into_bytes();
            places.into_iter().rev().for_each(|place| drop(left.splice(place, *b"~")));
            prop_assert!(places_of(&[key.as_bytes()], &left).is_empty());
        }

        #[test]
        fn no_bytes_lead_astray(text in prop::collection::vec(prop::sample::select(b"\\u0041%4a\xff\"D8".to_vec()), 0..60)) {
            let mut before = 0;
            for range in places_of(&[b"AAAAAAAA", b"JJ", b"A"], &text) {
                prop_assert!(range.start >= before && range.end > range.start && range.end <= text.len());
                before = range.end;
            }
        }
    }
}
