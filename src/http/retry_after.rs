//! How long a server asks to wait.

use super::Reply;
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use std::time::Duration;

/// The wait that a reply asks for: `retry-after-ms`, else `retry-after` in seconds or as an HTTP date. `None` where
/// there is no such header or it cannot be read; a date in the past is a wait of zero.
#[must_use]
pub fn retry_after(reply: &Reply, now: Timestamp) -> Option<Duration> {
    let milliseconds = reply.header("retry-after-ms").and_then(|text| seconds(text, 1000.0));
    milliseconds.or_else(|| {
        let text = reply.header("retry-after")?;
        seconds(text, 1.0).or_else(|| until(text, now))
    })
}

/// A plain decimal number of units, rounded up to whole milliseconds.
fn seconds(text: &str, units_in_second: f64) -> Option<Duration> {
    let text = text.trim();
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let value: f64 = if plain { text.parse().ok()? } else { return None };
    Duration::try_from_secs_f64(value / units_in_second).ok()
}

fn until(text: &str, now: Timestamp) -> Option<Duration> {
    static PARSER: DateTimeParser = DateTimeParser::new();
    let then = PARSER.parse_timestamp(text.trim()).ok()?;
    let milliseconds = then.as_millisecond().saturating_sub(now.as_millisecond());
    Some(Duration::from_millis(u64::try_from(milliseconds).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(headers: &[(&str, &str)]) -> Option<Duration> {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let reply = Reply { status: 429, headers, body: Vec::new(), latency: Duration::ZERO };
        let now = "1994-11-06T08:49:07Z".parse().unwrap();
        retry_after(&reply, now)
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
    fn what_is_no_wait_is_ignored() {
        for text in ["", "soon", "-1", "NaN", "inf", "1e3", "1.2.3", "99999999999999999999999999"] {
            assert_eq!(wait(&[("retry-after", text)]), None, "{text}");
        }
        assert_eq!(wait(&[]), None);
    }
}
