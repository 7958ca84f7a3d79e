//! The folder of one run: who may write in it, and its protocol lock.

use super::blobs::Blobs;
use super::stage::{Answers, Evidence, Judgments, Protocol, ProtocolLock, Stage as _};
use super::store::Store;
use super::{Conclusion, LedgerError, Lock, files};
use crate::model::Digest;
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::sync::{Arc, Mutex, PoisonError};

/// The name of the file whose OS lock says that a process writes this run.
const LOCK_FILE: &str = "lock";
/// The most bytes that a protocol lock may have.
const MAX_PROTOCOL_BYTES: u64 = 64 * 1024 * 1024;

/// When a write counts as done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// When it is on the disk: the only setting of an audit.
    Full,
    /// When the operating system has it. For measurements and tests: a power loss may lose records.
    Off,
}

/// A run folder that this process alone may write, until it is dropped and every writer with it.
#[derive(Debug)]
pub struct RunFolder {
    inner: Arc<Inner>,
    conclusion: Option<Conclusion>,
}

#[derive(Debug)]
pub(super) struct Inner {
    pub path: Utf8PathBuf,
    pub durability: Durability,
    pub replay: bool,
    pub store: Arc<Store>,
    writers: Mutex<BTreeSet<&'static str>>,
    /// Held, never read: the OS lock ends when the file is closed.
    _lock: File,
}

impl RunFolder {
    /// Opens the run folder, creating it where it is absent, and keeps every other process from writing in it.
    ///
    /// # Errors
    /// Another process holds the run (named by its id), a symbolic link lies in the folder, or the file system
    /// refuses.
    pub fn open(path: &Utf8Path) -> Result<Self, LedgerError> {
        Self::open_with(path, Durability::Full)
    }

    /// As [`RunFolder::open`], for a run whose servers' replies are read from a recording: every ledger that is begun in it
    /// says so in its header.
    ///
    /// # Errors
    /// As [`RunFolder::open`].
    pub fn open_replay(path: &Utf8Path) -> Result<Self, LedgerError> {
        Self::open_as(path, Durability::Full, true)
    }

    /// As [`RunFolder::open`], with another durability: for measurements and tests alone.
    ///
    /// # Errors
    /// As [`RunFolder::open`].
    pub fn open_with(path: &Utf8Path, durability: Durability) -> Result<Self, LedgerError> {
        Self::open_as(path, durability, false)
    }

    fn open_as(path: &Utf8Path, durability: Durability, replay: bool) -> Result<Self, LedgerError> {
        create_folder(path)?;
        let lock = take_lock(path)?;
        create_folder(&path.join("blobs"))?;
        refuse_links(path)?;
        let store = Arc::new(Store::open(path, durability)?);
        let writers = Mutex::new(BTreeSet::new());
        let inner = Inner { path: path.to_owned(), durability, replay, store, writers, _lock: lock };
        Ok(Self { inner: Arc::new(inner), conclusion: None })
    }

    /// The same of a run that was finished before: no ledger of it is begun again or gone on with.
    #[must_use]
    pub fn concluded(self, conclusion: Option<Conclusion>) -> Self {
        Self { conclusion, ..self }
    }

    pub(super) const fn conclusion(&self) -> Option<&Conclusion> {
        self.conclusion.as_ref()
    }

    /// Whether the replies of servers are read from a recording.
    #[must_use]
    pub fn is_replay(&self) -> bool {
        self.inner.replay
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Utf8Path {
        &self.inner.path
    }

    /// Its blobs.
    #[must_use]
    pub fn blobs(&self) -> Blobs {
        Blobs::new(Arc::clone(&self.inner.store))
    }

    pub(super) const fn inner(&self) -> &Arc<Inner> {
        &self.inner
    }

    /// Freezes the protocol: writes these bytes as `protocol.lock.json` where it is absent, and otherwise checks that
    /// they are there already, byte for byte.
    ///
    /// # Errors
    /// Another protocol is there, or the file system refuses.
    pub fn freeze(&self, protocol_json: &[u8]) -> Result<ProtocolLock, LedgerError> {
        let path = self.path().join(Protocol::FILE);
        let expected = Digest::of(protocol_json);
        if protocol_json.len() as u64 > MAX_PROTOCOL_BYTES {
            let bytes = protocol_json.len() as u64;
            return Err(LedgerError::TooLarge { what: "a protocol", bytes, limit: MAX_PROTOCOL_BYTES });
        }
        if !files::is_plain_file(&path)? {
            self.write_protocol(&path, protocol_json)?;
        }
        let lock = protocol_lock(self.path())?;
        if lock.head() == expected {
            return Ok(lock);
        }
        Err(LedgerError::OtherProtocol { path, found: lock.head(), expected })
    }

    fn write_protocol(&self, path: &Utf8Path, bytes: &[u8]) -> Result<(), LedgerError> {
        let durable = self.inner.durability == Durability::Full;
        let temporary = self.path().join(format!("{}.tmp", Protocol::FILE));
        if files::look(&temporary)?.is_some() {
            fs::remove_file(&temporary).map_err(|error| LedgerError::io("remove", &temporary, error))?;
        }
        files::write_new(&temporary, bytes, durable)?;
        files::rename(&temporary, path)?;
        if durable { files::sync_folder(self.path()) } else { Ok(()) }
    }
}

impl Inner {
    /// Notes that a ledger is open for writing.
    ///
    /// # Errors
    /// It is open already.
    pub(super) fn take_writer(&self, file: &'static str) -> Result<(), LedgerError> {
        let mut writers = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
        if writers.insert(file) { Ok(()) } else { Err(LedgerError::Busy { file }) }
    }

    /// Notes that a ledger is closed.
    pub(super) fn give_writer_back(&self, file: &'static str) {
        self.writers.lock().unwrap_or_else(PoisonError::into_inner).remove(file);
    }
}

/// Whether a run was ever begun here: a file, or a folder that holds nothing of a run, must not be taken for a damaged run.
///
/// # Errors
/// [`LedgerError::NoRun`], or it cannot be looked at.
pub fn must_hold_a_run(path: &Utf8Path) -> Result<(), LedgerError> {
    let parts = [Protocol::FILE, Evidence::FILE, Answers::FILE, Judgments::FILE];
    let holds = |name: &&str| path.join(name).symlink_metadata().is_ok();
    match files::look(path)? {
        Some(found) if found.is_symlink() => Err(LedgerError::NotPlain { path: path.to_owned() }),
        Some(found) if found.is_dir() && parts.iter().any(holds) => Ok(()),
        _ => Err(LedgerError::NoRun { path: path.to_owned() }),
    }
}

/// The lock of the protocol in this folder.
///
/// # Errors
/// It is missing or cannot be read.
pub(super) fn protocol_lock(folder_path: &Utf8Path) -> Result<ProtocolLock, LedgerError> {
    let bytes = files::read_plain(&folder_path.join(Protocol::FILE), "a protocol", MAX_PROTOCOL_BYTES)?;
    Ok(Lock::prove(folder_path.to_owned(), Digest::of(&bytes), 1))
}

/// Creates a folder with the folders above it, each entry durable, where none stands there.
///
/// # Errors
/// Something else than a plain folder stands there, or the file system refuses.
pub fn create_folder(path: &Utf8Path) -> Result<(), LedgerError> {
    if files::is_plain_folder(path)? {
        return Ok(());
    }
    let parent = path.parent().filter(|parent| !parent.as_str().is_empty());
    // Folders above the run may be links: they are the user's own.
    if let Some(parent) = parent.filter(|parent| !parent.is_dir()) {
        create_folder(parent)?;
    }
    match fs::create_dir(path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(LedgerError::io("create", path, error)),
        _ => files::sync_folder(parent.unwrap_or(Utf8Path::new("."))),
    }
}

/// Takes the OS lock and writes this process's id beside it for others to read.
fn take_lock(folder: &Utf8Path) -> Result<File, LedgerError> {
    let path = folder.join(LOCK_FILE);
    let mut file = files::open_or_create(&path)?;
    match files::lock_patiently(&file) {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            return Err(LedgerError::Held { path: folder.to_owned(), pid: holder(&mut file) });
        }
        Err(TryLockError::Error(error)) => return Err(LedgerError::io("lock", &path, error)),
    }
    write_holder(&mut file).map_err(|error| LedgerError::io("write", &path, error))?;
    Ok(file)
}

fn write_holder(file: &mut File) -> std::io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())
}

fn holder(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(32).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

/// Refuses symbolic links, devices and the like directly in the run folder. Blobs are checked when they are opened.
///
/// # Errors
/// One lies there, or the file system refuses.
pub(super) fn refuse_links(folder: &Utf8Path) -> Result<(), LedgerError> {
    let entries = folder.read_dir_utf8().map_err(|error| LedgerError::io("read", folder, error))?;
    for entry in entries {
        let entry = entry.map_err(|error| LedgerError::io("read", folder, error))?;
        let kind = entry.file_type().map_err(|error| LedgerError::io("read", entry.path(), error))?;
        if !kind.is_file() && !kind.is_dir() {
            return Err(LedgerError::NotPlain { path: entry.path().to_owned() });
        }
    }
    Ok(())
}
