#!/usr/bin/env python3
"""Writes examples/paper-*/answers.jsonl from the reconstructed ledgers in tests/fixtures/stats.

Answer texts are made up, but for two questions whose answers were published: equal classes of the ledger give equal texts,
and UNKNOWN stays UNKNOWN.
"""
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXAMPLES = {"ledger_nq.json": "paper-nq", "ledger_tqa.json": "paper-triviaqa"}
# An alias that no answer is: a question with gold where every answer is wrong.
NONE = "none of these"


def text(question, i):
    if question["unk"][i]:
        return "UNKNOWN"
    shown = question["text"].get(str(question["str"][i]))
    if shown:
        return shown
    # Where labels differ between equal normalised texts, the texts differ in the punctuation that normalisation deletes.
    dots = "." * i if question["sem_pair_overrides"] else ""
    return f"answer {question['str'][i]}{dots}"


def labels(question, texts):
    overrides = {(i, j): same for i, j, same in question["sem_pair_overrides"]}
    seen = {}
    for j in range(len(texts)):
        for i in range(j):
            same = overrides.get((i, j), question["sem"][i] == question["sem"][j])
            if texts[i] != texts[j]:
                seen[tuple(sorted((texts[i], texts[j])))] = "same" if same else "different"
    return [[one, other, label] for (one, other), label in sorted(seen.items())]


def evidence(question):
    """Eight documents of which n1 and n7 share as many as the ledger says."""
    first = {"n1": 0, "n7": 8 - question["overlap_n1_n7"]}
    return {state: [{"id": f"d{i}"} for i in range(start, start + 8)] for state, start in first.items()}


def record(ledger, question):
    texts = [text(question, i) for i in range(len(question["str"]))]
    repeats = ledger["repeats"]
    right = [answer for answer, em in zip(texts, question["em"]) if em]
    return {
        "id": question["id"],
        "answers": {s: texts[n * repeats : (n + 1) * repeats] for n, s in enumerate(ledger["states"])},
        "labels": labels(question, texts),
        "gold": list(dict.fromkeys(right)) + [NONE],
        "evidence": evidence(question),
    }


def main():
    for source, example in EXAMPLES.items():
        ledger = json.loads((ROOT / "tests/fixtures/stats" / source).read_text(encoding="utf-8"))
        lines = [json.dumps(record(ledger, question), ensure_ascii=False) for question in ledger["questions"]]
        (ROOT / "examples" / example / "answers.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
