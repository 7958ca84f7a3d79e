//! `churngate review`.

use super::arguments::{ReviewArguments, TextOrJson};
use super::output;
use crate::analyze::review::{HandLabel, Pair};
use crate::model::{Failure, FailureClass};
use crate::report::review::{self as shown, Review};
use crate::run::review::{self, Request, Reviewing};
use std::io::{self, BufRead, Read as _};

/// Bytes of a line of input that are read; no answer of the dialogue is that long.
const LINE: u64 = 4 << 10;

/// Has pairs labelled, in a dialogue or in a file, and says what the labels came to. Whatever that is, it is no verdict.
pub fn review(arguments: &ReviewArguments) -> Result<u8, Failure> {
    let request = Request {
        run: &arguments.run,
        reviewer: &arguments.reviewer,
        flips: arguments.flips,
        sample: (!arguments.all).then_some(arguments.sample),
    };
    let mut reviewing = review::review(request, arguments.read.as_deref())?;
    let nothing = reviewing.review().nothing().is_some();
    if let Some(file) = arguments.write.as_ref().filter(|_| !nothing) {
        reviewing.write(file)?;
        let pairs = reviewing.review().wanted().count();
        output::line(&format!("{pairs} pairs to label: {file}"))?;
        output::line("fill in `label` with `same`, `different` or `unsure`, and give the file back with `--read`")?;
        return Ok(0);
    }
    if arguments.read.is_none() && !arguments.reveal && !nothing {
        dialogue(&mut reviewing, &mut io::stdin().lock())?;
    }
    print(&reviewing.finish(arguments.reveal)?, arguments.format)?;
    Ok(0)
}

fn print(review: &Review, format: TextOrJson) -> Result<(), Failure> {
    match format {
        TextOrJson::Text => output::write(shown::review_text(review, super::WIDTH).as_bytes()),
        TextOrJson::Json => output::write(&shown::review_json(review)),
    }
}

/// What somebody answers to a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Label(HandLabel),
    Back,
    Quit,
    Other,
}

/// Asks for the label of one pair after the other until all have one, somebody stops, or the input ends. What is asked goes to
/// standard error, so that standard output holds the outcome alone.
fn dialogue(reviewing: &mut Reviewing, input: &mut impl BufRead) -> Result<(), Failure> {
    let pairs = reviewing.open_pairs();
    let Some(first) = pairs.first() else { return Ok(()) };
    let all = reviewing.review().wanted().count();
    let before = all - pairs.len();
    output::say(shown::opening(reviewing.review(), super::WIDTH).trim_end());
    let ask = |at: usize, pair: &Pair| output::say(shown::prompt(pair, before + at + 1, all, super::WIDTH).trim_end());
    ask(0, first);
    let mut at = 0;
    while let Some(pair) = pairs.get(at) {
        match key(input)? {
            Key::Label(label) => {
                reviewing.label(pair.id, label)?;
                at += 1;
            }
            Key::Back if at == 0 => output::say("this is the first pair"),
            Key::Back => at -= 1,
            Key::Quit => break,
            Key::Other => output::say("s same, d different, u cannot tell, b back, q stop and keep"),
        }
        if let Some(next) = pairs.get(at) {
            ask(at, next);
        }
    }
    Ok(())
}

/// The next line of the input. Its end is the wish to stop.
fn key(input: &mut impl BufRead) -> Result<Key, Failure> {
    let mut line = Vec::new();
    let read = input.take(LINE).read_until(b'\n', &mut line);
    // What is longer is no answer, and neither is its end.
    let is_whole = (line.len() as u64) < LINE || line.ends_with(b"\n");
    let read = if is_whole { read } else { read.and_then(|_| input.skip_until(b'\n')) };
    read.map_err(|error| {
        Failure::new(FailureClass::Incomplete, format!("failed to read standard input: {}", error.kind()))
            .with_hint("every label so far is kept: run the same command again to go on")
    })?;
    let text = String::from_utf8_lossy(&line);
    Ok(match text.trim().to_lowercase().as_str() {
        "" if line.is_empty() => Key::Quit,
        _ if !is_whole => Key::Other,
        "s" | "same" => Key::Label(HandLabel::Same),
        "d" | "different" => Key::Label(HandLabel::Different),
        "u" | "unsure" => Key::Label(HandLabel::Unsure),
        "b" | "back" => Key::Back,
        "q" | "quit" => Key::Quit,
        _ => Key::Other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_line_that_is_too_long_is_no_key() {
        let long = [&b"x ".repeat(9_000)[..], b"s\nd\n"].concat();
        let mut input = long.as_slice();
        assert_eq!(
            [key(&mut input).unwrap(), key(&mut input).unwrap()],
            [Key::Other, Key::Label(HandLabel::Different)]
        );
    }

    #[test]
    fn a_line_is_one_key_and_the_end_is_a_stop() {
        let mut input: &[u8] = b"s\r\n D \nunsure\n\nb\nx\n\xff\nq";
        let mut keys = Vec::new();
        for _ in 0..9 {
            keys.push(key(&mut input).unwrap());
        }
        let labels = [HandLabel::Same, HandLabel::Different, HandLabel::Unsure].map(Key::Label);
        let rest = [Key::Other, Key::Back, Key::Other, Key::Other, Key::Quit, Key::Quit];
        assert_eq!(keys, [labels.as_slice(), &rest].concat());
    }
}
