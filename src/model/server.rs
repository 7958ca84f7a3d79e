//! A model behind a server, as a spec describes it: plain data for whoever calls it.

use serde_json::{Map, Number, Value};

/// A server, a model, and what every request to it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelServer {
    /// How it is spoken to.
    pub wire: Wire,
    /// The model's name.
    pub model: String,
    /// Up to the path that the wire appends, without a trailing slash.
    pub base_url: String,
    /// The environment variable that holds the key; no key is sent where absent.
    pub key_env: Option<String>,
    /// The header that carries the key.
    pub key_header: KeyHeader,
    /// The version of the interface, for servers that want to be told: Azure in the query, Anthropic in a header.
    pub api_version: Option<String>,
    /// Sent where present. Kept as the JSON number that was written.
    pub temperature: Option<Number>,
    /// How much the model may write, sent where present.
    pub output_limit: Option<OutputLimit>,
    /// How the answer is asked for.
    pub structured: Structured,
    /// Time limit of one call, in seconds.
    pub timeout_seconds: u32,
    /// Further members of the request body, sent as written. They never replace a member of ours.
    pub extra: Map<String, Value>,
    /// What it costs.
    pub price: Option<Price>,
    /// How much it may be asked in a minute.
    pub rate_limit: RateLimit,
}

/// An interface of servers for language models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wire {
    /// OpenAI-compatible chat completions.
    Completions,
    /// OpenAI Responses.
    Responses,
    /// Anthropic Messages.
    Messages,
}

/// The header that carries a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyHeader {
    /// `authorization: Bearer KEY`
    #[default]
    Bearer,
    /// `api-key: KEY`, as Azure wants it.
    ApiKey,
    /// `x-api-key: KEY`, as older servers of Anthropic's interface want it.
    XApiKey,
}

/// How many tokens the model may write at most, and what the server calls that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputLimit {
    /// The member of the request that carries it.
    pub name: LimitName,
    /// Tokens.
    pub tokens: u32,
}

/// The names that interfaces give to the limit of what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitName {
    /// `max_tokens`
    MaxTokens,
    /// `max_completion_tokens`, which counts reasoning as well.
    MaxCompletionTokens,
    /// `max_output_tokens`
    MaxOutputTokens,
}

/// How a structured answer is asked for: the rungs of a ladder, of which a spec names one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Structured {
    /// A strict JSON schema.
    #[default]
    JsonSchema,
    /// A JSON object, described in the prompt.
    JsonObject,
    /// Plain text.
    Plain,
}

/// The price of tokens, in thousandths of a US dollar for a million of them: the same as nano-dollars for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    /// Tokens read.
    pub input: u32,
    /// Tokens written.
    pub output: u32,
}

/// How much a server may be asked in a minute; absent means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateLimit {
    /// Requests.
    pub requests_per_minute: Option<u64>,
    /// Tokens, read and written.
    pub tokens_per_minute: Option<u64>,
}

impl ModelServer {
    /// A server of which nothing but these is known.
    #[must_use]
    pub fn new(wire: Wire, model: impl Into<String>, base_url: impl Into<String>) -> Self {
        Self {
            wire,
            model: model.into(),
            base_url: base_url.into(),
            key_env: None,
            key_header: KeyHeader::default(),
            api_version: None,
            temperature: None,
            output_limit: None,
            structured: Structured::default(),
            timeout_seconds: 120,
            extra: Map::new(),
            price: None,
            rate_limit: RateLimit::default(),
        }
    }
}

impl LimitName {
    /// The name itself.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MaxTokens => "max_tokens",
            Self::MaxCompletionTokens => "max_completion_tokens",
            Self::MaxOutputTokens => "max_output_tokens",
        }
    }
}

impl Price {
    /// What so many tokens cost, in nano-dollars.
    #[must_use]
    pub fn of(self, input: u64, output: u64) -> u64 {
        let read = input.saturating_mul(u64::from(self.input));
        read.saturating_add(output.saturating_mul(u64::from(self.output)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_tokens_cost_their_price() {
        let price = Price { input: 400, output: 1_600 };
        assert_eq!(price.of(1_000_000, 0), 400_000_000);
        assert_eq!(price.of(1_000_000, 1_000_000), 2_000_000_000);
        assert_eq!(price.of(u64::MAX, u64::MAX), u64::MAX);
    }
}
