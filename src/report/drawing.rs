//! The picture of bounds against limits as coordinates, for formats that can draw lines.

use super::picture::{Bar, Scale};

/// Units from the left edge to where the scale begins.
const LEFT: f64 = 84.0;
/// Units of the scale.
const SPAN: f64 = 600.0;
/// Units from one bar to the next.
const ROW: f64 = 34.0;
/// Units from one line of names to the next.
const NAME: f64 = 17.0;
/// Units that one character of a name takes, on the safe side.
const CHARACTER: f64 = 6.6;

/// A drawing of bars on one scale.
pub(in crate::report) struct Drawing {
    /// In units.
    pub width: f64,
    /// In units.
    pub height: f64,
    /// What it shows, in words.
    pub description: String,
    /// Zero and the limits.
    pub marks: Vec<Mark>,
    /// One a kernel.
    pub bars: Vec<DrawnBar>,
}

/// A vertical line with a name below it.
pub(in crate::report) struct Mark {
    /// `zero`, `block` or `pass`.
    pub class: &'static str,
    /// Its place.
    pub x: f64,
    /// Its upper end.
    pub top: f64,
    /// Its lower end.
    pub bottom: f64,
    /// Its name; empty where another line has the same.
    pub name: String,
    /// Where the name stands.
    pub name_at: f64,
    /// How the name stands to its place.
    pub anchor: &'static str,
}

/// One bar.
pub(in crate::report) struct DrawnBar {
    /// The kernel.
    pub label: String,
    /// Its height on the page.
    pub y: f64,
    /// The lower bound's place.
    pub low: f64,
    /// D̂'s place.
    pub middle: f64,
    /// The upper bound's place.
    pub high: f64,
}

/// Places everything; absent where there is nothing that can be drawn.
pub(in crate::report) fn drawing(bars: &[Bar]) -> Option<Drawing> {
    let scale = Scale::around(bars)?;
    let at = |value: f64| tenths(LEFT + scale.share(value) * SPAN);
    let mut drawn = Vec::new();
    let mut marks = Vec::new();
    let mut y = 16.0;
    for bar in bars {
        let (low, middle, high) = (at(bar.low), at(bar.middle), at(bar.high));
        drawn.push(DrawnBar { label: bar.label.clone(), y, low, middle, high });
        marks.extend(bar.limits.iter().map(|(limit, name)| limit_mark(at(*limit), y, name)));
        y += ROW;
    }
    let bottom = y - ROW / 2.0;
    marks.push(mark("zero", at(0.0), (0.0, bottom), "0"));
    let height = place_names(&mut marks, bottom);
    Some(Drawing { width: LEFT + SPAN + 16.0, height, description: description(bars), marks, bars: drawn })
}

fn limit_mark(x: f64, y: f64, name: &str) -> Mark {
    let class = if name.starts_with("block") { "block" } else { "pass" };
    mark(class, x, (y - 14.0, y + 14.0), name)
}

fn mark(class: &'static str, x: f64, (top, bottom): (f64, f64), name: &str) -> Mark {
    Mark { class, x, top, bottom, name: name.to_owned(), name_at: 0.0, anchor: "middle" }
}

/// Gives each name the first line below the bars where it touches no other; returns the height of the whole.
fn place_names(marks: &mut [Mark], bottom: f64) -> f64 {
    marks.sort_by(|one, other| one.x.total_cmp(&other.x).then_with(|| one.name.cmp(&other.name)));
    let mut ends: Vec<f64> = Vec::new();
    let mut last = String::new();
    for mark in marks {
        if mark.name == last {
            mark.name.clear();
            continue;
        }
        last.clone_from(&mark.name);
        let half = mark.name.chars().map(|_| CHARACTER / 2.0).sum::<f64>();
        if mark.x + half > LEFT + SPAN + 16.0 {
            mark.anchor = "end";
        }
        let start = if mark.anchor == "end" { mark.x - 2.0 * half } else { mark.x - half };
        let line = ends.iter().position(|end| *end + CHARACTER < start).unwrap_or(ends.len());
        let end = start + 2.0 * half;
        ends.resize(ends.len().max(line + 1), end);
        ends[line] = end;
        mark.name_at = (0..line).fold(bottom + 14.0, |height, _| height + NAME);
    }
    ends.iter().fold(bottom + 4.0, |height, _| height + NAME)
}

fn description(bars: &[Bar]) -> String {
    let told: Vec<String> = bars
        .iter()
        .map(|bar| format!("{}: D̂ {:.2}, bounds {:.2} to {:.2} pp", bar.label, bar.middle, bar.low, bar.high))
        .collect();
    told.join("; ")
}

fn tenths(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(bounds: [f64; 3], limits: &[(f64, &str)]) -> Bar {
        let limits = limits.iter().map(|(at, name)| (*at, (*name).to_owned())).collect();
        Bar { label: "exact".to_owned(), low: bounds[0], middle: bounds[1], high: bounds[2], limits }
    }

    #[test]
    fn bounds_keep_their_order_and_stay_on_the_scale() {
        let drawn = drawing(&[bar([-2.0, 1.0, 14.0], &[(3.0, "block ≥ 3 pp")])]).expect("a drawing");
        let bar = &drawn.bars[0];
        assert!(LEFT <= bar.low && bar.low < bar.middle && bar.middle < bar.high && bar.high <= LEFT + SPAN);
        assert_eq!(drawn.description, "exact: D̂ 1.00, bounds -2.00 to 14.00 pp");
    }

    #[test]
    fn names_at_one_place_stand_on_lines_of_their_own() {
        let limits = [(3.0, "block ≥ 3 pp"), (3.1, "pass < 3.1 pp")];
        let drawn = drawing(&[bar([0.0, 1.0, 9.0], &limits)]).expect("a drawing");
        let heights: Vec<f64> =
            drawn.marks.iter().filter(|mark| mark.class != "zero").map(|mark| mark.name_at).collect();
        assert!((heights[1] - heights[0]).abs() >= NAME, "{heights:?}");
        assert!(drawn.marks.iter().all(|mark| mark.name_at < drawn.height));
    }

    #[test]
    fn what_is_no_number_is_not_drawn() {
        assert!(drawing(&[bar([0.0, f64::INFINITY, 1.0], &[])]).is_none());
    }
}
