//! The nearest known name.

/// Letters of a text that is compared.
const LONGEST: usize = 64;

/// The candidate nearest to this text, where it is near enough to be meant: at most a third of its letters differ.
#[must_use]
pub fn nearest<'a>(text: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest_few(text, candidates, 1).first().copied()
}

/// The candidates that are near enough to be meant, the nearest first, at most so many.
#[must_use]
pub fn nearest_few<'a>(text: &str, candidates: impl IntoIterator<Item = &'a str>, most: usize) -> Vec<&'a str> {
    let wanted = folded(text);
    if wanted.len() > LONGEST {
        return Vec::new();
    }
    // What is longer than this is not near, and is not compared letter by letter.
    let candidates = candidates.into_iter().filter(|name| name.len() <= 4 * LONGEST);
    let mut found: Vec<(usize, &str)> = candidates.map(|name| (distance(&wanted, &folded(name)), name)).collect();
    found.sort_by_key(|(distance, _)| *distance);
    let limit = |name: &str| (wanted.len().max(name.len()) / 3).max(1);
    let near = found.into_iter().take(most).filter(|(distance, name)| *distance <= limit(name));
    near.map(|(_, name)| name).collect()
}

fn folded(text: &str) -> Vec<char> {
    text.to_lowercase().chars().map(|c| if c == '-' || c == ' ' { '_' } else { c }).collect()
}

/// Insertions, deletions, substitutions and swaps of neighbours that turn one text into the other (optimal string
/// alignment).
fn distance(one: &[char], other: &[char]) -> usize {
    let mut rows: Vec<Vec<usize>> = vec![(0..=other.len()).collect()];
    for (i, a) in one.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in other.iter().enumerate() {
            let change = rows[i][j] + usize::from(a != b);
            let mut cost = change.min(rows[i][j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == other[j - 1] && one[i - 1] == *b {
                cost = cost.min(rows[i - 1][j - 1] + 1);
            }
            row.push(cost);
        }
        rows.push(row);
    }
    rows[one.len()][other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_keyboard_finds_its_key_and_another_word_does_not() {
        let keys = ["top_k", "max_chars", "concurrency"];
        assert_eq!(nearest("topk", keys), Some("top_k"));
        assert_eq!(nearest("Top-K", keys), Some("top_k"));
        assert_eq!(nearest("concurency", keys), Some("concurrency"));
        assert_eq!(nearest("colour", keys), None);
        assert_eq!(nearest("x", []), None);
    }
}
