//! What GitHub is told: nothing yet.
