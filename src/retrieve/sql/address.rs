//! The address of a PostgreSQL server, as the environment has it. It is a secret: of what stands in it, nothing is ever
//! shown but the names of settings that everybody knows.

use super::tls::{self, Tls, Trust};
use crate::model::{Failure, FailureClass};
use std::borrow::Cow;
use std::net::IpAddr;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, SslNegotiation};

/// Where a server is, and how it is spoken to.
pub(super) struct Address {
    /// What the library is told. Its mode is `Disable` or `Require`, and nothing between.
    pub config: Config,
    /// The name that the server's certificate must have, or the folder of its socket.
    pub host: Host,
    pub port: u16,
    /// Whose certificates are trusted.
    pub trust: Trust,
}

/// Settings of other clients that this one does not take, each with what to do instead.
const FOREIGN: &[(&str, &str)] = &[
    ("sslcert", NO_CLIENT_CERTIFICATE),
    ("sslkey", NO_CLIENT_CERTIFICATE),
    ("sslpassword", NO_CLIENT_CERTIFICATE),
    ("sslcrl", "take it out; certificates are held against authorities alone"),
    ("sslcrldir", "take it out; certificates are held against authorities alone"),
    ("sslcompression", REMOVE),
    ("sslsni", REMOVE),
    ("ssl_min_protocol_version", "take it out; TLS 1.2 and 1.3 are spoken"),
    ("ssl_max_protocol_version", "take it out; TLS 1.2 and 1.3 are spoken"),
    ("gssencmode", REMOVE),
    ("krbsrvname", REMOVE),
    ("requirepeer", REMOVE),
    ("require_auth", REMOVE),
    ("service", "write the host, the database and the user into the address"),
    ("passfile", "write the password into the address"),
    ("schema", "let the query name the schema: `FROM {schema}.docs`"),
    ("pgbouncer", "take it out; poolers in transaction mode are spoken to as servers are"),
    ("prepareThreshold", REMOVE),
    ("statement_cache_size", REMOVE),
    ("connection_limit", "take it out; `retrieve.concurrency` is the number of connections"),
    ("pool_timeout", REMOVE),
    ("ssl", "write `sslmode=require`"),
];
const NO_CLIENT_CERTIFICATE: &str = "take it out; whoever asks shows a password, not a certificate";
const REMOVE: &str = "take it out";

/// The values of `sslmode`, in the order in which messages name them.
const MODES: &[&str] = &["verify-full", "verify-ca", "require", "prefer", "disable"];

impl Address {
    /// Reads the address that this environment variable holds.
    ///
    /// # Errors
    /// The address is none, or asks for what is not done.
    pub(super) fn read(text: &str, variable: &str) -> Result<Self, Failure> {
        let unread = |what: &str| refused(variable, what, SHAPE);
        let (text, trust) = plain(text.trim()).map_err(|(what, hint)| refused(variable, &what, hint))?;
        let mut config: Config = text.parse().map_err(|_| unread("cannot be read"))?;
        let [host] = config.get_hosts() else { return Err(unread("does not name exactly one host")) };
        let host = host.clone();
        let port = config.get_ports().first().copied().unwrap_or(5432);
        let is_direct = config.get_ssl_negotiation() == SslNegotiation::Direct;
        let is_here = !is_direct && trust == Trust::System && is_here(&host, config.get_hostaddrs());
        config.ssl_mode(mode(config.get_ssl_mode(), &host, is_here));
        if is_direct && config.get_ssl_mode() == SslMode::Disable {
            return Err(refused(variable, "has `sslnegotiation=direct` where there is no TLS", DIRECT));
        }
        config.application_name("churngate");
        Ok(Self { config, host, port, trust })
    }

    /// Where to connect to over TCP: the numeric address where one is given, so that no name has to be looked up.
    pub(super) fn place(&self, name: &str) -> String {
        self.config.get_hostaddrs().first().map_or_else(|| name.to_owned(), IpAddr::to_string)
    }

    /// What makes its connections TLS ones, where the server is spoken to over TLS.
    ///
    /// # Errors
    /// There is nothing to hold its certificate against, or its host is no name that a certificate can be of.
    pub(super) fn tls(&self, variable: &str) -> Result<Option<Tls>, Failure> {
        let (Host::Tcp(name), true) = (&self.host, self.has_tls()) else { return Ok(None) };
        let name = name
            .clone()
            .try_into()
            .map_err(|_| refused(variable, "names a host that no certificate can be of", SHAPE))?;
        let is_direct = self.config.get_ssl_negotiation() == SslNegotiation::Direct;
        let client = tls::client(&self.trust, is_direct).map_err(|(what, hint)| refused(variable, what, hint))?;
        Ok(Some(Tls { name, client }))
    }

    /// Whether the server is spoken to over TLS.
    pub(super) fn has_tls(&self) -> bool {
        self.config.get_ssl_mode() == SslMode::Require
    }
}

fn refused(variable: &str, what: &str, hint: &str) -> Failure {
    let message = format!("the address of the database, in the environment variable `{variable}`, {what}");
    Failure::new(FailureClass::Usage, message).with_hint(hint)
}

const SHAPE: &str =
    "write it as `postgres://reader:PASSWORD@host:5432/docs`; what is not plain in it is percent-encoded";

const DIRECT: &str = "write `sslmode=require` beside it; or take it out, as for a Unix socket";

/// Whether no network lies between. Where there is an address beside the name, that is where connections go.
fn is_here(host: &Host, addresses: &[IpAddr]) -> bool {
    let Host::Tcp(name) = host else { return true };
    let of_name = name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    of_name && addresses.iter().all(IpAddr::is_loopback)
}

/// Whoever says nothing of TLS, which is `Prefer` to the library, gets it, except where no network lies between and no authority
/// is named. A socket has none, as for PostgreSQL's own clients.
fn mode(said: SslMode, host: &Host, is_here: bool) -> SslMode {
    match host {
        #[cfg(unix)]
        Host::Unix(_) => SslMode::Disable,
        Host::Tcp(_) if said == SslMode::Prefer => {
            if is_here {
                SslMode::Disable
            } else {
                SslMode::Require
            }
        }
        Host::Tcp(_) => said,
    }
}

/// What stands against an address, and what to do about it.
type Objection = (String, &'static str);

/// The address in words that the library has, and whom to trust: a certificate is always held against authorities and the
/// host's name, so that the strict modes ask for what `require` gets.
fn plain(text: &str) -> Result<(String, Trust), Objection> {
    let (before, settings, between) = settings(text);
    let (mut kept, mut trust) = (Vec::new(), Trust::System);
    for Setting { name, value, whole } in settings {
        match name {
            "sslmode" if !MODES.contains(&&*value) => {
                let what = format!("has an `sslmode` that is none of {}", MODES.join(", "));
                return Err((what, "write `sslmode=verify-full`; no mode tries without TLS what asked for TLS"));
            }
            "sslmode" if value.starts_with("verify") => kept.push("sslmode=require"),
            "sslrootcert" if value == "system" => trust = Trust::System,
            "sslrootcert" => trust = Trust::File(value.into_owned().into()),
            _ => match FOREIGN.iter().find(|(foreign, _)| *foreign == name) {
                Some((foreign, hint)) => return Err((format!("has the setting `{foreign}`, which is not read"), hint)),
                None => kept.push(whole),
            },
        }
    }
    Ok((before.to_owned() + &kept.join(between), trust))
}

/// One setting: its name, its value, and both as they stand in the address.
struct Setting<'a> {
    name: &'a str,
    value: Cow<'a, str>,
    whole: &'a str,
}

/// What stands before the settings, the settings, and what stands between two of them.
fn settings(text: &str) -> (&str, Vec<Setting<'_>>, &'static str) {
    if !["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme)) {
        return ("", pairs(text), " ");
    }
    let Some(from) = text.rfind('?') else { return (text, Vec::new(), "&") };
    let (before, query) = text.split_at(from + 1);
    let setting = |whole| {
        let (name, value) = str::split_once(whole, '=').unwrap_or((whole, ""));
        Setting { name, value: decoded(value), whole }
    };
    (before, query.split('&').map(setting).collect(), "&")
}

/// Pairs such as `host=db.example password='a b'`. What comes after a pair that never ends belongs to it.
fn pairs(mut text: &str) -> Vec<Setting<'_>> {
    let mut pairs = Vec::new();
    while !text.trim_start().is_empty() {
        text = text.trim_start();
        let (name, after) = text.split_once('=').unwrap_or((text, ""));
        let (value, rest) = quoted(after.trim_start());
        pairs.push(Setting { name: name.trim_end(), value: value.into(), whole: &text[..text.len() - rest.len()] });
        text = rest;
    }
    pairs
}

/// A value with its quotes and backslashes taken away, and what follows it.
fn quoted(text: &str) -> (String, &str) {
    let body = text.strip_prefix('\'');
    let (mut value, mut rest) = (String::new(), body.unwrap_or(text).chars());
    loop {
        let here = rest.as_str();
        match rest.next() {
            None => return (value, here),
            Some('\\') => value.extend(rest.next()),
            Some('\'') if body.is_some() => return (value, rest.as_str()),
            Some(letter) if letter.is_whitespace() && body.is_none() => return (value, here),
            Some(letter) => value.push(letter),
        }
    }
}

/// A value of a URL without its percent signs; as it stands where it comes to no text.
fn decoded(value: &str) -> Cow<'_, str> {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| *first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    String::from_utf8(bytes).map_or(Cow::Borrowed(value), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::{Address, plain};
    use crate::retrieve::sql::tls::Trust;
    use tokio_postgres::config::SslMode;

    fn read(text: &str) -> Address {
        Address::read(text, "DOCS_URL").unwrap()
    }

    fn refused(text: &str) -> String {
        Address::read(text, "DOCS_URL").err().unwrap().to_string()
    }

    #[test]
    fn tls_that_is_asked_for_is_kept_however_it_is_written_and_without_a_word_a_network_gets_it() {
        let mode = |text: &str| read(text).config.get_ssl_mode();
        for address in [
            "host=localhost sslmode = require",
            "host=localhost sslmode=verify-full password=a?b",
            "host=localhost sslmode='verify-ca'",
            "postgres://localhost/d?sslmode=verify%2Dfull",
            "postgres://db.example/d",
            "postgres://db.example/d?sslmode=prefer",
            "host=db.example password='sslmode=disable'",
            "postgres://localhost/d?hostaddr=192.0.2.7",
            "host=127.0.0.1 hostaddr=192.0.2.7",
            "postgres://localhost/d?sslrootcert=/etc/ca.pem",
            "postgres://localhost/d?sslnegotiation=direct",
        ] {
            assert_eq!(mode(address), SslMode::Require, "{address}");
        }
        for address in [
            "postgres://localhost/d",
            "host=localhost hostaddr=127.0.0.2",
            "host=db.example sslmode = disable",
            "host=/run/pg sslmode=require",
        ] {
            assert_eq!(mode(address), SslMode::Disable, "{address}");
        }
    }

    #[test]
    fn strict_modes_are_those_that_hold_anyway_and_nothing_else_of_an_address_changes() {
        for (address, expected) in [
            ("postgres://a@h/d?sslmode=verify-full&x=1", "postgres://a@h/d?sslmode=require&x=1"),
            ("host=h sslmode=verify-ca user=a", "host=h sslmode=require user=a"),
            (
                "host=h password='a sslmode=verify-ca \\' b' user=a",
                "host=h password='a sslmode=verify-ca \\' b' user=a",
            ),
            ("postgres://sslmode=verify-ca@h/d?a=1", "postgres://sslmode=verify-ca@h/d?a=1"),
            ("postgres://a:p%3Fw@h/d", "postgres://a:p%3Fw@h/d"),
        ] {
            assert_eq!(plain(address).unwrap(), (expected.to_owned(), Trust::System));
        }
    }

    #[test]
    fn an_authority_of_ones_own_is_named_in_either_form() {
        let file = |path: &str| Trust::File(path.into());
        for (address, expected) in [
            ("postgres://h/d?sslmode=verify-full&sslrootcert=%2Fetc%2Fmy%20ca.pem", file("/etc/my ca.pem")),
            ("host=h sslrootcert = 'a\\'b c.pem' dbname=d", file("a'b c.pem")),
            ("host=h sslrootcert=system", Trust::System),
        ] {
            assert_eq!(read(address).trust, expected, "{address}");
        }
    }

    #[test]
    fn what_is_not_done_is_refused_by_its_name_and_by_the_variable_and_nothing_else_is_shown() {
        for (address, reason) in [
            ("postgres://u:s3cr3t@h/d?sslmode=allow", "none of verify-full, verify-ca, require, prefer, disable"),
            ("postgres://u:s3cr3t@h/d?sslkey=s3cr3t.pem", "`sslkey`, which is not read"),
            ("postgres://u:s3cr3t@h/d?pgbouncer=true", "`pgbouncer`, which is not read"),
            ("host=h password=s3cr3t sslcert=s3cr3t", "`sslcert`, which is not read"),
            ("postgres://u:s3cr3t@h/d?s3cr3t=s3cr3t", "cannot be read"),
            (
                "postgres://u:s3cr3t@h/d?sslnegotiation=direct&sslmode=disable",
                "`sslnegotiation=direct` where there is no TLS",
            ),
            ("host=/run/pg password=s3cr3t sslnegotiation=direct", "`sslnegotiation=direct` where there is no TLS"),
            ("postgres://u:s3cr3t@h,i/d", "does not name exactly one host"),
            ("password=s3cr3t", "does not name exactly one host"),
            ("s3cr3t", "cannot be read"),
            ("host=h password='s3cr3t", "cannot be read"),
        ] {
            let said = refused(address);
            assert!(said.contains(reason) && said.contains("`DOCS_URL`"), "{address}: {said}");
            assert!(!said.contains("s3cr3t"), "{said}");
        }
    }
}
