//! The bytes of files, by their object ids.

use super::{GitError, ObjectId, command};
use camino::Utf8Path;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// Reads many objects through one `git cat-file --batch`.
#[derive(Debug)]
pub struct BlobReader {
    child: Child,
    requests: ChildStdin,
    replies: BufReader<ChildStdout>,
}

impl BlobReader {
    /// Starts git in `folder`.
    ///
    /// # Errors
    /// Git cannot be started.
    pub fn start(folder: &Utf8Path) -> Result<Self, GitError> {
        let mut command = command::git(folder, "cat-file");
        command.arg("--batch").stdin(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(command::start_error)?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(requests), Some(stdout)) => Ok(Self { child, requests, replies: BufReader::new(stdout) }),
            _ => Err(GitError::Unreadable { command: "cat-file" }),
        }
    }

    /// The bytes of one blob of at most `limit` bytes.
    ///
    /// # Errors
    /// No such blob, a larger one, or git itself. After an error the reader must not be used again.
    pub fn read(&mut self, object: &ObjectId, limit: u64) -> Result<Vec<u8>, GitError> {
        writeln!(self.requests, "{object}")?;
        self.requests.flush()?;
        let mut head = String::new();
        self.replies.read_line(&mut head)?;
        let size = blob_size(&head, object)?;
        if size > limit {
            return Err(GitError::Unreadable { command: "cat-file" });
        }
        let mut bytes = Vec::new();
        (&mut self.replies).take(size).read_to_end(&mut bytes)?;
        // A line feed follows the bytes. Fewer bytes than announced leave nothing to read here.
        self.replies.read_exact(&mut [0])?;
        Ok(bytes)
    }
}

impl Drop for BlobReader {
    fn drop(&mut self) {
        // Nothing is left to be read; a failure to end a child that has ended is none.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `OBJECT blob SIZE`, or `OBJECT missing`.
fn blob_size(head: &str, object: &ObjectId) -> Result<u64, GitError> {
    let unreadable = GitError::Unreadable { command: "cat-file" };
    let fields: Vec<&str> = head.split_ascii_whitespace().collect();
    match fields[..] {
        [_, "missing"] => Err(GitError::NoSuchObject { object: object.as_str().to_owned() }),
        [_, "blob", size] => size.parse().map_err(|_| unreadable),
        _ => Err(unreadable),
    }
}

/// One blob as a stream, for files that are read line by line.
#[derive(Debug)]
pub struct BlobStream {
    child: Child,
    bytes: ChildStdout,
}

/// Starts to read one blob.
///
/// # Errors
/// Git cannot be started.
pub fn stream(folder: &Utf8Path, object: &ObjectId) -> Result<BlobStream, GitError> {
    let mut command = command::git(folder, "cat-file");
    command.arg("blob").arg(object.as_str()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(command::start_error)?;
    match child.stdout.take() {
        Some(bytes) => Ok(BlobStream { child, bytes }),
        None => Err(GitError::Unreadable { command: "cat-file" }),
    }
}

impl Read for BlobStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(buffer)?;
        // An end that git did not reach by itself is no end: a cut corpus must not pass for a whole one.
        if count == 0 && !buffer.is_empty() && !self.child.wait()?.success() {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "git ended before the object did"));
        }
        Ok(count)
    }
}

impl Drop for BlobStream {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
