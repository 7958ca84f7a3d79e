//! Markdown on standard input -> a page on standard output that looks like a comment on a pull request.

use pulldown_cmark::{CodeBlockKind, CowStr, Event, Options, Parser, Tag, TagEnd, html};
use std::io::Read as _;

const STYLE: &str = include_str!("comment_page.css");

#[expect(clippy::print_stdout, reason = "the page is this program's output")]
fn main() -> std::io::Result<()> {
    let mut markdown = String::new();
    std::io::stdin().read_to_string(&mut markdown)?;
    let options = Options::ENABLE_TABLES | Options::ENABLE_GFM | Options::ENABLE_STRIKETHROUGH;
    let mut body = String::new();
    html::push_html(&mut body, coloured(Parser::new_ext(&markdown, options)).into_iter());
    println!("<!DOCTYPE html><meta charset=\"utf-8\"><style>{STYLE}</style>{HEADER}{body}</div></div>");
    Ok(())
}

const HEADER: &str = "<div class=\"comment\"><div class=\"author\"><i></i><b>github-actions</b> <em>bot</em> commented \
                      now</div><div class=\"body\">";

/// Colours the lines of diffs, as the real page does.
fn coloured<'a>(events: impl Iterator<Item = Event<'a>>) -> Vec<Event<'a>> {
    let mut in_diff = false;
    let mut shown = Vec::new();
    for event in events {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(ref info))) => in_diff = &**info == "diff",
            Event::End(TagEnd::CodeBlock) => in_diff = false,
            Event::Text(text) if in_diff => {
                shown.extend(text.lines().map(|line| Event::Html(CowStr::from(coloured_line(line)))));
                continue;
            }
            _ => (),
        }
        shown.push(event);
    }
    shown
}

fn coloured_line(line: &str) -> String {
    let class = match line.as_bytes().first() {
        Some(b'-') => "old",
        Some(b'+') => "new",
        _ => "both",
    };
    let text = line.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    format!("<span class=\"{class}\">{text}</span>\n")
}
