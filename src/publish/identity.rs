//! Whose comments are ours.

use super::api::Api;
use super::refusal::Refusal;
use serde::Deserialize;
use serde_json::{Value, json};

/// The name under which a workflow's own token writes.
const WORKFLOW_TOKEN: &str = "github-actions[bot]";

/// What the server calls it where it does not tell a token whose it is. Any other fault may be gone the next time.
const UNTOLD: [&str; 3] = ["FORBIDDEN", "INSUFFICIENT_SCOPES", "NOT_FOUND"];

/// Who wrote a comment, in the words of the interface.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Author {
    user: Option<User>,
    performed_via_github_app: Option<Value>,
}

#[derive(Clone, Debug, Deserialize)]
struct User {
    login: String,
    #[serde(rename = "type")]
    kind: Option<String>,
}

/// Who writes with the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Me {
    /// Somebody of this name.
    Named(String),
    /// The server does not tell.
    Unnamed,
}

impl Me {
    /// Whether the comment is ours. Where our name is not known, that of an app which is installed there could be: nobody writes in
    /// its name. A person can copy whatever stands in a comment, be it one of the repository's own, and counts for nothing.
    pub(super) fn is(&self, author: &Author) -> bool {
        let Author { user: Some(User { login, kind }), performed_via_github_app } = author else { return false };
        match self {
            Self::Named(me) => login.eq_ignore_ascii_case(me),
            Self::Unnamed => {
                let app = kind.as_deref() == Some("Bot") && performed_via_github_app.is_some();
                login == WORKFLOW_TOKEN || app
            }
        }
    }

    /// Takes the name from a comment that we made.
    pub(super) fn learn(&mut self, made: Author) {
        if let Some(User { login, .. }) = made.user {
            *self = Self::Named(login);
        }
    }
}

/// Asks the server by both of its interfaces. Some have only one of them, or none for this token; one that fails has not answered.
///
/// # Errors
/// The server fails.
pub(super) async fn identity(api: &Api<'_>) -> Result<Me, Refusal> {
    let answer = match api.graphql("query { viewer { login } }", &json!({})).await {
        Ok(answer) => answer,
        Err(refusal) if refusal.is_final() => return person(api).await,
        Err(refusal) => return Err(refusal),
    };
    let login = answer.pointer("/data/viewer/login").and_then(Value::as_str);
    let fault = answer.pointer("/errors/0/type").and_then(Value::as_str);
    match login {
        Some(login) => Ok(Me::Named(login.to_owned())),
        None if fault.is_some_and(|fault| UNTOLD.contains(&fault)) => person(api).await,
        // Faults of this interface come with status 200 as well.
        None => Err(Refusal::BadReply),
    }
}

/// The person whose token it is; an app's is told no name there.
async fn person(api: &Api<'_>) -> Result<Me, Refusal> {
    match api.user::<User>().await {
        Ok(User { login, .. }) => Ok(Me::Named(login)),
        Err(refusal) if refusal.is_final() => Ok(Me::Unnamed),
        Err(refusal) => Err(refusal),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn author(text: Value) -> Author {
        serde_json::from_value(text).unwrap()
    }

    #[test]
    fn a_name_that_is_known_is_the_only_one() {
        let me = Me::Named("Audit-App[bot]".to_owned());
        assert!(me.is(&author(json!({ "user": { "login": "audit-app[bot]", "type": "Bot" } }))));
        for other in ["audit-app", "github-actions[bot]", ""] {
            let owner = json!({ "user": { "login": other, "type": "Bot" }, "author_association": "OWNER" });
            assert!(!me.is(&author(owner)), "{other}");
        }
        assert!(!me.is(&author(json!({ "user": null }))));
    }

    #[test]
    fn without_a_name_it_is_an_app_and_no_person() {
        let app = json!({ "id": 1, "slug": "x" });
        for (user, association, app, ours) in [
            (json!({ "login": "github-actions[bot]", "type": "Bot" }), "NONE", json!(null), true),
            (json!({ "login": "x[bot]", "type": "Bot" }), "NONE", app.clone(), true),
            (json!({ "login": "x[bot]", "type": "Bot" }), "NONE", json!(null), false),
            (json!({ "login": "somebody", "type": "User" }), "NONE", app.clone(), false),
            (json!({ "login": "somebody" }), "CONTRIBUTOR", json!(null), false),
            (json!({ "login": "alice", "type": "User" }), "MEMBER", json!(null), false),
            (json!({ "login": "alice", "type": "User" }), "COLLABORATOR", app.clone(), false),
            (json!(null), "OWNER", json!(null), false),
        ] {
            let text = json!({ "user": user, "author_association": association, "performed_via_github_app": app });
            assert_eq!(Me::Unnamed.is(&author(text.clone())), ours, "{text}");
        }
    }

    #[test]
    fn who_made_the_comment_is_who_we_are() {
        let mut me = Me::Unnamed;
        me.learn(Author::default());
        assert_eq!(me, Me::Unnamed);
        me.learn(author(json!({ "user": { "login": "x[bot]", "type": "Bot" } })));
        assert_eq!(me, Me::Named("x[bot]".to_owned()));
    }
}
