//! Bytes to text: UTF-8 with or without a byte-order mark, no NUL, nothing binary.

/// The text of a file, or the number of the first bad line and what is wrong with it.
///
/// # Errors
/// Not UTF-8, or a NUL byte.
pub(in crate::freeze) fn text(bytes: &[u8]) -> Result<&str, (usize, &'static str)> {
    let line = |at: usize| bytes.get(..at).unwrap_or_default().split(|byte| *byte == b'\n').count();
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err((1, "the file is UTF-16, not UTF-8"));
    }
    if let Some(at) = bytes.iter().position(|byte| *byte == 0) {
        return Err((line(at), "a NUL byte; this is no text file"));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| (line(error.valid_up_to()), "not UTF-8"))?;
    Ok(without_bom(text))
}

/// The text without the byte-order mark that some programs put first.
#[must_use]
pub(in crate::freeze) fn without_bom(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}
