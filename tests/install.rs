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
    let (output, _) = runner.run(&[("INPUT_BINARY_PATH", "/nowhere")]);
    assert_eq!(output.status.code(), Some(2));
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
