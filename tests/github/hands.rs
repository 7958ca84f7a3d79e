//! What people do with the comments: notes below the hidden line, changes of it, copies of it, deletions while a list is read.

use crate::draws::{drawn, last_status};
use crate::fake::{BOT, Fake, compatible, incompatible, options, told};
use churngate::publish::{CommentMode, Options, Outcome, Outdated};
use serde_json::{Value, json};

const OTHER: &str = "cccccccccccccccccccccccccccccccccccccccc";

fn always() -> Options {
    Options { comment: CommentMode::Always, ..options() }
}

/// A pull request whose comment tells of an incompatible draw at an earlier commit, which no mark of this one does.
async fn blocked() -> Fake {
    let fake = Fake::start().await;
    told(&drawn(incompatible(), 1), &fake.around_at(1, OTHER), &options()).await;
    fake
}

/// Changes the comment as somebody would do it by hand.
fn edit(fake: &Fake, change: impl Fn(&str) -> String) {
    let mut state = fake.state.lock().unwrap();
    let body = change(state.comments[0]["body"].as_str().unwrap());
    state.comments[0]["body"] = Value::from(body);
}

/// Whether whatever is drawn next is not told as a pass, and why it is not: because an earlier verdict stands.
async fn stands(fake: &Fake) -> bool {
    let publication = told(&drawn(compatible(), 2), &fake.around(2), &always()).await;
    assert!(["failure", "error"].contains(&last_status(fake).0.as_str()), "{publication:?} {:?}", fake.bodies());
    publication.stands
}

#[tokio::test]
async fn a_note_below_the_hidden_line_loses_nothing() {
    for note in ["\n\nNoted, we will look at it.", "\n> a quote\n", "\r\n- [ ] a task\r\n"] {
        let fake = blocked().await;
        edit(&fake, |body| format!("{body}{note}"));
        assert!(stands(&fake).await, "{note}");
        assert_eq!(fake.bodies().len(), 1, "{note}");
    }
}

#[tokio::test]
async fn a_hidden_line_that_was_changed_makes_the_history_unknown_until_it_is_mended_or_gone() {
    let changes: [&dyn Fn(&str) -> String; 4] = [
        &|body| body.replace(" -->", ""),
        &|body| body.replace("draws=", "draw="),
        &|body| body.replace("attempt=1", ""),
        &|body| format!("{body} A note on the same line."),
    ];
    for change in changes {
        let fake = blocked().await;
        let whole = fake.bodies()[0].clone();
        edit(&fake, change);
        let damaged = fake.bodies()[0].clone();
        assert!(!stands(&fake).await, "{damaged}");
        assert!(last_status(&fake).1.starts_with("history unknown: "), "{:?}", last_status(&fake));
        let bodies = fake.bodies();
        assert!(bodies[0] == damaged && bodies[1].contains("hidden line that somebody changed"), "{bodies:?}");
        assert!(!stands(&fake).await && fake.bodies().len() == 2, "{:?}", fake.bodies());
        edit(&fake, |_| whole.clone());
        assert!(told(&drawn(compatible(), 3), &fake.around(3), &always()).await.stands);
        fake.state.lock().unwrap().comments.clear();
        assert!(!told(&drawn(compatible(), 4), &fake.around_at(4, &"d".repeat(40)), &always()).await.stands);
        assert_eq!(last_status(&fake).0, "success");
    }
    // That of another audit is none of this one's.
    let fake = blocked().await;
    edit(&fake, |body| body.replace("audit=docs-search", "audit=other").replace(" -->", ""));
    assert!(told(&drawn(compatible(), 2), &fake.around(2), &always()).await.is_complete());
    assert_eq!(last_status(&fake).0, "success");
}

#[tokio::test]
async fn nobodys_words_are_published_in_our_name() {
    const WORDS: &str = "## ✅ Compatible: all is well @everyone";
    for tells in [false, true] {
        let fake = Fake::start().await;
        fake.state.lock().unwrap().tells = tells;
        told(&drawn(incompatible(), 1), &fake.around(1), &always()).await;
        let hidden = fake.bodies()[0].lines().last().unwrap().replace("run=1 ", "run=999999 ");
        for association in ["OWNER", "MEMBER", "COLLABORATOR"] {
            let mut state = fake.state.lock().unwrap();
            let mut planted =
                state.comment("mallory", &format!("{WORDS}\n\n{}", hidden.replace("=incompatible ", "=compatible ")));
            planted["author_association"] = json!(association);
            planted["user"]["type"] = json!("User");
            state.comments.push(planted);
        }
        let publication = told(&drawn(incompatible(), 2), &fake.around(2), &always()).await;
        assert_eq!(publication.comment, Outcome::Done("updated"), "{tells}");
        let state = fake.state.lock().unwrap();
        let ours: Vec<&Value> = state.comments.iter().filter(|comment| comment["user"]["login"] == BOT).collect();
        assert_eq!((ours.len(), state.comments.len()), (1, 4), "{ours:?}");
        let body = ours[0]["body"].as_str().unwrap();
        assert!(body.contains("run=2 ") && !body.contains("all is well"), "{body}");
    }
}

/// Somebody edited the comment of a newer run: an older one brings it nowhere else.
#[tokio::test]
async fn what_a_comment_says_is_carried_into_no_other_one() {
    for outdated in [Outdated::Update, Outdated::Hide] {
        let fake = Fake::start().await;
        let wanted = Options { outdated, ..always() };
        told(&drawn(incompatible(), 1), &fake.around(1), &wanted).await;
        let newer = fake.bodies()[0].replace("run=1 ", "run=9 ").replace("## ", "## Edited ");
        let edited = {
            let mut state = fake.state.lock().unwrap();
            let edited = state.comment(BOT, &newer);
            state.comments.push(edited.clone());
            edited["id"].clone()
        };
        let older = told(&drawn(compatible(), 2), &fake.around(2), &wanted).await;
        assert_eq!(older.comment, Outcome::Left("a newer run has written the comment"), "{older:?}");
        let state = fake.state.lock().unwrap();
        let told: Vec<(&Value, bool)> = state
            .comments
            .iter()
            .map(|comment| (&comment["id"], comment["body"].as_str().unwrap().contains("## Edited ")))
            .collect();
        assert_eq!(told, [(&edited, true)], "the newest stays where it is, and the older ones go");
        assert!(state.comments[0]["body"].as_str().unwrap().contains(".incompatible,"), "{:?}", state.comments);
    }
}

#[tokio::test]
async fn a_list_that_shifts_while_it_is_read_hides_no_verdict() {
    for (others, vanishing, is_settled) in
        [(100, 0, true), (100, 1, true), (101, 2, true), (300, 2, true), (600, 99, false)]
    {
        let fake = blocked().await;
        {
            let mut state = fake.state.lock().unwrap();
            let mut talk: Vec<Value> =
                (0..others).map(|number| state.comment("somebody", &format!("remark {number}"))).collect();
            let ours = state.comments.pop().unwrap();
            talk.push(ours);
            (state.comments, state.vanishing) = (talk, vanishing);
        }
        assert_eq!(stands(&fake).await, is_settled, "{others} {vanishing}: {:?}", last_status(&fake));
        assert!(is_settled || last_status(&fake).1.starts_with("history unknown: "), "{:?}", last_status(&fake));
    }
}
