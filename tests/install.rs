//! How the action comes by its binary: every way, with the tools it calls replaced by ones that only tell.

#![cfg(all(unix, target_os = "linux", target_arch = "x86_64"))]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use churngate::model::Digest;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

const BINARY: &str = "#!/bin/sh\necho released\n";

/// The action's folder with other digests, a tool cache, and a path with a false `curl` and a false `cargo`.
struct Runner {
    folder: TempDir,
}

impl Runner {
    fn new(sha256: Option<&str>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["action", "bin", "temp", "cache"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        fs::copy(root.join("action/install.sh"), folder.path().join("action/install.sh")).unwrap();
        let entry =
            sha256.map_or_else(String::new, |digest| format!("    \"x86_64-unknown-linux-musl\": \"{digest}\"\n"));
        let checksums = format!("{{\n  \"version\": \"9.9.9\",\n  \"sha256\": {{\n{entry}  }}\n}}\n");
        fs::write(folder.path().join("action/checksums.json"), checksums).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn program(&self, name: &str, script: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, script).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// `curl` gives this for every URL, and notes the URL.
    fn serve(&self, text: &str) {
        fs::write(self.path("served"), text).unwrap();
        let root = self.folder.path().display();
        self.program(
            "bin/curl",
            &format!("#!/bin/bash\nfor last; do :; done\necho \"$last\" >>{root}/urls\nwhile [ \"$1\" != --output ]; do shift; done\ncp {root}/served \"$2\"\n"),
        );
    }

    fn run(&self, environment: &[(&str, &str)]) -> (Output, String) {
        let mut command = Command::new("bash");
        command.arg(self.path("action/install.sh")).env_clear();
        command.env("PATH", format!("{}:/usr/bin:/bin", self.path("bin").display()));
        command.env("GITHUB_OUTPUT", self.path("output")).env("RUNNER_TEMP", self.path("temp"));
        command.env("RUNNER_TOOL_CACHE", self.path("cache")).envs(environment.iter().copied());
        let output = command.output().unwrap();
        (output, fs::read_to_string(self.path("output")).unwrap_or_default())
    }

    fn cached(&self) -> PathBuf {
        self.path("cache/churngate/9.9.9/x86_64-unknown-linux-musl/churngate")
    }
}

fn digest(text: &str) -> String {
    Digest::of(text.as_bytes()).to_string()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

const OWN: (&str, &str) = ("ACTION_REPOSITORY", "octo/churngate");

#[test]
fn the_binary_that_is_named_is_used() {
    let runner = Runner::new(None);
    runner.program("mine", BINARY);
    let (output, written) = runner.run(&[("INPUT_BINARY_PATH", runner.path("mine").to_str().unwrap())]);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(written, format!("binary={}\n", fs::canonicalize(runner.path("mine")).unwrap().display()));
    for nothing in ["/nowhere", runner.path(".").to_str().unwrap(), "."] {
        let (output, written) = runner.run(&[("INPUT_BINARY_PATH", nothing)]);
        assert_eq!(output.status.code(), Some(2), "{nothing}: {}", said(&output));
        assert!(!written.contains(&format!("binary={nothing}")) && said(&output).contains("is no file"), "{written}");
    }
}

#[test]
fn a_path_writes_no_other_output() {
    let runner = Runner::new(None);
    runner.program("a\nverdict=compatible", BINARY);
    let path = runner.path("a\nverdict=compatible");
    let (output, written) = runner.run(&[("INPUT_BINARY_PATH", path.to_str().unwrap())]);
    assert_eq!((output.status.code(), written.contains("verdict")), (Some(2), false), "{}", said(&output));
}

/// Names that a program could take for an option, or for the folder before this one.
#[test]
fn a_binary_may_be_called_like_an_option() {
    let runner = Runner::new(None);
    for name in ["-x", "--help", "-/mine", "-d/mine", "we ird/mi ne"] {
        runner.program(&format!("work/{name}"), BINARY);
        let mut command = Command::new("bash");
        command.arg(runner.path("action/install.sh")).current_dir(runner.path("work")).env_clear();
        command.env("PATH", "/usr/bin:/bin").env("OLDPWD", "/").env("GITHUB_OUTPUT", runner.path("output"));
        let output = command.env("INPUT_BINARY_PATH", name).output().unwrap();
        assert!(output.status.success(), "{name}: {}", said(&output));
        let written = fs::read_to_string(runner.path("output")).unwrap();
        let binary = fs::canonicalize(runner.path("work")).unwrap().join(name);
        assert!(written.ends_with(&format!("binary={}\n", binary.display())), "{name}: {written}");
    }
}

#[test]
fn a_binary_is_found_by_its_path_alone_whatever_the_jobs_variables_say() {
    let runner = Runner::new(None);
    runner.program("bin/mine", BINARY);
    runner.program("elsewhere/bin/mine", "#!/bin/sh\necho another\n");
    let mut command = Command::new("bash");
    command
        .arg(runner.path("action/install.sh"))
        .current_dir(runner.path("."))
        .env_clear()
        .env("PATH", "/usr/bin:/bin");
    command.env("GITHUB_OUTPUT", runner.path("output")).env("INPUT_BINARY_PATH", "bin/mine");
    let output = command.env("CDPATH", runner.path("elsewhere")).env("binary", "x").output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let written = fs::read_to_string(runner.path("output")).unwrap();
    assert_eq!(written, format!("binary={}\n", fs::canonicalize(runner.path("bin/mine")).unwrap().display()));
}

#[test]
fn a_release_is_downloaded_verified_and_kept() {
    let runner = Runner::new(Some(&digest(BINARY)));
    runner.serve(BINARY);
    for _ in 0..2 {
        let (output, written) = runner.run(&[OWN, ("GITHUB_SERVER_URL", "https://ghe.example")]);
        assert!(output.status.success(), "{}", said(&output));
        assert!(written.ends_with(&format!("binary={}\n", runner.cached().display())), "{written}");
    }
    let urls = fs::read_to_string(runner.path("urls")).unwrap();
    let url = "https://ghe.example/octo/churngate/releases/download/v9.9.9/churngate-x86_64-unknown-linux-musl\n";
    assert_eq!(urls, url, "the second time it is in the cache");
    let ran = Command::new(runner.cached()).output().unwrap();
    assert_eq!(ran.stdout, b"released\n");
}

#[test]
fn a_download_with_another_digest_is_never_used() {
    let runner = Runner::new(Some(&digest(BINARY)));
    runner.serve("#!/bin/sh\necho evil\n");
    runner.program("bin/cargo", "#!/bin/sh\nexit 0\n");
    let (output, written) = runner.run(&[OWN]);
    assert_eq!((output.status.code(), written.as_str()), (Some(2), ""), "{}", said(&output));
    assert!(said(&output).contains("is not the one of action/checksums.json"));
    assert!(!runner.cached().exists());
}

#[test]
fn a_cached_binary_with_another_digest_is_replaced() {
    let runner = Runner::new(Some(&digest(BINARY)));
    runner.program("cache/churngate/9.9.9/x86_64-unknown-linux-musl/churngate", "#!/bin/sh\necho evil\n");
    runner.serve(BINARY);
    let (output, _) = runner.run(&[("INPUT_DOWNLOAD_URL", "https://mirror.example/x/")]);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(fs::read_to_string(runner.cached()).unwrap(), BINARY);
    let urls = fs::read_to_string(runner.path("urls")).unwrap();
    assert_eq!(urls, "https://mirror.example/x/churngate-x86_64-unknown-linux-musl\n");
}

#[test]
fn without_a_release_it_is_built_outside_of_the_audited_folder() {
    for (sha256, curl) in [(None, "#!/bin/sh\nexit 9\n"), (Some(digest(BINARY)), "#!/bin/sh\nexit 22\n")] {
        let runner = Runner::new(sha256.as_deref());
        runner.program("bin/curl", curl);
        let root = runner.folder.path().display().to_string();
        runner.program("bin/cargo", &format!("#!/bin/sh\npwd >{root}/where\necho \"$@\" >{root}/arguments\n"));
        let (output, written) = runner.run(&[OWN]);
        assert!(output.status.success(), "{}", said(&output));
        assert_eq!(written, format!("binary={root}/temp/churngate-build/bin/churngate\n"));
        assert_eq!(fs::read_to_string(runner.path("where")).unwrap().trim(), root);
        let why = match sha256 {
            None => "names no binary for this platform (x86_64-unknown-linux-musl); building",
            Some(_) => "could not be downloaded; building",
        };
        assert!(said(&output).contains(why), "{}", said(&output));
        let arguments = fs::read_to_string(runner.path("arguments")).unwrap();
        assert!(arguments.starts_with("install --locked --path . --root "), "{arguments}");
    }
}

#[test]
fn without_a_release_and_without_cargo_it_says_what_to_do() {
    let runner = Runner::new(None);
    let (output, _) = runner.run(&[OWN]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("set `binary-path`"), "{}", said(&output));
}

/// The whole way of a release: its binaries, the digests that the release's script writes, and an installer on each platform.
#[test]
fn every_platform_of_a_release_gets_its_own_binary() {
    const PLATFORMS: [(&str, &str, &str, &str); 5] = [
        ("Linux", "x86_64", "x86_64-unknown-linux-musl", ""),
        ("Linux", "aarch64", "aarch64-unknown-linux-musl", ""),
        ("Darwin", "x86_64", "x86_64-apple-darwin", ""),
        ("Darwin", "arm64", "aarch64-apple-darwin", ""),
        ("MINGW64_NT-10.0", "x86_64", "x86_64-pc-windows-msvc", ".exe"),
    ];
    let runner = Runner::new(None);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    fs::create_dir(runner.path("scripts")).unwrap();
    fs::create_dir(runner.path("release")).unwrap();
    fs::copy(root.join("scripts/write-checksums"), runner.path("scripts/write-checksums")).unwrap();
    for (_, _, target, suffix) in PLATFORMS {
        let binary = format!("#!/bin/sh\necho {target}\n");
        fs::write(runner.path("release").join(format!("churngate-{target}{suffix}")), binary).unwrap();
    }
    let write_checksums = || {
        let mut command = Command::new("bash");
        command.args(["scripts/write-checksums", "9.9.9", "release"]).current_dir(runner.folder.path());
        command.output().unwrap()
    };
    let wrote = write_checksums();
    assert!(wrote.status.success(), "{}", said(&wrote));
    let folder = runner.folder.path().display();
    let curl = format!(
        "#!/bin/bash\nfor last; do :; done\nwhile [ \"$1\" != --output ]; do shift; done\ncp {folder}/release/\"${{last##*/}}\" \"$2\"\n"
    );
    runner.program("bin/curl", &curl);
    for (system, machine, target, suffix) in PLATFORMS {
        runner.program("bin/uname", &format!("#!/bin/sh\n[ \"$1\" = -m ] && echo {machine} || echo {system}\n"));
        let (output, written) = runner.run(&[OWN]);
        assert!(output.status.success(), "{target}: {}", said(&output));
        let installed = format!("{folder}/cache/churngate/9.9.9/{target}/churngate{suffix}");
        assert!(written.ends_with(&format!("binary={installed}\n")), "{written}");
        assert_eq!(Command::new(installed).output().unwrap().stdout, format!("{target}\n").as_bytes());
    }
    // A binary that was exchanged after the release is not used.
    fs::remove_dir_all(runner.path("cache")).unwrap();
    fs::write(runner.path("release/churngate-x86_64-pc-windows-msvc.exe"), "#!/bin/sh\necho evil\n").unwrap();
    let (output, _) = runner.run(&[OWN]);
    assert!(output.status.code() == Some(2) && said(&output).contains("is not the one of"), "{}", said(&output));
    // A release that lacks a platform is not written down.
    fs::remove_file(runner.path("release/churngate-aarch64-apple-darwin")).unwrap();
    assert!(!write_checksums().status.success());
}

#[test]
fn a_platform_that_no_release_has_builds() {
    let runner = Runner::new(Some(&digest(BINARY)));
    runner.program("bin/uname", "#!/bin/sh\n[ \"$1\" = -m ] && echo riscv64 || echo Linux\n");
    runner.program("bin/cargo", "#!/bin/sh\nexit 0\n");
    let (output, written) = runner.run(&[OWN]);
    assert!(output.status.success() && written.contains("churngate-build"), "{}", said(&output));
    assert!(said(&output).contains("no binary for this platform (none)"), "{}", said(&output));
}

/// Every use of somebody else's action is pinned to one commit, with the version that it is of. Both were found together in
/// several public workflows.
#[test]
fn actions_are_pinned_to_known_commits() {
    const PINS: [&str; 4] = [
        "actions/checkout@9c091bb21b7c1c1d1991bb908d89e4e9dddfe3e0 # v7.0.0",
        "actions/upload-artifact@043fb46d1a93c77aae656e7c1c64a875d1fc6a0a # v7.0.1",
        "actions/download-artifact@3e5f45b2cfb9172054b4087a40e8e0b5a5461e7c # v8.0.1",
        "actions/attest@59d89421af93a897026c735860bf21b6eb4f7b26 # v4.1.0",
    ];
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut seen = 0;
    for folder in [".github/workflows", "examples/workflows"] {
        for entry in fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let text = fs::read_to_string(&path).unwrap();
            for used in text.lines().filter_map(|line| line.trim().strip_prefix("- uses: ")) {
                let ours = used.starts_with("./") || used.starts_with("OWNER/churngate@");
                assert!(ours || PINS.contains(&used), "{}: {used}", path.display());
                seen += u32::from(!ours);
            }
        }
    }
    assert!(seen > 10, "{seen}");
}
