//! The documents of an archive as an iterator: they are unpacked on a thread of their own, a few ahead.

use super::{Archive, Bytes};
use crate::retrieve::corpus::{CorpusDocument, CorpusError};
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Documents that are unpacked ahead.
const AHEAD: usize = 16;

enum Message {
    Document(CorpusDocument),
    /// All documents came, or none will any more.
    End(Result<(), CorpusError>),
}

/// The documents of an archive in its order.
///
/// # Errors
/// No thread can be started. Each document has its own errors.
pub(in crate::retrieve::corpus) fn documents(
    archive: Archive,
    bytes: Bytes,
) -> Result<impl Iterator<Item = Result<CorpusDocument, CorpusError>> + Send, CorpusError> {
    let (sender, receiver) = sync_channel(AHEAD);
    let name = archive.name.clone();
    let work = move || unpack(&archive, bytes, &sender);
    let started = thread::Builder::new().name("unpack".to_owned()).spawn(work);
    started.map_err(|error| CorpusError::Io { path: name.clone(), error })?;
    Ok(Unpacked { receiver: Some(receiver), name })
}

fn unpack(archive: &Archive, bytes: Bytes, sender: &SyncSender<Message>) {
    // Whoever no longer listens wants no more documents.
    let mut send = |document| match sender.send(Message::Document(document)) {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    };
    let ended = archive.each(bytes, &mut send).map(drop);
    drop(sender.send(Message::End(ended)));
}

struct Unpacked {
    receiver: Option<Receiver<Message>>,
    name: String,
}

impl Iterator for Unpacked {
    type Item = Result<CorpusDocument, CorpusError>;

    fn next(&mut self) -> Option<Self::Item> {
        let message = self.receiver.as_ref()?.recv();
        if let Ok(Message::Document(document)) = message {
            return Some(Ok(document));
        }
        self.receiver = None;
        match message {
            Ok(Message::End(Ok(()))) => None,
            Ok(Message::End(Err(error))) => Some(Err(error)),
            // The thread is gone without a word: half a corpus must never pass for the whole.
            _ => Some(Err(CorpusError::Damaged(self.name.clone()))),
        }
    }
}
