//! Which files are archives, by their endings, and what they are packed with.

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use flate2::read::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::{self, BufRead, BufReader, Read};

/// A kind of archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::retrieve::corpus) enum Kind {
    /// Entries one after the other.
    Tar(Packing),
    /// Entries with a table of contents, each packed by itself.
    Zip,
}

/// What a stream is packed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::retrieve::corpus) enum Packing {
    None,
    Gzip,
    Zstd,
}

/// The kind of an archive of this name.
fn kind(name: &str) -> Option<Kind> {
    let name = name.to_ascii_lowercase();
    let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    Some(match () {
        () if ends(&[".tar.zst", ".tar.zstd", ".tzst"]) => Kind::Tar(Packing::Zstd),
        () if ends(&[".tar.gz", ".tgz"]) => Kind::Tar(Packing::Gzip),
        () if ends(&[".tar"]) => Kind::Tar(Packing::None),
        () if ends(&[".zip"]) => Kind::Zip,
        () => return None,
    })
}

/// What a single file of this name is packed with.
pub(in crate::retrieve::corpus) fn packing(name: &str) -> Packing {
    match Utf8Path::new(&name.to_ascii_lowercase()).extension() {
        Some("gz") => Packing::Gzip,
        Some("zst") => Packing::Zstd,
        _ => Packing::None,
    }
}

/// The archive that a path names, its kind, and the folder in it that the rest of the path names.
pub(in crate::retrieve::corpus) fn split(path: &Utf8Path) -> Option<(Utf8PathBuf, Kind, String)> {
    let parts: Vec<Utf8Component<'_>> = path.components().collect();
    let (at, kind) = parts.iter().enumerate().find_map(|(at, part)| Some((at, kind(part.as_str())?)))?;
    let inner = parts.get(at + 1..)?.iter().filter(|part| **part != Utf8Component::CurDir);
    let inner: Vec<&str> = inner.map(Utf8Component::as_str).collect();
    Some((parts.get(..=at)?.iter().collect(), kind, inner.join("/")))
}

/// The bytes as they were before they were packed.
pub(in crate::retrieve::corpus) fn unpacked(bytes: Box<dyn Read + Send>, packing: Packing) -> Box<dyn Read + Send> {
    match packing {
        Packing::None => bytes,
        Packing::Gzip => Box::new(MultiGzDecoder::new(BufReader::new(bytes))),
        Packing::Zstd => Box::new(Zstd::new(bytes)),
    }
}

/// Zstandard frames one after the other, as parallel packers write them, each held against its checksum.
struct Zstd {
    bytes: BufReader<Box<dyn Read + Send>>,
    decoder: FrameDecoder,
    within: bool,
}

impl Zstd {
    fn new(bytes: Box<dyn Read + Send>) -> Self {
        Self { bytes: BufReader::new(bytes), decoder: FrameDecoder::new(), within: false }
    }

    /// Begins the next frame. False where there is none.
    fn next_frame(&mut self) -> io::Result<bool> {
        while !self.bytes.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.bytes) {
                Ok(()) => {
                    self.within = true;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    io::copy(&mut self.bytes.by_ref().take(u64::from(length)), &mut io::sink())?;
                }
                Err(error) => return Err(damaged(error)),
            }
        }
        Ok(false)
    }

    fn is_intact(&self) -> bool {
        self.decoder.get_checksum_from_data().is_none_or(|sum| self.decoder.get_calculated_checksum() == Some(sum))
    }
}

impl Read for Zstd {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.within && self.decoder.can_collect() > 0 {
                return self.decoder.read(buffer);
            }
            if self.within && self.decoder.is_finished() {
                if !self.is_intact() {
                    return Err(damaged("a checksum does not fit"));
                }
                self.within = false;
            }
            if !self.within && !self.next_frame()? {
                return Ok(0);
            }
            let step = BlockDecodingStrategy::UptoBlocks(1);
            if !self.decoder.is_finished() {
                self.decoder.decode_blocks(&mut self.bytes, step).map_err(damaged)?;
            }
        }
    }
}

fn damaged(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_goes_on_into_the_archive_that_it_names() {
        let of =
            |path: &str| split(Utf8Path::new(path)).map(|(archive, kind, inner)| (archive.into_string(), kind, inner));
        let zstd = Kind::Tar(Packing::Zstd);
        assert_eq!(of("dist/docs-1.2.tar.zst"), Some(("dist/docs-1.2.tar.zst".to_owned(), zstd, String::new())));
        assert_eq!(of("../d.TGZ/./a/b/"), Some(("../d.TGZ".to_owned(), Kind::Tar(Packing::Gzip), "a/b".to_owned())));
        assert_eq!(of("a.zip/x.tar"), Some(("a.zip".to_owned(), Kind::Zip, "x.tar".to_owned())));
        assert_eq!(of("docs/corpus.jsonl"), None);
        assert_eq!(of("docs/zip"), None);
    }
}
