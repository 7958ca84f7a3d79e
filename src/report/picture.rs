//! A picture of bounds against limits, made of characters: `├──●───┤`.

/// One row: a kernel's bounds and its own limits. All values are percentage points.
pub(in crate::report) struct Bar {
    /// What stands before the row.
    pub label: String,
    /// The lower bound.
    pub low: f64,
    /// D̂.
    pub middle: f64,
    /// The upper bound.
    pub high: f64,
    /// Where limits stand, and what they are.
    pub limits: Vec<(f64, String)>,
}

/// Characters between the labels and the right edge.
const WIDTH: usize = 56;

/// The rows, then the names of zero and of the limits below their columns. Empty where there is no bar or a value is
/// no number.
pub(in crate::report) fn picture(bars: &[Bar]) -> Vec<String> {
    let Some(scale) = Scale::around(bars) else { return Vec::new() };
    let indent = bars.iter().map(|bar| bar.label.chars().count()).max().unwrap_or(0) + 2;
    let mut lines: Vec<String> = bars.iter().map(|bar| row(bar, &scale, indent)).collect();
    lines.extend(legend(bars, &scale, indent));
    lines
}

/// Maps percentage points to shares of a width.
pub(in crate::report) struct Scale {
    low: f64,
    span: f64,
}

impl Scale {
    /// A scale that holds zero, every bound and every limit; absent where there is no bar or a value is no number.
    pub(in crate::report) fn around(bars: &[Bar]) -> Option<Self> {
        let values = || {
            let of_bar = |bar: &Bar| {
                let limits = bar.limits.iter().map(|(at, _)| *at);
                [bar.low, bar.middle, bar.high].into_iter().chain(limits).collect::<Vec<_>>()
            };
            bars.iter().flat_map(of_bar).chain([0.0])
        };
        if bars.is_empty() || values().any(|value| !value.is_finite()) {
            return None;
        }
        let low = values().fold(0.0, f64::min);
        let high = values().fold(0.0, f64::max);
        Some(Self { low, span: (high - low).max(0.01) })
    }

    /// The place of a value, from 0 to 1.
    pub(in crate::report) fn share(&self, value: f64) -> f64 {
        ((value - self.low) / self.span).clamp(0.0, 1.0)
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the value lies within the columns")]
    #[expect(clippy::cast_precision_loss, reason = "the width is small")]
    fn column(&self, value: f64) -> usize {
        (self.share(value) * (WIDTH - 1) as f64).round() as usize
    }
}

fn row(bar: &Bar, scale: &Scale, indent: usize) -> String {
    let mut cells = vec![' '; WIDTH];
    let (low, middle, high) = (scale.column(bar.low), scale.column(bar.middle), scale.column(bar.high));
    for (column, cell) in cells.iter_mut().enumerate() {
        if low <= column && column <= high {
            *cell = '─';
        }
    }
    put(&mut cells, scale.column(0.0), '│');
    for (at, _) in &bar.limits {
        put(&mut cells, scale.column(*at), '┊');
    }
    put(&mut cells, low, '├');
    put(&mut cells, high, '┤');
    put(&mut cells, middle, '●');
    let drawn: String = cells.into_iter().collect();
    format!("{:<indent$}{}", bar.label, drawn.trim_end())
}

fn put(cells: &mut [char], column: usize, character: char) {
    if let Some(cell) = cells.get_mut(column) {
        *cell = character;
    }
}

/// The names of the columns, each beginning at its column, on as many lines as they need.
fn legend(bars: &[Bar], scale: &Scale, indent: usize) -> Vec<String> {
    let mut names: Vec<(usize, String)> = vec![(scale.column(0.0), "0".to_owned())];
    for (at, name) in bars.iter().flat_map(|bar| &bar.limits) {
        let entry = (scale.column(*at), format!("┊ {name}"));
        if !names.contains(&entry) {
            names.push(entry);
        }
    }
    names.sort();
    let mut lines: Vec<String> = Vec::new();
    for (column, name) in names {
        place(&mut lines, indent + column, &name);
    }
    lines
}

/// Puts a name at its column on the first line where it does not touch another.
fn place(lines: &mut Vec<String>, column: usize, name: &str) {
    let free = lines.iter_mut().find(|line| line.chars().count() + usize::from(!line.is_empty()) <= column);
    if let Some(line) = free {
        let gap = column - line.chars().count();
        line.push_str(&" ".repeat(gap));
        line.push_str(name);
    } else {
        lines.push(format!("{}{name}", " ".repeat(column)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(label: &str, bounds: [f64; 3], limits: &[(f64, &str)]) -> Bar {
        let limits = limits.iter().map(|(at, name)| (*at, (*name).to_owned())).collect();
        Bar { label: label.to_owned(), low: bounds[0], middle: bounds[1], high: bounds[2], limits }
    }

    #[test]
    fn bounds_stand_against_their_limits() {
        let bars = [
            bar("exact", [4.56, 6.44, 9.3], &[(3.0, "block at 3 pp")]),
            bar("semantic", [7.69, 10.25, 14.1], &[(5.0, "pass below 5 pp")]),
        ];
        insta::assert_snapshot!(picture(&bars).join("\n"), @"
        exact     │           ┊     ├──────●──────────┤
        semantic  │                   ┊         ├─────────●──────────────┤
                  0           ┊ block at 3 pp
                                      ┊ pass below 5 pp
        ");
    }

    #[test]
    fn bounds_at_one_place_and_values_below_zero_are_drawn() {
        let bars = [bar("exact", [-3.0, -1.0, 1.0], &[]), bar("semantic", [0.0, 0.0, 0.0], &[])];
        insta::assert_snapshot!(picture(&bars).join("\n"), @"
        exact     ├───────────────────────────●────────────│─────────────┤
        semantic                                           ●
                                                           0
        ");
    }

    #[test]
    fn what_is_no_number_is_not_drawn() {
        assert!(picture(&[bar("exact", [0.0, f64::NAN, 1.0], &[])]).is_empty());
        assert!(picture(&[]).is_empty());
    }
}
