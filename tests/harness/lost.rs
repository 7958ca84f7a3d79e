//! A finished run that loses a ledger, or a part of one.

use super::{Workspace, code, stderr};
use anyhow::{Result, ensure};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Every ledger, behind all that it continues.
const ORDER: [&str; 8] = [
    "vectors.jsonl",
    "evidence.jsonl",
    "answers.jsonl",
    "judgments.jsonl",
    "judgments-again.jsonl",
    "judgments-second.jsonl",
    "answers-replica.jsonl",
    "judgments-replica.jsonl",
];

/// What is left of a ledger: nothing where the file is gone.
type Left = Option<Vec<u8>>;

/// The ways to lose a ledger or its end: removed, emptied, cut after the header, in the middle of a line, before its last record,
/// before the seal and within it.
fn losses(whole: &[u8]) -> Vec<Left> {
    let lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    let first = |lines_kept: usize| lines[..lines_kept].concat();
    let kept = [
        Vec::new(),
        first(1),
        whole[..whole.len() / 2].to_vec(),
        first(lines.len().saturating_sub(2).max(1)),
        first(lines.len() - 1),
        whole[..whole.len() - 5].to_vec(),
    ];
    std::iter::once(None).chain(kept.into_iter().map(Some)).collect()
}

fn leave(path: &Path, left: &Left) -> Result<()> {
    match left {
        Some(bytes) => Ok(fs::write(path, bytes)?),
        None => Ok(fs::remove_file(path)?),
    }
}

/// Loses each ledger of a finished run in every way, and each together with all that come after it, and does again what finished it:
/// either that is refused with exit code 5 and what is left stays as it is, or the ledgers are what they were. Nobody is called.
pub fn nothing_is_drawn_again(
    workspace: &Workspace,
    arguments: &[&str],
    folder: &Path,
    calls: &dyn Fn() -> u64,
) -> Result<()> {
    let mut whole: BTreeMap<PathBuf, Vec<u8>> = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "jsonl") && !path.ends_with("classes.jsonl") {
            whole.insert(path.clone(), fs::read(path)?);
        }
    }
    let (finished, called) = (code(&workspace.churngate(arguments)?)?, calls());
    ensure!([0, 1].contains(&finished), "it was not finished: {finished}");
    let mut cases: Vec<Vec<(&PathBuf, Left)>> = Vec::new();
    for (path, bytes) in &whole {
        cases.extend(losses(bytes).into_iter().map(|left| vec![(path, left)]));
    }
    // Lost with all that continue it, or more.
    let ordered: Vec<&PathBuf> =
        ORDER.iter().filter_map(|name| whole.keys().find(|path| path.ends_with(name))).collect();
    for from in 0..ordered.len() {
        for left in [None, Some(Vec::new())] {
            cases.push(ordered[from..].iter().map(|path| (*path, left.clone())).collect());
        }
    }
    for case in cases {
        for (path, left) in &case {
            leave(path, left)?;
        }
        let output = workspace.churngate(arguments)?;
        let (ended, said) = (code(&output)?, stderr(&output));
        let told: Vec<_> = case.iter().map(|(path, left)| (path, left.as_ref().map(Vec::len))).collect();
        if ended == 5 {
            ensure!(said.contains("hint: restore the run folder from a copy"), "{told:?}: {said}");
            for (path, left) in &case {
                ensure!(fs::read(path).ok() == *left, "{told:?}: what was left of `{}` was changed", path.display());
            }
        } else {
            ensure!(ended == finished, "{told:?}: {ended} {said}");
            for (path, bytes) in &whole {
                ensure!(fs::read(path)? == *bytes, "{told:?}: `{}` is another one: {said}", path.display());
            }
        }
        ensure!(calls() == called, "{told:?}: {} more calls: {said}", calls() - called);
        for (path, bytes) in &whole {
            fs::write(path, bytes)?;
        }
    }
    Ok(())
}
