//! Corpora in folders, files and repositories, good and bad.

use super::harness::{Bench, path, resolve};
use crate::model::{Failure, FailureClass};
use crate::retrieve::corpus::{Corpus, CorpusDocument};
use crate::spec::{Bm25Spec, RetrieveBackend, SnapshotSource};
use camino::Utf8Path;
use std::process::Command;

fn bench(old: SnapshotSource, new: SnapshotSource) -> Bench {
    Bench::new(RetrieveBackend::Bm25(Bm25Spec::default()), old, new, &["alpha"])
}

fn at(revision: &str, path: &str) -> SnapshotSource {
    SnapshotSource::Git { revision: revision.to_owned(), path: path.into() }
}

fn git(folder: &Utf8Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]);
    command.args(["-c", "protocol.file.allow=always", "-c", "commit.gpgsign=false"]);
    let output = command.arg("-C").arg(folder).args(arguments).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn commit_all(bench: &Bench) {
    git(&bench.base(), &["init", "-q"]);
    git(&bench.base(), &["add", "-A"]);
    git(&bench.base(), &["commit", "-qm", "corpus"]);
}

fn documents(bench: &Bench, source: &SnapshotSource) -> Vec<CorpusDocument> {
    let corpus = Corpus::open(source, &bench.base()).unwrap();
    corpus.documents().unwrap().map(Result::unwrap).collect()
}

fn failure(bench: &Bench) -> Failure {
    resolve(&bench.spec, &bench.base()).unwrap_err()
}

#[test]
fn a_folder_and_its_commit_are_the_same_corpus() {
    let bench = bench(at("HEAD", "docs"), path("docs"));
    for name in ["b.md", "a/z.txt", "a.md", "a-b.md", "a/b/c.rst", "ü ö.md", "-x.md", "a/.hidden/x.md", "x.png"] {
        bench.write(&format!("docs/{name}"), format!("\u{feff}text of {name}\n"));
    }
    commit_all(&bench);
    let resolved = resolve(&bench.spec, &bench.base()).unwrap();
    assert_eq!(resolved[0].fingerprint, resolved[1].fingerprint);
    assert_eq!((resolved[0].documents, resolved[1].documents), (Some(7), Some(7)));
    let passed = resolved[0].passed_over.clone().unwrap();
    assert_eq!((passed.endings.as_slice(), passed.hidden), (&[(".png".to_owned(), 1)][..], 1));
    assert_eq!(resolved[0].passed_over, resolved[1].passed_over);
    let head = git(&bench.base(), &["rev-parse", "HEAD"]);
    assert_eq!(
        (resolved[0].physical.as_str(), resolved[1].physical.as_str()),
        (format!("docs at {head}").as_str(), "docs")
    );
    let (committed, working) = (documents(&bench, &at("HEAD", "docs")), documents(&bench, &path("docs")));
    assert_eq!(committed, working);
    let ids: Vec<&str> = working.iter().map(|document| document.id.as_str()).collect();
    assert_eq!(ids, ["-x.md", "a-b.md", "a.md", "a/b/c.rst", "a/z.txt", "b.md", "ü ö.md"]);
    assert_eq!(working[0].text, "text of -x.md\n");
}

#[test]
fn a_commit_keeps_its_corpus_when_the_working_tree_moves_on() {
    let bench = bench(at("HEAD", "./docs/"), path("docs"));
    bench.write("docs/a.md", "old");
    commit_all(&bench);
    bench.write("docs/a.md", "new");
    bench.write("docs/b.md", "more");
    let resolved = resolve(&bench.spec, &bench.base()).unwrap();
    assert_ne!(resolved[0].fingerprint, resolved[1].fingerprint);
    assert_eq!((resolved[0].documents, resolved[1].documents), (Some(1), Some(2)));
    assert_eq!(documents(&bench, &at("HEAD", "docs"))[0].text, "old");
}

#[test]
fn a_jsonl_file_at_a_commit_is_read_as_a_stream() {
    let bench = bench(at("main", "corpus.jsonl"), path("corpus.jsonl"));
    let lines: Vec<String> =
        (0..5000).map(|number| format!("{{\"id\":{number},\"text\":\"text {number}\"}}")).collect();
    bench.write("corpus.jsonl", lines.join("\n"));
    commit_all(&bench);
    let resolved = resolve(&bench.spec, &bench.base()).unwrap();
    assert_eq!((resolved[0].documents, resolved[0].fingerprint), (Some(5000), resolved[1].fingerprint));
}

#[test]
fn a_spec_below_the_top_of_its_repository_names_paths_from_its_own_folder() {
    let bench = bench(at("HEAD", "docs"), path("docs"));
    bench.write("sub/docs/a.md", "inner");
    bench.write("docs/b.md", "outer");
    commit_all(&bench);
    let base = bench.base().join("sub");
    for (path, id) in [("docs", "a.md"), ("../docs", "b.md")] {
        let corpus = Corpus::open(&at("HEAD", path), &base).unwrap();
        assert_eq!(corpus.documents().unwrap().next().unwrap().unwrap().id, id);
    }
    let dot = Corpus::open(&at("HEAD", "."), &base).unwrap();
    assert_eq!(dot.documents().unwrap().next().unwrap().unwrap().id, "docs/a.md");
}

#[test]
fn how_a_checkout_ends_lines_is_no_part_of_a_document() {
    let bench = bench(at("HEAD", "docs"), path("docs"));
    bench.write("docs/a.md", "one\n\ntwo\r three\n");
    commit_all(&bench);
    bench.write("docs/a.md", "\u{feff}one\r\n\r\ntwo\r three\r\n");
    let resolved = resolve(&bench.spec, &bench.base()).unwrap();
    assert_eq!(resolved[0].fingerprint, resolved[1].fingerprint);
    let document = Corpus::open(&path("docs"), &bench.base()).unwrap().documents().unwrap().next().unwrap().unwrap();
    assert_eq!(document.text, "one\n\ntwo\r three\n");
}

#[test]
fn a_missing_or_empty_corpus_names_its_snapshot() {
    let missing = failure(&bench(path("nowhere"), path("nowhere")));
    assert_eq!(missing.class, FailureClass::Usage);
    assert_eq!(missing.message, "failed to read the corpus of snapshot `old`: `nowhere` does not exist");
    let bench = bench(path("docs"), path("docs"));
    bench.write("docs/a.png", "x");
    let empty = failure(&bench);
    assert_eq!(empty.class, FailureClass::Usage);
    assert_eq!(empty.message, "the corpus of snapshot `old` (`docs`) has no documents");
}

#[test]
fn what_is_no_text_is_refused_by_name() {
    let cases: [(&str, &[u8], &str); 4] = [
        ("nul.md", b"a\0b", "document `nul.md` is no text: it contains NUL bytes"),
        ("latin.md", b"caf\xe9", "document `latin.md` is not UTF-8"),
        (
            "lfs.md",
            b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
            "document `lfs.md` is a Git LFS pointer",
        ),
        ("big.md", &vec![b'x'; 4 * 1024 * 1024 + 1], "document `big.md` has more than 4194304 bytes"),
    ];
    for (name, bytes, expected) in cases {
        for committed in [false, true] {
            let source = if committed { at("HEAD", "docs") } else { path("docs") };
            let bench = bench(source.clone(), source);
            bench.write(&format!("docs/{name}"), bytes);
            if committed {
                commit_all(&bench);
            }
            let failure = failure(&bench);
            assert_eq!(failure.class, FailureClass::Usage);
            assert!(failure.message.contains(expected) && failure.hint.is_some(), "{failure}");
        }
    }
}

#[cfg(unix)]
#[test]
fn links_are_not_followed_and_the_report_can_say_so() {
    let bench = bench(at("HEAD", "docs"), path("docs"));
    bench.write("docs/a.md", "inside");
    bench.write("secret.md", "outside");
    std::os::unix::fs::symlink("../secret.md", bench.base().join("docs/link.md")).unwrap();
    std::os::unix::fs::symlink("..", bench.base().join("docs/up")).unwrap();
    commit_all(&bench);
    let resolved = resolve(&bench.spec, &bench.base()).unwrap();
    assert_eq!((resolved[0].documents, resolved[1].documents), (Some(1), Some(1)));
    assert_eq!(resolved[1].passed_over.as_ref().map(|passed| passed.links), Some(2));
    assert_eq!(resolved[0].passed_over, resolved[1].passed_over);
    assert_eq!(resolved[0].fingerprint, resolved[1].fingerprint);
}

#[cfg(unix)]
#[test]
fn a_corpus_behind_a_link_is_refused_in_the_working_tree_and_at_a_commit() {
    let secret = tempfile::tempdir().unwrap();
    std::fs::create_dir(secret.path().join("docs")).unwrap();
    std::fs::write(secret.path().join("docs/key.md"), "a key").unwrap();
    std::fs::write(secret.path().join("key.jsonl"), "{\"id\": \"k\", \"text\": \"a key\"}").unwrap();
    std::fs::write(secret.path().join("docs.tar"), "").unwrap();
    let cases = [
        ("docs", "docs", "docs"),
        ("docs.jsonl", "docs.jsonl", "key.jsonl"),
        ("docs.tar", "docs.tar", "docs.tar"),
        ("docs.tar/inner", "docs.tar", "docs.tar"),
        ("linked/docs", "linked", ""),
        ("linked/key.jsonl", "linked", ""),
    ];
    for (named, link, target) in cases {
        for source in [path(named), at("HEAD", named)] {
            let bench = bench(source.clone(), source);
            std::os::unix::fs::symlink(secret.path().join(target), bench.base().join(link)).unwrap();
            commit_all(&bench);
            let failure = failure(&bench);
            let told = format!("`{link}` is a symbolic link, and none is followed");
            assert!(failure.class == FailureClass::Usage && failure.message.ends_with(&told), "{named}: {failure}");
            assert!(failure.hint.is_some(), "{failure}");
        }
    }
}

#[test]
fn revisions_that_are_none_are_refused() {
    let revisions = ["--upload-pack=x", "-1", "", " ", "a\nb", "nosuch", "HEAD:docs", "base"];
    for revision in revisions {
        let bench = bench(at(revision, "docs"), path("docs"));
        bench.write("docs/a.md", "x");
        commit_all(&bench);
        let failure = failure(&bench);
        assert_eq!(failure.class, FailureClass::Usage, "{failure}");
        let known = ["is no git revision", "has no commit"].iter().any(|words| failure.message.contains(words));
        assert!(known && failure.hint.is_some(), "{failure}");
    }
}

#[test]
fn a_path_that_the_commit_lacks_is_refused() {
    for path in ["nowhere", "docs/b.md", "/etc", "../../etc"] {
        let bench = bench(at("HEAD", path), at("HEAD", path));
        bench.write("docs/a.md", "x");
        commit_all(&bench);
        let failure = failure(&bench);
        assert!(
            failure.class == FailureClass::Usage && failure.message.contains(&format!("has no `{path}`")),
            "{failure}"
        );
    }
}

#[test]
fn a_shallow_clone_says_how_to_fetch_more() {
    let origin = bench(path("docs"), path("docs"));
    origin.write("docs/a.md", "old");
    commit_all(&origin);
    let first = git(&origin.base(), &["rev-parse", "HEAD"]);
    origin.write("docs/a.md", "new");
    git(&origin.base(), &["commit", "-qam", "second"]);
    let bench = bench(at(&first, "docs"), path("docs"));
    let url = format!("file://{}", origin.base());
    git(&bench.base(), &["clone", "-q", "--depth", "1", &url, "clone"]);
    let failure = resolve(&bench.spec, &bench.base().join("clone")).unwrap_err();
    assert_eq!(failure.class, FailureClass::Usage);
    assert!(failure.message.contains(&format!("the repository has no commit `{first}`")), "{failure}");
    assert!(failure.hint.unwrap().contains("fetch-depth: 0"));
    assert!(crate::git::is_shallow(&bench.base().join("clone")).unwrap());
    assert!(!crate::git::is_shallow(&origin.base()).unwrap());
}

#[test]
fn a_folder_outside_any_repository_is_an_error_of_its_own() {
    let bench = bench(at("HEAD", "docs"), path("docs"));
    bench.write("docs/a.md", "x");
    let failure = failure(&bench);
    assert!(failure.message.contains("is not in a git repository"), "{failure}");
}

#[test]
fn the_merge_base_is_the_common_ancestor() {
    let bench = bench(path("docs"), path("docs"));
    bench.write("docs/a.md", "x");
    commit_all(&bench);
    let folder = bench.base();
    let resolve = |revision| crate::git::resolve(&folder, revision).unwrap();
    let root = resolve("HEAD");
    git(&folder, &["checkout", "-q", "-b", "side"]);
    git(&folder, &["commit", "-q", "--allow-empty", "-m", "side"]);
    let side = resolve("HEAD");
    git(&folder, &["checkout", "-q", "main"]);
    git(&folder, &["commit", "-q", "--allow-empty", "-m", "main"]);
    assert_eq!(crate::git::merge_base(&folder, &resolve("HEAD"), &side).unwrap(), root);
    git(&folder, &["checkout", "-q", "--orphan", "alone"]);
    git(&folder, &["commit", "-q", "--allow-empty", "-m", "alone"]);
    let none = crate::git::merge_base(&folder, &resolve("HEAD"), &side).unwrap_err();
    assert!(none.to_string().contains("have no common ancestor"), "{none}");
}
