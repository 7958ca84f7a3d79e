#!/usr/bin/env python3
"""Recomputes the figures of audits with numpy, scipy and statsmodels, from the definitions alone.

Standard input: one JSON object a line, {"answers": <a file of outside answers as text>}. Standard output: one JSON object of
figures a line. Shares no code and no method with the program it checks: plain convolution, enumeration, quadrature.
"""
import collections
import fractions
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
        self.old = [text.strip() for text in record["answers"]["old"]]
        self.new = [text.strip() for text in record["answers"]["new"]]
        self.unchanged = record.get("unchanged", False)
        self.cached = {}
        self.labels = {frozenset((a.strip(), b.strip())): label == "same" for a, b, label in record.get("labels", [])}

    def kernel(self, name):
        if name == "exact":
            return lambda a, b: normalise(a) == normalise(b)
        return lambda a, b: a == b or self.labels[frozenset((a, b))]

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

    def is_flip(self, same):
        return self.contrast(same) == (1, 1, 0)


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
    result = {"kernel": name}
    differences = [q.difference(q.kernel(name)) for q in asked] + [fractions.Fraction(0)] * (len(questions) - len(asked))
    units = lattice_units(name, asked)
    if asked:
        contrasts = [q.contrast(q.kernel(name)) for q in asked]
        means = [sum(column) / len(asked) for column in zip(*contrasts)]
        result["within_old"], result["within_new"], result["cross"] = map(float, means)
    n = len(questions)
    law = convolve([lattice(collections.Counter(differences), units)] * n)
    result["churn"] = float(sum(differences) / n)
    result["spread"] = float(numpy.std([float(d) for d in differences]))
    for key, level in (("lower", 0.05), ("low", 0.025), ("high", 0.975)):
        result[key] = quantile(law, level) / units / n
    start, mass = law
    result["at_or_below_zero"] = float(mass[: max(0, 1 - start)].sum())
    result["upper"] = dirichlet(differences)
    result["p"] = randomisation(name, asked)
    result["flips"] = sum(q.is_flip(q.kernel(name)) for q in asked)
    if any("cluster" in q.record for q in questions):
        result["clusters"] = cluster_figures(questions, dict(zip([q.record["id"] for q in asked], differences)))
    return result


def cluster_figures(questions, differences):
    sums = collections.defaultdict(lambda: [fractions.Fraction(0), 0])
    for number, question in enumerate(questions):
        entry = sums[question.record.get("cluster", number)]
        entry[0] += differences.get(question.record["id"], 0)
        entry[1] += 1
    rows = collections.Counter((s, n) for s, n in sums.values())
    law = {(fractions.Fraction(0), 0): 1.0}
    for _ in range(len(sums)):
        longer = collections.Counter()
        for (s, n), mass in law.items():
            for (t, m), count in rows.items():
                longer[s + t, n + m] += mass * count / len(sums)
        law = longer
    by_ratio = collections.Counter()
    for (s, n), mass in law.items():
        by_ratio[s / n] += mass
    ordered = sorted(by_ratio)
    cumulated = numpy.cumsum([by_ratio[ratio] for ratio in ordered])
    at = lambda level: float(ordered[int(numpy.argmax(cumulated >= level * (1 - 1e-12)))])
    largest = max(n for _, n in sums.values())
    upper = dirichlet([s / largest for s, _ in sums.values()], [n / largest for _, n in sums.values()])
    return {"lower": at(0.05), "low": at(0.025), "high": at(0.975), "upper": upper}


def correctness(questions):
    with_gold = [q for q in questions if not q.unchanged and q.record.get("gold")]
    if not with_gold:
        return None
    flows, f1s, ems = collections.Counter(), collections.defaultdict(list), collections.defaultdict(list)
    for q in with_gold:
        gold = q.record["gold"]
        right = lambda text: any(normalise(text) == normalise(alias) for alias in gold)
        for side, answers in (("old", q.old), ("new", q.new)):
            ems[side] += [right(text) for text in answers]
            f1s[side] += [max(f1(text, alias) for alias in gold) for text in answers]
        same = q.kernel("semantic")
        for a, b in zip(q.old, q.new):
            flows[f"{'same' if same(a, b) else 'changed'} {right(a):d}{right(b):d}"] += 1
    mean = lambda values: float(numpy.mean(values))
    return {
        "em": [mean(ems["old"]), mean(ems["new"])],
        "f1": [mean(f1s["old"]), mean(f1s["new"])],
        "flows": {key: flows[key] for key in sorted(flows)},
    }


def overlap(questions):
    known = [q for q in questions if "evidence" in q.record]
    if not known:
        return None
    ids = lambda q, side: [item["id"] for item in q.record["evidence"][side]]
    shared = [len(set(ids(q, "old")) & set(ids(q, "new"))) for q in known]
    flips = [not q.unchanged and q.is_flip(q.kernel("semantic")) for q in known]
    count = lambda flip, none: sum(f == flip and (s == 0) == none for f, s in zip(flips, shared))
    table = [[count(True, True), count(True, False)], [count(False, True), count(False, False)]]
    return {
        "mean": float(numpy.mean(shared)),
        "none": sum(s == 0 for s in shared),
        "same_set": sum(set(ids(q, "old")) == set(ids(q, "new")) for q in known),
        "fisher": float(scipy.stats.fisher_exact(table)[1]),
    }


def subgroups(questions):
    tags = sorted({tag for q in questions for tag in q.record.get("tags", [])})
    rows = []
    for tag in tags:
        members = [q for q in questions if tag in q.record.get("tags", [])]
        asked = [q for q in members if not q.unchanged]
        churn = sum(q.difference(q.kernel("semantic")) for q in asked) / len(members)
        rows.append((tag, float(churn), randomisation("semantic", asked)))
    if not rows:
        return []
    adjusted = statsmodels.stats.multitest.multipletests([p for _, _, p in rows], method="holm")[1]
    return [[tag, churn, float(p)] for (tag, churn, _), p in zip(rows, adjusted)]


def transitivity(questions):
    linked = broken = 0
    for q in questions:
        if q.unchanged:
            continue
        same = q.kernel("semantic")
        for a, b, c in itertools.combinations(q.old + q.new, 3):
            agreeing = same(a, b) + same(a, c) + same(b, c)
            linked += agreeing >= 2
            broken += agreeing == 2
    return [linked, broken]


def recompute(text):
    questions = [Question(json.loads(line)) for line in text.splitlines() if line.strip()]
    return {
        "kernels": [kernel_figures(name, questions) for name in ("exact", "semantic")],
        "correctness": correctness(questions),
        "overlap": overlap(questions),
        "subgroups": subgroups(questions),
        "transitivity": transitivity(questions),
    }


def main():
    for line in sys.stdin:
        print(json.dumps(recompute(json.loads(line)["answers"])), flush=True)


if __name__ == "__main__":
    main()
