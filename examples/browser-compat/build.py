#!/usr/bin/env python3
"""Builds the browser-compat corpora and question files from two releases of a public data set.

The facts come from the npm package @mdn/browser-compat-data (CC0-1.0), releases 4.0.0 and 8.1.9. The sentences are
made here. The same two packages always give the same bytes: nothing is drawn, everything is ordered by path or by
SHA-256.

    python3 build.py full  [--out DIR]    both whole snapshots and 2,400 questions (16 MB, not committed)
    python3 build.py quickstart [--out DIR]   the committed subset in ../quickstart

Needs Python 3.9 or later and npm (`npm pack` downloads the two packages, 3 MB).
"""

import argparse
import hashlib
import json
import pathlib
import re
import subprocess
import tarfile
import tempfile

PACKAGE = "@mdn/browser-compat-data"
RELEASES = {
    "old": ("4.0.0", "3d6846f71233054d63b40761ac1f7e73028577470782edafac92c0ed605f6c4e"),
    "new": ("8.1.9", "c99eff2b2ebf5ead405de12ed3bd7f40534bcb9966ca4a7679b01335146b472c"),
}
BROWSERS = {
    "chrome": "Chrome",
    "edge": "Edge",
    "firefox": "Firefox",
    "safari": "Safari",
    "safari_ios": "Safari on iOS",
    "opera": "Opera",
    "samsunginternet_android": "Samsung Internet",
}
AREAS = ("api", "css", "html", "http", "javascript", "mathml", "svg", "webdriver")
KINDS = {
    ("css", "properties"): "CSS property",
    ("css", "selectors"): "CSS selector",
    ("css", "at-rules"): "CSS at-rule",
    ("css", "types"): "CSS type",
    ("html", "elements"): "HTML element",
    ("html", "global_attributes"): "HTML global attribute",
    ("http", "headers"): "HTTP header",
    ("http", "methods"): "HTTP method",
    ("http", "status"): "HTTP status",
    ("javascript", "builtins"): "JavaScript built-in",
    ("javascript", "operators"): "JavaScript operator",
    ("javascript", "statements"): "JavaScript statement",
    ("svg", "elements"): "SVG element",
    ("svg", "attributes"): "SVG attribute",
    ("mathml", "elements"): "MathML element",
}
DOTTED = {"api": "Web API", "webdriver": "WebDriver command"}


# Reading the packages.


def fetch(version, sha256, folder):
    """The package's data.json, after the archive's digest was checked."""
    subprocess.run(["npm", "pack", "--silent", f"{PACKAGE}@{version}"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    archive = folder / f"mdn-browser-compat-data-{version}.tgz"
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != sha256:
        raise SystemExit(f"{archive.name}: expected SHA-256 {sha256}, found {found}")
    with tarfile.open(archive) as tar:
        return json.load(tar.extractfile("package/data.json"))


def features(node, path=()):
    """Every (path, compat statement) below this node."""
    for key, value in node.items():
        if key == "__compat":
            yield path, value
        elif isinstance(value, dict):
            yield from features(value, path + (key,))


def load(side, folder):
    data = fetch(*RELEASES[side], folder)
    return {".".join(path): compat for area in AREAS for path, compat in features({area: data[area]})}


# Facts to sentences.


def name_of(feature):
    """What the feature is called in text, and what kind of thing it is."""
    path = feature.split(".")
    kind = KINDS.get(tuple(path[:2]))
    if kind and len(path) > 2:
        return ".".join(path[2:]), kind
    if path[0] in DOTTED and len(path) > 1:
        return ".".join(path[1:]), DOTTED[path[0]]
    return ".".join(path[1:]) or path[0], f"{path[0]} feature"


def statement(compat, browser):
    """The first support statement: the current one, by the data set's rule."""
    support = compat["support"].get(browser)
    if isinstance(support, list):
        support = support[0] if support else None
    return support


def version_of(compat, browser):
    """The version since which the browser supports the feature fully and without conditions, or None."""
    support = statement(compat, browser)
    conditions = ("flags", "prefix", "alternative_name", "partial_implementation", "version_removed")
    if support is None or any(condition in support for condition in conditions):
        return None
    added = support.get("version_added")
    return added if isinstance(added, str) and re.fullmatch(r"[0-9.]+", added) else None


def since(added):
    if added is True:
        return "since a version that is not recorded"
    if added.startswith("≤"):
        return f"since version {added[1:]} or an earlier one"
    return f"since version {added}" if re.fullmatch(r"[0-9.]+", added) else "in a preview release only"


def sentence(compat, browser):
    """One sentence on one browser, or None where the data set says nothing."""
    support, who = statement(compat, browser), BROWSERS[browser]
    if support is None or support.get("version_added") is None:
        return None
    added, removed = support["version_added"], support.get("version_removed")
    if added is False:
        return f"{who} does not support it."
    if removed:
        return f"{who} no longer supports it: it came {since(added)} and was removed."
    if "flags" in support:
        return f"{who} hides it behind a flag {since(added)}."
    if "prefix" in support or "alternative_name" in support:
        return f"{who} supports it {since(added)} under another name."
    if support.get("partial_implementation"):
        return f"{who} supports it in part {since(added)}."
    return f"{who} supports it {since(added)}."


def status(compat):
    flags = compat.get("status", {})
    if flags.get("deprecated"):
        return "It is deprecated and may be dropped."
    if flags.get("experimental"):
        return "It is experimental."
    return "It is on the standards track." if flags.get("standard_track") else "It is not on a standards track."


def document(feature, compat):
    name, kind = name_of(feature)
    said = [sentence(compat, browser) for browser in BROWSERS]
    text = " ".join([f"{name} is a {kind} entry. {status(compat)}", *(line for line in said if line)])
    found = {"id": feature, "title": f"{name} ({kind})", "text": text}
    if compat.get("mdn_url"):
        found["url"] = compat["mdn_url"]
    return found


# Questions.


def order(seed, key):
    return hashlib.sha256(f"{seed}:{key}".encode()).hexdigest()


def asked_of(feature, browser):
    name, kind = name_of(feature)
    return f"Since which version does {BROWSERS[browser]} support the {kind} {name}?"


def nameable(feature):
    """Features whose name stands for itself in a question."""
    path = feature.split(".")
    depth = 3 if tuple(path[:2]) in KINDS or path[0] in DOTTED else 0
    return 2 <= len(path) <= depth + (path[0] == "javascript") and "_" not in feature.split(".", 2)[-1]


def facts(old, new):
    """Every askable (kind of change, feature, browser, accepted answer), in an order that depends on nothing else."""
    for feature in sorted(old.keys() | new.keys()):
        if not nameable(feature):
            continue
        for browser in BROWSERS:
            before = version_of(old[feature], browser) if feature in old else None
            after = version_of(new[feature], browser) if feature in new else None
            if feature in old and feature in new and before and after:
                yield ("unchanged" if before == after else "changed"), feature, browser, after
            elif feature not in old and after:
                yield "added", feature, browser, after
            elif feature not in new and before:
                yield "removed", feature, browser, before


def question(change, feature, browser, answer):
    return {
        "id": f"{feature}/{browser}",
        "question": asked_of(feature, browser),
        "answers": [answer],
        "tags": [change, browser],
    }


def pick(pool, wanted, seed, taken=frozenset()):
    """The first `wanted` facts a kind of change in hash order, at most one a feature."""
    chosen, features_seen = [], set(taken)
    for fact in sorted(pool, key=lambda fact: order(seed, f"{fact[1]}/{fact[2]}")):
        change, feature = fact[0], fact[1]
        if wanted.get(change, 0) > 0 and feature not in features_seen:
            wanted[change] -= 1
            features_seen.add(feature)
            chosen.append(fact)
    return sorted(chosen, key=lambda fact: order(f"{seed}:order", f"{fact[1]}/{fact[2]}"))


# Files.


def write_lines(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{path}: {len(lines)} lines, {path.stat().st_size} bytes")


def write_corpus(path, side, only=None):
    write_lines(path, (document(feature, side[feature]) for feature in sorted(side) if only is None or feature in only))


def full(old, new, out):
    write_corpus(out / "old.jsonl", old)
    write_corpus(out / "new.jsonl", new)
    chosen = pick(facts(old, new), {"unchanged": 1500, "changed": 600, "added": 200, "removed": 100}, "full")
    write_lines(out / "questions.jsonl", (question(*fact) for fact in chosen))


def quickstart(old, new, out):
    pool = list(facts(old, new))
    mixed = pick(pool, {"unchanged": 84, "changed": 24, "added": 8, "removed": 4}, "mixed")
    unchanged = pick(pool, {"unchanged": 120}, "mixed")
    changed = pick(pool, {"changed": 80}, "mixed")
    needed = {fact[1] for fact in mixed + unchanged + changed}
    # Neighbours of what is asked compete for the top ranks, and make the corpora differ where no question is asked.
    families = {feature.rsplit(".", 1)[0] for feature in needed}
    near = [feature for feature in old.keys() | new.keys() if feature.rsplit(".", 1)[0] in families and nameable(feature)]
    spare = [feature for feature in sorted(near, key=lambda feature: order("near", feature)) if feature not in needed]
    only = needed | set(spare[: max(0, 320 - len(needed))])
    write_corpus(out / "old.jsonl", old, only)
    write_corpus(out / "new.jsonl", new, only)
    for name, chosen in (("questions", mixed), ("unchanged", unchanged), ("changed", changed)):
        write_lines(out / f"{name}.jsonl", (question(*fact) for fact in chosen))


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("full", "quickstart"))
    parser.add_argument("--out", type=pathlib.Path, help="where to write; the example's own folder by default")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        old, new = (load(side, pathlib.Path(folder)) for side in ("old", "new"))
    if given.what == "full":
        full(old, new, given.out or here / "data")
    else:
        quickstart(old, new, given.out or here.parent / "quickstart")


if __name__ == "__main__":
    main()
