//! Reasoning that a server leaves within the text. It is no part of the answer, and differs where answers do not.

/// The signs around it: of most open models, of Gemini's compatible address, and of Mistral's.
const SIGNS: [(&str, &str); 3] = [("<think>", "</think>"), ("<thought>", "</thought>"), ("[THINK]", "[/THINK]")];

/// The text behind the reasoning that it begins with, and all of it where it begins with none. `None` where nothing is left, or
/// the reasoning does not end.
#[must_use]
pub fn behind_thoughts(text: &str) -> Option<&str> {
    let began = text.trim_start();
    let opened = SIGNS.iter().find_map(|(open, close)| Some((began.strip_prefix(open)?, *close)));
    let answer = match opened {
        Some((rest, close)) => rest.split_once(close)?.1,
        None => match SIGNS.iter().find_map(|signs| behind_end(text, *signs)) {
            Some(answer) => answer,
            None => return Some(text),
        },
    };
    (!answer.trim().is_empty()).then_some(answer)
}

/// What stands behind the end of reasoning that begins nowhere: templates write the first sign into the prompt. Such an end has a
/// line of its own.
fn behind_end<'a>(text: &'a str, (open, close): (&str, &str)) -> Option<&'a str> {
    let (before, after) = text.split_once(close)?;
    let line = |rest: &str, end: fn(&str) -> Option<&str>| end(rest).is_none_or(|line| line.trim().is_empty());
    let alone = line(before, |before| before.rsplit('\n').next()) && line(after, |after| after.split('\n').next());
    (alone && !before.contains(open)).then_some(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasoning_before_an_answer_is_left_out() {
        for (text, answer) in [
            ("<think>\nok the user wants\n</think>\n\n92", Some("\n\n92")),
            (" \n<think></think>92", Some("92")),
            ("<think>a</think><think>b</think>", Some("<think>b</think>")),
            ("<thought>hm</thought>92", Some("92")),
            ("[THINK]hm[/THINK]92", Some("92")),
            ("<think>\nlet me see\n</think>\n\n", None),
            ("<think>let me see", None),
            ("<think>let me see</thought>92", None),
            // The sign that begins it stood in the prompt.
            ("let me see\n</think>\n\n92", Some("\n\n92")),
            ("</think>\n92", Some("\n92")),
            ("let me see\n</think>", None),
        ] {
            assert_eq!(behind_thoughts(text), answer, "{text}");
        }
    }

    #[test]
    fn an_answer_that_speaks_of_such_signs_stays_whole() {
        for text in [
            "92",
            "",
            " ",
            "It writes <think> first.",
            "It ends with </think> then",
            "The `</think>` sign",
            "Like this:\n<think>\nhm\n</think>\n92",
            "<thinking>hm</thinking>92",
            "{\"answer\":\"<think>hm</think>92\"}",
            "`<think>hm</think>`",
        ] {
            assert_eq!(behind_thoughts(text), Some(text));
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_left_is_the_end_of_the_text(text in "(<think>|</think>|\\[/THINK\\]|[a \né]){0,9}") {
            let answer = behind_thoughts(&text);
            assert!(answer.is_none_or(|answer| text.ends_with(answer)));
        }
    }
}
