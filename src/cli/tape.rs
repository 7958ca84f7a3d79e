//! `--record` and `--replay`: what stands between the audit's calls and the network.

use super::arguments::TapeArguments;
use crate::http::{Client, Context, Secrets, Tape};
use crate::model::{Event, Failure, FailureClass, Observer};
use crate::recording::{Player, Recorder};
use crate::spec::Named;
use std::sync::Arc;

/// The client with the tape that the arguments ask for.
///
/// # Errors
/// The folder cannot be used, the recording in it is damaged, or a key is too short to be kept out of a recording.
pub fn between(
    client: Client,
    arguments: &TapeArguments,
    named: &Named<'_>,
    secrets: &Arc<Secrets>,
    observer: &dyn Observer,
) -> Result<Client, Failure> {
    let (tape, note): (Arc<dyn Tape>, String) = match (&arguments.record, &arguments.replay) {
        (Some(folder), _) => {
            refuse_short(named, secrets)?;
            let (recorder, held) = Recorder::begin(folder, Arc::clone(secrets))?;
            (Arc::new(recorder), format!("recording to `{folder}`, which holds {held} exchanges"))
        }
        (None, Some(folder)) => {
            let (player, held) = Player::open(folder, Arc::clone(secrets))?;
            (Arc::new(player), format!("replaying the {held} exchanges in `{folder}`: no server is called"))
        }
        (None, None) => return Ok(client),
    };
    observer.observe(Event::Note(note));
    Ok(client.with_tape(tape))
}

/// A server may send back what it was sent. A key that could be any word cannot be found there again.
fn refuse_short(named: &Named<'_>, secrets: &Secrets) -> Result<(), Failure> {
    let short = named.keys.iter().find(|name| secrets.is_too_short_to_hide(name));
    short.map_or(Ok(()), |name| {
        let message = format!("the key in `{name}` is too short to be kept out of a recording");
        Err(Failure::new(FailureClass::Usage, message)
            .with_hint("a server that needs no key needs no `key_env`; else use one of eight bytes or more"))
    })
}

/// What the work came to, unless the tape has failed: then nothing that follows from it is the reason.
///
/// # Errors
/// Those of the work, or what went wrong with the tape.
pub fn standing<T>(came: Result<T, Failure>, context: &Context) -> Result<T, Failure> {
    sound(context).and(came)
}

/// Whether nothing went wrong with the tape.
///
/// # Errors
/// Something did.
pub fn sound(context: &Context) -> Result<(), Failure> {
    context.client.tape().and_then(Tape::trouble).map_or(Ok(()), Err)
}
