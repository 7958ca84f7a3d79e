//! Plain files, written durably and never through a symbolic link.

use super::LedgerError;
use camino::{Utf8Path, Utf8PathBuf};
use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read as _, Write as _};

/// What stands at `path`, without following a link; `None` where there is nothing.
///
/// # Errors
/// The file system refuses.
pub(super) fn look(path: &Utf8Path) -> Result<Option<Metadata>, LedgerError> {
    match fs::symlink_metadata(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(LedgerError::io("read", path, error)),
    }
}

/// Whether a plain file stands at `path`.
///
/// # Errors
/// Something else stands there.
pub(super) fn is_plain_file(path: &Utf8Path) -> Result<bool, LedgerError> {
    match look(path)? {
        None => Ok(false),
        Some(metadata) if metadata.is_file() => Ok(true),
        Some(_) => Err(LedgerError::NotPlain { path: path.to_owned() }),
    }
}

/// Whether a plain folder stands at `path`.
///
/// # Errors
/// Something else stands there.
pub(super) fn is_plain_folder(path: &Utf8Path) -> Result<bool, LedgerError> {
    match look(path)? {
        None => Ok(false),
        Some(metadata) if metadata.is_dir() => Ok(true),
        Some(_) => Err(LedgerError::NotPlain { path: path.to_owned() }),
    }
}

/// Opens a plain file that must exist, and never what a link in its place points to.
///
/// # Errors
/// Nothing stands there, something else than a plain file does, or the file system refuses.
#[cfg(target_os = "linux")]
pub(super) fn open_plain(path: &Utf8Path, options: &OpenOptions) -> Result<File, LedgerError> {
    use rustix::io::Errno;
    let mut options = options.clone();
    let file = no_follow(&mut options).open(path).map_err(|error| {
        let errno = error.raw_os_error().map(Errno::from_raw_os_error);
        match errno {
            Some(Errno::NOENT) => LedgerError::Missing { path: path.to_owned() },
            // A link; a folder; a pipe nobody reads, a socket or a device nobody serves.
            Some(Errno::LOOP | Errno::ISDIR | Errno::NXIO) => LedgerError::NotPlain { path: path.to_owned() },
            _ => LedgerError::io("open", path, error),
        }
    })?;
    let opened = file.metadata().map_err(|error| LedgerError::io("read", path, error))?;
    if opened.is_file() { Ok(file) } else { Err(LedgerError::NotPlain { path: path.to_owned() }) }
}

/// Opens no link, and waits for nobody at the other end of a pipe.
#[cfg(target_os = "linux")]
fn no_follow(options: &mut OpenOptions) -> &mut OpenOptions {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt as _;
    options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed())
}

/// Opens a plain file that must exist.
///
/// The link check comes before and after opening, so that a file swapped for a link in between is found.
///
/// # Errors
/// Nothing stands there, something else than a plain file does, or the file system refuses.
#[cfg(not(target_os = "linux"))]
pub(super) fn open_plain(path: &Utf8Path, options: &OpenOptions) -> Result<File, LedgerError> {
    if !is_plain_file(path)? {
        return Err(LedgerError::Missing { path: path.to_owned() });
    }
    let file = options.open(path).map_err(|error| LedgerError::io("open", path, error))?;
    let opened = file.metadata().map_err(|error| LedgerError::io("read", path, error))?;
    match look(path)? {
        Some(there) if same_file(&there, &opened) => Ok(file),
        _ => Err(LedgerError::NotPlain { path: path.to_owned() }),
    }
}

#[cfg(not(target_os = "linux"))]
fn no_follow(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Opens a plain file for reading and writing, creating it where nothing stands.
///
/// # Errors
/// Something else than a plain file stands there, or the file system refuses.
pub fn open_or_create(path: &Utf8Path) -> Result<File, LedgerError> {
    if !is_plain_file(path)? {
        let created = no_follow(OpenOptions::new().write(true).create(true).truncate(false)).open(path);
        created.map_err(|error| LedgerError::io("create", path, error))?;
    }
    open_plain(path, OpenOptions::new().read(true).write(true))
}

/// How often a lock that is held is tried for. A process that is just being started by this one holds a copy of every open
/// file until it runs its own program, and one that was killed holds its files until the system has taken it down, so a lock
/// that was let go can look held for a moment.
const LOCK_ATTEMPTS: u32 = 20;
/// The pause between two tries.
const LOCK_PAUSE: std::time::Duration = std::time::Duration::from_millis(10);

/// Takes a file's OS lock, which ends when the file is closed; waits a fifth of a second for whoever holds it.
///
/// # Errors
/// It is held longer than that, or the file system refuses.
pub fn lock_patiently(file: &File) -> Result<(), TryLockError> {
    for _ in 1..LOCK_ATTEMPTS {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
            other => return other,
        }
    }
    file.try_lock()
}

/// Opens a plain file for reading.
///
/// # Errors
/// Nothing stands there, something else than a plain file does, or the file system refuses.
pub(super) fn open_to_read(path: &Utf8Path) -> Result<File, LedgerError> {
    open_plain(path, OpenOptions::new().read(true))
}

#[cfg(all(unix, not(target_os = "linux")))]
fn same_file(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    one.is_file() && one.dev() == other.dev() && one.ino() == other.ino()
}

#[cfg(not(unix))]
fn same_file(one: &Metadata, other: &Metadata) -> bool {
    one.is_file() && other.is_file()
}

/// Opens a plain file to be read a piece at a time, and never what a link in its place points to.
///
/// # Errors
/// Nothing stands there, something else than a plain file does, or the file system refuses.
pub fn open_plain_file(path: &Utf8Path) -> Result<File, LedgerError> {
    open_to_read(path)
}

/// Reads a plain file of at most `limit` bytes.
///
/// # Errors
/// As `open_plain`, or the file is larger.
pub fn read_plain(path: &Utf8Path, what: &'static str, limit: u64) -> Result<Vec<u8>, LedgerError> {
    let file = open_to_read(path)?;
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(|error| LedgerError::io("read", path, error))?;
    if bytes.len() as u64 > limit {
        return Err(LedgerError::TooLarge { what, bytes: bytes.len() as u64, limit });
    }
    Ok(bytes)
}

/// Writes a new file and, where asked, makes its bytes durable. Its folder's entry is not durable yet.
///
/// # Errors
/// The file exists, or the file system refuses.
pub(super) fn write_new(path: &Utf8Path, bytes: &[u8], durable: bool) -> Result<(), LedgerError> {
    let write = || {
        let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
        file.write_all(bytes)?;
        if durable { file.sync_all() } else { Ok(()) }
    };
    write().map_err(|error| LedgerError::io("write", path, error))
}

/// Gives a file its final name, in place of what may stand there.
///
/// # Errors
/// The file system refuses.
pub(super) fn rename(from: &Utf8Path, to: &Utf8Path) -> Result<(), LedgerError> {
    fs::rename(from, to).map_err(|error| LedgerError::io("write", to, error))
}

/// Makes the names in a folder durable. Only Unix has a call for it; elsewhere the file system does it by itself.
///
/// # Errors
/// The file system refuses.
pub fn sync_folder(path: &Utf8Path) -> Result<(), LedgerError> {
    #[cfg(unix)]
    File::open(path).and_then(|folder| folder.sync_all()).map_err(|error| LedgerError::io("write", path, error))?;
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// Makes these files of one folder durable, their names too.
///
/// Linux flushes a whole file system in one call, which for thousands of files takes a hundredth of the time.
///
/// # Errors
/// The file system refuses.
#[cfg(target_os = "linux")]
pub(super) fn sync_files(folder: &Utf8Path, _paths: &[Utf8PathBuf]) -> Result<(), LedgerError> {
    let opened = File::open(folder).map_err(|error| LedgerError::io("write", folder, error))?;
    rustix::fs::syncfs(opened).map_err(|error| LedgerError::io("write", folder, error.into()))
}

/// Makes these files of one folder durable, their names too.
///
/// # Errors
/// The file system refuses.
#[cfg(not(target_os = "linux"))]
pub(super) fn sync_files(folder: &Utf8Path, paths: &[Utf8PathBuf]) -> Result<(), LedgerError> {
    for path in paths {
        let file = open_plain(path, OpenOptions::new().read(true).write(true))?;
        file.sync_all().map_err(|error| LedgerError::io("write", path, error))?;
    }
    sync_folder(folder)
}
