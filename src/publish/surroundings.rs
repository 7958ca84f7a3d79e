//! What publishing needs to know about where it runs.

use camino::Utf8PathBuf;
use secrecy::SecretString;

/// The environment of a workflow's step, as plain values. Filled in by whoever reads the environment.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// The event's name, such as `pull_request`.
    pub event_name: String,
    /// The event's payload: JSON.
    pub event_json: Vec<u8>,
    /// The commit that the workflow runs for. On pull requests that is a test merge, which is never marked.
    pub sha: String,
    /// `owner/name`.
    pub repository: String,
    /// The number of the workflow's run.
    pub run_id: u64,
    /// The number of its attempt, from 1.
    pub run_attempt: u64,
    /// The base of the REST interface, without a slash at its end. A path prefix is kept.
    pub api_url: String,
    /// The URL of the GraphQL interface, where it is known.
    pub graphql_url: Option<String>,
    /// The base of the pages that people read.
    pub server_url: String,
    /// The token, where there is one.
    pub token: Option<SecretString>,
    /// Where the step's outputs are written.
    pub output_file: Option<Utf8PathBuf>,
    /// Where the job's summary is written.
    pub summary_file: Option<Utf8PathBuf>,
    /// A pull request that the caller names because the event does not. Checked against the interface before use.
    pub pull_request: Option<u64>,
    /// The commit to mark that the caller names because the event does not.
    pub head: Option<String>,
}

impl Surroundings {
    /// The page of this run, for people.
    #[must_use]
    pub fn run_url(&self) -> Option<String> {
        let server = self.server_url.trim_end_matches('/');
        let known = is_repository(&self.repository) && server.starts_with("http") && self.run_id > 0;
        known.then(|| format!("{server}/{}/actions/runs/{}", self.repository, self.run_id))
    }
}

/// Whether a text is `owner/name` in the letters that GitHub allows, so that it can stand in a URL as it is.
#[must_use]
pub fn is_repository(text: &str) -> bool {
    let plain = |part: &str| {
        let letters = part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        letters && !part.is_empty() && part != "." && part != ".."
    };
    matches!(text.split_once('/'), Some((owner, name)) if plain(owner) && plain(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories_are_two_plain_names() {
        for good in ["octo-org/octo.repo", "a/b_c"] {
            assert!(is_repository(good), "{good}");
        }
        for bad in ["", "a", "a/", "/b", "a/b/c", "a/..", "../b", "a/b?x", "a/ b", "a/b#"] {
            assert!(!is_repository(bad), "{bad}");
        }
    }

    #[test]
    fn the_page_of_the_run_is_on_the_server_that_is_named() {
        let mut around = Surroundings {
            server_url: "https://github.example.com/".to_owned(),
            repository: "a/b".to_owned(),
            run_id: 7,
            ..Surroundings::default()
        };
        assert_eq!(around.run_url().as_deref(), Some("https://github.example.com/a/b/actions/runs/7"));
        around.run_id = 0;
        assert_eq!(around.run_url(), None);
    }
}
