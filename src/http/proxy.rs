//! Which calls go through a proxy, as the environment says (`HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`). Two rules
//! of our own: the loopback interface is never reached through one, and no key goes through one in the open.

use super::{Call, HeaderText};
use hyper_util::client::proxy::matcher::Matcher;
use reqwest::Url;

/// Whether this URL is on this machine.
#[must_use]
pub fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    bare.parse::<std::net::IpAddr>().map_or_else(
        |_| host.eq_ignore_ascii_case("localhost") || host.to_ascii_lowercase().ends_with(".localhost"),
        |address| address.is_loopback(),
    )
}

/// Whether a proxy stands between this machine and this URL.
#[must_use]
pub fn is_between(url: &Url, proxies: &Matcher) -> bool {
    !is_loopback(url) && url.as_str().parse().is_ok_and(|target| proxies.intercept(&target).is_some())
}

/// Whether a key in this call's headers would be read by a proxy: without encryption the proxy sees every header, with it only
/// where the connection goes to.
#[must_use]
pub fn reads_key(call: &Call, url: &Url, proxies: &Matcher) -> bool {
    let carries_key = call.headers.iter().any(|(_, value)| matches!(value, HeaderText::Secret(_)));
    carries_key && url.scheme() == "http" && is_between(url, proxies)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn call(secret: bool) -> Call {
        let key = if secret { HeaderText::Secret("sesame".to_owned().into()) } else { HeaderText::Plain("x".into()) };
        let headers = vec![("authorization".to_owned(), key)];
        Call { method: "POST", url: String::new(), headers, body: None, timeout: Duration::ZERO, nonce: None }
    }

    #[test]
    fn the_loopback_interface_is_known_by_all_its_names() {
        for url in
            ["http://localhost:1/", "http://LOCALHOST/", "http://a.localhost/", "http://127.9.0.1/", "http://[::1]:8/"]
        {
            assert!(is_loopback(&url.parse().unwrap()), "{url}");
        }
        for url in ["http://localhost.example/", "http://128.0.0.1/", "http://[::2]/", "http://models/"] {
            assert!(!is_loopback(&url.parse().unwrap()), "{url}");
        }
    }

    #[test]
    fn a_key_in_the_open_is_seen_where_a_proxy_stands_in_between() {
        let proxies = Matcher::builder().all("http://proxy:3128").no("inside.example,10.0.0.0/8").build();
        let reads = |url: &str, secret| reads_key(&call(secret), &url.parse().unwrap(), &proxies);
        assert!(reads("http://models.example/v1", true));
        for url in [
            "https://models.example/v1",
            "http://inside.example/v1",
            "http://a.inside.example/v1",
            "http://10.1.2.3/v1",
            "http://127.0.0.1:8000/v1",
        ] {
            assert!(!reads(url, true), "{url}");
        }
        assert!(!reads("http://models.example/v1", false), "there is no key to be read");
        let none = Matcher::builder().build();
        assert!(!reads_key(&call(true), &"http://models.example/v1".parse().unwrap(), &none));
    }
}
