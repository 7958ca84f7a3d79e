//! The reasons in the code and those on the page about them: the same ones.

use anyhow::{Context as _, Result, ensure};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// The rooms that give reasons.
const ROOMS: [&str; 5] = ["src/http", "src/process", "src/retrieve", "src/generate", "src/judge"];

/// Texts of the same form that are no reasons: names of headers and versions of interfaces, and modes of TLS.
const OTHERS: [&str; 8] = [
    "content-type",
    "retry-after",
    "retry-after-ms",
    "api-key",
    "x-api-key",
    "anthropic-version",
    "verify-ca",
    "verify-full",
];

/// The production code of these rooms. The embedded judge's rules have names of the same form and are no reasons.
fn sources() -> Result<Vec<String>> {
    let mut folders: Vec<PathBuf> = ROOMS.iter().map(|room| Path::new(env!("CARGO_MANIFEST_DIR")).join(room)).collect();
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            let name = path.file_stem().and_then(|name| name.to_str()).context("a name")?;
            if path.is_dir() && name != "tests" && name != "embedded" {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") && name != "tests" {
                let text = fs::read_to_string(&path)?;
                sources.push(text.split("#[cfg(test)]\nmod").next().unwrap_or_default().to_owned());
            }
        }
    }
    ensure!(sources.len() > 50, "only {} files were found", sources.len());
    Ok(sources)
}

/// Every literal of words in lower case that hyphens join.
fn literals(text: &str) -> impl Iterator<Item = &str> {
    let between = text.match_indices('"').filter_map(|(at, _)| text[at + 1..].split_once('"').map(|(inner, _)| inner));
    between.filter(|inner| {
        let words: Vec<&str> = inner.split('-').collect();
        let is_word =
            |word: &&str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
        // Headers in which servers speak of their limits.
        words.len() > 1 && words.iter().all(is_word) && !words.contains(&"ratelimit")
    })
}

/// The last column of every table of the page.
fn documented(page: &str) -> BTreeSet<&str> {
    page.lines().filter_map(|line| line.strip_suffix("` |")?.rsplit_once('`').map(|(_, code)| code)).collect()
}

#[test]
fn every_reason_of_the_code_is_on_the_page_and_no_other() -> Result<()> {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/outcomes.md"))?;
    let (documented, sources) = (documented(&page), sources()?);
    let given: BTreeSet<&str> =
        sources.iter().flat_map(|text| literals(text)).filter(|text| !OTHERS.contains(text)).collect();
    let silent: Vec<_> = given.difference(&documented).collect();
    assert!(silent.is_empty(), "docs/outcomes.md does not have {silent:?}");
    let quoted = |code: &&str| sources.iter().any(|text| text.contains(&format!("\"{code}\"")));
    let unknown: Vec<_> = documented.iter().filter(|code| !quoted(code)).collect();
    assert!(unknown.is_empty(), "no code gives {unknown:?}");
    assert!(documented.len() > 45, "only {} reasons were found on the page", documented.len());
    Ok(())
}
