//! The order of the stages is a type: whatever breaks it does not build.
//!
//! Each file in `tests/ui` is compiled against the library as it was just built, which takes a second; the usual crate
//! for such tests would build every dependency again. The first line of a file says what the compiler must answer.

#![expect(clippy::expect_used, reason = "a test that cannot go on says so and stops")]

use camino::{Utf8Path, Utf8PathBuf};
use std::collections::BTreeSet;
use std::process::Command;
use std::time::SystemTime;

/// The library next to this test: the latest one, because building this test has just built it.
fn library(folder: &Utf8Path) -> Utf8PathBuf {
    let entries = folder.read_dir_utf8().expect("the build folder is read").flatten();
    let libraries = entries
        .filter(|entry| entry.file_name().starts_with("libchurngate-") && entry.path().extension() == Some("rlib"));
    let built = |path: &Utf8Path| path.metadata().and_then(|data| data.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    libraries.map(camino::Utf8DirEntry::into_path).max_by_key(|path| built(path)).expect("the library is built")
}

/// What the compiler says of a file; `None` where it builds.
fn compile(file: &Utf8Path, folder: &Utf8Path, library: &Utf8Path) -> Option<String> {
    let out = tempfile::tempdir().expect("a temporary folder");
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let output = Command::new(rustc)
        .args(["--edition", "2024", "--crate-type", "bin", "--emit", "metadata", "-A", "warnings"])
        .args(["-L", &format!("dependency={folder}"), "--extern", &format!("churngate={library}")])
        .arg("--out-dir")
        .arg(out.path())
        .arg(file)
        .output()
        .expect("rustc starts");
    (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The codes of all errors in what the compiler says.
fn codes(errors: &str) -> BTreeSet<&str> {
    errors.lines().filter_map(|line| line.strip_prefix("error[")?.split(']').next()).collect()
}

#[test]
fn illegal_orders_do_not_build() {
    let program = Utf8PathBuf::from_path_buf(std::env::current_exe().expect("this test's path")).expect("UTF-8");
    let folder = program.parent().expect("a folder");
    let library = library(folder);
    let mut files: Vec<_> = Utf8Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/ui")
        .read_dir_utf8()
        .expect("tests/ui is read")
        .map(|entry| entry.expect("an entry").into_path())
        .collect();
    files.sort();
    for file in &files {
        let text = std::fs::read_to_string(file).expect("the file is read");
        let expected = text.lines().next().and_then(|line| line.strip_prefix("// ")).expect("an expectation");
        let found = compile(file, folder, &library);
        match (expected.strip_prefix("refused: "), found) {
            (None, None) => assert_eq!(expected, "builds", "{file}"),
            (None, Some(errors)) => panic!("{file} does not build:\n{errors}"),
            (Some(reason), None) => panic!("{file} builds, but must be refused: {reason}"),
            (Some(reason), Some(errors)) => {
                assert_eq!(codes(&errors), reason.split(", ").collect(), "{file}:\n{errors}");
            }
        }
    }
    assert!(files.len() >= 8, "tests/ui has files");
}
