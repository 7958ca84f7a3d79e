//! Result -> terminal, Markdown, JSON: one file a format. Pure: it is given a result and gives back text.

pub mod result;

pub use result::*;
