//! URLs that may be called: http or https, a host, no credentials; never a place where a key could leak.

use crate::spec::mask::quoted;
use crate::spec::node::Span;
use crate::spec::problem::{Code, Problem};

/// Why a URL may not be called.
enum Bad {
    Scheme,
    Credentials,
    Host,
    Query,
    Characters,
}

/// Reports what is wrong with this URL. Its text is shown only where it cannot hold a key.
pub fn check(url: &str, span: Span, problems: &mut Vec<Problem>) -> bool {
    let Err(bad) = split(url) else { return true };
    let (code, message, help) = match bad {
        Bad::Scheme => (Code::BadAddress, "the URL must begin with `https://` or `http://`", "write the whole URL"),
        Bad::Credentials => {
            (Code::Secret, "the URL holds a user name or password", "remove it and name the key's environment variable")
        }
        Bad::Host => {
            (Code::BadAddress, "the URL has no host that can be called", "write it like `https://host:8080/v1`")
        }
        Bad::Query => (
            Code::BadAddress,
            "the URL has a query or a fragment",
            "remove everything from `?` or `#` on; query parameters have a key of their own",
        ),
        Bad::Characters => (Code::BadAddress, "the URL has characters that do not belong there", "percent-encode them"),
    };
    let problem = Problem::new(code, span, message).help(help);
    problems.push(if matches!(bad, Bad::Credentials | Bad::Query) { problem.hidden() } else { problem });
    false
}

/// Scheme, host and path of a URL without credentials, query and fragment.
fn split(url: &str) -> Result<(), Bad> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://")).ok_or(Bad::Scheme)?;
    let (authority, path) = rest.find(['/', '?', '#']).map_or((rest, ""), |at| rest.split_at(at));
    if authority.contains('@') {
        return Err(Bad::Credentials);
    }
    if rest.contains(['?', '#']) {
        return Err(Bad::Query);
    }
    if !host_and_port(authority) {
        return Err(Bad::Host);
    }
    let fits = |c: char| c.is_ascii_alphanumeric() || "-._~!$&'()*+,;=:@%/{}".contains(c);
    if path.chars().all(fits) && !path.split('/').any(|part| part == "..") { Ok(()) } else { Err(Bad::Characters) }
}

fn host_and_port(authority: &str) -> bool {
    if let Some((host, rest)) = authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        let fits = rest.is_empty() || rest.strip_prefix(':').is_some_and(plain_port);
        return fits && host.parse::<std::net::Ipv6Addr>().is_ok();
    }
    let (host, port) = authority.split_once(':').unwrap_or((authority, "80"));
    plain_host(host) && plain_port(port)
}

fn plain_port(port: &str) -> bool {
    port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok_and(|port| port > 0)
}

fn plain_host(host: &str) -> bool {
    let label = |part: &str| {
        let plain = part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
        !part.is_empty() && part.len() <= 63 && plain && !part.starts_with('-') && !part.ends_with('-')
    };
    host.len() <= 253 && host.strip_suffix('.').unwrap_or(host).split('.').all(label)
}

/// The names between `{` and `}` in the path of a URL, or where the braces do not match.
pub fn path_variables(url: &str, span: &Span, problems: &mut Vec<Problem>) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = url;
    while let Some(at) = rest.find(['{', '}']) {
        let (brace, after) = rest[at..].split_at(1);
        match after.find(['{', '}']) {
            Some(end) if brace == "{" && after[end..].starts_with('}') && end > 0 => {
                names.push(after[..end].to_owned());
                rest = &after[end + 1..];
            }
            _ => {
                let message = format!("a brace in {} has no partner", quoted(url));
                let problem = Problem::new(Code::Placeholder, span.clone(), message);
                problems.push(problem.help("write a snapshot variable as `{name}`"));
                return names;
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_http_addresses_are_taken() {
        let good = [
            "https://api.openai.com/v1",
            "http://localhost:8000",
            "http://127.0.0.1:9200/{index}/_search",
            "https://[::1]:8443/v1",
            "http://vllm_server:8000/v1",
        ];
        for url in good {
            assert!(check(url, 0..0, &mut Vec::new()), "{url}");
        }
        let bad = [
            "ftp://host",
            "host/v1",
            "https://",
            "https:///v1",
            "https://u:p@host/v1",
            "https://host/v1?key=abc",
            "https://host/#x",
            "https://host:0/",
            "https://host:99999/",
            "https://ho st/",
            "https://{index}.host/",
            "https://host/a b",
            "https://host/../x",
            "https://-host/",
            "https://[::1/",
            "file:///etc/passwd",
            "https://a..b/",
        ];
        for url in bad {
            let mut problems = Vec::new();
            assert!(!check(url, 0..0, &mut problems) && problems.len() == 1, "{url}");
        }
    }

    #[test]
    fn braces_in_a_path_name_variables() {
        let mut problems = Vec::new();
        assert_eq!(path_variables("http://h/{a}/x/{b}", &(0..0), &mut problems), ["a", "b"]);
        assert!(problems.is_empty());
        for url in ["http://h/{a", "http://h/a}", "http://h/{}", "http://h/{{a}}"] {
            let mut problems = Vec::new();
            path_variables(url, &(0..0), &mut problems);
            assert_eq!(problems.len(), 1, "{url}");
        }
    }
}
