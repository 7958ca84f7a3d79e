//! Corpora in archives: the same as their folders, and bounded, whoever packed them.

use super::harness::{Bench, path, resolve};
use crate::model::FailureClass;
use crate::retrieve::bm25::{Bm25Index, IndexSettings};
use crate::retrieve::corpus::{Corpus, CorpusDocument};
use crate::spec::{Bm25Spec, RetrieveBackend, SnapshotSource};
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::io::{Cursor, Write};
use std::process::Command;
use zip::write::{SimpleFileOptions, ZipWriter};

const ENDINGS: [&str; 4] = ["tar", "tar.gz", "tar.zst", "zip"];

fn bench(old: SnapshotSource, new: SnapshotSource) -> Bench {
    Bench::new(RetrieveBackend::Bm25(Bm25Spec::default()), old, new, &["alpha"])
}

/// A tar file of these entries.
fn tar(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, bytes) in entries {
        append(&mut builder, name, bytes, tar::EntryType::Regular);
    }
    builder.into_inner().unwrap()
}

/// Names are put in as they are: the library would refuse those of an attacker.
fn append(builder: &mut tar::Builder<Vec<u8>>, name: &str, bytes: &[u8], kind: tar::EntryType) {
    let mut header = tar::Header::new_gnu();
    header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
    header.set_entry_type(kind);
    header.set_size(bytes.len() as u64);
    header.set_mode(0o644);
    if kind.is_symlink() || kind.is_hard_link() {
        header.set_link_name_literal("a.md").unwrap();
    }
    header.set_cksum();
    builder.append(&header, bytes).unwrap();
}

fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

fn packed(ending: &str, entries: &[(&str, &[u8])]) -> Vec<u8> {
    match ending {
        "tar" => tar(entries),
        "tar.gz" => gzip(&tar(entries)),
        "tar.zst" => zstd(&tar(entries)),
        _ => zip(entries),
    }
}

fn read(bench: &Bench, source: &SnapshotSource) -> Result<Vec<CorpusDocument>, String> {
    let in_words = |error: crate::retrieve::corpus::CorpusError| error.to_string();
    let corpus = Corpus::open(source, &bench.base()).map_err(in_words)?;
    corpus.documents().map_err(in_words)?.collect::<Result<_, _>>().map_err(in_words)
}

/// What reading an archive of these bytes comes to.
fn outcome(ending: &str, bytes: &[u8]) -> Result<Vec<CorpusDocument>, String> {
    let name = format!("docs.{ending}");
    let bench = bench(path(&name), path(&name));
    bench.write(&name, bytes);
    read(&bench, &path(&name))
}

fn git(bench: &Bench, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]);
    assert!(command.arg("-C").arg(bench.base()).args(arguments).status().unwrap().success());
}

#[test]
fn a_folder_and_its_archives_are_one_corpus_with_the_same_evidence() {
    let files: [(&str, &[u8]); 6] = [
        ("z.md", b"alpha and beta"),
        ("a/b.txt", "\u{feff}alpha in ü".as_bytes()),
        ("a/c.md", b"alpha and beta"),
        ("b.md", b"gamma"),
        ("a/.hidden.md", b"alpha"),
        ("x.png", b"\0\0"),
    ];
    for ending in ENDINGS {
        let name = format!("docs.{ending}");
        let at_head = SnapshotSource::Git { revision: "HEAD".to_owned(), path: name.as_str().into() };
        let bench = bench(path("docs"), path(&name));
        for (file, bytes) in files {
            bench.write(&format!("docs/{file}"), bytes);
        }
        bench.write(&name, packed(ending, &files.map(|(file, bytes)| (file, bytes))));
        git(&bench, &["init", "-q"]);
        git(&bench, &["add", "-A"]);
        git(&bench, &["commit", "-qm", "corpus"]);
        let resolved = resolve(&bench.spec, &bench.base()).unwrap();
        assert_eq!(resolved[0].fingerprint, resolved[1].fingerprint, "{ending}");
        assert_eq!((resolved[1].physical.as_str(), resolved[1].documents), (name.as_str(), Some(4)));
        let sources = [path("docs"), path(&name), at_head];
        let read = sources.map(|source| read(&bench, &source).unwrap());
        let evidence = read.clone().map(|documents| {
            let settings = IndexSettings { chunk_chars: None, max_chars: 1200, in_memory: true };
            let index = Bm25Index::build(documents.into_iter().map(Ok), settings).unwrap().index;
            index.search("alpha beta", 3).unwrap().canonical()
        });
        assert!(evidence[0] == evidence[1] && evidence[1] == evidence[2], "{ending}");
        assert!(String::from_utf8_lossy(&evidence[0]).contains("a/c.md"));
        let [folder, mut archive, commit] = read;
        assert_eq!(archive, commit);
        archive.sort_by(|one, other| one.id.cmp(&other.id));
        assert_eq!(folder, archive);
    }
}

#[test]
fn a_folder_within_an_archive_is_named_by_the_rest_of_the_path() {
    let files: [(&str, &[u8]); 4] = [
        ("./docs-1.2/guide/a.md", b"alpha"),
        ("docs-1.2//guide/./b.md", b"beta"),
        ("docs-1.2/c.md", b"gamma"),
        ("docs-1.2/guidebook/d.md", b"delta"),
    ];
    for ending in ENDINGS {
        let bench = bench(path("docs"), path("docs"));
        bench.write(&format!("docs.{ending}"), packed(ending, &files));
        let ids = |inner: &str| {
            let documents = read(&bench, &path(&format!("docs.{ending}{inner}"))).unwrap();
            documents.into_iter().map(|document| document.id).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(ids("/docs-1.2/guide/"), "a.md b.md", "{ending}");
        assert_eq!(
            ids(""),
            "docs-1.2/guide/a.md docs-1.2/guide/b.md docs-1.2/c.md docs-1.2/guidebook/d.md",
            "{ending}"
        );
        assert_eq!(ids("/elsewhere"), "", "{ending}");
    }
    let empty = bench(path("docs.zip/elsewhere"), path("docs.zip"));
    empty.write("docs.zip", zip(&files));
    let failure = resolve(&empty.spec, &empty.base()).unwrap_err();
    assert_eq!(failure.message, "the corpus of snapshot `old` (`docs.zip/elsewhere`) has no documents");
}

#[test]
fn a_folder_that_is_named_like_an_archive_stays_a_folder() {
    let bench = bench(path("docs.zip"), path("docs.zip/a"));
    bench.write("docs.zip/a/b.md", "alpha");
    let resolved = resolve(&bench.spec, &bench.base()).unwrap();
    assert_eq!((resolved[0].documents, resolved[1].documents), (Some(1), Some(1)));
}

#[test]
fn names_that_lead_out_are_refused() {
    for name in ["../a.md", "a/../../b.md", "/etc/a.md", "a\\..\\b.md", "..\\a.md", "a/../b.png"] {
        for ending in ENDINGS {
            // A writer of zips would mend some of these names, so that they are patched in afterwards.
            let plain: String = name.chars().map(|c| if c.is_ascii_alphabetic() { c } else { 'x' }).collect();
            let mut bytes =
                if ending == "zip" { zip(&[(&plain, b"alpha")]) } else { packed(ending, &[(name, b"alpha")]) };
            if ending == "zip" {
                patch(&mut bytes, plain.as_bytes(), name.as_bytes());
            }
            let error = outcome(ending, &bytes).unwrap_err();
            assert_eq!(error, format!("`docs.{ending}`, entry 1: `{name}` has a name that leads out of the archive"));
        }
    }
}

/// Puts other bytes in every place of these.
fn patch(bytes: &mut [u8], from: &[u8], to: &[u8]) {
    let places: Vec<usize> =
        bytes.windows(from.len()).enumerate().filter(|(_, window)| *window == from).map(|(at, _)| at).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at..at + to.len()].copy_from_slice(to);
    }
}

#[test]
fn links_are_not_followed_and_what_is_no_file_is_refused() {
    let of = |kind: tar::EntryType| {
        let mut builder = tar::Builder::new(Vec::new());
        append(&mut builder, "a.md", b"alpha", tar::EntryType::Regular);
        append(&mut builder, "link.md", b"", kind);
        builder.into_inner().unwrap()
    };
    assert_eq!(outcome("tar", &of(tar::EntryType::Symlink)).unwrap().len(), 1);
    let hard = outcome("tar", &of(tar::EntryType::Link)).unwrap_err();
    assert_eq!(hard, "`docs.tar`, entry 2: `link.md` is a hard link, which is not followed");
    let pipe = outcome("tar", &of(tar::EntryType::Fifo)).unwrap_err();
    assert_eq!(pipe, "`docs.tar`, entry 2: `link.md` is neither a file nor a folder");
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer.start_file("a.md", SimpleFileOptions::default()).unwrap();
    writer.add_symlink("link.md", "/etc/passwd", SimpleFileOptions::default()).unwrap();
    let bytes = writer.finish().unwrap().into_inner();
    let bench = bench(path("docs.zip"), path("docs.zip"));
    bench.write("docs.zip", bytes);
    let resolved = resolve(&bench.spec, &bench.base()).unwrap();
    let links = resolved[0].passed_over.as_ref().map(|passed| passed.links);
    assert_eq!((resolved[0].documents, links), (Some(1), Some(1)));
}

#[test]
fn both_entries_of_a_duplicate_are_named() {
    let files: [(&str, &[u8]); 3] = [("a.md", b"alpha"), ("b.md", b"beta"), ("c.md", b"gamma")];
    for ending in ["tar", "tar.gz", "tar.zst"] {
        let twice: [(&str, &[u8]); 3] = [files[0], files[1], ("./a.md", b"alpha")];
        let error = outcome(ending, &packed(ending, &twice)).unwrap_err();
        assert_eq!(error, format!("`docs.{ending}`, entries 1 and 3: both are `a.md`"));
    }
    let mut bytes = zip(&files);
    patch(&mut bytes, b"c.md", b"a.md");
    assert_eq!(outcome("zip", &bytes).unwrap_err(), "`docs.zip`, entries 1 and 3: both are `a.md`");
}

#[test]
fn an_encrypted_document_is_refused() {
    let mut bytes = zip(&[("a.md", b"alpha")]);
    let places: Vec<usize> =
        bytes.windows(4).enumerate().filter(|(_, window)| window.starts_with(b"PK")).map(|(at, _)| at).collect();
    for at in places {
        match bytes[at + 2] {
            3 => bytes[at + 6] |= 1,
            1 => bytes[at + 8] |= 1,
            _ => {}
        }
    }
    assert_eq!(outcome("zip", &bytes).unwrap_err(), "`docs.zip`, entry 1: `a.md` is encrypted");
}

#[test]
fn what_unpacks_without_measure_is_refused_before_it_is_believed() {
    let filler = vec![b' '; 4 << 20];
    let names: Vec<String> = (0..17).map(|number| format!("{number}.md")).collect();
    let documents: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), filler.as_slice())).collect();
    let pictures: Vec<(&str, &[u8])> = documents.iter().map(|(_, bytes)| ("p.png", *bytes)).collect();
    for ending in ["tar.gz", "tar.zst", "zip"] {
        let error = outcome(ending, &packed(ending, &documents)).unwrap_err();
        assert_eq!(error, format!("the archive `docs.{ending}` unpacks to more than an archive of its size may"));
    }
    let skipped = outcome("tar.zst", &packed("tar.zst", &pictures)).unwrap_err();
    assert!(skipped.contains("unpacks to more"), "{skipped}");
    let large = vec![b'x'; (4 << 20) + 1];
    for ending in ENDINGS {
        let error = outcome(ending, &packed(ending, &[("big.md", &large)])).unwrap_err();
        assert_eq!(error, "document `big.md` has more than 4194304 bytes");
    }
}

#[test]
fn a_cut_or_altered_archive_is_damaged_or_the_same() {
    let files: [(&str, &[u8]); 2] = [("a.md", b"alpha beta gamma alpha beta gamma"), ("b.md", b"delta")];
    for ending in ENDINGS {
        let whole = packed(ending, &files);
        let documents = outcome(ending, &whole).unwrap();
        for end in (0..whole.len()).step_by(if ending == "tar" { 64 } else { 1 }) {
            match outcome(ending, &whole[..end]) {
                Err(error) => assert!(error.contains("is damaged or cut off"), "{ending} cut at {end}: {error}"),
                // A tar may lack its last blocks of zeros.
                Ok(read) => assert_eq!(read, documents, "{ending} cut at {end}"),
            }
        }
        // A plain tar has sums over its headers alone.
        for at in (0..whole.len()).filter(|_| ending != "tar") {
            let mut altered = whole.clone();
            altered[at] ^= 0x10;
            if let Ok(read) = outcome(ending, &altered) {
                let fewer = read.iter().all(|document| documents.contains(document));
                assert!(fewer, "{ending} altered at {at}: {read:?}");
            }
        }
    }
}

#[test]
fn frames_one_after_the_other_are_one_stream() {
    let bytes = tar(&[("a.md", b"alpha"), ("b.md", b"beta")]);
    let (one, other) = bytes.split_at(700);
    let documents = outcome("tar", &bytes).unwrap();
    let skippable =
        [b"\x50\x2a\x4d\x18\x03\0\0\0abc".to_vec(), zstd(one), b"\x51\x2a\x4d\x18\0\0\0\0".to_vec(), zstd(other)]
            .concat();
    assert_eq!(outcome("tar.zst", &skippable), Ok(documents.clone()));
    assert_eq!(outcome("tar.gz", &[gzip(one), gzip(other)].concat()), Ok(documents));
}

#[test]
fn a_packed_jsonl_file_is_read_as_the_plain_one() {
    let lines = (0..2000)
        .map(|number| format!("{{\"id\":{number},\"text\":\"text {number}\"}}\n"))
        .collect::<Vec<_>>()
        .concat();
    let bench = bench(path("c.jsonl"), path("c.jsonl"));
    bench.write("c.jsonl", &lines);
    bench.write("c.jsonl.gz", gzip(lines.as_bytes()));
    bench.write("c.jsonl.zst", zstd(lines.as_bytes()));
    let plain = read(&bench, &path("c.jsonl")).unwrap();
    assert_eq!(plain.len(), 2000);
    for name in ["c.jsonl.gz", "c.jsonl.zst"] {
        assert_eq!(read(&bench, &path(name)), Ok(plain.clone()), "{name}");
    }
    bench.write("c.jsonl.gz", gzip(&vec![b'\n'; 65 << 20]));
    assert!(read(&bench, &path("c.jsonl.gz")).is_err());
}

#[test]
fn evidence_computed_beforehand_is_no_archive() {
    let bench = Bench::new(RetrieveBackend::File, path("e.zip"), path("e.zip"), &["alpha"]);
    bench.write("e.zip", zip(&[("a.md", b"alpha")]));
    let failure = resolve(&bench.spec, &bench.base()).unwrap_err();
    assert_eq!(failure.class, FailureClass::Usage);
    assert!(failure.message.contains("`e.zip` is neither a folder nor a file"), "{failure}");
}
