//! Why a model stopped, in the words of many servers. A word that is not known to end a whole text ends none.

use super::Reason;
use serde_json::Value;

/// Content filters. Gemini's own words come through its compatible address as they are, or behind `content_filter: `.
const FILTERS: [&str; 6] = ["safety", "recitation", "blocklist", "prohibited_content", "spii", "sensitive"];

/// What a reply that ended in this way counts as, as far as the end alone says: [`Reason::Answered`] and
/// [`Reason::Refused`] where the text is whole. `unsaid` is what it counts as where the server says nothing.
pub fn ended(said: &Value, unsaid: Reason) -> Reason {
    match said {
        Value::Null => unsaid,
        Value::String(word) => by_word(&word.to_ascii_lowercase()),
        _ => Reason::NotFinished,
    }
}

fn by_word(word: &str) -> Reason {
    match word {
        "stop" | "eos" | "eos_token" | "end_turn" | "stop_sequence" | "completed" => Reason::Answered,
        "refusal" => Reason::Refused,
        "length" | "max_tokens" | "max_output_tokens" | "model_length" | "model_context_window_exceeded" => {
            Reason::CutByLength
        }
        "tool_calls" | "tool_use" | "function_call" | "pause_turn" => Reason::NoText,
        "error" => Reason::ErrorInBody,
        filter if FILTERS.contains(&filter) || filter.starts_with("content_filter") => Reason::Filtered,
        _ => Reason::NotFinished,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// What servers send, and what it means. A word that a server makes up tomorrow is the last one's like.
    const WORDS: [(&str, Reason); 36] = [
        ("stop", Reason::Answered),
        ("STOP", Reason::Answered),
        ("eos", Reason::Answered),
        ("eos_token", Reason::Answered),
        ("stop_sequence", Reason::Answered),
        ("end_turn", Reason::Answered),
        ("completed", Reason::Answered),
        ("refusal", Reason::Refused),
        ("length", Reason::CutByLength),
        ("max_tokens", Reason::CutByLength),
        ("MAX_TOKENS", Reason::CutByLength),
        ("max_output_tokens", Reason::CutByLength),
        ("model_length", Reason::CutByLength),
        ("model_context_window_exceeded", Reason::CutByLength),
        ("tool_calls", Reason::NoText),
        ("tool_use", Reason::NoText),
        ("function_call", Reason::NoText),
        ("pause_turn", Reason::NoText),
        ("error", Reason::ErrorInBody),
        ("content_filter", Reason::Filtered),
        ("content_filter: RECITATION", Reason::Filtered),
        ("content_filter: SAFETY", Reason::Filtered),
        ("SAFETY", Reason::Filtered),
        ("RECITATION", Reason::Filtered),
        ("BLOCKLIST", Reason::Filtered),
        ("PROHIBITED_CONTENT", Reason::Filtered),
        ("SPII", Reason::Filtered),
        ("sensitive", Reason::Filtered),
        ("abort", Reason::NotFinished),
        ("insufficient_system_resource", Reason::NotFinished),
        ("repetition", Reason::NotFinished),
        ("network_error", Reason::NotFinished),
        ("MALFORMED_FUNCTION_CALL", Reason::NotFinished),
        ("OTHER", Reason::NotFinished),
        ("", Reason::NotFinished),
        ("unstoppable", Reason::NotFinished),
    ];

    #[test]
    fn only_words_that_are_known_to_end_a_text_do() {
        for (word, reason) in WORDS {
            for unsaid in [Reason::Answered, Reason::NotFinished] {
                assert_eq!(ended(&json!(word), unsaid), reason, "{word}");
            }
        }
        for other in [json!(0), json!(true), json!(["stop"]), json!({ "type": "stop" })] {
            assert_eq!(ended(&other, Reason::Answered), Reason::NotFinished, "{other}");
        }
        assert_eq!(ended(&Value::Null, Reason::Answered), Reason::Answered);
    }
}
