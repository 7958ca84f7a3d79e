//! What is printed in a workflow's log. The runner reads every line of both streams for commands, so text that comes from
//! outside must pass through here before it is printed.

/// The text with nothing in it that the runner would take for a command.
///
/// A command is `::name::` after white space at a line's start, or `##[name]` anywhere; lines end at a line feed, at a
/// carriage return, or at both. Other control characters are shown as a replacement, so that no terminal obeys them.
#[must_use]
pub fn quiet(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(quiet_line).collect();
    lines.join("\n")
}

fn quiet_line(line: &str) -> String {
    let line: String = line.strip_suffix('\r').unwrap_or(line).chars().map(visible).collect();
    let line = apart(&line, "##[", "##\u{200a}[");
    match line.find("::") {
        Some(at) if !line[..at].contains(|before: char| before.is_ascii_graphic()) => {
            line.replacen("::", ":\u{200a}:", 1)
        }
        _ => line,
    }
}

fn visible(character: char) -> char {
    match character {
        '\t' => '\t',
        '\u{85}' | '\u{2028}' | '\u{2029}' => ' ',
        other if other.is_control() => '\u{fffd}',
        other => other,
    }
}

fn apart(text: &str, together: &str, parted: &str) -> String {
    if text.contains(together) { text.replace(together, parted) } else { text.to_owned() }
}

/// An annotation of the runner's: a warning with a title of ours.
#[must_use]
pub fn warning(message: &str) -> String {
    format!("::warning title=churngate::{}", data(message))
}

/// The data of a command, with what the runner would read escaped.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// As the runner does it: lines at `\n`, `\r\n` and `\r`; the old form anywhere, the new one after white space.
    fn obeyed(text: &str) -> bool {
        text.split(['\n', '\r']).any(|line| {
            let (old, new) = (line.find("##["), line.trim_start().starts_with("::"));
            old.is_some_and(|at| line[at..].contains(']')) || (new && line.trim_start()[2..].contains("::"))
        })
    }

    #[test]
    fn commands_lose_their_form_and_other_text_stays() {
        for hostile in [
            "::set-output name=verdict::pass",
            "  \t::warning::x",
            "a\r::add-mask::pass",
            "a\n\u{2003}::stop-commands::x",
            "title ##[set-output name=verdict]pass",
            "####[error]x",
            "\u{feff}::error::x",
            "\u{200b}::error::x",
        ] {
            assert!(obeyed(hostile) || hostile.starts_with(['\u{feff}', '\u{200b}']), "{hostile:?} is no attack");
            assert!(!obeyed(&quiet(hostile)), "{hostile:?}");
            assert!(!quiet(hostile).trim_start_matches(['\u{feff}', '\u{200b}']).starts_with("::"), "{hostile:?}");
        }
        assert_eq!(quiet("std::fs at src/a.rs::1\r\n[x] # y\tz\n"), "std::fs at src/a.rs::1\n[x] # y\tz\n");
        assert_eq!(quiet("\u{1b}[31mred"), "\u{fffd}[31mred");
    }

    #[test]
    fn an_annotation_stays_on_its_line() {
        insta::assert_snapshot!(warning("100%\r\n::error::x"), @"::warning title=churngate::100%25%0D%0A::error::x");
    }

    proptest! {
        #[test]
        fn nothing_is_obeyed(text in "(::|##\\[|\\]|\r|\n| |\t|\u{85}|\u{2028}|error|a|#|:|\\[)*") {
            prop_assert!(!obeyed(&quiet(&text)), "{:?}", quiet(&text));
        }

        #[test]
        fn no_unicode_is_obeyed(text in "(?s).*") {
            prop_assert!(!obeyed(&quiet(&text)));
        }
    }
}
