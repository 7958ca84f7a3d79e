//! What calls cost: tokens and money.

use std::fmt;

/// Nano-dollars in a US dollar.
const NANO: u64 = 1_000_000_000;

/// Tokens, read and written, and what they cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Tokens, read and written.
    pub tokens: u64,
    /// Their price in nano-dollars (US); 0 where no price is known.
    pub nano_usd: u64,
}

impl Amount {
    /// Both together.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            nano_usd: self.nano_usd.saturating_add(other.nano_usd),
        }
    }

    /// What is left without the other; never below nothing.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_sub(other.tokens),
            nano_usd: self.nano_usd.saturating_sub(other.nano_usd),
        }
    }

    /// So many of it.
    #[must_use]
    pub const fn times(self, count: u64) -> Self {
        Self { tokens: self.tokens.saturating_mul(count), nano_usd: self.nano_usd.saturating_mul(count) }
    }
}

/// `1200 tokens, 0.0031 USD`; without money where there is none.
impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tokens", self.tokens)?;
        if self.nano_usd > 0 { write!(f, ", {}", dollars(self.nano_usd)) } else { Ok(()) }
    }
}

/// Nano-dollars in dollars, rounded up to a hundredth of a cent.
#[must_use]
pub fn dollars(nano_usd: u64) -> String {
    let units = nano_usd.div_ceil(NANO / 10_000);
    format!("{}.{:04} USD", units / 10_000, units % 10_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_shown_in_dollars_and_never_as_too_little() {
        assert_eq!(dollars(0), "0.0000 USD");
        assert_eq!(dollars(1), "0.0001 USD");
        assert_eq!(dollars(5_000_000_000), "5.0000 USD");
        assert_eq!(dollars(12_345_600_001), "12.3457 USD");
        assert_eq!(Amount { tokens: 12, nano_usd: 0 }.to_string(), "12 tokens");
        assert_eq!(Amount { tokens: 12, nano_usd: 100_000 }.to_string(), "12 tokens, 0.0001 USD");
    }
}
