//! Every report that `run` writes must say what the ledgers say.

use crate::fixture::Copy;
use crate::harness::{code, stderr, stdout};
use anyhow::Result;
use std::fs;

/// The result and its renderings.
const REPORTS: [&str; 4] = ["result.json", "report.md", "report.html", "report.xml"];

#[test]
fn a_report_that_was_flipped_cut_or_added_to_does_not_verify() -> Result<()> {
    let copy = Copy::new()?;
    let verify = || copy.workspace().churngate(&["verify", "run"]);
    let sound = verify()?;
    assert!(code(&sound)? == 0 && stdout(&sound).contains("ok  reports: "), "{}{}", stdout(&sound), stderr(&sound));
    for report in REPORTS {
        let path = copy.run().join(report);
        let whole = fs::read(&path)?;
        let text = String::from_utf8_lossy(&whole).into_owned();
        let opposite = text.replace("incompatible", "compatible").replace("INCOMPATIBLE", "COMPATIBLE");
        let mut flipped = whole.clone();
        flipped[whole.len() / 2] ^= 1;
        let cut = whole[..whole.len() / 2].to_vec();
        let changes = [
            opposite.into_bytes(),
            flipped,
            cut,
            whole[..whole.len() - 1].to_vec(),
            [&whole, &b"\n"[..]].concat(),
            Vec::new(),
        ];
        for changed in changes {
            if changed == whole {
                continue;
            }
            fs::write(&path, &changed)?;
            let output = verify()?;
            assert_eq!(code(&output)?, 5, "{report}: {}", stdout(&output));
            let said = stderr(&output);
            assert!(said.contains(&format!("{report}` does not follow from the ledgers")), "{said}");
            assert!(said.contains("hint: trust the ledgers: run the audit again"), "{said}");
        }
        fs::write(&path, &whole)?;
    }
    assert_eq!(code(&verify()?)?, 0);
    // What is not there shows nothing.
    for report in &REPORTS[1..] {
        fs::remove_file(copy.run().join(report))?;
    }
    assert_eq!(code(&verify()?)?, 0);
    Ok(())
}

#[test]
fn who_has_a_damaged_export_is_not_told_to_run_the_audit() -> Result<()> {
    let copy = Copy::new()?;
    for file in ["result.json", "report.md", "claims.json", "claims.md", "export.json"] {
        let to = copy.path(&format!("export-{file}"));
        churngate::run::export(&copy.run(), &to)?;
        fs::write(to.join(file), "other")?;
        for command in ["verify", "report"] {
            let output = copy.workspace().churngate(&[command, to.as_str()])?;
            if command == "report" && code(&output)? == 0 {
                continue;
            }
            let said = stderr(&output);
            assert_eq!(code(&output)?, 5, "{file}: {said}");
            assert!(said.contains("hint: ask whoever exported the run for another copy"), "{file}: {said}");
        }
    }
    Ok(())
}
