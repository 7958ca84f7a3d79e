//! Signs: which of them mean something, and what they do to what stands beside them.

/// The slash of a fraction that is one character (`½`).
pub const FRACTION: char = '⁄';

/// The comparison that a sign stands for, and those that phrases are turned into.
pub const BOUNDS: &[char] = &['<', '>', '≤', '≥'];

/// Whether an answer with this sign says something else than one without it.
#[must_use]
pub fn is_operator(sign: char) -> bool {
    BOUNDS.contains(&sign) || matches!(sign, '≠' | '!' | '^' | '±' | '+' | '¬' | '÷')
}

/// Whether a sign says something of its own where the other answer has another: emoji, arrows, `=`, a currency.
#[must_use]
pub fn is_symbol(sign: char) -> bool {
    sign == '=' || is_currency(sign) || matches!(sign, '\u{2190}'..='\u{2bff}' | '\u{1f000}'..='\u{1fbff}')
}

/// Whether this is a currency sign: all that Unicode calls `Sc` and compatibility folding leaves.
#[must_use]
pub fn is_currency(sign: char) -> bool {
    matches!(
        sign,
        '$' | '¢'..='¥' | '֏' | '؋' | '\u{7fe}' | '\u{7ff}' | '৲' | '৳' | '৻' | '૱' | '௹' | '฿' | '៛'
            | '\u{20a0}'..='\u{20cf}' | '\u{a838}' | '\u{11fdd}'..='\u{11fe0}' | '\u{1e2ff}' | '\u{1ecb0}'
    )
}

/// Whether a dash after this character may be a minus.
#[must_use]
pub fn lets_minus(before: char) -> bool {
    !before.is_alphanumeric() && !matches!(before, ')' | ']' | '-' | '%' | '/' | '"' | '\'' | '°')
}

/// Whether this sign, with this character right after it, ties two parts to one name.
#[must_use]
pub fn joins(sign: Option<char>, next: Option<char>) -> bool {
    let sign = sign.is_some_and(|sign| matches!(sign, '@' | '.' | '/' | '\\' | '_' | ':'));
    sign && next.is_some_and(|next| next.is_alphanumeric() || next == '/')
}

/// Whether what looks like a fraction goes on as a date or a path (`1/2/2020`).
#[must_use]
pub fn goes_on(after: (Option<char>, Option<char>)) -> bool {
    let tied = matches!(after.0, Some('/' | '-' | '.' | ':')) && after.1.is_some_and(|next| next.is_ascii_digit());
    tied || after.0.is_some_and(|next| next.is_alphabetic() || next == '/')
}

/// The sign that a character stands for between these texts, and how many more characters belong to it;
/// nothing where it is mere punctuation.
#[must_use]
pub fn meaning(character: char, behind: &[char], ahead: &[char]) -> Option<(char, usize)> {
    let next = ahead.first().copied();
    if let Some(sign) = of_two(character, next) {
        return Some((sign, 1));
    }
    let before = behind.last().copied();
    let next_is = |holds: fn(char) -> bool| next.is_some_and(holds);
    let figure = |character: char| character.is_ascii_digit();
    let measures = behind.iter().rev().find(|held| **held != ' ').is_some_and(char::is_ascii_digit);
    let means = match character {
        '<' => !(opens_tag(before, next) && ahead.contains(&'>')),
        '>' => !closes_tag(behind),
        '!' => next_is(char::is_alphanumeric) && !before.is_some_and(char::is_alphanumeric),
        ':' => before.is_some_and(figure) && next_is(figure),
        '\'' | '"' => measures && !quoted(character, behind) && !next_is(char::is_alphabetic),
        '%' | '&' | ',' | ';' | '/' | '-' | '°' | '^' | '±' | '+' | '¬' | '÷' | '×' => true,
        _ => is_symbol(character),
    };
    means.then(|| (usual(character), 0))
}

fn of_two(first: char, second: Option<char>) -> Option<char> {
    Some(match (first, second?) {
        ('<', '=') => '≤',
        ('>', '=') => '≥',
        ('!', '=') => '≠',
        ('=', '=') => '=',
        ('=' | '-', '>') => '→',
        ('&', '&') => '&',
        _ => return None,
    })
}

fn usual(sign: char) -> char {
    match sign {
        '≦' | '⩽' => '≤',
        '≧' | '⩾' => '≥',
        other => other,
    }
}

/// `<br>` and `</a>` are names in brackets, not comparisons.
fn opens_tag(before: Option<char>, next: Option<char>) -> bool {
    !before.is_some_and(char::is_alphanumeric) && next.is_some_and(|next| next.is_alphabetic() || next == '/')
}

fn closes_tag(behind: &[char]) -> bool {
    behind.iter().rposition(|held| matches!(held, '<' | '>')).is_some_and(|place| {
        behind[place] == '<' && opens_tag(behind[..place].last().copied(), behind.get(place + 1).copied())
    })
}

/// Whether a quotation is open that this mark ends.
fn quoted(mark: char, behind: &[char]) -> bool {
    let opened = behind.iter().enumerate().filter(|(place, held)| {
        **held == mark && !behind[..*place].last().is_some_and(|before| before.is_alphanumeric())
    });
    opened.count() % 2 == 1
}
