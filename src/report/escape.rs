//! The one way for text from outside into a report.
//!
//! [`Untrusted`] has no `Display`: its text can be read only through the functions of this module, each of which
//! makes it harmless for one sort of output. Text is shown literally, as code, so that nothing in it is a mention, a
//! link, an image, markup, a reference to an issue or a command; what would be invisible is shown by its code point.

use super::excerpt::before_difference;
use unicode_normalization::char::is_combining_mark;

/// Text from outside.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::report) struct Untrusted<'a> {
    text: &'a str,
    /// Whether it had a beginning that is left out.
    is_rest: bool,
}

/// More marks on one letter than this are shown by their code points, so that none can paint over its neighbours.
const MARKS_ON_ONE_LETTER: usize = 4;

impl<'a> Untrusted<'a> {
    /// Marks a text as coming from outside.
    pub(in crate::report) const fn new(text: &'a str) -> Self {
        Self { text, is_rest: false }
    }

    /// Marks two texts as coming from outside, so that each shows where they differ: where both are too long to be shown whole, they
    /// begin shortly before their first difference.
    pub(in crate::report) fn apart(one: &'a str, other: &'a str, limit: usize) -> [Self; 2] {
        let whole = [one, other].map(Self::new);
        if whole.iter().any(|text| text.visible(limit) == text.visible(usize::MAX)) {
            return whole;
        }
        let start = before_difference(one, other);
        [one, other].map(|text| Self { text: &text[start..], is_rest: start > 0 })
    }

    /// Whether there is nothing in it.
    pub(in crate::report) const fn is_empty(self) -> bool {
        self.text.is_empty()
    }

    /// One line without any invisible character, at most `limit` characters and an ellipsis. It is still to be
    /// escaped for its format.
    pub(in crate::report) fn visible(self, limit: usize) -> String {
        let shown = visible(self.text, limit);
        if self.is_rest { format!("…{shown}") } else { shown }
    }

    /// A Markdown code span, for paragraphs and lists.
    pub(in crate::report) fn code(self, limit: usize) -> String {
        code_span(&self.visible(limit))
    }

    /// A Markdown code span, for the cells of a table: no pipe is left, because parsers disagree on what a backslash
    /// before one means.
    pub(in crate::report) fn cell(self, limit: usize) -> String {
        code_span(&self.visible(limit).replace('|', "¦"))
    }

    /// Markdown prose for sentences that are most likely ours: plain words stand as they are, every other word
    /// becomes a code span.
    pub(in crate::report) fn prose(self, limit: usize) -> String {
        let shown = self.visible(limit).replace('|', "¦");
        let words: Vec<String> = shown.split(' ').filter(|word| !word.is_empty()).map(prose_word).collect();
        words.join(" ")
    }

    /// A line for a terminal or a log: no control sequence, and nothing that a CI runner takes for a command.
    pub(in crate::report) fn terminal(self, limit: usize) -> String {
        let words: Vec<String> = self.visible(limit).split(' ').map(defuse_command).collect();
        words.join(" ").replace("##[", "## [")
    }
}

/// A fenced Markdown block. `lines` hold no line breaks; the fence is longer than any run of backticks in them.
pub(in crate::report) fn fenced(info: &'static str, lines: &[String]) -> String {
    let longest = lines.iter().map(|line| longest_run(line)).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{info}\n{}\n{fence}\n", lines.join("\n"))
}

fn visible(text: &str, limit: usize) -> String {
    let unified = text.replace("\r\n", "\n");
    let pieces = Pieces { rest: unified.chars().peekable(), previous: ' ', marks: 0 };
    let mut shown = String::new();
    let mut left = limit;
    for piece in pieces {
        let length = piece.chars().count();
        if length > left {
            shown.push('…');
            break;
        }
        left -= length;
        shown.push_str(&piece);
    }
    if !shown.is_empty() && shown.chars().all(|character| character == ' ') {
        return shown.replace(' ', "␣");
    }
    // Comments carry the marker by which a comment is found again: no text from outside may look like one.
    shown.replace("<!--", "<!- -")
}

/// The characters of a text, each as it is shown.
struct Pieces<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    previous: char,
    marks: usize,
}

impl Iterator for Pieces<'_> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let character = self.rest.next()?;
        let previous = std::mem::replace(&mut self.previous, character);
        self.marks = if is_combining_mark(character) { self.marks + 1 } else { 0 };
        let joins = matches!(character, '\u{200c}' | '\u{200d}')
            && needs_joiners(previous)
            && self.rest.peek().is_some_and(|next| needs_joiners(*next));
        Some(match character {
            _ if joins => character.to_string(),
            _ if self.marks > MARKS_ON_ONE_LETTER => code_point(character),
            _ => shown_as(character),
        })
    }
}

/// Whether a character belongs to a script or to pictures that are written with joiners: between two of these a
/// joiner changes what is seen, so it hides nothing.
const fn needs_joiners(character: char) -> bool {
    matches!(character, '\u{600}'..='\u{dff}' | '\u{2600}'..='\u{27bf}' | '\u{fe0f}' | '\u{1f000}'..='\u{1faff}')
}

fn shown_as(character: char) -> String {
    match character {
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => "⏎".to_owned(),
        '\t' => "⇥".to_owned(),
        hidden if is_hidden(hidden) => code_point(hidden),
        other => other.to_string(),
    }
}

fn code_point(character: char) -> String {
    format!("‹U+{:04X}›", u32::from(character))
}

/// Characters that show nothing, change the direction of text, or are none.
fn is_hidden(character: char) -> bool {
    let noncharacter = u32::from(character) & 0xFFFE == 0xFFFE;
    noncharacter
        || character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{2800}' | '\u{3164}' | '\u{fdd0}'..='\u{fdef}' | '\u{fe00}'..='\u{fe0e}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

fn longest_run(text: &str) -> usize {
    text.split(|character| character != '`').map(str::len).max().unwrap_or(0)
}

fn code_span(shown: &str) -> String {
    if shown.is_empty() {
        return "(empty)".to_owned();
    }
    let fence = "`".repeat(longest_run(shown) + 1);
    // A backtick at an end would join the fence; of spaces at both ends a parser takes one away.
    let at_an_end = |character| shown.starts_with(character) || shown.ends_with(character);
    let padding = if at_an_end('`') || at_an_end(' ') { " " } else { "" };
    format!("{fence}{padding}{shown}{padding}{fence}")
}

fn prose_word(word: &str) -> String {
    let inner = word.strip_prefix('(').unwrap_or(word);
    let core = inner.trim_end_matches(['.', ',', ';', ':', '!', '?', ')']);
    let (before, ending) = (&word[..word.len() - inner.len()], &inner[core.len()..]);
    match () {
        () if core.is_empty() || ending.len() > 2 => code_span(word),
        () if is_plain(core) => word.to_owned(),
        // What separates it from the next word belongs to the sentence.
        () => format!("{before}{}{ending}", code_span(core)),
    }
}

/// Whether nothing can be read into a word: letters with single inner hyphens or apostrophes, or a short number.
/// Long words of hexadecimal digits could name a commit.
fn is_plain(core: &str) -> bool {
    let letters = |part: &str| !part.is_empty() && part.chars().all(char::is_alphabetic);
    let number = core.len() <= 6 && core.bytes().all(|byte| byte.is_ascii_digit());
    let commit = core.len() >= 7 && core.bytes().all(|byte| byte.is_ascii_hexdigit());
    !core.is_empty() && !commit && (number || core.split(['-', '\'']).all(letters))
}

/// Runners take a line that begins with two colons for a command, after whatever Unicode calls white space.
fn defuse_command(word: &str) -> String {
    let start = word.trim_start();
    let (before, _) = word.split_at(word.len() - start.len());
    start.strip_prefix("::").map_or_else(|| word.to_owned(), |rest| format!("{before}: :{rest}"))
}
