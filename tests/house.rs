//! The house rules, held by the code itself: who may name whom, and how large files and functions are.

#![expect(clippy::print_stdout, reason = "measured figures are shown with --nocapture")]

use anyhow::{Context as _, Result};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};
use syn::{spanned::Spanned as _, visit::Visit};

/// The import table of docs/architecture.md: a module and what it may name besides itself.
const TABLE: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("spec", &["model"]),
    ("ledger", &["model"]),
    ("http", &["model"]),
    ("process", &["model"]),
    ("git", &["model"]),
    ("freeze", &["model", "spec", "ledger"]),
    ("retrieve", &["model", "spec", "ledger", "http", "process", "git", "freeze"]),
    ("generate", &["model", "spec", "ledger", "http", "process", "git", "freeze"]),
    ("judge", &["model", "spec", "ledger", "http", "process", "git", "freeze"]),
    ("analyze", &["model"]),
    ("gate", &["model", "spec", "analyze"]),
    ("report", &["model", "analyze", "gate"]),
    ("publish", &["model", "report", "http"]),
    ("recording", &["model", "ledger", "http"]),
    (
        "run",
        &[
            "model", "spec", "ledger", "http", "process", "git", "freeze", "retrieve", "generate", "judge", "analyze",
            "gate", "report",
        ],
    ),
    (
        "cli",
        &[
            "model",
            "spec",
            "ledger",
            "http",
            "process",
            "git",
            "freeze",
            "retrieve",
            "generate",
            "judge",
            "analyze",
            "gate",
            "report",
            "publish",
            "recording",
            "run",
        ],
    ),
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn sources(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(sources(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The top-level module a file belongs to: `src/spec/raw.rs` belongs to `spec`, `src/lib.rs` to none.
fn room(file: &Path) -> Option<String> {
    let relative = file.strip_prefix(root().join("src")).ok()?;
    let mut parts = relative.components();
    let first = parts.next()?;
    parts.next()?;
    Some(first.as_os_str().to_string_lossy().into_owned())
}

/// Every `crate::name` in a stream of tokens, inside macros and groups too, with its line.
fn named(tokens: TokenStream, found: &mut Vec<(usize, String)>) {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, tree) in trees.iter().enumerate() {
        if let TokenTree::Group(group) = tree {
            named(group.stream(), found);
        }
        let is_crate = matches!(tree, TokenTree::Ident(ident) if ident == "crate");
        let colons = |offset| matches!(trees.get(at + offset), Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
        if !is_crate || !colons(1) || !colons(2) {
            continue;
        }
        match trees.get(at + 3) {
            Some(TokenTree::Ident(ident)) => found.push((ident.span().start().line, ident.to_string())),
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => heads(group.stream(), found),
            _ => {}
        }
    }
}

/// The first name of each entry of `{a::b, c}`.
fn heads(tokens: TokenStream, found: &mut Vec<(usize, String)>) {
    let mut first = true;
    for tree in tokens {
        match tree {
            TokenTree::Ident(ident) if first => {
                found.push((ident.span().start().line, ident.to_string()));
                first = false;
            }
            TokenTree::Punct(punct) if punct.as_char() == ',' => first = true,
            _ => {}
        }
    }
}

fn violations(file: &str, room: &str, text: &str) -> Result<Vec<String>> {
    let table: BTreeMap<&str, &[&str]> = TABLE.iter().copied().collect();
    let allowed = table.get(room).with_context(|| format!("`{room}` does not stand in the import table"))?;
    let mut names = Vec::new();
    named(text.parse().map_err(|error| anyhow::anyhow!("{file}: {error}"))?, &mut names);
    let known = |name: &str| table.contains_key(name);
    Ok(names
        .into_iter()
        .filter(|(_, name)| known(name) && name != room && !allowed.contains(&name.as_str()))
        .map(|(line, name)| format!("{file}:{line}: `{room}` may not import `{name}`"))
        .collect())
}

#[test]
fn every_module_names_only_what_the_table_allows() -> Result<()> {
    let mut found = Vec::new();
    let mut rooms = BTreeSet::new();
    for path in sources(&root().join("src"))? {
        let Some(room) = room(&path) else { continue };
        let file = path.strip_prefix(root())?.display().to_string();
        found.extend(violations(&file, &room, &fs::read_to_string(&path)?)?);
        rooms.insert(room);
    }
    assert_eq!(found, Vec::<String>::new());
    let table: BTreeSet<String> = TABLE.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(rooms, table, "the table and the folders of src/ differ");
    Ok(())
}

#[test]
fn a_forbidden_import_is_named_with_file_and_line() -> Result<()> {
    let cases = [
        ("use crate::report::markdown;", 1),
        ("\nuse crate::{model, report::json};", 2),
        ("fn f() {\n  let x = vec![crate::cli::main()];\n}", 2),
    ];
    for (text, line) in cases {
        let found = violations("src/analyze/mod.rs", "analyze", text)?;
        assert_eq!(found.len(), 1, "{text}");
        assert!(found[0].starts_with(&format!("src/analyze/mod.rs:{line}: `analyze` may not import")), "{}", found[0]);
    }
    assert!(violations("src/analyze/mod.rs", "analyze", "use crate::model::Digest;")?.is_empty());
    Ok(())
}

#[test]
fn the_architecture_page_has_the_same_table() -> Result<()> {
    let page = fs::read_to_string(root().join("docs/architecture.md"))?;
    for (room, allowed) in TABLE {
        let listed = if allowed.is_empty() { "nothing of ours".to_owned() } else { allowed.join(", ") };
        let row = format!("| {room} | {listed} |");
        assert!(page.contains(&row), "docs/architecture.md lacks the row: {row}");
    }
    Ok(())
}

/// Lengths of production functions, and public items with and without documentation.
#[derive(Default)]
struct Measure {
    functions: Vec<(usize, String)>,
    file: String,
    documented: usize,
    undocumented: Vec<String>,
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || attribute.meta.require_list().is_ok_and(|list| list.tokens.to_string() == "test")
    })
}

impl Measure {
    fn function(&mut self, name: &syn::Ident, block: &syn::Block) {
        let lines = block.span().end().line - block.span().start().line + 1;
        self.functions.push((lines, format!("{} {name}", self.file)));
    }

    fn item(&mut self, visibility: &syn::Visibility, attributes: &[syn::Attribute], name: &syn::Ident) {
        if !matches!(visibility, syn::Visibility::Public(_)) {
            return;
        }
        if attributes.iter().any(|attribute| attribute.path().is_ident("doc")) {
            self.documented += 1;
        } else {
            self.undocumented.push(format!("{} {name}", self.file));
        }
    }
}

impl<'ast> Visit<'ast> for Measure {
    fn visit_item_mod(&mut self, node: &'ast syn::ItemMod) {
        if !is_test(&node.attrs) {
            syn::visit::visit_item_mod(self, node);
        }
    }

    fn visit_item_fn(&mut self, node: &'ast syn::ItemFn) {
        if is_test(&node.attrs) {
            return;
        }
        self.function(&node.sig.ident, &node.block);
        self.item(&node.vis, &node.attrs, &node.sig.ident);
        syn::visit::visit_item_fn(self, node);
    }

    fn visit_impl_item_fn(&mut self, node: &'ast syn::ImplItemFn) {
        self.function(&node.sig.ident, &node.block);
        self.item(&node.vis, &node.attrs, &node.sig.ident);
        syn::visit::visit_impl_item_fn(self, node);
    }

    fn visit_item_struct(&mut self, node: &'ast syn::ItemStruct) {
        self.item(&node.vis, &node.attrs, &node.ident);
    }

    fn visit_item_enum(&mut self, node: &'ast syn::ItemEnum) {
        self.item(&node.vis, &node.attrs, &node.ident);
    }

    fn visit_item_trait(&mut self, node: &'ast syn::ItemTrait) {
        self.item(&node.vis, &node.attrs, &node.ident);
        syn::visit::visit_item_trait(self, node);
    }
}

/// Whether a file is part of the tests: they are compiled only for them and are measured nowhere.
fn of_tests(path: &Path) -> bool {
    let name = |path: &Path| {
        path.file_stem().is_some_and(|stem| {
            let stem = stem.to_string_lossy();
            stem == "tests" || stem == "fixtures" || stem.ends_with("_tests")
        })
    };
    name(path) || path.ancestors().any(name)
}

/// Lines of a file before its test module.
fn production_lines(text: &str) -> usize {
    text.lines().take_while(|line| line.trim() != "#[cfg(test)]").count()
}

fn quantile(sorted: &[usize], percent: usize) -> usize {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or(0)
}

/// Prints the measures; run it with `cargo test --test house -- --nocapture measures`.
#[test]
fn measures_stay_within_the_house_limits() -> Result<()> {
    let mut measure = Measure::default();
    let mut files = Vec::new();
    for path in sources(&root().join("src"))?.into_iter().filter(|path| !of_tests(path)) {
        let text = fs::read_to_string(&path)?;
        measure.file = path.strip_prefix(root())?.display().to_string();
        files.push(production_lines(&text));
        measure.visit_file(&syn::parse_file(&text).with_context(|| measure.file.clone())?);
    }
    files.sort_unstable();
    measure.functions.sort();
    let lengths: Vec<usize> = measure.functions.iter().map(|(lines, _)| *lines).collect();
    let longest = measure.functions.last().cloned().unwrap_or_default();
    println!(
        "files: {} with median {} and p90 {} lines, longest {}",
        files.len(),
        quantile(&files, 50),
        quantile(&files, 90),
        quantile(&files, 100)
    );
    println!(
        "functions: {} with median {} and p90 {} lines, longest {} ({})",
        lengths.len(),
        quantile(&lengths, 50),
        quantile(&lengths, 90),
        longest.0,
        longest.1
    );
    println!("public items: {} documented, {} not", measure.documented, measure.undocumented.len());
    assert!(quantile(&files, 50) <= 150 && quantile(&files, 90) <= 400);
    assert!(quantile(&lengths, 50) <= 9 && quantile(&lengths, 90) <= 30 && longest.0 <= 100, "{longest:?}");
    assert_eq!(measure.undocumented, Vec::<String>::new());
    Ok(())
}

#[test]
fn every_direct_dependency_has_its_reason() -> Result<()> {
    let manifest = fs::read_to_string(root().join("Cargo.toml"))?;
    let mut named = BTreeSet::new();
    let mut within = false;
    for line in manifest.lines() {
        if line.starts_with('[') {
            within = line.trim_end_matches(']').ends_with("dependencies");
        } else if within && let Some((name, _)) = line.split_once('=') {
            named.insert(name.trim().to_owned());
        }
    }
    let page = fs::read_to_string(root().join("docs/dependencies.md"))?;
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" |"));
    let listed: BTreeSet<String> = rows.map(|(name, _)| name.to_owned()).filter(|name| name != "crate").collect();
    assert_eq!(listed, named);
    Ok(())
}
