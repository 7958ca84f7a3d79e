#!/usr/bin/env python3
"""Checks run folders by docs/ledger-format.md alone. Standard library only.

usage: check_run.py [--without-blobs] RUN...

An export is known by its `export.json`: it has no blobs, and its classes are checked.

Prints one line a run: `ok: ...` or `difference: ...`. Exits 0 where all are ok, 1 otherwise, 2 on wrong usage.
Written independently of the library, for clarity and not for size: it keeps every unit of work in memory.
"""

import hashlib
import json
import os
import re
import stat
import sys

# Each stage and the one that it continues; its ledger is named for it. Every run has these three.
ALWAYS = [("evidence", None), ("answers", "evidence"), ("judgments", "answers")]
SIDE = [
    ("judgments-again", "answers"),
    ("judgments-second", "answers"),
    ("answers-replica", "evidence"),
    ("judgments-replica", "answers-replica"),
]
# The ledger of the questions as vectors, there where the protocol's spec says that they are embedded.
VECTORS = ("vectors", None)
# The evidence of the closed book, which is never retrieved from.
EMPTY = hashlib.sha256(b'{"documents":[]}').hexdigest()
DIGEST = re.compile(r"[0-9a-f]{64}")
NUMBER = r"(0|[1-9][0-9]*)"
RECORD = re.compile(rb'\{"seq":' + NUMBER.encode() + rb',"prev":"([0-9a-f]{64})",(".*)', re.DOTALL)
SEAL = re.compile(rb'\{"seal":' + NUMBER.encode() + rb',"prev":"([0-9a-f]{64})"\}')
VERSION = re.compile(NUMBER + r"\." + NUMBER)
MAX_LINE = 16 * 1024 * 1024


class Difference(Exception):
    """The first thing that is not as the format says."""


def digest_of(data):
    return hashlib.sha256(data).hexdigest()


def require(holds, where, what):
    if not holds:
        raise Difference(f"{where}: {what}")


def is_digest(value):
    return isinstance(value, str) and DIGEST.fullmatch(value) is not None


def is_count(value):
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def read_plain(path):
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        raise Difference(f"{path}: missing") from None
    require(stat.S_ISREG(mode), path, "not a plain file")
    with open(path, "rb") as file:
        return file.read()


def ends_with_evidence(protocol):
    try:
        return json.loads(protocol)["spec"]["mode"] == "evidence"
    except (ValueError, KeyError, TypeError):
        return False


class Run:
    """One run folder and what was learned of it so far."""

    def __init__(self, folder, with_blobs):
        self.folder = folder
        self.exported = os.path.lexists(os.path.join(folder, "export.json"))
        self.with_blobs = with_blobs and not self.exported
        self.accepted = {}
        self.rules = {}
        self.embeds = False
        self.heads = {}
        self.counts = {}
        self.cites = False

    def check(self):
        self.check_entries()
        protocol = read_plain(os.path.join(self.folder, "protocol.lock.json"))
        self.heads[None] = digest_of(protocol)
        stages = ALWAYS[:1] if ends_with_evidence(protocol) else ALWAYS + self.check_side(protocol)
        for stage, before in self.check_vectors(protocol) + stages:
            self.heads[stage] = self.check_ledger(stage, before)
        self.check_black_box(protocol)
        blobs = self.check_blobs() if self.with_blobs else 0
        counts = ", ".join(f"{count} {stage} records" for stage, count in self.counts.items())
        if not self.exported:
            return f"{counts}, {blobs} blobs"
        return f"{counts}, {self.check_classes(protocol)} questions of classes, without texts"

    def check_black_box(self, protocol):
        """A system that retrieves by itself leaves no evidence."""
        spec = self.parse("protocol.lock.json", protocol).get("spec")
        if isinstance(spec, dict) and "answer" in spec:
            require(self.counts["evidence"] == 0, "evidence.jsonl", "a record, where the audited system retrieves by itself")
        else:
            require(not self.cites, "answers.jsonl", "citations, where no deployed system was asked")

    def check_vectors(self, protocol):
        """The ledger of vectors is there exactly where questions are embedded."""
        spec = self.parse("protocol.lock.json", protocol).get("spec")
        retrieve = spec.get("retrieve", {}) if isinstance(spec, dict) else {}
        self.embeds = isinstance(retrieve, dict) and "embed" in retrieve
        there = os.path.lexists(os.path.join(self.folder, "vectors.jsonl"))
        require(there == self.embeds, "vectors.jsonl", "there" if there else "missing, as the protocol asks for it")
        return [VECTORS] if self.embeds else []

    def check_side(self, protocol):
        """The ledgers of diagnostics that are there: exactly those that the protocol's spec asks for."""
        spec = self.parse("protocol.lock.json", protocol).get("spec")
        judge = spec.get("judge", {}) if isinstance(spec, dict) else {}
        asked = {
            "judgments-again": judge.get("passes") == 2,
            "judgments-second": "second" in judge,
            "answers-replica": isinstance(spec, dict) and "replicate" in spec,
            "judgments-replica": isinstance(spec, dict) and "replicate" in spec,
        }
        for stage, _ in SIDE:
            there = os.path.lexists(os.path.join(self.folder, stage + ".jsonl"))
            require(there == asked[stage], stage + ".jsonl", "there" if there else "missing, as the protocol asks for it")
        return [(stage, before) for stage, before in SIDE if asked[stage]]

    def check_classes(self, protocol):
        """`classes.jsonl` of an export: about these answers, and without contradiction."""
        lines = read_plain(os.path.join(self.folder, "classes.jsonl")).split(b"\n")
        require(lines.pop() == b"", "classes.jsonl", "the last line has no line feed")
        header = self.parse("classes.jsonl:1", lines[0])
        version = VERSION.fullmatch(str(header.get("format")))
        require(version and int(version[1]) == 1, "classes.jsonl:1", "not format 1")
        require(header.get("protocol") == digest_of(protocol), "classes.jsonl:1", "of another protocol")
        accepted, replica = self.answers_by_question("answers"), self.answers_by_question("answers-replica")
        questions = set()
        for number, line in enumerate(lines[1:], start=2):
            where = f"classes.jsonl:{number}"
            row = self.parse(where, line)
            require(row["question"] not in questions, where, "a question that stands twice")
            questions.add(row["question"])
            self.check_classed(where, row["answers"], row["gold"], accepted.get(row["question"], set()))
            self.check_classed(where, row.get("replica", []), False, replica.get(row["question"], set()))
        require(set(accepted) | set(replica) <= questions, "classes.jsonl", "a question is missing")
        return len(questions)

    def answers_by_question(self, stage):
        accepted = {}
        for (question, _, _), answer in self.accepted.get(stage, {}).items():
            accepted.setdefault(question, set()).add(answer)
        return accepted

    def check_classed(self, where, rows, gold, accepted):
        answers = [classed["answer"] for classed in rows]
        require(len(set(answers)) == len(answers) and set(answers) == accepted, where, "not the accepted answers")
        firsts = []
        for classed in rows:
            marks = (classed.get("right"), classed.get("f1"))
            if gold:
                sound = isinstance(marks[0], bool) and isinstance(marks[1], float) and 0 <= marks[1] <= 1
            else:
                sound = marks == (None, None)
            require(sound, where, "a mark that is none")
            require(is_count(classed["class"]) and classed["class"] <= len(firsts), where, "a class out of order")
            if classed["class"] == len(firsts):
                firsts.append(marks)
            require(firsts[classed["class"]] == marks, where, "equal answers that are marked differently")

    def check_entries(self):
        require(stat.S_ISDIR(os.lstat(self.folder).st_mode), self.folder, "not a plain folder")
        for entry in os.scandir(self.folder):
            plain = entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)
            require(plain, entry.path, "not a plain file or folder")

    def check_ledger(self, stage, before):
        file = stage + ".jsonl"
        lines = read_plain(os.path.join(self.folder, file)).split(b"\n")
        require(lines[-1] == b"", f"{file}:{len(lines)}", "the last line has no line feed")
        lines.pop()
        require(lines, file, "empty")
        self.check_header(f"{file}:1", lines[0], stage, self.heads[before])
        require(len(lines) > 1, file, "not sealed")
        kinds = {"vectors": VectorRules, "evidence": EvidenceRules, "answers": AnswerRules, "judgments": JudgmentRules}
        kind = kinds[stage.split("-")[0]]
        rules = kind(self, self.accepted.get(before))
        self.accepted[stage] = rules.accepted
        self.rules[stage] = rules
        for number, line in enumerate(lines[1:-1], start=2):
            where = f"{file}:{number}"
            require(len(line) <= MAX_LINE, where, "too long")
            match = RECORD.fullmatch(line)
            require(match, where, "not a record")
            require(int(match[1]) == number - 2, where, "wrong number")
            require(match[2].decode() == digest_of(lines[number - 2]), where, "does not continue the line before")
            record = self.parse(where, b"{" + match[3])
            require(next(iter(record), None) == "type", where, "does not begin with its type")
            rules.take(where, number - 2, record)
        where = f"{file}:{len(lines)}"
        seal = SEAL.fullmatch(lines[-1])
        require(seal, where, "not sealed")
        require(int(seal[1]) == len(lines) - 2, where, "the seal counts other records")
        require(seal[2].decode() == digest_of(lines[-2]), where, "does not continue the line before")
        self.counts[stage] = len(lines) - 2
        return digest_of(lines[-1])

    def check_header(self, where, line, stage, before):
        header = self.parse(where, line)
        version = VERSION.fullmatch(str(header.get("format")))
        require(version and int(version[1]) == 1, where, "not format 1")
        require(header.get("stage") == stage, where, f"not a header of {stage}")
        require(isinstance(header.get("tool"), str), where, "no tool version")
        require(header.get("before") == before, where, "continues another ledger")
        require(header.get("replayed", True) is True, where, "neither replayed nor silent about it")

    def parse(self, where, text):
        try:
            value = json.loads(text.decode("utf-8"))
        except ValueError:
            raise Difference(f"{where}: not JSON") from None
        require(isinstance(value, dict), where, "not an object")
        return value

    def need_blob(self, where, digest, length=None):
        require(is_digest(digest), where, "not a digest")
        if not self.with_blobs:
            return
        data = read_plain(os.path.join(self.folder, "blobs", digest))
        require(digest_of(data) == digest, where, f"blob {digest} is not what its name says")
        require(length is None or len(data) == length, where, f"blob {digest} has another length")

    def check_blobs(self):
        folder = os.path.join(self.folder, "blobs")
        require(stat.S_ISDIR(os.lstat(folder).st_mode), folder, "not a plain folder")
        count = 0
        for name in os.listdir(folder):
            if name.startswith(".tmp-"):
                continue
            require(DIGEST.fullmatch(name), os.path.join(folder, name), "not a blob")
            data = read_plain(os.path.join(folder, name))
            require(digest_of(data) == name, os.path.join(folder, name), "not what its name says")
            count += 1
        return count


# What `accept` returns for a unit that is not done yet.
PARTIAL = object()


class Rules:
    """What holds of every stage: attempts, outcomes, acceptance."""

    def __init__(self, run, before):
        self.run = run
        # What was accepted in the ledger that this one continues.
        self.before = before
        self.open = {}
        self.accepted = {}

    def take(self, where, seq, record):
        kind = record.get("type")
        if kind == "attempt":
            self.attempt(where, seq, record)
        elif kind == "outcome":
            self.outcome(where, record)
        else:
            require(kind == "note", where, "unknown type")
            self.note(where, record)

    def attempt(self, where, seq, record):
        unit = self.unit(where, record.get("of"))
        require(is_digest(record.get("request")) and is_count(record.get("at_ms")), where, "not an attempt")
        self.before_attempt(where, unit)
        require(unit not in self.accepted, where, "an attempt after acceptance")
        self.open[seq] = unit

    def outcome(self, where, record):
        unit = self.unit(where, record.get("of"))
        require(is_count(record.get("latency_ms")), where, "not an outcome")
        require(self.open.pop(record.get("attempt"), None) == unit, where, "an outcome without its attempt")
        verdict = record.get("verdict")
        require(isinstance(verdict, dict) and len(verdict) == 1, where, "not a verdict")
        (kind, value), = verdict.items()
        if record.get("body") is not None:
            self.run.need_blob(where, record["body"])
        if kind == "accepted":
            require(unit not in self.accepted, where, "accepted twice")
            done = self.accept(where, unit, value)
            if done is not PARTIAL:
                self.accepted[unit] = done
        else:
            require(kind in ("invalid", "fatal") and isinstance(value, str), where, "not a verdict")

    def before_attempt(self, where, unit):
        pass

    @staticmethod
    def names(where, value, number):
        require(isinstance(value, dict), where, "not a unit of work")
        unit = (value.get("question"), value.get("snapshot"), value.get(number))
        named = isinstance(unit[0], str) and isinstance(unit[1], str) and is_count(unit[2])
        require(named, where, "not a unit of work")
        return unit


class VectorRules(Rules):
    """Questions as vectors: each question once, all vectors by one embedder."""

    def __init__(self, run, before):
        super().__init__(run, before)
        self.questions = {}
        self.references = {}
        self.told = None

    def unit(self, where, value):
        require(isinstance(value, dict), where, "not a unit of work")
        named = value.get("texts") in ("reference", "questions", "stored") and is_count(value.get("number"))
        require(named, where, "not a unit of work")
        return value["texts"], value["number"]

    def outcome(self, where, record):
        self.model = record.get("served_model")
        super().outcome(where, record)

    def accept(self, where, unit, value):
        require(is_count(value.get("dimensions")) and value["vectors"], where, "no vectors")
        told = (value["dimensions"], self.model)
        require(self.told is not None or unit[0] == "reference", where, "no reference text before")
        self.told = self.told or told
        require(self.told == told, where, "vectors of another length or model than the reference text's")
        for named in value["vectors"]:
            self.run.need_blob(where, named["vector"])
            require(("question" in named) == (unit[0] == "questions"), where, "a vector of no question, or of one")
            require(("text" in named) == (unit[0] == "stored"), where, "a stored document without its text, or a text")
            if unit[0] == "stored":
                self.run.need_blob(where, named["text"])
            vector = self.read(where, named["vector"], value["dimensions"])
            of_its_text = vector is None or unit[0] != "stored" or vector["text"] == named["text"]
            require(of_its_text, where, "a vector of another text")
            if unit[0] == "reference":
                self.references[named["vector"]] = vector
            elif unit[0] == "questions":
                require(named["question"] not in self.questions, where, "a question that is embedded twice")
                self.questions[named["question"]] = named["vector"]
                require(vector is None or vector["question"] == named["question"], where, "a vector of another question")
                require(vector is None or vector["reference"] in self.references, where, "no reference text")
        return value["dimensions"]

    def read(self, where, digest, dimensions):
        if not self.run.with_blobs:
            return None
        vector = self.run.parse(where, read_plain(os.path.join(self.run.folder, "blobs", digest)))
        require(len(vector["vector"]) == dimensions, where, "another number of dimensions than it says")
        require(vector["model"] == self.model, where, "a vector of another model than the outcome's")
        for other in list(self.references.values())[:1]:
            one_embedder = len(other["vector"]) == dimensions and other["model"] == vector["model"]
            require(one_embedder, where, "a vector of another embedder")
        return vector

    def note(self, where, record):
        require(isinstance(record.get("snapshot"), str) and is_count(record.get("vectors")), where, "not a note")
        require((record["vectors"] > 0) == ("cosine" in record), where, "a cosine of nothing, or none")


class EvidenceRules(Rules):
    def __init__(self, run, before):
        super().__init__(run, before)
        self.noted = set()

    def unit(self, where, value):
        return self.names(where, value, "pass")

    def accept(self, where, unit, value):
        self.run.need_blob(where, value.get("evidence"))
        for document in value["documents"]:
            require(isinstance(document["id"], str) and is_digest(document["content"]), where, "not a document")
        return value["evidence"]

    def note(self, where, record):
        key = (record.get("question"), record.get("snapshot"))
        require(key not in self.noted, where, "noted twice")
        self.noted.add(key)
        self.run.need_blob(where, record.get("evidence"))
        wanted = None
        if self.run.embeds and record.get("snapshot") != "closed_book":
            wanted = self.run.rules["vectors"].questions.get(record["question"])
            require(wanted is not None, where, "a question without a vector")
        require(record.get("vector") == wanted, where, "another vector than that of its question")
        passes = [self.accepted[key + (number,)] for number in (0, 1) if key + (number,) in self.accepted]
        require(record.get("matched") in (True, False), where, "not a note")
        if passes or record["snapshot"] != "closed_book":
            bears = len(passes) == 2 and passes[0] == record["evidence"] and record["matched"] == (passes[0] == passes[1])
        else:
            bears = record["matched"] and record["evidence"] == EMPTY
        require(bears, where, "the passes do not bear the note out")


class AnswerRules(Rules):
    def __init__(self, run, before):
        super().__init__(run, before)
        self.unchanged = set()

    def unit(self, where, value):
        return self.names(where, value, "repeat")

    def before_attempt(self, where, unit):
        require(unit[0] not in self.unchanged, where, "an attempt for an unchanged question")

    def accept(self, where, unit, value):
        require(is_count(value.get("bytes")), where, "no length")
        self.run.need_blob(where, value.get("answer"), value["bytes"])
        self.run.cites |= "citations" in value
        for document in value.get("citations") or []:
            require(isinstance(document["id"], str) and is_digest(document["content"]), where, "not a document")
        return value["answer"]

    def note(self, where, record):
        question = record.get("question")
        require(isinstance(question, str) and is_digest(record.get("prompt")), where, "not a note")
        require(question not in self.unchanged, where, "noted twice")
        self.unchanged.add(question)


class JudgmentRules(Rules):
    def __init__(self, run, before):
        super().__init__(run, before)
        self.packets = {}
        self.labelled = {}

    def unit(self, where, value):
        require(isinstance(value, str), where, "not a unit of work")
        return value

    def before_attempt(self, where, unit):
        require(unit in self.packets, where, "an attempt without its packet")

    def accept(self, where, unit, value):
        require(unit in self.packets, where, "a judgment without its packet")
        size = self.packets[unit]
        pairs = [(pair["one"], pair["other"]) for pair in value["pairs"]]
        labels = all(pair["label"] in ("same", "different") for pair in value["pairs"])
        known = self.labelled.setdefault(unit, set())
        fits = all(0 <= one < other < size for one, other in pairs)
        new = len(set(pairs)) == len(pairs) and known.isdisjoint(pairs)
        require(labels and pairs and fits and new, where, "a pair is not labelled once")
        known.update(pairs)
        return None if len(known) == size * (size - 1) // 2 else PARTIAL

    def note(self, where, record):
        question, answers, cells = record.get("question"), record.get("answers"), record.get("cells")
        require(isinstance(answers, list) and isinstance(cells, list), where, "not a packet")
        shape = len(answers) >= 2 and len(set(answers)) == len(answers) == len(cells)
        require(shape, where, "not a packet of distinct answers")
        for answer, given_by in zip(answers, cells):
            self.run.need_blob(where, answer)
            require(given_by, where, "an answer that nobody gave")
            for cell in given_by:
                unit = self.names(where, cell, "repeat")
                same = unit[0] == question and self.before.get(unit) == answer
                require(same, where, "not the accepted answer of a cell")
        require(question not in self.packets, where, "noted twice")
        self.packets[question] = len(answers)


def check(folder, with_blobs):
    try:
        return True, Run(folder, with_blobs).check()
    except Difference as difference:
        return False, str(difference)
    except (KeyError, TypeError, AttributeError, OSError) as error:
        return False, f"{folder}: a record is malformed ({type(error).__name__})"


def main(arguments):
    with_blobs = "--without-blobs" not in arguments
    folders = [argument for argument in arguments if argument != "--without-blobs"]
    if not folders:
        print(__doc__, file=sys.stderr)
        return 2
    results = [check(folder, with_blobs) for folder in folders]
    for good, text in results:
        print("ok: " + text if good else "difference: " + text)
    return 0 if all(good for good, _ in results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
