//! What a server that gives no answer says of the next call: whether it has too many of them, and how long to wait.

use super::Reply;
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use serde_json::Value;
use std::time::Duration;

/// The headers that are read here.
pub(super) const HEADERS: [&str; 3] = [DATE, RETRY_AFTER, RETRY_AFTER_MS];
const DATE: &str = "date";
const RETRY_AFTER: &str = "retry-after";
const RETRY_AFTER_MS: &str = "retry-after-ms";

/// What a reply that is no answer says of the next call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// Whether it refuses the call because there are too many: the call itself is as good as any other.
    pub refused: bool,
    /// How long the server asks to wait.
    pub wait: Option<Duration>,
}

impl Wish {
    /// Nothing.
    pub const NONE: Self = Self { refused: false, wait: None };

    /// What this reply says: 429, 529 and 503 refuse a call for there being too many, and so does any error of the server's own
    /// that says when to come back.
    #[must_use]
    pub fn of(reply: &Reply, now: Timestamp) -> Self {
        let wait = retry_after(reply, now).or_else(|| retry_info(reply));
        let refused = match reply.status {
            429 | 503 | 529 => true,
            500..=599 => wait.is_some(),
            _ => false,
        };
        Self { refused, wait }
    }
}

/// The wait that a reply asks for: `retry-after-ms`, else `retry-after` in seconds or as an HTTP date. `None` where
/// there is no such header or it cannot be read; a date in the past is a wait of zero.
#[must_use]
pub fn retry_after(reply: &Reply, now: Timestamp) -> Option<Duration> {
    let milliseconds = reply.header(RETRY_AFTER_MS).and_then(|text| seconds(text, 1000.0));
    milliseconds.or_else(|| {
        let text = reply.header(RETRY_AFTER)?;
        seconds(text, 1.0).or_else(|| until(text, clock(reply, now)))
    })
}

/// The time by the server's own clock, which its dates are meant by; ours where it does not tell.
#[must_use]
pub fn clock(reply: &Reply, now: Timestamp) -> Timestamp {
    reply.header(DATE).and_then(date).unwrap_or(now)
}

/// The wait that Google's interfaces ask for: the `retryDelay` of a `RetryInfo` in the details of their errors, such as `34.07s`.
fn retry_info(reply: &Reply) -> Option<Duration> {
    let body: Value = super::json(&reply.body).ok()?;
    let details = body.pointer("/error/details").or_else(|| body.pointer("/0/error/details"))?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay"))?.as_str()?;
    seconds(delay.strip_suffix('s')?, 1.0)
}

/// A plain decimal number of units, rounded up to whole milliseconds.
fn seconds(text: &str, units_in_second: f64) -> Option<Duration> {
    let text = text.trim();
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let value: f64 = if plain { text.parse().ok()? } else { return None };
    Duration::try_from_secs_f64(value / units_in_second).ok()
}

fn until(text: &str, now: Timestamp) -> Option<Duration> {
    let milliseconds = date(text)?.as_millisecond().saturating_sub(now.as_millisecond());
    Some(Duration::from_millis(u64::try_from(milliseconds).unwrap_or(0)))
}

fn date(text: &str) -> Option<Timestamp> {
    static PARSER: DateTimeParser = DateTimeParser::new();
    PARSER.parse_timestamp(text.trim()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(status: u16, headers: &[(&str, &str)], body: &str) -> Reply {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Reply { status, headers, body: body.as_bytes().to_vec(), latency: Duration::ZERO }
    }

    fn said(status: u16, headers: &[(&str, &str)], body: &str) -> Wish {
        Wish::of(&reply(status, headers, body), "1994-11-06T08:49:07Z".parse().unwrap())
    }

    fn wait(headers: &[(&str, &str)]) -> Option<Duration> {
        said(429, headers, "").wait
    }

    #[test]
    fn seconds_dates_and_milliseconds_are_understood() {
        assert_eq!(wait(&[("retry-after", "89")]), Some(Duration::from_secs(89)));
        assert_eq!(wait(&[("retry-after", " 1.5 ")]), Some(Duration::from_millis(1500)));
        assert_eq!(wait(&[("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")]), Some(Duration::from_secs(30)));
        assert_eq!(wait(&[("retry-after", "89"), ("retry-after-ms", "250")]), Some(Duration::from_millis(250)));
    }

    #[test]
    fn dates_in_the_past_are_no_wait() {
        assert_eq!(wait(&[("retry-after", "Sat, 05 Nov 1994 08:49:37 GMT")]), Some(Duration::ZERO));
    }

    #[test]
    fn dates_are_meant_by_the_servers_clock_where_it_tells_its_time() {
        let then = ("retry-after", "Sun, 06 Nov 1994 08:51:09 GMT");
        assert_eq!(wait(&[then]), Some(Duration::from_secs(122)));
        assert_eq!(wait(&[("date", "Sun, 06 Nov 1994 08:51:07 GMT"), then]), Some(Duration::from_secs(2)));
        assert_eq!(wait(&[("date", "Sun, 06 Nov 1994 08:41:09 GMT"), then]), Some(Duration::from_mins(10)));
        assert_eq!(wait(&[("date", "yesterday"), then]), Some(Duration::from_secs(122)));
    }

    #[test]
    fn what_is_no_wait_is_ignored() {
        for text in ["", "soon", "-1", "NaN", "inf", "1e3", "1.2.3", "99999999999999999999999999"] {
            assert_eq!(wait(&[("retry-after", text)]), None, "{text}");
        }
        assert_eq!(wait(&[]), None);
    }

    #[test]
    fn a_wait_in_the_body_is_understood_where_no_header_tells_one() {
        let info = r#"{"error":{"details":[{"@type":"QuotaFailure"},{"@type":"RetryInfo","retryDelay":"34.5s"}]}}"#;
        for body in [info.to_owned(), format!("[{info}]")] {
            assert_eq!(said(429, &[], &body).wait, Some(Duration::from_millis(34_500)), "{body}");
            assert_eq!(said(429, &[("retry-after", "2")], &body).wait, Some(Duration::from_secs(2)));
        }
        for delay in ["34", "-3s", "s", "1m", "soon"] {
            assert_eq!(said(429, &[], &info.replace("34.5s", delay)).wait, None, "{delay}");
        }
        for body in ["", "[]", "{}", r#"{"error":"slow down"}"#, r#"{"error":{"details":[{"retryDelay":3}]}}"#] {
            assert_eq!(said(429, &[], body).wait, None, "{body}");
        }
    }

    #[test]
    fn what_refuses_for_too_many_calls_is_told_from_what_fails() {
        for status in [429, 503, 529] {
            assert!(said(status, &[], "").refused, "{status}");
        }
        for status in [500, 502, 504, 520] {
            assert!(!said(status, &[], "").refused, "{status}");
            assert!(said(status, &[("retry-after", "1")], "").refused, "{status}");
        }
        for status in [200, 400, 401, 404, 408, 409] {
            assert!(!said(status, &[("retry-after", "1")], "").refused, "{status}");
        }
    }
}
