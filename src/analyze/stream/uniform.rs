//! Uniform numbers from ChaCha20: one stream of the cipher for every block of draws.

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

/// A source of uniform numbers in the open interval from 0 to 1.
pub(super) struct Uniform(ChaCha20Rng);

impl Uniform {
    /// The stream of this number under this key.
    pub(super) fn new(key: [u8; 32], stream: u64) -> Self {
        let mut cipher = ChaCha20Rng::from_seed(key);
        cipher.set_stream(stream);
        Self(cipher)
    }

    /// The upper 53 bits of the next 64, plus one half, over 2^53: never 0 and never 1.
    #[expect(clippy::cast_precision_loss, reason = "53 bits are exact")]
    pub(super) fn next(&mut self) -> f64 {
        const SCALE: f64 = 1.0 / (1_u64 << 53) as f64;
        // Adding one half to an odd number of 53 bits rounds to even, which may give 2^53: that one is cut.
        (((self.0.next_u64() >> 11) as f64 + 0.5) * SCALE).min(1.0 - f64::EPSILON / 2.0)
    }
}
