//! What one call to a server showed, before anything depends on it.

use super::Facts;
use crate::model::Failure;
use std::time::Duration;

/// What came of one call.
#[derive(Debug)]
pub struct Probed {
    /// Whose server it is: `generator`, `judge` or `embedder`.
    pub whose: &'static str,
    /// The controls that were sent; the server took them where there is no failure.
    pub controls: Vec<String>,
    /// What the server says about itself.
    pub facts: Facts,
    /// How many numbers its vector has; nothing of a server that writes texts.
    pub dimensions: Option<usize>,
    /// From the call's start to its end.
    pub latency: Duration,
    /// Why an audit could not go on like this, if so.
    pub failure: Option<Failure>,
}
