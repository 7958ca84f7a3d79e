//! What servers say of their limits beside a reply. Only one thing is made of it: where nothing is left, how long to wait
//! for the next call. A limit of 0 or -1, a reset that has passed, and whatever else cannot be meant says nothing.

use super::Reply;
use super::wish::clock;
use jiff::Timestamp;
use std::time::Duration;

/// The longest wait that rate headers alone can ask for.
const LONGEST: Duration = Duration::from_mins(1);

/// One limit's headers: how much there is, how much is left, and when all of it is back.
struct Names {
    limit: &'static str,
    remaining: &'static str,
    reset: &'static str,
    /// Whether tokens are counted, not requests.
    tokens: bool,
}

const KNOWN: [Names; 4] = [
    Names {
        limit: "x-ratelimit-limit-requests",
        remaining: "x-ratelimit-remaining-requests",
        reset: "x-ratelimit-reset-requests",
        tokens: false,
    },
    Names {
        limit: "x-ratelimit-limit-tokens",
        remaining: "x-ratelimit-remaining-tokens",
        reset: "x-ratelimit-reset-tokens",
        tokens: true,
    },
    Names {
        limit: "anthropic-ratelimit-requests-limit",
        remaining: "anthropic-ratelimit-requests-remaining",
        reset: "anthropic-ratelimit-requests-reset",
        tokens: false,
    },
    Names {
        limit: "anthropic-ratelimit-tokens-limit",
        remaining: "anthropic-ratelimit-tokens-remaining",
        reset: "anthropic-ratelimit-tokens-reset",
        tokens: true,
    },
];

/// The headers that are read here.
pub(super) fn headers() -> impl Iterator<Item = &'static str> {
    KNOWN.iter().flat_map(|names| [names.limit, names.remaining, names.reset])
}

/// How long no further call should be made, where the headers say that nothing is left. Limits fill up steadily, so that the
/// wait is the part of the reset that one more call like this one, of so many tokens, needs.
#[must_use]
pub fn hold(reply: &Reply, tokens: u64, now: Timestamp) -> Option<Duration> {
    let now = clock(reply, now);
    KNOWN.iter().filter_map(|names| names.hold(reply, tokens, now)).max()
}

impl Names {
    fn hold(&self, reply: &Reply, tokens: u64, now: Timestamp) -> Option<Duration> {
        let number = |name| reply.header(name)?.trim().parse::<i64>().ok();
        let limit = u32::try_from(number(self.limit)?).ok().filter(|limit| *limit > 0)?;
        if number(self.remaining)? != 0 {
            return None;
        }
        let reset = reset(reply.header(self.reset)?.trim(), now)?;
        let needed = if self.tokens { tokens.clamp(1, u64::from(limit)) } else { 1 };
        let needed = u32::try_from(needed).unwrap_or(limit);
        let wait = reset.mul_f64(f64::from(needed) / f64::from(limit));
        Some(wait.min(LONGEST)).filter(|wait| !wait.is_zero())
    }
}

/// Until when all is back: seconds, a duration such as `6m0s`, or a date.
fn reset(text: &str, now: Timestamp) -> Option<Duration> {
    if let Ok(then) = text.parse::<Timestamp>() {
        return Duration::try_from(then.duration_since(now)).ok();
    }
    if text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return Duration::try_from_secs_f64(text.parse().ok()?).ok();
    }
    let mut rest = text;
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').filter(|at| *at > 0)?;
        let (number, after) = rest.split_at(digits);
        let unit = after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len());
        seconds += number.parse::<f64>().ok()? * in_seconds(&after[..unit])?;
        rest = &after[unit..];
    }
    Duration::try_from_secs_f64(seconds).ok()
}

fn in_seconds(unit: &str) -> Option<f64> {
    Some(match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3_600.0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(headers: &[(&str, &str)]) -> Option<u128> {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let reply = Reply { status: 200, headers, body: Vec::new(), latency: Duration::ZERO };
        hold(&reply, 500, "2026-11-30T12:00:00Z".parse().unwrap()).map(|wait| wait.as_millis())
    }

    fn requests(limit: &str, remaining: &str, reset: &str) -> Option<u128> {
        held(&[
            ("x-ratelimit-limit-requests", limit),
            ("x-ratelimit-remaining-requests", remaining),
            ("x-ratelimit-reset-requests", reset),
        ])
    }

    #[test]
    fn where_nothing_is_left_the_next_call_waits_for_its_part() {
        assert_eq!(requests("60", "0", "1m0s"), Some(1_000));
        assert_eq!(requests("10", "0", "6s"), Some(600));
        assert_eq!(requests("1", "0", "120ms"), Some(120));
        assert_eq!(requests("1", "0", "2h"), Some(60_000));
        assert_eq!(requests("2", "0", "1.5"), Some(750));
        let tokens = [
            ("anthropic-ratelimit-tokens-limit", "1000"),
            ("anthropic-ratelimit-tokens-remaining", "0"),
            ("anthropic-ratelimit-tokens-reset", "2026-11-30T12:00:10Z"),
        ];
        assert_eq!(held(&tokens), Some(5_000));
    }

    #[test]
    fn what_cannot_be_meant_says_nothing() {
        for (limit, remaining, reset) in [
            ("60", "1", "1m0s"),
            ("-1", "-1", "0"),
            ("0", "0", "1s"),
            ("60", "-1", "1s"),
            ("60", "0", "0s"),
            ("60", "0", "-1s"),
            ("60", "0", "soon"),
            ("60", "0", ""),
            ("60", "0", "1x"),
            ("60", "0", "2020-01-01T00:00:00Z"),
            ("many", "0", "1s"),
            ("99999999999999999999", "0", "1s"),
        ] {
            assert_eq!(requests(limit, remaining, reset), None, "{limit} {remaining} {reset}");
        }
        assert_eq!(held(&[("x-ratelimit-remaining-requests", "0")]), None);
    }
}
