//! Specs that ask for a diagnosis that is none, told with what to do about it.

use crate::audit::{spec, workspace};
use crate::harness::{code, stderr};

#[test]
fn what_makes_no_diagnosis_is_refused_before_anything_is_spent() {
    for (judges, words) in [
        ("  embedded: {}\n  self_consistency: 50\n", "add `passes: 2` beside it"),
        ("  embedded: {}\n  passes: 3\n", "1 to 2"),
        ("  embedded: {}\n  passes: 2\n  self_consistancy: 50\n", "did you mean `self_consistency`?"),
        ("  embedded: {}\n  second: { embedded: {} }\n", "the second judge is the first one"),
        ("  embedded: {}\n  second: { sample: 50 }\n", "add exactly one of `openai`"),
        ("  embedded: {}\n  second: { command: { argv: [a] }, samples: 50 }\n", "did you mean `sample`?"),
        ("  embedded: {}\n  second: { command: { argv: [a] }, sample: 3 }\n", "10 to 100000"),
        (
            "  embedded: {}\nreplicate: { command: { argv: [sh, answer.sh] } }\n",
            "the second generator is the first one",
        ),
        ("  embedded: {}\nreplicate: { reader: {}, repeats: 3 }\n", "unknown key `repeats` in `replicate`"),
        ("  embedded: {}\nreplicate: { reader: {}, sampel: 30 }\n", "did you mean `sample`?"),
    ] {
        let workspace = workspace();
        spec(&workspace, judges, "");
        let output = workspace.churngate(&["check", "churngate.yaml"]).unwrap();
        assert_eq!(code(&output).unwrap(), 2, "{judges}");
        assert!(stderr(&output).contains(words), "{judges}: {}", stderr(&output));
    }
}
