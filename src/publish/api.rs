//! Calls to GitHub's REST interface: one repository, one token, bounded waits.

use super::Pace;
use super::refusal::{Next, Refusal, next};
use super::surroundings::{Surroundings, is_repository};
use crate::http::{Call, CallError, Client, HeaderText, Reply};
use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;
use std::fmt::Write as _;

/// The version of the interface; the one that every server still maintained knows.
const VERSION: &str = "2022-11-28";

/// Items a page, the most that the interface gives.
const PER_PAGE: usize = 100;

/// Pages that are read at most: ten thousand items.
const PAGES: u32 = 100;

/// How often a list is read at most, until two readings are the same.
const READINGS: u32 = 5;

/// The interface of one repository.
#[derive(Debug)]
pub struct Api<'a> {
    client: &'a Client,
    base: String,
    graphql: String,
    repository: String,
    token: SecretString,
    pace: Pace,
}

/// Whether a call may be made again when nobody knows whether the server acted on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Uncertain {
    Repeat,
    Stop,
}

impl<'a> Api<'a> {
    /// The interface that the surroundings name.
    ///
    /// # Errors
    /// No token, or no repository.
    pub fn new(client: &'a Client, around: &Surroundings, pace: Pace) -> Result<Self, Refusal> {
        let token = around.token.clone().filter(|token| !token.expose_secret().is_empty()).ok_or(Refusal::NoAccess)?;
        let base = around.api_url.trim_end_matches('/').to_owned();
        if !is_repository(&around.repository) || base.is_empty() {
            return Err(Refusal::NoAccess);
        }
        let graphql = around.graphql_url.clone().unwrap_or_else(|| graphql_beside(&base));
        Ok(Self { client, base, graphql, repository: around.repository.clone(), token, pace })
    }

    /// Waits until whoever looked before we wrote has written.
    pub(super) async fn pause(&self) {
        tokio::time::sleep(self.pace.again).await;
    }

    /// Reads one thing of the repository. `path` follows the repository's own, such as `pulls/7`.
    ///
    /// # Errors
    /// The server refuses, or its reply cannot be read.
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Refusal> {
        parse(&self.send("GET", self.url(path), None, Uncertain::Repeat).await?)
    }

    /// Whose token it is, as the interface tells it to people's tokens alone.
    ///
    /// # Errors
    /// The server refuses, or its reply cannot be read.
    pub async fn user<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        parse(&self.send("GET", format!("{}/user", self.base), None, Uncertain::Repeat).await?)
    }

    /// Reads all pages of a list.
    ///
    /// # Errors
    /// The server refuses, its reply cannot be read, or the list is longer than is read.
    pub async fn list<T: DeserializeOwned>(&self, path: &str) -> Result<Vec<T>, Refusal> {
        self.pages(path, |items| items).await
    }

    /// Reads all pages of a list from which something may be deleted meanwhile: what stands behind it moves to a page that was read
    /// already, and would be missed. So several pages are read until two readings are of the same items.
    ///
    /// # Errors
    /// As [`list`](Self::list), or the list does not come to rest.
    pub async fn settled<T: DeserializeOwned>(&self, path: &str, id: impl Fn(&T) -> u64) -> Result<Vec<T>, Refusal> {
        let ids = |items: &[T]| items.iter().map(&id).collect::<Vec<_>>();
        let (mut items, pages) = self.read(path, |items| items).await?;
        if pages == 1 {
            return Ok(items);
        }
        for _ in 1..READINGS {
            let (again, pages) = self.read(path, |items| items).await?;
            if pages == 1 || ids(&items) == ids(&again) {
                return Ok(again);
            }
            items = again;
        }
        Err(Refusal::Unsettled)
    }

    /// Reads all pages of a list that each reply holds somewhere.
    ///
    /// # Errors
    /// The server refuses, its reply cannot be read, or the list is longer than is read.
    pub async fn pages<P, T>(&self, path: &str, held: impl Fn(P) -> Vec<T>) -> Result<Vec<T>, Refusal>
    where
        P: DeserializeOwned,
    {
        Ok(self.read(path, held).await?.0)
    }

    /// The items of all pages, and how many pages there were.
    async fn read<P, T>(&self, path: &str, held: impl Fn(P) -> Vec<T>) -> Result<(Vec<T>, u32), Refusal>
    where
        P: DeserializeOwned,
    {
        let mut items = Vec::new();
        let join = if path.contains('?') { '&' } else { '?' };
        for page in 1..=PAGES {
            let url = self.url(&format!("{path}{join}per_page={PER_PAGE}&page={page}"));
            let reply = self.send("GET", url, None, Uncertain::Repeat).await?;
            items.append(&mut held(parse(&reply)?));
            if !has_next(&reply) {
                return Ok((items, page));
            }
        }
        // Who takes a part for the whole takes what stands in the rest for nothing.
        Err(Refusal::TooLong)
    }

    /// Makes something that may be made twice without harm.
    ///
    /// # Errors
    /// The server refuses, or its reply cannot be read.
    pub async fn post<T: DeserializeOwned>(&self, path: &str, body: &serde_json::Value) -> Result<T, Refusal> {
        parse(&self.send("POST", self.url(path), Some(body), Uncertain::Repeat).await?)
    }

    /// Makes something that must not be made twice: where nobody knows whether it was made, the call is not repeated.
    ///
    /// # Errors
    /// The server refuses, or its reply cannot be read.
    pub async fn create<T: DeserializeOwned>(&self, path: &str, body: &serde_json::Value) -> Result<T, Refusal> {
        parse(&self.send("POST", self.url(path), Some(body), Uncertain::Stop).await?)
    }

    /// Changes something.
    ///
    /// # Errors
    /// The server refuses, or its reply cannot be read.
    pub async fn patch<T: DeserializeOwned>(&self, path: &str, body: &serde_json::Value) -> Result<T, Refusal> {
        parse(&self.send("PATCH", self.url(path), Some(body), Uncertain::Repeat).await?)
    }

    /// Deletes something; what is gone already is as good.
    ///
    /// # Errors
    /// The server refuses.
    pub async fn delete(&self, path: &str) -> Result<(), Refusal> {
        match self.send("DELETE", self.url(path), None, Uncertain::Repeat).await {
            Ok(_) | Err(Refusal::NotFound) => Ok(()),
            Err(refusal) => Err(refusal),
        }
    }

    /// Asks the GraphQL interface for what may be asked twice without harm.
    ///
    /// # Errors
    /// The server refuses, or its reply cannot be read.
    pub async fn graphql(&self, query: &str, variables: &serde_json::Value) -> Result<serde_json::Value, Refusal> {
        let body = serde_json::json!({ "query": query, "variables": variables });
        parse(&self.send("POST", self.graphql.clone(), Some(&body), Uncertain::Repeat).await?)
    }

    fn url(&self, path: &str) -> String {
        format!("{}/repos/{}/{path}", self.base, self.repository)
    }

    fn call(&self, method: &'static str, url: String, body: Option<&serde_json::Value>) -> Call {
        let bearer = SecretString::from(format!("Bearer {}", self.token.expose_secret()));
        let mut headers = vec![
            ("accept".to_owned(), HeaderText::Plain("application/vnd.github+json".to_owned())),
            ("x-github-api-version".to_owned(), HeaderText::Plain(VERSION.to_owned())),
            ("authorization".to_owned(), HeaderText::Secret(bearer)),
        ];
        if body.is_some() {
            headers.push(("content-type".to_owned(), HeaderText::Plain("application/json".to_owned())));
        }
        let body = body.map(|body| body.to_string().into_bytes());
        Call { method, url, headers, body, timeout: self.pace.timeout, nonce: None }
    }

    async fn send(
        &self,
        method: &'static str,
        url: String,
        body: Option<&serde_json::Value>,
        uncertain: Uncertain,
    ) -> Result<Reply, Refusal> {
        let call = self.call(method, url, body);
        let mut number = 0;
        loop {
            let (wait, refusal) = match self.client.send(&call).await {
                Ok(reply) => match next(&reply, number, &self.pace, Timestamp::now()) {
                    Next::Done => return Ok(reply),
                    Next::Refused(refusal) => return Err(refusal),
                    Next::Again(wait, refusal) => (wait, refusal),
                },
                Err(error) if error.may_pass() => (self.pace.after(number), Refusal::Call(error)),
                Err(error) => return Err(Refusal::Call(error)),
            };
            number += 1;
            let stop = uncertain == Uncertain::Stop && is_uncertain(refusal);
            if stop || number >= self.pace.attempts || wait > self.pace.longest {
                return Err(refusal);
            }
            tokio::time::sleep(wait).await;
        }
    }
}

/// Whether the server may have acted although there is no good reply. Without a connection it has not.
#[must_use]
pub const fn is_uncertain(refusal: Refusal) -> bool {
    match refusal {
        Refusal::Server(_) | Refusal::BadReply => true,
        Refusal::Call(error) => matches!(error, CallError::Timeout | CallError::Cut | CallError::TooLarge),
        _ => false,
    }
}

/// `https://api.github.com` -> `.../graphql`; `https://host/api/v3` -> `https://host/api/graphql`.
fn graphql_beside(base: &str) -> String {
    format!("{}/graphql", base.strip_suffix("/v3").unwrap_or(base))
}

fn parse<T: DeserializeOwned>(reply: &Reply) -> Result<T, Refusal> {
    serde_json::from_slice(&reply.body).map_err(|_| Refusal::BadReply)
}

/// Whether the `link` header names a next page. Its URL is not followed: the next page's number is known.
fn has_next(reply: &Reply) -> bool {
    reply.header("link").is_some_and(|link| link.split(',').any(|part| part.contains(r#"rel="next""#)))
}

/// Percent-encodes everything but unreserved characters, for one value in a query.
#[must_use]
pub fn encoded(text: &str) -> String {
    text.bytes().fold(String::with_capacity(text.len()), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _infallible = write!(out, "%{byte:02X}");
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_graphql_interface_lies_beside_the_other() {
        assert_eq!(graphql_beside("https://api.github.com"), "https://api.github.com/graphql");
        assert_eq!(graphql_beside("https://ghe.example/prefix/api/v3"), "https://ghe.example/prefix/api/graphql");
    }

    #[test]
    fn values_in_a_query_are_encoded() {
        assert_eq!(encoded("me:fix/ä&b=c"), "me%3Afix%2F%C3%A4%26b%3Dc");
    }
}
