//! Questions, without their gold answers, so that gold can stay unread until judgments are locked.

use super::QuestionId;
use serde::{Deserialize, Serialize};

/// What is asked. Carries no gold answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// The stable id.
    pub id: QuestionId,
    /// The text as it is put to the snapshot and to the judge.
    pub text: String,
    /// Names of the subgroups it belongs to, for diagnosis only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The source or session it comes from, where questions are sampled in clusters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
}
