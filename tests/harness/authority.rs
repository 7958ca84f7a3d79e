//! Certificates for servers of tests, made by the program `openssl`.

use anyhow::{Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A certificate authority, with the certificates that it issued.
pub struct Authority {
    folder: tempfile::TempDir,
}

impl Authority {
    /// A new one.
    pub fn new() -> Result<Self> {
        let authority = Self { folder: tempfile::tempdir()? };
        authority.issued_to_itself("ca", &[])?;
        Ok(authority)
    }

    /// A file in its folder; its own certificate is `ca.pem`.
    pub fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    fn openssl(&self, arguments: &[&str]) -> Result<()> {
        let output = Command::new("openssl").args(arguments).current_dir(self.folder.path()).output()?;
        ensure!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }

    /// `NAME.pem` and `NAME.key`, a certificate that signs itself.
    pub fn issued_to_itself(&self, name: &str, more: &[&str]) -> Result<()> {
        let (key, certificate) = (format!("{name}.key"), format!("{name}.pem"));
        let request = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
        let rest = ["-days", "2", "-subj", "/CN=Throwaway", "-keyout", &key, "-out", &certificate];
        self.openssl(&[&request[..], &rest, more].concat())
    }

    /// `NAME.pem` and `NAME.key`, a server's certificate for these hosts, valid for so many days.
    pub fn issue(&self, name: &str, hosts: &str, days: &str, digest: &str) -> Result<()> {
        let file = |ending: &str| format!("{name}.{ending}");
        let (key, request, extension, certificate) = (file("key"), file("csr"), file("ext"), file("pem"));
        std::fs::write(self.path(&extension), format!("subjectAltName={hosts}\n"))?;
        let made = ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=db"];
        self.openssl(&[&made[..], &["-keyout", &key, "-out", &request]].concat())?;
        let signed = ["x509", "-req", "-in", &request, "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", digest];
        self.openssl(&[&signed[..], &["-days", days, "-extfile", &extension, "-out", &certificate]].concat())
    }

    /// Copies certificates and their keys into a folder.
    pub fn give(&self, folder: &Path, names: &[&str]) -> Result<()> {
        for name in names {
            for ending in ["pem", "key"] {
                let file = format!("{name}.{ending}");
                std::fs::copy(self.path(&file), folder.join(&file))?;
            }
        }
        Ok(())
    }

    /// The setting of a PostgreSQL address that trusts it, and nobody else.
    pub fn as_setting(&self) -> String {
        format!("sslrootcert={}", self.path("ca.pem").display())
    }
}
