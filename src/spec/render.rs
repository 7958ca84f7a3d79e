//! Problems as text: code, file, line, column, the lines concerned, the remedy.

use super::mask;
use super::problem::{Problem, SpecErrors};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

/// More problems than this are counted, not shown.
const SHOWN: usize = 50;

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
        let mut group = title.element(self.snippet(problem).path(file.as_str()));
        if let Some(help) = &problem.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        renderer.render(&[group] as &[Group<'_>])
    }

    fn snippet<'a>(&'a self, problem: &'a Problem) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
        let mark = AnnotationKind::Primary.span(first_line(&self.source, problem)).label(problem.label.as_deref());
        let snippet = Snippet::source(self.source.as_str()).annotation(mark);
        match &problem.related {
            Some((span, label)) => snippet.annotation(AnnotationKind::Context.span(span.clone()).label(label.as_str())),
            None => snippet,
        }
    }
}

/// The part of a problem's place that stands on its first line: a whole section is not underlined.
fn first_line(source: &str, problem: &Problem) -> std::ops::Range<usize> {
    let text = source.get(problem.span.clone()).unwrap_or("");
    let length = text.find(['\n', '\r']).unwrap_or(text.len());
    problem.span.start..problem.span.start + length
}
