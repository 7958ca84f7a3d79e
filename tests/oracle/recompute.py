#!/usr/bin/env python3
"""Recomputes the figures of audits with numpy, scipy and statsmodels, from the definitions alone.

Standard input: one JSON object a line, {"answers": <a file of outside answers as text>}. Standard output: one JSON object of
figures a line. Shares no code and no method with the program it checks: plain convolution, enumeration, quadrature.
"""
import collections
import fractions
import functools
import itertools
import json
import math
import re
import string
import sys

import numpy
import scipy.integrate
import scipy.optimize
import scipy.stats
import statsmodels.stats.multitest

ALPHA = 0.05


@functools.lru_cache(None)
def normalise(text):
    text = "".join(c for c in text.lower() if c not in set(string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


def f1(said, meant):
    said, meant = normalise(said).split(), normalise(meant).split()
    shared = sum((collections.Counter(said) & collections.Counter(meant)).values())
    if not shared:
        return 0.0
    precision, recall = shared / len(said), shared / len(meant)
    return 2 * precision * recall / (precision + recall)


class Question:
    def __init__(self, record):
        self.record = record
        self.answers = {name: [text.strip() for text in texts] for name, texts in record["answers"].items()}
        self.old, self.new = self.answers["old"], self.answers["new"]
        self.unchanged = record.get("unchanged", False)
        self.cached = {}
        key = lambda a, b: frozenset((a.strip(), b.strip()))
        self.labels = {key(a, b): label == "same" for a, b, label in record.get("labels", [])}
        self.similarities = {key(a, b): value for a, b, value in record.get("similarity", [])}

    def kernel(self, name):
        if name == "exact":
            return lambda a, b: normalise(a) == normalise(b)
        return lambda a, b: a == b or self.labels[frozenset((a, b))]

    def similarity(self, a, b):
        return 1 if a == b else fractions.Fraction(str(self.similarities[frozenset((a, b))]))

    def contrast(self, same, old=None, new=None):
        """(w_old, w_new, c) as fractions."""
        old, new = self.old if old is None else old, self.new if new is None else new
        mean = lambda pairs: fractions.Fraction(sum(same(a, b) for a, b in pairs), len(pairs))
        within = [mean(list(itertools.combinations(side, 2))) for side in (old, new)]
        return within[0], within[1], mean(list(itertools.product(old, new)))

    def difference(self, same, old=None, new=None):
        within_old, within_new, cross = self.contrast(same, old, new)
        return (within_old + within_new) / 2 - cross

    def splits(self, name):
        """d of every split of the pooled answers under one kernel, counted."""
        if name not in self.cached:
            self.cached[name] = self.enumerate_splits(self.kernel(name))
        return self.cached[name]

    def enumerate_splits(self, same):
        pooled, counted = self.old + self.new, collections.Counter()
        for chosen in itertools.combinations(range(len(pooled)), len(self.old)):
            old = [pooled[i] for i in chosen]
            new = [pooled[i] for i in range(len(pooled)) if i not in chosen]
            counted[self.difference(same, old, new)] += 1
        return counted

    def is_flip(self, same, old=None, new=None):
        return self.contrast(same, old, new) == (1, 1, 0)


def lattice(values, units):
    """A probability mass function on integers as (start, array)."""
    total = sum(values.values())
    scaled = {int(value * units): count / total for value, count in values.items()}
    start = min(scaled)
    mass = numpy.zeros(max(scaled) - start + 1)
    for value, share in scaled.items():
        mass[value - start] += share
    return start, mass


def convolve(laws):
    start, mass = 0, numpy.ones(1)
    for other_start, other in laws:
        start, mass = start + other_start, numpy.convolve(mass, other)
    return start, mass


def quantile(law, level):
    start, mass = law
    return start + int(numpy.argmax(numpy.cumsum(mass) >= level * (1 - 1e-12)))


def dirichlet(values, weights=None, most=1.0):
    """The bound by Gil-Pelaez quadrature of the characteristic function."""
    values = numpy.array([float(v) for v in values])
    weights = numpy.ones(len(values)) if weights is None else numpy.array([float(w) for w in weights])

    def excess(t):
        a = numpy.append(values - t * weights, most - t)
        # P(Q <= 0) = 1/2 - 1/pi int_0^inf Im(phi(u)) / u du
        def integrand(u):
            logs = -numpy.log1p(-1j * a * u).sum()
            return numpy.exp(logs).imag / u
        scale = 1 / numpy.sqrt((a**2).sum())
        pieces = [0, 3 * scale, 10 * scale, 40 * scale, 400 * scale]
        total = sum(scipy.integrate.quad(integrand, x, y, limit=400, epsabs=1e-12)[0] for x, y in zip(pieces, pieces[1:]))
        tail = scipy.integrate.quad(lambda s: integrand(1 / s) / s**2, 1e-12, 1 / pieces[-1], limit=400, epsabs=1e-12)[0]
        return 0.5 - (total + tail) / math.pi - (1 - ALPHA)

    low = float((values / weights).min())
    if low >= most:
        return most
    return scipy.optimize.brentq(excess, low + 1e-9, most - 1e-9, xtol=1e-11)


def lattice_units(name, asked):
    return math.lcm(*(d.denominator for q in asked for d in q.splits(name)))


def randomisation(name, asked):
    """P(sum of d over random splits >= the observed sum)."""
    units = lattice_units(name, asked)
    start, mass = convolve([lattice(q.splits(name), units) for q in asked])
    observed = int(sum(q.difference(q.kernel(name)) for q in asked) * units)
    return float(mass[observed - start :].sum())


def kernel_figures(name, questions):
    asked = [q for q in questions if not q.unchanged]
    same = {id(q): q.kernel(name) for q in questions}
    n, sides = len(questions), (len(asked[0].old), len(asked[0].new))
    differences = [q.difference(same[id(q)]) for q in asked] + [fractions.Fraction(0)] * (n - len(asked))
    units = lattice_units(name, asked)
    contrasts = [q.contrast(same[id(q)]) for q in asked]
    within_old, within_new, cross = [float(sum(column) / len(asked)) for column in zip(*contrasts)]
    law = convolve([lattice(collections.Counter(differences), units)] * n)
    start, mass = law
    at = lambda level: quantile(law, level) / units / n
    flips = sum(q.is_flip(same[id(q)]) for q in asked)
    # "ab|ab": no repeat agrees with its like, and two of the four pairs across do.
    crossed = sum(contrast == (0, 0, fractions.Fraction(1, 2)) for contrast in contrasts)
    degenerate = (within_old + within_new) / 2 < 0.1
    # Of a kernel that sees nothing every asked question is taken for wholly changed.
    worst = [1] * len(asked) + [0] * (n - len(asked)) if degenerate else differences
    result = {
        "kernel": name,
        "agreement": {
            "within_old": within_old,
            "within_new": within_new,
            "within": (within_old + within_new) / 2,
            "cross": cross,
        },
        "lattice": math.lcm(*(side * (side - 1) for side in sides), sides[0] * sides[1]),
        "churn": float(sum(differences) / n),
        "churn_asked": float(sum(differences) / len(asked)),
        "spread": float(numpy.std([float(d) for d in differences])),
        "lower_bound": at(0.05),
        "interval": [at(0.025), at(0.975)],
        "upper_bound": dirichlet(worst),
        "share_at_or_below_zero": float(mass[: max(0, 1 - start)].sum()),
        "randomisation_p": randomisation(name, asked),
        "stable_flips": flips,
        "corrected_flips": flips - crossed / 2 if sides == (2, 2) else None,
        "degenerate": degenerate,
        "clusters": None,
    }
    if any("cluster" in q.record for q in questions):
        by_id = lambda values: dict(zip([q.record["id"] for q in asked], values))
        result["clusters"] = cluster_figures(questions, by_id(differences), by_id(worst))
    return result


def cluster_figures(questions, differences, worst):
    highest = collections.Counter()
    sums = collections.defaultdict(lambda: [fractions.Fraction(0), 0])
    asked = set()
    for number, question in enumerate(questions):
        cluster = question.record.get("cluster", number)
        entry = sums[cluster]
        entry[0] += differences.get(question.record["id"], 0)
        highest[cluster] += worst.get(question.record["id"], 0)
        entry[1] += 1
        if question.record["id"] in differences:
            asked.add(cluster)
    units = math.lcm(*(s.denominator for s, _ in sums.values()))
    rows = collections.Counter((int(s * units), n) for s, n in sums.values())
    law = {(0, 0): 1.0}
    for _ in range(len(sums)):
        longer = collections.defaultdict(float)
        for (s, n), mass in law.items():
            for (t, m), count in rows.items():
                longer[s + t, n + m] += mass * count / len(sums)
        law = longer
    by_ratio = collections.defaultdict(float)
    for (s, n), mass in law.items():
        by_ratio[fractions.Fraction(s, n * units)] += mass
    ordered = sorted(by_ratio)
    cumulated = numpy.cumsum([by_ratio[ratio] for ratio in ordered])
    at = lambda level: float(ordered[int(numpy.argmax(cumulated >= level * (1 - 1e-12)))])
    largest = max(n for _, n in sums.values())
    upper = dirichlet([highest[c] / largest for c in sums], [n / largest for _, n in sums.values()])
    n = sum(n for _, n in sums.values())
    churn = sum(s for s, _ in sums.values()) / n
    return {
        "size": sum(n * n for _, n in sums.values()) / n,
        "spread": math.sqrt(sum((s - churn * m) ** 2 for s, m in sums.values()) / n),
        "clusters": len(sums),
        "asked": len(asked),
        "exact": True,
        "lower_bound": at(0.05),
        "interval": [at(0.025), at(0.975)],
        "upper_bound": upper,
    }


def unknown(asked):
    share = lambda side: float(numpy.mean([text.strip() == "UNKNOWN" for q in asked for text in getattr(q, side)]))
    return [share("old"), share("new")] if asked else None


def judged(asked):
    """The labels of all pairs of texts that differ, of whatever snapshots."""
    pairs = [set(itertools.combinations(sorted({text for texts in q.answers.values() for text in texts}), 2)) for q in asked]
    labels = [q.labels[frozenset(pair)] for q, of in zip(asked, pairs) for pair in of]
    return {"questions": sum(map(bool, pairs)), "pairs": len(labels), "same": sum(labels)} if labels else None


def matches(text, gold):
    return any(normalise(text) == normalise(alias) for alias in gold)


def correctness(asked):
    with_gold = [q for q in asked if q.record.get("gold")]
    if not with_gold:
        return None
    flows = {meaning: dict.fromkeys(("kept", "lost", "gained", "wrong"), 0) for meaning in (True, False)}
    f1s, ems = collections.defaultdict(list), collections.defaultdict(list)
    name = {(1, 1): "kept", (1, 0): "lost", (0, 1): "gained", (0, 0): "wrong"}
    comparisons = 0
    for q in with_gold:
        gold = q.record["gold"]
        for side, answers in (("old", q.old), ("new", q.new)):
            ems[side] += [matches(text, gold) for text in answers]
            f1s[side] += [max(f1(text, alias) for alias in gold) for text in answers]
        same = q.kernel("semantic")
        for a, b in zip(q.old, q.new):
            comparisons += 1
            flows[bool(same(a, b))][name[matches(a, gold), matches(b, gold)]] += 1
    mean = lambda values: float(numpy.mean(values))
    return {
        "questions": len(with_gold),
        "comparisons": comparisons,
        "exact_match": [mean(ems["old"]), mean(ems["new"])],
        "f1": [mean(f1s["old"]), mean(f1s["new"])],
        "unknown": unknown(asked),
        "flows_same_meaning": flows[True],
        "flows_changed_meaning": flows[False],
    }


def overlap(questions):
    known = [q for q in questions if "evidence" in q.record]
    if not known:
        return None
    keys = lambda q, side, key: [item.get(key, item["id"]) for item in q.record["evidence"][side]]
    shared = lambda q, key: len(set(keys(q, "old", key)) & set(keys(q, "new", key)))

    def by(key):
        lists = [(keys(q, "old", key), keys(q, "new", key)) for q in known]
        return {
            "mean_shared": float(numpy.mean([shared(q, key) for q in known])),
            "none": sum(shared(q, key) == 0 for q in known),
            "same_set": sum(set(old) == set(new) for old, new in lists),
            "same_list": sum(old == new for old, new in lists),
        }

    flips = [not q.unchanged and q.is_flip(q.kernel("semantic")) for q in known]

    def against(key):
        """Flips against the other questions, by what they share."""
        numbers = [shared(q, key) for q in known]
        count = lambda flip, none: sum(f == flip and (s == 0) == none for f, s in zip(flips, numbers))
        mean = lambda flip: float(numpy.mean([s for f, s in zip(flips, numbers) if f == flip])) if flip in flips else None
        table = [[count(True, True), count(True, False)], [count(False, True), count(False, False)]]
        return {
            "flips_mean_shared": mean(True),
            "flips_none": table[0][0],
            "rest_mean_shared": mean(False),
            "rest_none": table[1][0],
            "fisher_p": float(scipy.stats.fisher_exact(table)[1]),
        }

    documents = [item for q in known for side in ("old", "new") for item in q.record["evidence"][side]]
    empty = lambda side: sum(not q.record["evidence"][side] for q in known)
    return {
        "questions": len(known),
        "by_id": by("id"),
        "by_url": by("url") if documents and all("url" in item for item in documents) else None,
        # A text is known by itself, a document without one by its id.
        "by_content": by("text"),
        "without_documents": [empty("old"), empty("new")],
        "identical_prompts": sum(q.record["evidence"]["old"] == q.record["evidence"]["new"] for q in known),
        "flips": {"flips": sum(flips), **against("id"), "by_content": against("text")},
    }


def subgroups(questions):
    tags = sorted({tag for q in questions for tag in q.record.get("tags", [])})
    rows = []
    for tag in tags:
        members = [q for q in questions if tag in q.record.get("tags", [])]
        asked = [q for q in members if not q.unchanged]
        churn = sum(q.difference(q.kernel("semantic")) for q in asked) / len(members)
        p = float(randomisation("semantic", asked)) if asked else 1.0
        flips = sum(q.is_flip(q.kernel("semantic")) for q in asked)
        rows.append({"tag": tag, "questions": len(members), "churn": float(churn), "p": p, "stable_flips": flips})
    if rows:
        adjusted = statsmodels.stats.multitest.multipletests([row["p"] for row in rows], method="holm")[1]
        for row, p in zip(rows, adjusted):
            row["adjusted_p"] = float(p)
    return rows


def flips(asked):
    described = []
    for q in asked:
        if not q.is_flip(q.kernel("semantic")):
            continue
        gold = q.record.get("gold")
        right = lambda answers: any(matches(text, gold) for text in answers) if gold else None
        content = lambda side: {item.get("text", item["id"]) for item in q.record["evidence"][side]}
        described.append({
            "question": q.record["id"],
            "old": q.old[0],
            "new": q.new[0],
            "old_correct": right(q.old),
            "new_correct": right(q.new),
            "shared_documents": len(content("old") & content("new")) if "evidence" in q.record else None,
        })
    severity = {(True, False): 0, (True, True): 2, (False, True): 3}
    return sorted(described, key=lambda f: (severity.get((f["old_correct"], f["new_correct"]), 1), f["question"]))


def classes_by_chain(q, same):
    """Each answer's class where any chain of agreeing answers joins."""
    pooled = q.old + q.new
    reach = numpy.array([[bool(same(a, b)) for b in pooled] for a in pooled])
    for _ in pooled:
        reach = (reach.astype(int) @ reach.astype(int)) > 0
    return [tuple(row) for row in reach]


def classes_by_complete_link(q, same):
    """Each answer joins the first class with all of whose members it agrees."""
    pooled, classes, chosen = q.old + q.new, [], []
    for a in pooled:
        place = next((i for i, members in enumerate(classes) if all(same(a, b) for b in members)), len(classes))
        if place == len(classes):
            classes.append([])
        classes[place].append(a)
        chosen.append(place)
    return chosen


def transitivity(questions):
    linked = broken = 0
    sums = {"churn_components": fractions.Fraction(0), "churn_complete_link": fractions.Fraction(0)}
    for q in [q for q in questions if not q.unchanged]:
        same = q.kernel("semantic")
        for a, b, c in itertools.combinations(q.old + q.new, 3):
            agreeing = same(a, b) + same(a, c) + same(b, c)
            linked += agreeing >= 2
            broken += agreeing == 2
        for key, classes in (("churn_components", classes_by_chain), ("churn_complete_link", classes_by_complete_link)):
            found = classes(q, same)
            sums[key] += q.difference(lambda a, b: a == b, found[: len(q.old)], found[len(q.old) :])
    return {"triples": linked, "broken": broken, **{key: float(value / len(questions)) for key, value in sums.items()}}


def alignment(asked, name):
    counted = dict.fromkeys(("repeats_disagree", "old", "new", "third", "mixed"), 0)
    for q in asked:
        same = q.kernel("semantic")
        if not q.is_flip(same):
            continue
        third = q.answers[name]
        share = lambda side: numpy.mean([bool(same(a, b)) for a in side for b in third])
        place = {(1, 0): "old", (0, 1): "new", (0, 0): "third"}.get((share(q.old), share(q.new)), "mixed")
        counted[place if share(third) == 1 else "repeats_disagree"] += 1
    return counted


def along(questions, asked):
    """The ladder old, mid, new, and the trajectories of flips on it."""
    if not any("mid" in q.answers for q in questions):
        return [], None
    steps = [("old", "mid"), ("mid", "new")]
    rungs, flipped = [], []
    for start, end in steps:
        pair = lambda q: (q.answers[start], q.answers[end])
        churn = lambda name: float(sum(q.difference(q.kernel(name), *pair(q)) for q in asked) / len(questions))
        flipped.append({q.record["id"] for q in asked if q.is_flip(q.kernel("semantic"), *pair(q))})
        rungs.append({"from": start, "to": end, "exact": churn("exact"), "semantic": churn("semantic"),
                      "stable_flips": len(flipped[-1])})
    both = flipped[0] & flipped[1]
    back = [q for q in asked if q.record["id"] in both and q.contrast(q.kernel("semantic"))[2] == 1]
    return rungs, {
        "any_step": len(flipped[0] | flipped[1]),
        "several_steps": len(both),
        "returns": len(back),
        "middles": [["mid", alignment(asked, "mid")]],
    }


def placebo(questions):
    """The figures between old and placebo, and by how much the new snapshot exceeds them."""
    if not any("placebo" in q.answers for q in questions):
        return None
    def beside(q):
        record = dict(q.record, answers={"old": q.answers["old"], "new": q.answers["placebo"]})
        if "evidence" in record:
            record["evidence"] = {"old": record["evidence"]["old"], "new": record["evidence"]["placebo"]}
        return Question(record)

    rebuilt = [beside(q) for q in questions]

    def beyond(name):
        excess = [
            0 if q.unchanged else q.difference(q.kernel(name)) - r.difference(r.kernel(name))
            for q, r in zip(questions, rebuilt)
        ]
        n, units = len(questions), math.lcm(*(fractions.Fraction(d).denominator for d in excess))
        law = convolve([lattice(collections.Counter(excess), units)] * n)
        at = lambda level: quantile(law, level) / units / n
        return {"kernel": name, "churn": float(sum(excess) / n), "interval": [at(0.025), at(0.975)]}

    names = ("exact", "semantic")
    return {
        "kernels": [kernel_figures(name, rebuilt) for name in names],
        "beyond": [beyond(name) for name in names],
        "overlap": overlap(rebuilt),
    }


def soft(questions, asked):
    if not any(q.similarities for q in asked):
        return None
    contrasts = [q.contrast(q.similarity) for q in asked]
    old, new, cross = [float(sum(column) / len(asked)) for column in zip(*contrasts)]
    exact = [(a + b) / 2 - c for a, b, c in contrasts] + [fractions.Fraction(0)] * (len(questions) - len(asked))
    differences = [float(d) for d in exact]
    n = len(questions)
    rounded = [math.floor(d * 100 + fractions.Fraction(1, 2)) for d in exact]
    moved = sum(rounded) / 100 / n - sum(differences) / n
    law = convolve([lattice(collections.Counter(rounded), 1)] * n)
    at = lambda level: quantile(law, level) / 100 / n - moved
    return {
        "within_old": old,
        "within_new": new,
        "within": (old + new) / 2,
        "cross": cross,
        "churn": float(numpy.mean(differences)),
        "spread": float(numpy.std(differences)),
        "lower_bound": at(0.05),
        "interval": [at(0.025), at(0.975)],
        "upper_bound": dirichlet([math.ceil(d * 1000) / 1000 for d in exact]),
    }


def reach():
    return scipy.stats.norm.ppf(1 - ALPHA) + scipy.stats.norm.ppf(0.8)


def smallest_detectable(kernel, n, asked, repeats):
    """D = reach * sqrt((noise + size * D (1 - D)) / n), found by a root finder; None where the lower bound says nothing."""
    clusters = kernel["clusters"] or {"asked": asked, "size": 1, "spread": 0}
    if kernel["degenerate"] or min(asked, clusters["asked"]) < fewest("lower_bound_above", 0, repeats):
        return None
    share = min(max(kernel["churn"], 0.0), 1.0)
    left = lambda spread, size: spread**2 - size * share * (1 - share)
    noise = max(0.0, left(kernel["spread"], 1), left(clusters["spread"], clusters["size"]))
    excess = lambda d: d - reach() * math.sqrt(max(0.0, noise + clusters["size"] * d * (1 - d)) / n)
    # Above the root the excess is positive; at 1 it may not be reached at all.
    if excess(1.0) <= 0:
        return 1.0
    grid = numpy.linspace(1.0, 0.0, 20001)
    below = next((d for d in grid if excess(d) <= 0), 0.0)
    return scipy.optimize.brentq(excess, below, below + 1 / 20000, xtol=1e-15) if below > 0 else 0.0


def fewest(condition, limit, repeats):
    """The questions, or clusters of them, before which a bound says nothing."""
    ways = math.comb(sum(repeats), repeats[0]) / (2 if repeats[0] == repeats[1] else 1)
    return {
        "at_least": lambda: 0,
        "lower_bound_above": lambda: max(math.ceil(math.log(ALPHA) / math.log(p)) for p in (1 / ways, limit) if p > 0),
        "upper_bound_below": lambda: math.ceil(math.log(ALPHA) / math.log(1 - limit)),
    }[condition]()


def counting(kernel, condition, asked, n):
    """The questions that count for a bound, and the clusters, or infinitely many where there are none."""
    clusters = kernel["clusters"] or {"asked": math.inf, "clusters": math.inf}
    return (asked, clusters["asked"]) if condition == "lower_bound_above" else (n, clusters["clusters"])


def line(kernel, condition, limit, repeats, asked, n):
    clusters = kernel["clusters"] or {"lower_bound": kernel["lower_bound"], "upper_bound": kernel["upper_bound"]}
    figure = {
        "at_least": kernel["churn"],
        "lower_bound_above": min(kernel["lower_bound"], clusters["lower_bound"]),
        "upper_bound_below": max(kernel["upper_bound"], clusters["upper_bound"]),
    }[condition]
    margin = limit - figure if condition == "upper_bound_below" else figure - limit
    least = fewest(condition, limit, repeats)
    there, sources = counting(kernel, condition, asked, n)
    even_at_worst = condition == "upper_bound_below" and margin > 0
    void = "degenerate-kernel" if kernel["degenerate"] and not even_at_worst else None
    void = void or ("too-few-questions" if there < least else "too-few-clusters" if sources < least else None)
    meets = margin >= -1e-12 if condition == "at_least" else margin > 1e-12
    return {
        "kernel": kernel["kernel"],
        "condition": condition,
        "limit": f"{limit * 100:g}pp",
        "figure_pp": figure * 100,
        "margin_pp": margin * 100,
        "holds": meets and void is None,
        "void": void,
    }


def decision(kernels, repeats, asked, n):
    exact, semantic = kernels
    judge = lambda kernel, condition, limit: line(kernel, condition, limit, repeats, asked, n)
    blocks = [
        judge(exact, "at_least", 0.03),
        judge(exact, "lower_bound_above", 0.0),
        judge(semantic, "lower_bound_above", 0.0),
    ]
    passes = [judge(semantic, "upper_bound_below", 0.05)]
    held = [all(entry["holds"] for entry in rule) for rule in (blocks, passes)]
    verdict = "incompatible" if held[0] else "compatible" if held[1] else "inconclusive"
    return {
        "verdict": verdict,
        "incompatible_when": blocks,
        "compatible_when": passes,
        "inconclusive": "warn",
    }


def recompute(text):
    questions = [Question(json.loads(line)) for line in text.splitlines() if line.strip()]
    asked = [q for q in questions if not q.unchanged]
    repeats, n = [len(asked[0].old), len(asked[0].new)], len(questions)
    kernels = [kernel_figures(name, questions) for name in ("exact", "semantic")]
    ladder, trajectories = along(questions, asked)
    closed = any("closed_book" in q.answers for q in questions)
    return {
        "decision": decision(kernels, repeats, len(asked), n),
        "analysis": {
            "questions": n,
            "asked": len(asked),
            "unchanged": n - len(asked),
            "repeats": repeats,
            "confidence": "95%",
            "kernels": kernels,
            "flips": flips(asked),
            "correctness": correctness(asked),
            "overlap": overlap(questions),
            "subgroups": subgroups(questions),
            "power": {"smallest_detectable": smallest_detectable(kernels[1], n, len(asked), repeats)},
            "ladder": ladder,
            "trajectories": trajectories,
            "placebo": placebo(questions),
            "closed_book": alignment(asked, "closed_book") if closed else None,
            "transitivity": transitivity(questions),
            "soft": soft(questions, asked),
            "unknown": unknown(asked),
            "judged": judged(asked),
        },
    }


def main():
    for line in sys.stdin:
        print(json.dumps(recompute(json.loads(line)["answers"])), flush=True)


if __name__ == "__main__":
    main()
