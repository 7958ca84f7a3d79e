//! Two specs of one name: the marks and comments of one would take the place of the other's, and a pass would cover a block.

use super::api::{Api, encoded};
use super::event::Sha;
use super::notice::Notice;
use super::options::MarkKind;
use crate::model::Digest;
use serde::Deserialize;

/// What stands before a spec's id in the address that a status leads to.
const QUERY: &str = "?spec=";

#[derive(Deserialize)]
struct Status {
    context: String,
    target_url: Option<String>,
}

#[derive(Deserialize)]
struct Checks {
    check_runs: Vec<Check>,
}

#[derive(Deserialize)]
struct Check {
    name: String,
    external_id: Option<String>,
}

/// By what the marks and comments of a spec are told from those of another one: digits that its path comes to.
pub(super) fn id(path: &str) -> String {
    Digest::of(path.as_bytes()).short()
}

/// Whether these are two specs. One that is not known may be the other.
pub(super) fn are_two(one: Option<&str>, other: Option<&str>) -> bool {
    one.zip(other).is_some_and(|(one, other)| one != other)
}

/// The address of a run, with the spec in it that marks by it.
pub(super) fn address(page: &str, spec: Option<&str>) -> String {
    spec.map_or_else(|| page.to_owned(), |spec| format!("{page}{QUERY}{spec}"))
}

/// The address of the run alone, and the spec.
pub(super) fn parted(address: &str) -> (&str, Option<&str>) {
    address.split_once(QUERY).map_or((address, None), |(page, spec)| (page, Some(spec)))
}

/// Whether another spec has marked the commit under the same name. What cannot be looked up is not there.
pub(super) async fn has_marked(api: &Api<'_>, sha: &Sha, notice: &Notice, kind: MarkKind) -> bool {
    let Some(spec) = notice.spec.as_deref() else { return false };
    let found = match kind {
        MarkKind::None => return false,
        MarkKind::Status => specs_of_statuses(api, sha, &notice.context).await,
        MarkKind::Check => specs_of_checks(api, sha, &notice.context).await,
    };
    found.is_some_and(|specs| specs.iter().any(|other| other != spec))
}

async fn specs_of_statuses(api: &Api<'_>, sha: &Sha, context: &str) -> Option<Vec<String>> {
    let statuses: Vec<Status> = api.get(&format!("commits/{sha}/statuses?per_page=100")).await.ok()?;
    let ours = statuses.into_iter().filter(|status| status.context.eq_ignore_ascii_case(context));
    Some(ours.filter_map(|status| Some(parted(status.target_url.as_deref()?).1?.to_owned())).collect())
}

async fn specs_of_checks(api: &Api<'_>, sha: &Sha, name: &str) -> Option<Vec<String>> {
    let path = format!("commits/{sha}/check-runs?check_name={}&filter=all&per_page=100", encoded(name));
    let Checks { check_runs } = api.get(&path).await.ok()?;
    let ours = check_runs.into_iter().filter(|check| check.name == name);
    Some(ours.filter_map(|check| Some(check.external_id?.splitn(3, '.').nth(2)?.to_owned())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spec_stands_in_the_address_and_comes_back() {
        let page = "https://github.example/a/b/actions/runs/7";
        for spec in [None, Some("12ab")] {
            assert_eq!(parted(&address(page, spec)), (page, spec));
        }
        assert_ne!(id("a/churngate.yaml"), id("b/churngate.yaml"));
        assert!(are_two(Some("a"), Some("b")) && !are_two(Some("a"), Some("a")) && !are_two(None, Some("a")));
    }
}
