//! Cutting to a budget: whole entries first, from the last; then whole sections, from the last; never within one.

use crate::report::numbers;

/// A section as text.
pub(super) struct Rendered {
    /// Its title and what is always shown.
    pub start: String,
    /// What can be left out, one by one from the last.
    pub entries: Vec<String>,
    /// How many entries stand before the fold.
    pub open_entries: usize,
    /// What closes it.
    pub end: String,
}

/// Bytes kept free for one note of what was left out, and for the fold around entries.
const NOTE: usize = 240;

/// Joins the head and as much of the sections as the budget allows. `whole` says where everything is.
pub(super) fn fit(head: &str, mut sections: Vec<Rendered>, whole: &str, budget: usize) -> String {
    let all = sections.len();
    let fixed = |sections: &[Rendered]| -> usize {
        let bytes = |section: &Rendered| section.start.len() + section.end.len() + NOTE;
        head.len() + NOTE + sections.iter().map(bytes).sum::<usize>()
    };
    while !sections.is_empty() && fixed(&sections) > budget {
        sections.pop();
    }
    let mut left = budget.saturating_sub(fixed(&sections));
    let mut text = head.to_owned();
    for section in &sections {
        text.push_str(&section_within(section, whole, &mut left));
    }
    let left_out = all - sections.len();
    if left_out > 0 {
        text.push_str(&note(&numbers::counted(left_out as u64, "section"), whole));
    }
    text
}

fn section_within(section: &Rendered, whole: &str, left: &mut usize) -> String {
    let mut kept = 0;
    for entry in &section.entries {
        if entry.len() > *left {
            break;
        }
        *left -= entry.len();
        kept += 1;
    }
    let (open, folded) = section.entries[..kept].split_at(kept.min(section.open_entries));
    let left_out = section.entries.len() - kept;
    let more = (left_out > 0).then(|| note(&format!("{} more", numbers::count(left_out as u64)), whole));
    [section.start.clone(), open.concat(), fold(folded), more.unwrap_or_default(), section.end.clone()].concat()
}

fn fold(entries: &[String]) -> String {
    match entries.len() {
        0 => String::new(),
        count => format!("<details>\n<summary>{count} more</summary>\n\n{}</details>\n\n", entries.concat()),
    }
}

fn note(what: &str, whole: &str) -> String {
    format!("*{what} left out to keep this report within its size; {whole} has everything.*\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(entries: usize) -> Rendered {
        let entries = (0..entries).map(|number| format!("entry {number} 😀\n\n")).collect();
        Rendered { start: "### S\n\n".to_owned(), entries, open_entries: 2, end: String::new() }
    }

    #[test]
    fn whole_entries_are_left_out_from_the_last_with_a_note() {
        let text = fit("head\n\n", vec![section(40)], "`x.json`", 1000);
        assert!(text.len() <= 1000, "{}", text.len());
        assert!(text.contains("entry 0 ") && !text.contains("entry 39 "), "{text}");
        assert!(text.contains("more left out") && text.contains("; `x.json` has everything."), "{text}");
        assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
    }

    #[test]
    fn whole_sections_are_left_out_where_even_their_titles_are_too_long() {
        let text = fit("head\n\n", vec![section(1), section(1), section(1)], "`x.json`", 600);
        assert!(text.len() <= 800 && text.starts_with("head"), "{text}");
        assert!(text.contains("2 sections left out"), "{text}");
    }

    #[test]
    fn nothing_is_left_out_where_there_is_room() {
        let text = fit("head\n\n", vec![section(3)], "`x.json`", 10_000);
        assert!(text.contains("entry 2 ") && !text.contains("left out"), "{text}");
    }
}
