//! Who made a mark: its run, its spec, and the branch whose rule it was made by. A status keeps it in the address that it leads to,
//! a check run in its id.

use super::twin;

/// Who made a mark, as far as it says so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Maker {
    /// The run and its attempt.
    pub run: Option<(u64, u64)>,
    /// Digits of the spec's path.
    pub spec: Option<String>,
    /// Digits of the name of the branch whose rule it is.
    pub base: Option<String>,
}

impl Maker {
    /// Whether these are marks of two specs.
    pub(super) fn is_twin_of(&self, spec: Option<&str>) -> bool {
        twin::are_two(spec, self.spec.as_deref())
    }

    /// Whether it was made by the rule of another base branch. One that is not known may be this one.
    pub(super) fn is_of_another_base(&self, base: Option<&str>) -> bool {
        twin::are_two(base, self.base.as_deref())
    }

    /// The address of the run's page with the rest in its query. `page` is that of any run of the repository.
    pub(super) fn address(&self, page: &str) -> String {
        let page = match (self.run, page.rsplit_once('/')) {
            (Some((run, _)), Some((pages, _))) => format!("{pages}/{run}"),
            _ => page.to_owned(),
        };
        let attempt = self.run.map(|(_, attempt)| attempt.to_string());
        let parts = [("attempt", attempt.as_ref()), ("spec", self.spec.as_ref()), ("base", self.base.as_ref())];
        let query: Vec<String> =
            parts.into_iter().filter_map(|(name, value)| Some(format!("{name}={}", value?))).collect();
        if query.is_empty() { page } else { format!("{page}?{}", query.join("&")) }
    }

    /// What an address says. `page` is that of any run of the repository: what leads elsewhere names no run of it.
    pub(super) fn of_address(address: &str, page: Option<&str>) -> Self {
        let (own, query) = address.split_once('?').unwrap_or((address, ""));
        let value = |name: &str| {
            query.split('&').find_map(|part| part.strip_prefix(name)?.strip_prefix('=')).map(str::to_owned)
        };
        let pages = page.and_then(|page| page.rsplit_once('/')).map(|(pages, _)| pages);
        let number = || -> Option<u64> { own.strip_prefix(pages?)?.strip_prefix('/')?.parse().ok() };
        // Before there was an attempt in it, any attempt was as new as the others.
        let attempt = value("attempt").and_then(|attempt| attempt.parse().ok()).unwrap_or(0);
        Self { run: number().map(|run| (run, attempt)), spec: value("spec"), base: value("base") }
    }

    /// What a check run has for an id: parts between dots, without those at the end that are not known.
    pub(super) fn external_id(&self) -> String {
        let (run, attempt) = self.run.unwrap_or_default();
        let parts = [self.spec.as_deref().unwrap_or_default(), self.base.as_deref().unwrap_or_default()];
        format!("{run}.{attempt}.{}", parts.join(".")).trim_end_matches('.').to_owned()
    }

    /// What such an id says.
    pub(super) fn of_external_id(id: &str) -> Self {
        let mut parts = id.splitn(4, '.');
        let mut number = || -> Option<u64> { parts.next()?.parse().ok() };
        let (Some(run), Some(attempt)) = (number(), number()) else { return Self::default() };
        let mut word = || parts.next().filter(|word| !word.is_empty()).map(str::to_owned);
        Self { run: Some((run, attempt)), spec: word(), base: word() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "https://github.example/a/b/actions/runs/7";

    #[test]
    fn who_made_it_stands_in_address_and_id_and_comes_back() {
        for spec in [None, Some("12ab".to_owned())] {
            for base in [None, Some("34cd".to_owned())] {
                let maker = Maker { run: Some((9, 2)), spec: spec.clone(), base };
                let address = maker.address(PAGE);
                assert!(address.starts_with("https://github.example/a/b/actions/runs/9?attempt=2"), "{address}");
                assert_eq!(Maker::of_address(&address, Some(PAGE)), maker);
                assert_eq!(Maker::of_external_id(&maker.external_id()), maker);
            }
        }
    }

    #[test]
    fn what_is_not_said_is_not_known() {
        assert_eq!(Maker::of_address(PAGE, Some(PAGE)).run, Some((7, 0)));
        for elsewhere in ["https://evil.example/a/b/actions/runs/7", &format!("{PAGE}/x"), "", "?spec="] {
            assert_eq!(Maker::of_address(elsewhere, Some(PAGE)).run, None, "{elsewhere}");
        }
        for id in ["", "x", "7", "7.x", "..", "-1.2"] {
            assert_eq!(Maker::of_external_id(id), Maker::default(), "{id}");
        }
        let known = Maker { base: Some("a".to_owned()), ..Maker::default() };
        assert!(known.is_of_another_base(Some("b")) && !known.is_of_another_base(Some("a")));
        assert!(!known.is_of_another_base(None) && !Maker::default().is_of_another_base(Some("a")));
    }
}
