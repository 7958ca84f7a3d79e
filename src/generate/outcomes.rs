//! Which invalid attempts hang together with what a model wrote.

use super::answer::Reason as NoAnswer;
use super::blackbox::Reason as OfSystem;
use crate::http::CallError;
use crate::http::chat::Reason;

/// Attempts of which a server gave a complete reply whose text, or the want of one, is why the cell was drawn again. Where they
/// are not equally frequent in two snapshots, the answers that remain are not what the model would have said first.
#[must_use]
pub fn is_of_content(code: &str) -> bool {
    let servers = [
        Reason::NoChoices,
        Reason::CutByLength,
        Reason::NotFinished,
        Reason::NoText,
        Reason::ReasoningOnly,
        Reason::EmptyContent,
    ];
    let systems = [OfSystem::CutOff, OfSystem::NoAnswer];
    let answers = [NoAnswer::Malformed, NoAnswer::Empty, NoAnswer::TooLong];
    servers.iter().any(|reason| reason.code() == code)
        || CallError::KeyInAnswer.code() == code
        || systems.iter().any(|reason| reason.row().0 == code)
        || answers.iter().any(|reason| reason.row().0 == code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_model_wrote_is_told_from_what_the_network_did() {
        for code in [
            "answer-too-long",
            "answer-malformed",
            "cut-by-length",
            "not-finished",
            "reasoning-only",
            "no-answer",
            "key-in-answer",
        ] {
            assert!(is_of_content(code), "{code}");
        }
        for code in ["timed-out", "rate-limited", "not-json", "server-error", "program-failed", "not-ok", ""] {
            assert!(!is_of_content(code), "{code}");
        }
    }
}
