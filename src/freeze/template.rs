//! Templates with `{{name}}` placeholders, filled in one pass: what is filled in is never looked at again.

/// The names of the placeholders of a template, in order, or the text of a `{{` that is none.
///
/// # Errors
/// A `{{` without its `}}`.
pub(super) fn names(template: &str) -> Result<Vec<&str>, String> {
    let mut names = Vec::new();
    let mut rest = template;
    while let Some((_, after)) = rest.split_once("{{") {
        let (name, behind) = after.split_once("}}").ok_or("a `{{` has no `}}`")?;
        names.push(name);
        rest = behind;
    }
    Ok(names)
}

/// The template with its placeholders replaced. A placeholder without a value stays as it is.
#[must_use]
pub(super) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len() + values.iter().map(|(_, value)| value.len()).sum::<usize>());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let value = after.split_once("}}").and_then(|(name, behind)| {
            values.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value, behind))
        });
        rest = if let Some((value, behind)) = value {
            out.push_str(value);
            behind
        } else {
            out.push_str("{{");
            after
        };
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_filled_in_is_never_filled_again() {
        let values = [("question", "{{evidence}}"), ("evidence", "{{question}} }} {{")];
        assert_eq!(fill("Q: {{question}}\nE: {{evidence}}", &values), "Q: {{evidence}}\nE: {{question}} }} {{");
        assert_eq!(fill("{{other}} {{", &values), "{{other}} {{");
        assert_eq!(fill("{{question}}{{question}}", &[("question", "a")]), "aa");
    }

    #[test]
    fn names_are_found_and_open_braces_are_refused() {
        assert_eq!(names("a {{x}} b {{y}}"), Ok(vec!["x", "y"]));
        assert!(names("a {{x").is_err());
    }
}
