//! Language models behind servers, one way for generators and judges.

use super::address;
use crate::model::{KeyHeader, LimitName, ModelServer, OutputLimit, Price, RateLimit, Structured, Wire};
use crate::spec::node::{Entry, Node};
use crate::spec::problem::{Code, Problem};
use crate::spec::reader::Reader;

/// The keys that name a server, each with its interface.
const WIRES: [(&str, Wire); 3] =
    [("openai", Wire::Completions), ("responses", Wire::Responses), ("anthropic", Wire::Messages)];

/// The limits of what is written, by the names that interfaces give them.
const LIMITS: [LimitName; 3] = [LimitName::MaxTokens, LimitName::MaxCompletionTokens, LimitName::MaxOutputTokens];

/// The version of Anthropic's interface from which on it takes no controls of sampling.
const WITHOUT_SAMPLING: &str = "2026-10-21";

/// The section of a server, and its interface, where one stands in this one.
pub fn named(section: Reader<'_>) -> Option<(Reader<'_>, Wire)> {
    WIRES.into_iter().find_map(|(key, wire)| Some((section.section(key)?, wire)))
}

/// The server of its section.
pub fn server((section, wire): (Reader<'_>, Wire), problems: &mut Vec<Problem>) -> Option<ModelServer> {
    let base_url = section.text("base_url");
    if let Some(url) = &base_url {
        base_address(url, section, problems);
    }
    extras(section, wire, problems);
    sampling(section, wire, problems);
    let output_limit = output_limit(section, problems);
    Some(ModelServer {
        wire,
        model: section.text("model")?,
        base_url: base_url?.trim_end_matches('/').to_owned(),
        key_env: section.text("key_env"),
        key_header: match section.word("key_header")? {
            "api-key" => KeyHeader::ApiKey,
            "x-api-key" => KeyHeader::XApiKey,
            _ => KeyHeader::Bearer,
        },
        api_version: match wire {
            Wire::Messages => Some(section.word("api_version")?.to_owned()),
            Wire::Completions | Wire::Responses => section.text("api_version"),
        },
        temperature: match section.decimal("temperature") {
            Some((_, written)) => Some(serde_json::from_str(&written).ok()?),
            None => None,
        },
        output_limit,
        structured: match section.word("structured")? {
            "json_object" => Structured::JsonObject,
            "plain" => Structured::Plain,
            _ => Structured::JsonSchema,
        },
        timeout_seconds: section.small("timeout_seconds")?,
        extra: section.json_map("extra")?,
        price: section.section("price").and_then(price),
        rate_limit: rate_limit(section),
    })
}

/// How much a server may be asked.
pub fn rate_limit(section: Reader<'_>) -> RateLimit {
    section.section("rate_limit").map_or_else(RateLimit::default, |section| RateLimit {
        requests_per_minute: section.integer("requests_per_minute"),
        tokens_per_minute: section.integer("tokens_per_minute"),
    })
}

/// What tokens cost.
pub fn price(section: Reader<'_>) -> Option<Price> {
    Some(Price { input: section.decimal("input")?.0, output: section.decimal("output")?.0 })
}

/// Whether a base URL may be called; reports what is wrong with it.
pub fn base_address(url: &str, section: Reader<'_>, problems: &mut Vec<Problem>) -> bool {
    let span = section.span("base_url");
    if !address::check(url, span.clone(), problems) {
        return false;
    }
    if url.contains(['{', '}']) {
        let problem = Problem::new(Code::Placeholder, span, "a base URL has no placeholders");
        problems.push(problem.help("write the whole URL"));
        return false;
    }
    true
}

/// Members of the request body that this program writes itself.
const fn own(wire: Wire) -> &'static [&'static str] {
    match wire {
        Wire::Completions => &[
            "model",
            "messages",
            "stream",
            "n",
            "response_format",
            "temperature",
            "max_tokens",
            "max_completion_tokens",
        ],
        Wire::Responses => {
            &["model", "input", "stream", "background", "temperature", "max_output_tokens", "text.format"]
        }
        Wire::Messages => {
            &["model", "messages", "system", "stream", "temperature", "max_tokens", "output_config.format"]
        }
    }
}

fn extras(section: Reader<'_>, wire: Wire, problems: &mut Vec<Problem>) {
    for entry in section.node("extra").map_or(&[][..], Node::entries) {
        refuse_own(entry, &entry.key, wire, problems);
        for inner in entry.value.entries() {
            refuse_own(inner, &format!("{}.{}", entry.key, inner.key), wire, problems);
        }
    }
}

fn refuse_own(entry: &Entry, path: &str, wire: Wire, problems: &mut Vec<Problem>) {
    if own(wire).contains(&path) {
        let message = format!("`{path}` is written by this program itself");
        let problem = Problem::new(Code::Conflict, entry.key_span.clone(), message);
        problems.push(problem.help("use the key of that name beside `extra` where there is one, else remove it"));
    }
}

/// The newer version of Anthropic's interface takes no controls of sampling, not even at their defaults.
fn sampling(section: Reader<'_>, wire: Wire, problems: &mut Vec<Problem>) {
    if wire != Wire::Messages || section.word("api_version") != Some(WITHOUT_SAMPLING) {
        return;
    }
    let extra = section.node("extra").map_or(&[][..], Node::entries).iter();
    let extra = extra.filter(|entry| ["top_p", "top_k"].contains(&entry.key.as_str()));
    let refused = extra.map(|entry| (entry.key.as_str(), entry.key_span.clone()));
    let temperature = section.node("temperature").map(|node| ("temperature", node.span.clone()));
    for (name, span) in temperature.into_iter().chain(refused) {
        let message = format!("version `{WITHOUT_SAMPLING}` of the interface refuses `{name}`");
        let problem = Problem::new(Code::Conflict, span, message);
        problems.push(problem.help(format!("remove `{name}`, or write `api_version: 2023-06-01`")));
    }
}

fn output_limit(section: Reader<'_>, problems: &mut Vec<Problem>) -> Option<OutputLimit> {
    let standing = LIMITS.into_iter().filter(|name| section.node(name.as_str()).is_some()).collect::<Vec<_>>();
    if let [first, second, ..] = standing.as_slice() {
        let message = format!("`{}` and `{}` say the same", first.as_str(), second.as_str());
        let problem = Problem::new(Code::Conflict, section.span(second.as_str()), message);
        problems.push(problem.related(section.span(first.as_str()), "the first one").help("keep one of them"));
    }
    LIMITS.into_iter().find_map(|name| Some(OutputLimit { name, tokens: section.small(name.as_str())? }))
}
