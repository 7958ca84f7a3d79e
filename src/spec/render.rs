//! Problems as text: code, file, line, column, the lines concerned, the remedy.

use super::mask;
use super::node::Span;
use super::problem::{Problem, SpecErrors};
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet};

/// More problems than this are counted, not shown.
const SHOWN: usize = 50;
/// Longer lines, and lines further apart, are not shown.
const SHOWN_BYTES: usize = 4_096;

impl SpecErrors {
    /// Every problem with the lines it stands on. With `color`, with the escape sequences of a terminal.
    #[must_use]
    pub fn render(&self, color: bool) -> String {
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        let shown = self.problems.iter().take(SHOWN);
        let mut texts: Vec<String> = shown.map(|problem| self.render_one(problem, &renderer)).collect();
        if let Some(more) = self.problems.len().checked_sub(SHOWN).filter(|more| *more > 0) {
            texts.push(format!("and {more} more"));
        }
        texts.join("\n\n")
    }

    fn render_one(&self, problem: &Problem, renderer: &Renderer) -> String {
        let file = mask::cleaned(&self.file);
        let title = Level::ERROR.primary_title(problem.message.as_str()).id(problem.code.as_str());
        let mut group = match self.snippet(problem) {
            Some(snippet) => title.element(snippet.path(file.as_str())),
            None => title.element(self.origin(problem, &file)),
        };
        if let Some(help) = &problem.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        renderer.render(&[group] as &[Group<'_>])
    }

    /// The lines concerned with their marks; none where they are too long to be shown.
    fn snippet<'a>(&'a self, problem: &'a Problem) -> Option<Snippet<'a, Annotation<'a>>> {
        let place = first_line(&self.source, &problem.span);
        let related = problem.related.as_ref().map(|(span, label)| (first_line(&self.source, span), label));
        let both = window(&self.source, &place, related.as_ref().map(|(span, _)| span));
        let (window, related) =
            if both.len() <= SHOWN_BYTES { (both, related) } else { (window(&self.source, &place, None), None) };
        if window.len() > SHOWN_BYTES {
            return None;
        }
        let within = |span: Span| span.start - window.start..span.end - window.start;
        let line = self.source[..window.start].matches('\n').count() + 1;
        let mark = AnnotationKind::Primary.span(within(place)).label(problem.label.as_deref());
        let snippet = Snippet::source(&self.source[window.clone()]).line_start(line).annotation(mark);
        Some(match related {
            Some((span, label)) => snippet.annotation(AnnotationKind::Context.span(within(span)).label(label.as_str())),
            None => snippet,
        })
    }

    /// File, line and column alone.
    fn origin<'a>(&self, problem: &Problem, file: &'a str) -> Origin<'a> {
        let (line, column) = self.position(problem);
        Origin::path(file).line(line).char_column(column)
    }
}

/// The whole lines from the first to the last of these places: all that is shown, however long the file.
fn window(source: &str, place: &Span, related: Option<&Span>) -> Span {
    let first = related.map_or(place.start, |span| span.start.min(place.start));
    let last = related.map_or(place.end, |span| span.end.max(place.end));
    let (first, last) = (source.floor_char_boundary(first), source.floor_char_boundary(last));
    let start = source[..first].rfind('\n').map_or(0, |at| at + 1);
    start..source[last..].find('\n').map_or(source.len(), |at| last + at)
}

/// The part of a place that stands on its first line: a whole section is not underlined.
fn first_line(source: &str, span: &Span) -> Span {
    let text = source.get(span.clone()).unwrap_or("");
    let length = text.find(['\n', '\r']).unwrap_or(text.len());
    // A place may be of another text, where a preset was filled with a value of the spec.
    let start = source.floor_char_boundary(span.start);
    start..start + length
}
