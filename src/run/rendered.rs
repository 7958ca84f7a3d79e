//! The reports that lie beside a result: people read these, so that each must say what the result says.

use super::recompute;
use crate::model::Failure;
use camino::Utf8Path;

/// Holds each of these reports that is there against its rendering. Given back are those that cannot be, a line each: another
/// version of the program may word a report otherwise.
///
/// # Errors
/// A report of this version says something else: class [`FailureClass::Evidence`](crate::model::FailureClass::Evidence).
pub(super) fn check<R>(
    folder: &Utf8Path,
    of: &R,
    written_by: &str,
    reports: impl IntoIterator<Item = (&'static str, fn(&R) -> Vec<u8>)>,
) -> Result<Vec<String>, Failure> {
    let mut unchecked = Vec::new();
    for (file, render) in reports {
        if folder.join(file).symlink_metadata().is_err() {
            continue;
        }
        match recompute::compare_file(folder, file, render(of).as_slice()) {
            Err(_) if written_by != env!("CARGO_PKG_VERSION") => unchecked.push(format!(
                "{file}: it is of version {written_by} and not what this version writes; `churngate report` renders it anew"
            )),
            compared => compared?,
        }
    }
    Ok(unchecked)
}

/// What is then checked of the others.
pub(super) const CHECKED: &str = "reports: all others that lie there show this result";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::FailureClass;
    use camino::Utf8PathBuf;

    #[test]
    fn a_report_of_another_version_is_named_and_one_of_this_version_must_be_its_rendering() {
        type Rendering = fn(&u8) -> Vec<u8>;
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        let reports: [(&str, Rendering); 2] = [("a.md", |_| b"one\n".into()), ("b.md", |_| b"two\n".into())];
        let checked = |by| check(&path, &0, by, reports);
        let this = env!("CARGO_PKG_VERSION");
        fs_err::write(path.join("a.md"), "one\n").unwrap();
        assert!(checked(this).unwrap().is_empty() && checked("0.0.1").unwrap().is_empty());
        for other in ["", "one", "One\n", "one\n\n", "two\n"] {
            fs_err::write(path.join("a.md"), other).unwrap();
            assert_eq!(checked(this).unwrap_err().class, FailureClass::Evidence, "{other}");
            let [named] = checked("0.0.1").unwrap().try_into().unwrap();
            assert!(named.starts_with("a.md: it is of version 0.0.1"), "{named}");
        }
    }
}
