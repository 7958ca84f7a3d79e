//! The most memory that writing and verifying ledgers of 10^4, 10^5 and 10^6 records takes, and the whole of `churngate run` and
//! `churngate verify` on audits of as many records, each in a process of its own.

use crate::record;
use crate::server::{context, prepare, write_audit};
use camino::{Utf8Path, Utf8PathBuf};
use churngate::ledger::{BlobCheck, Durability, verify};
use churngate::run;
use std::io::{BufRead as _, BufReader};
use std::process::Command;
use std::time::Instant;

/// Records of the ledgers.
const SIZES: [u32; 3] = [10_000, 100_000, 1_000_000];
/// Records that a question of the audits leaves, or nearly so many.
const RECORDS_A_QUESTION: u32 = 20;
/// Questions whose answer changes: what a result lists is as long for every size.
const FLIPS: u32 = 20;

/// Prints two lines for each size.
pub fn table(root: &Utf8Path) {
    for records in SIZES {
        let folder = root.join(format!("memory-{records}"));
        let (written, _) = in_process_of_its_own("write", &folder, records);
        let (verified, _) = in_process_of_its_own("verify", &folder, records);
        let bytes = std::fs::metadata(folder.join("answers.jsonl")).expect("the ledger is there").len();
        println!(
            "{records} records ({} kB): writing took at most {written} kB, verifying at most {verified} kB of memory",
            bytes / 1000
        );
    }
    for records in SIZES {
        let folder = root.join(format!("audit-{records}"));
        let (audited, _) = in_process_of_its_own("audit", &folder, records);
        let (verified, seconds) = in_process_of_its_own("whole", &folder, records);
        let (questions, lines) = (records / RECORDS_A_QUESTION, lines(&run_folder(&folder)));
        println!(
            "an audit of {questions} questions ({lines} lines of ledgers): `run` took at most {audited} kB, `verify` at \
             most {verified} kB of memory and {seconds:.1} s"
        );
    }
}

/// Lines of all ledgers of a run.
fn lines(run: &Utf8Path) -> usize {
    let count = |file: &str| {
        let ledger = std::fs::File::open(run.join(file)).expect("the ledger is there");
        BufReader::new(ledger).lines().count()
    };
    ["evidence.jsonl", "answers.jsonl", "judgments.jsonl"].map(count).iter().sum()
}

/// The one run below an audit.
fn run_folder(audit: &Utf8Path) -> Utf8PathBuf {
    let mut runs = audit.join(".churngate").read_dir_utf8().expect("the runs are there");
    runs.next().expect("a run").expect("a name").path().to_owned()
}

fn in_process_of_its_own(what: &str, folder: &Utf8Path, records: u32) -> (u64, f64) {
    let own = std::env::current_exe().expect("this program");
    let begun = Instant::now();
    let output = Command::new(own).args(["--memory", what, folder.as_str(), &records.to_string()]).output();
    let output = output.expect("the measurement starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let kilobytes = String::from_utf8_lossy(&output.stdout).trim().parse().expect("a number of kilobytes");
    (kilobytes, begun.elapsed().as_secs_f64())
}

/// Writes or verifies a ledger or a whole run, and prints the most memory that this process had, in kilobytes.
pub fn measure(what: &str, folder: &Utf8Path, records: &str) {
    let records = records.parse::<u32>().expect("a number");
    match what {
        "write" => {
            record(folder, Durability::Full, records / 2, false);
        }
        "verify" => {
            let report = verify(folder, BlobCheck::Absent).expect("the run is verified");
            assert!(report.difference.is_none(), "{:?}", report.difference);
        }
        "audit" => audit(folder, records / RECORDS_A_QUESTION),
        _ => {
            let verified = run::verify(&run_folder(folder)).expect("the run is verified");
            assert!(verified.result.is_some());
        }
    }
    println!("{}", peak());
}

/// An audit by the embedded parts: the evidence of every question changes, and the answers of a few.
fn audit(folder: &Utf8Path, questions: u32) {
    write_audit(folder, "reader: {}", questions, |number, of_new| {
        let colour = if of_new { "blue" } else { "red" };
        let version = if of_new && number < FLIPS { number + 1 } else { number };
        format!("gadget{number} is an entry. It is {colour}. Chrome supports it since version {version}.")
    });
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let prepared = prepare(folder).await;
        run::audit(prepared, &context()).await.expect("the audit is done");
    });
}

/// Peak resident memory of this process, as Linux counts it.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux says what a process takes");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the peak");
    line.trim().trim_end_matches("kB").trim().parse().expect("a number of kilobytes")
}
