//! The most memory that writing and verifying ledgers of 10^4, 10^5 and 10^6 records takes, each in a process of its own.

use crate::record;
use camino::Utf8Path;
use churngate::ledger::{BlobCheck, Durability, verify};
use std::process::Command;

/// Records of the ledger: an attempt and an outcome a unit of work.
const SIZES: [u32; 3] = [10_000, 100_000, 1_000_000];

/// Prints a line for each size.
pub fn table(root: &Utf8Path) {
    for records in SIZES {
        let folder = root.join(format!("memory-{records}"));
        let written = in_process_of_its_own("write", &folder, records);
        let verified = in_process_of_its_own("verify", &folder, records);
        let bytes = std::fs::metadata(folder.join("answers.jsonl")).expect("the ledger is there").len();
        println!(
            "{records} records ({} kB): writing took at most {written} kB, verifying at most {verified} kB of memory",
            bytes / 1000
        );
    }
}

fn in_process_of_its_own(what: &str, folder: &Utf8Path, records: u32) -> u64 {
    let own = std::env::current_exe().expect("this program");
    let output = Command::new(own).args(["--memory", what, folder.as_str(), &records.to_string()]).output();
    let output = output.expect("the measurement starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().parse().expect("a number of kilobytes")
}

/// Writes or verifies a ledger, and prints the most memory that this process had, in kilobytes.
pub fn measure(what: &str, folder: &Utf8Path, records: &str) {
    if what == "write" {
        record(folder, Durability::Full, records.parse::<u32>().expect("a number") / 2, false);
    } else {
        let report = verify(folder, BlobCheck::Absent).expect("the run is verified");
        assert!(report.difference.is_none(), "{:?}", report.difference);
    }
    println!("{}", peak());
}

/// Peak resident memory of this process, as Linux counts it.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux says what a process takes");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the peak");
    line.trim().trim_end_matches("kB").trim().parse().expect("a number of kilobytes")
}
