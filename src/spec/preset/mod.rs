//! Presets: how an engine or a deployed system is asked, as data. A preset and what a spec says of it are made into a section
//! `http`, which is then held against the same table and rules as one that stands in a spec.

#[cfg(test)]
pub(crate) mod cases;
mod expand;
mod list;
mod read;
mod reference;
#[cfg(test)]
mod tests;

pub use expand::{Given, expand};
pub use list::{answer_preset_names, built_in, is_path, preset_names};
pub use read::{Of, Preset, PresetFile, Presets};
pub use reference::preset_reference;
