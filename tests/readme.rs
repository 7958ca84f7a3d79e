//! What the README shows is what the program prints.

mod harness;

use anyhow::{Context as _, Result};
use harness::{Workspace, code, root, stdout};
use std::fs;

/// The README's block of the quickstart's output, up to where it names the run's folder.
fn shown(readme: &str) -> Result<String> {
    let (_, rest) = readme.split_once("```text\n").context("no block of text in the README")?;
    let (block, _) = rest.split_once("\n```").context("the block does not end")?;
    Ok(upto_folder(block))
}

fn upto_folder(text: &str) -> String {
    let lines: Vec<&str> = text.lines().take_while(|line| !line.starts_with("reports:")).collect();
    lines.join("\n").trim_end().to_owned()
}

/// With `UPDATE_README=1` the block is written anew instead.
#[test]
fn the_quickstart_prints_what_the_readme_shows() -> Result<()> {
    let workspace = Workspace::quickstart()?;
    let output = workspace.churngate(&["run", "--quiet", "churngate.yaml"])?;
    assert_eq!(code(&output)?, 1);
    let path = root().join("README.md");
    let readme = fs::read_to_string(&path)?;
    let printed = stdout(&output).replace(" ./.churngate", " examples/quickstart/.churngate");
    if std::env::var_os("UPDATE_README").is_some() {
        let (before, rest) = readme.split_once("```text\n").context("no block of text in the README")?;
        let (_, after) = rest.split_once("\n```").context("the block does not end")?;
        fs::write(&path, format!("{before}```text\n{}\n```{after}", printed.trim_end()))?;
        return Ok(());
    }
    assert_eq!(shown(&readme)?, upto_folder(&printed));
    Ok(())
}
