//! What the tokens of a backend cost. A price is no part of the protocol: it may come, go and change while a run goes on.

use super::types::{EmbedBackend, EmbedSpec, GenerateBackend, JudgeBackend};
use crate::model::Price;

impl GenerateBackend {
    /// The price of its tokens, where it counts them and the spec gives one.
    #[must_use]
    pub fn price(&self) -> Option<Price> {
        match self {
            Self::Model(server) => server.price,
            Self::BlackBox(system) => system.price,
            Self::Reader(_) | Self::Command(_) => None,
        }
    }
}

impl JudgeBackend {
    /// The price of its tokens, where it counts them and the spec gives one.
    #[must_use]
    pub const fn price(&self) -> Option<Price> {
        match self {
            Self::Model(server) => server.price,
            Self::Embedded | Self::Command(_) => None,
        }
    }
}

impl EmbedSpec {
    /// The price of its tokens, where it counts them and the spec gives one.
    #[must_use]
    pub const fn price(&self) -> Option<Price> {
        match &self.backend {
            EmbedBackend::OpenAi(server) => server.price,
            EmbedBackend::Command(_) => None,
        }
    }
}
