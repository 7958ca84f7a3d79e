//! Articles of SQuAD: paragraphs, each with questions about it.

use super::rows::{Row, Visit};
use serde_json::Value;
use std::ops::ControlFlow;

/// The questions of an article. Those of one article are a cluster, because they were drawn together.
pub(super) fn questions(article: &Row, visit: &mut Visit<'_>) -> ControlFlow<()> {
    let Some(Value::Array(paragraphs)) = article.named("paragraphs") else {
        return visit(Err((article.at.clone(), "`paragraphs` is no list".to_owned())));
    };
    let mut number = 0;
    for paragraph in paragraphs {
        let Some(Value::Array(questions)) = paragraph.get("qas") else {
            visit(Err((article.at.clone(), "a paragraph of this article has no list `qas`".to_owned())))?;
            continue;
        };
        for question in questions {
            number += 1;
            let at = format!("{}, question {number} of the article", article.at);
            visit(match question {
                Value::Object(_) => Ok(row(article, question, at)),
                _ => Err((at, "not a JSON object".to_owned())),
            })?;
        }
    }
    ControlFlow::Continue(())
}

/// Plausible answers of questions without one are no gold, so that fields are taken by name.
fn row(article: &Row, question: &Value, at: String) -> Row {
    let mut fields: Vec<(String, Value)> = ["id", "question", "answers"]
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), question.get(name)?.clone())))
        .collect();
    fields.extend(article.named("title").map(|title| ("cluster".to_owned(), title.clone())));
    Row { at, fields }
}
