//! Seeded draws.

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A source of draws: one ChaCha20 stream.
#[derive(Debug)]
pub struct Dice(ChaCha20Rng);

impl Dice {
    /// The dice of this key and stream.
    #[must_use]
    pub fn new(key: [u8; 32], stream: u64) -> Self {
        let mut stream_of_key = ChaCha20Rng::from_seed(key);
        stream_of_key.set_stream(stream);
        Self(stream_of_key)
    }

    /// The index of one of these scores, drawn with weights `exp(score / temperature)`; at temperature 0 the first of
    /// the best. `None` where there are none.
    pub fn choose(&mut self, scores: &[f64], temperature: f64) -> Option<usize> {
        let best = scores.iter().copied().reduce(f64::max)?;
        let uniform = self.uniform();
        if temperature <= 0.0 {
            return scores.iter().position(|score| *score >= best);
        }
        let weight = |score: &f64| ((score - best) / temperature).exp();
        let mut left = uniform * scores.iter().map(weight).sum::<f64>();
        let drawn = scores.iter().position(|score| {
            left -= weight(score);
            left < 0.0
        });
        drawn.or_else(|| scores.iter().position(|score| *score >= best))
    }

    /// Uniform in [0, 1), with 53 bits.
    #[expect(clippy::cast_precision_loss, reason = "53 bits are exact")]
    fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_follow_the_temperature() {
        let mut dice = Dice::new([7; 32], 0);
        let scores = [0.0, 0.1];
        let hits = (0..10_000).filter(|_| dice.choose(&scores, 0.1) == Some(1)).count();
        // e / (1 + e) = 0.7311; three standard errors are 0.013.
        assert!((7180..7450).contains(&hits), "{hits}");
        assert!((0..100).all(|_| dice.choose(&[0.0, 2.0, 2.0], 0.0) == Some(1)));
        assert_eq!(dice.choose(&[], 1.0), None);
    }

    #[test]
    fn streams_of_one_key_differ_and_repeat() {
        let draw = |stream| {
            (0..8)
                .map(|_| 0)
                .scan(Dice::new([1; 32], stream), |dice, _: i32| dice.choose(&[0.0; 8], 1.0))
                .collect::<Vec<_>>()
        };
        assert_eq!(draw(0), draw(0));
        assert_ne!(draw(0), draw(1));
    }
}
