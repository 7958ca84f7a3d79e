//! What is said where an audit came to no verdict.

use super::escape::{Untrusted, fenced};

/// Lines of the message at most.
const LINES: usize = 60;
/// Characters of a line at most.
const WIDTH: usize = 240;

/// Markdown of at most `budget` bytes about an audit without a verdict: what it is called, why, what to do about it, and
/// the program's own message, which may quote text from outside.
#[must_use]
pub fn failure_within(name: &str, why: &str, advice: &str, message: &str, budget: usize) -> String {
    let name = Untrusted::new(name).code(WIDTH);
    let head = format!("## ⛔ No verdict: {why}\n\n{name}: this is neither churn nor a pass. {advice}\n\n");
    let mut lines: Vec<String> = message.trim_end().lines().map(|line| Untrusted::new(line).visible(WIDTH)).collect();
    let cut = lines.len().saturating_sub(LINES);
    lines.truncate(LINES);
    if cut > 0 {
        lines.push(format!("… {cut} more lines are in the job's log"));
    }
    while !lines.is_empty() {
        let text = format!("{head}{}", fenced("text", &lines));
        if text.len() <= budget {
            return text;
        }
        lines.pop();
    }
    head
}

/// One plain line of a text from outside, for places that show no markup: without invisible characters and commands.
#[must_use]
pub fn plain(text: &str, limit: usize) -> String {
    Untrusted::new(text).terminal(limit)
}

/// Two such lines, each of which shows where the texts differ.
#[must_use]
pub fn plain_apart(one: &str, other: &str, limit: usize) -> [String; 2] {
    Untrusted::apart(one, other, limit).map(|text| text.terminal(limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_is_a_block_that_nothing_leaves() {
        let message = "failed to read `a`\n```\n</details> @org/team <!-- churngate x -->\n::error::x\u{202e}";
        insta::assert_snapshot!(failure_within("a`b", "the spec is in error", "Nothing was spent.", message, 9999), @r"
        ## ⛔ No verdict: the spec is in error

        ``a`b``: this is neither churn nor a pass. Nothing was spent.

        ````text
        failed to read `a`
        ```
        </details> @org/team <!- - churngate x -->
        ::error::x‹U+202E›
        ````
        ");
    }

    #[test]
    fn a_long_message_is_cut_at_lines() {
        let message = "äöü ".repeat(100) + "\n";
        let text = failure_within("a", "why", "advice", &message.repeat(100), 5000);
        assert!(text.len() <= 5000 && text.ends_with("```\n"), "{text}");
        assert!(failure_within("a", "why", "advice", &message.repeat(100), 65_000).contains("40 more lines"));
        assert!(!failure_within("a", "why", "advice", "message", 10).contains("message"));
    }
}
