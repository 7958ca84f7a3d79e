//! Presets: how an engine is asked, as data. A preset and what a spec says of it are made into a section `http`, which is
//! then held against the same table and rules as one that stands in a spec.

mod expand;
mod list;
mod read;
mod reference;
#[cfg(test)]
mod tests;

pub use expand::{Given, expand};
pub use list::{built_in, is_path, preset_names};
pub use read::{Preset, PresetFile, Presets};
pub use reference::preset_reference;
