//! The file that a reviewer fills in: pairs with an empty label.
//!
//! Texts stand in it as on a terminal, on one line and with what is invisible by its code point, so that two answers that look
//! alike are not taken for one.

use super::word;
use crate::analyze::review::{Labels, Pair};
use crate::report::escape::Untrusted;
use serde::Serialize;

/// The columns of a file, and the members of a line, in their order.
pub const COLUMNS: [&str; 5] = ["id", "question", "a", "b", "label"];

/// What a spreadsheet would take for a formula at the beginning of a cell.
const FORMULA: [char; 4] = ['=', '+', '-', '@'];

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SheetFormat {
    /// A JSON object a line.
    Jsonl,
    /// Rows under a line of names.
    Csv,
}

/// One pair as it stands in the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The pair's name.
    pub id: String,
    /// The question.
    pub question: String,
    /// One answer.
    pub a: String,
    /// The other one.
    pub b: String,
    /// `same`, `different`, `unsure`, or nothing yet.
    pub label: &'static str,
}

/// The row of a pair.
#[must_use]
pub fn row(pair: &Pair, labels: &Labels, format: SheetFormat) -> Row {
    let cell = |text: &str| {
        let shown = Untrusted::new(text).visible(usize::MAX);
        if format == SheetFormat::Csv && shown.starts_with(FORMULA) { format!("'{shown}") } else { shown }
    };
    let [a, b] = &pair.answers;
    Row {
        id: pair.id.to_string(),
        question: cell(&pair.text),
        a: cell(a.as_str()),
        b: cell(b.as_str()),
        label: labels.get(&pair.id).map_or("", |label| word(*label)),
    }
}

/// The file of some pairs.
#[must_use]
pub fn sheet<'a>(pairs: impl IntoIterator<Item = &'a Pair>, labels: &Labels, format: SheetFormat) -> Vec<u8> {
    let rows = pairs.into_iter().map(|pair| row(pair, labels, format));
    match format {
        // Plain structs with string members always serialise.
        SheetFormat::Jsonl => {
            rows.flat_map(|row| [serde_json::to_vec(&row).unwrap_or_default(), b"\n".to_vec()].concat()).collect()
        }
        SheetFormat::Csv => csv(rows),
    }
}

fn csv(rows: impl Iterator<Item = Row>) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let head = std::iter::once(COLUMNS.map(str::to_owned));
    let rows = rows.map(|Row { id, question, a, b, label }| [id, question, a, b, label.to_owned()]);
    // Memory takes every record: all have as many fields.
    let written = head.chain(rows).try_for_each(|record| writer.write_record(record));
    written.ok().and_then(|()| writer.into_inner().ok()).unwrap_or_default()
}
