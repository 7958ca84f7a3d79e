//! Whether a program is there, before anything rests on it.

use std::path::Path;

/// Why a program cannot be started, as far as that shows without starting it. Nothing where it can be, or where nobody can tell.
#[must_use]
pub fn missing(program: &str) -> Option<&'static str> {
    // Elsewhere a program has endings that are not written.
    if !cfg!(unix) {
        return None;
    }
    if program.contains('/') {
        return unfit(Path::new(program));
    }
    let places = std::env::var_os("PATH")?;
    let is_there = std::env::split_paths(&places).any(|place| unfit(&place.join(program)).is_none());
    (!is_there).then_some("it is not on the path")
}

fn unfit(program: &Path) -> Option<&'static str> {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    match std::fs::metadata(program) {
        Err(error) if matches!(error.kind(), NotFound | NotADirectory) => Some("it does not exist"),
        Ok(found) if found.is_dir() => Some("it is a folder"),
        Ok(found) if !is_executable(&found) => Some("it may not be executed"),
        _ => None,
    }
}

#[cfg(unix)]
fn is_executable(file: &std::fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&file.permissions()) & 0o111 != 0
}

#[cfg(not(unix))]
const fn is_executable(_: &std::fs::Metadata) -> bool {
    true
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn programs_are_looked_for_where_they_would_be_started() {
        let folder = tempfile::tempdir().unwrap();
        let plain = folder.path().join("plain.txt");
        std::fs::write(&plain, "x").unwrap();
        for (program, fault) in [
            ("sh", None),
            ("/bin/sh", None),
            ("no_such_program_anywhere", Some("it is not on the path")),
            ("./no-such-program", Some("it does not exist")),
            ("/bin/sh/x", Some("it does not exist")),
            (folder.path().to_str().unwrap(), Some("it is a folder")),
            (plain.to_str().unwrap(), Some("it may not be executed")),
        ] {
            assert_eq!(missing(program), fault, "{program}");
        }
    }
}
