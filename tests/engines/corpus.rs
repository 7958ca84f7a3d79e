//! What every engine is filled with and asked.

use serde_json::{Value, json};

/// Documents that a question retrieves.
pub const TOP_K: usize = 4;
/// Questions of an audit.
pub const QUESTIONS: usize = 40;
/// How many documents each of the two releases has.
pub const COUNTS: [usize; 2] = [60, 65];

/// What must come out of a question as it went in: SQL, the syntax of full text search, quotes.
const HOSTILE: [&str; 4] = [
    "'; DROP TABLE docs_1; --",
    "\" OR 1=1 NEAR(part 3) * ^col:",
    "$1 ?1 :question {table} %s \\",
    "part 4'; SELECT pg_sleep(9); /*",
];

const NAMES: [&str; 7] = ["anchor", "kettle", "lantern", "bridge", "harbour", "meadow", "violin"];

/// One document.
#[derive(Clone, Debug)]
pub struct Doc {
    pub id: String,
    pub text: String,
    pub url: String,
}

/// The documents of a release, 1 or 2: every third fact differs, a few went, a few came.
pub fn documents(release: usize) -> Vec<Doc> {
    let places = if release == 1 { 0..60 } else { 5..70 };
    let fact = |place: usize| {
        let size = if place.is_multiple_of(3) { place + release } else { place };
        let (one, other, colour) = (NAMES[place % 7], NAMES[place / 7 % 7], place * place);
        let text = format!("Part {place} the {one} of the {other} has size {size} and colour c{colour}");
        Doc { id: format!("d{place}"), text, url: format!("https://docs.example/d{place}") }
    };
    places.map(fact).collect()
}

/// Documents as lines of JSON.
pub fn lines(documents: &[Doc]) -> String {
    let line = |doc: &Doc| json!({"id": doc.id, "text": doc.text, "url": doc.url}).to_string() + "\n";
    documents.iter().map(line).collect()
}

/// The texts of documents.
pub fn texts(documents: &[Doc]) -> Vec<String> {
    documents.iter().map(|doc| doc.text.clone()).collect()
}

/// The questions: of `QUESTIONS`, the last few are hostile.
pub fn questions() -> Vec<String> {
    let ask = |place: usize| {
        format!("What size has the {} of part {} with colour c{}?", NAMES[place % 7], place * 2, place * place * 4)
    };
    (0..QUESTIONS - HOSTILE.len()).map(ask).chain(HOSTILE.map(str::to_owned)).collect()
}

/// The words of a text, each as SQLite and Groonga take it between double quotes.
pub fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(|word| format!("\"{word}\"")).collect()
}

/// A spec of these snapshots and this way to retrieve.
pub fn spec(snapshots: &Value, retrieve: &Value) -> Value {
    let mut retrieve = retrieve.clone();
    retrieve["top_k"] = json!(TOP_K);
    json!({
        "version": 1, "name": "engines", "questions": {"file": "q.jsonl"}, "snapshots": snapshots, "retrieve": retrieve,
        "generate": {"reader": {}}, "judge": {"embedded": {}},
    })
}
