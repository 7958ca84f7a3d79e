//! What decides nothing never looks like a pass.

use crate::fake::{Fake, compatible, options, told};
use churngate::publish::{CommentMode, MarkKind, Options};

#[tokio::test]
async fn the_first_line_of_what_proves_nothing_has_no_sign_of_a_pass_and_no_verdict_is_put_out() {
    let always = Options { comment: CommentMode::Always, mark: MarkKind::Check, ..options() };
    let mut replay = compatible();
    replay.record.replayed = Some(true);
    let kinds = [
        ("Unproved: a fork's own run says", compatible(), Options { artifact: true, ..always.clone() }),
        ("Unverified: a result without its ledgers says", compatible(), Options { unverified: true, ..always.clone() }),
        (
            "Exploratory: a rule that nobody has agreed to says",
            compatible(),
            Options { exploratory: true, ..always.clone() },
        ),
        ("A replay: the recording says", replay, always.clone()),
    ];
    for (words, result, wanted) in kinds {
        let fake = Fake::start().await;
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| camino::Utf8PathBuf::from_path_buf(folder.path().join(name)).unwrap();
        let mut around = fake.around(1);
        (around.output_file, around.summary_file) = (Some(file("outputs")), Some(file("summary")));
        told(&result, &around, &wanted).await;
        let mut places = vec![fake.bodies()[0].clone(), std::fs::read_to_string(file("summary")).unwrap()];
        let checks = fake.state.lock().unwrap().checks.clone();
        places.extend(checks.iter().map(|check| check["output"]["summary"].as_str().unwrap().to_owned()));
        for place in &places {
            let first = place.lines().next().unwrap();
            assert_eq!(first, format!("## 🔎 {words} compatible"));
        }
        let outputs = std::fs::read_to_string(file("outputs")).unwrap();
        assert_eq!(outputs.matches("verdict<<").count(), 1, "{outputs}");
        let verdict = outputs.split_once("verdict<<").unwrap().1.lines().nth(1).unwrap();
        assert_eq!(verdict, "", "{words}: {outputs}");
    }
    // The same audit otherwise.
    let fake = Fake::start().await;
    told(&compatible(), &fake.around(1), &always).await;
    assert!(fake.bodies()[0].starts_with("## ✅ Compatible"), "{}", fake.bodies()[0]);
}
