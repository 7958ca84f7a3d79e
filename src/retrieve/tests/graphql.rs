//! GraphQL requests as JSON, so that two of them can be compared whatever the order of their arguments.

use serde_json::{Map, Value, json};

/// The query of a request body as JSON: fields with their arguments and selections, variables set in.
pub(super) fn canonical(body: &Value) -> Value {
    let text = body["query"].as_str().unwrap();
    let mut tokens = tokens(text);
    // The operation's own head only declares what the variables are.
    let begin = tokens.iter().position(|token| token == "{").unwrap();
    let mut rest = tokens.split_off(begin + 1).into_iter().peekable();
    selection(&mut rest, &body["variables"])
}

type Tokens = std::iter::Peekable<std::vec::IntoIter<String>>;

/// Names, literals and signs; commas and white space mean nothing.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut characters = text.chars().peekable();
    while let Some(first) = characters.next() {
        let mut token = first.to_string();
        if first == '"' {
            while let Some(next) = characters.next() {
                token.push(next);
                match next {
                    '\\' => token.extend(characters.next()),
                    '"' => break,
                    _ => {}
                }
            }
        } else if !"{}()[]:,! \n".contains(first) {
            while let Some(next) = characters.next_if(|next| !"{}()[]:,! \n".contains(*next)) {
                token.push(next);
            }
        }
        if !matches!(first, ',' | ' ' | '\n' | '!') {
            tokens.push(token);
        }
    }
    tokens
}

fn selection(tokens: &mut Tokens, variables: &Value) -> Value {
    let mut fields = Map::new();
    while let Some(name) = tokens.next().filter(|token| token != "}") {
        let arguments = if tokens.next_if_eq("(").is_some() { members(tokens, ")", variables) } else { Value::Null };
        let within = if tokens.next_if_eq("{").is_some() { selection(tokens, variables) } else { Value::Null };
        fields.insert(name, json!({"arguments": arguments, "fields": within}));
    }
    Value::Object(fields)
}

fn members(tokens: &mut Tokens, end: &str, variables: &Value) -> Value {
    let mut found = Map::new();
    while let Some(name) = tokens.next().filter(|token| token != end) {
        assert_eq!(tokens.next().as_deref(), Some(":"), "{name}");
        found.insert(name, value(tokens, variables));
    }
    Value::Object(found)
}

fn value(tokens: &mut Tokens, variables: &Value) -> Value {
    match tokens.next().unwrap().as_str() {
        "{" => members(tokens, "}", variables),
        "[" => {
            let mut items = Vec::new();
            while tokens.next_if_eq("]").is_none() {
                items.push(value(tokens, variables));
            }
            Value::Array(items)
        }
        token => match token.strip_prefix('$') {
            Some(variable) => variables[variable].clone(),
            None => serde_json::from_str(token).unwrap(),
        },
    }
}
