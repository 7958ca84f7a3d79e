#!/usr/bin/env python3
"""Times 800 calls (200 questions, two states of their evidence, two repeats) by churngate and by whichever peers are installed,
against one local server that answers after a fixed time.

    python3 benches/peers/efficiency.py CHURNGATE [--peers FOLDER] [--latency MS ...] [--at-once N ...] [--rounds N]
        [--questions N]

The peers, each where it is found in FOLDER (`benches/peers/install FOLDER` puts them there): promptfoo, inspect_ai, EvalCore.
Each is asked for the same 800 calls, with its caches off and its own records on, as churngate has its ledgers on. `ideal` is
calls x latency / at once. `calls` is the time from the first call's arrival to the last reply, by the server's clock; `whole`
is the whole process. The line `bare client` is a program that only sends the calls: nobody can do better here. Where the
calls do not fill whole rounds (800 of 64 at once are 12.5), even that has to wait for the last round.

For churngate `stage` is the time from the seal of the evidence to the seal of the answers, by the ledgers' times. Build it with
`cargo build --release`: one for development takes longer over its own work than 64 calls of 50 ms do. `begin` and `end` on standard
error say when a measurement runs, for whoever keeps the machine quiet meanwhile.
"""
import argparse
import json
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
QUESTIONS = 200
CALLS = 800


def built_server(folder):
    program = folder / "latency-server"
    source = HERE / "latency_server.rs"
    subprocess.run(["rustc", "--edition", "2024", "-O", "-o", program, source], check=True)
    return program


class Server:
    """One latency; ends with the block."""

    def __init__(self, program, milliseconds):
        self.child = subprocess.Popen(
            [program, "serve", str(milliseconds)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.address = self.child.stdout.readline().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.stdin.close()
        self.child.wait()

    def seen(self):
        """What it saw since it was last asked."""
        with urllib.request.urlopen(f"http://{self.address}/") as reply:
            return json.load(reply)


def fact(number, snapshot):
    thing = "stones" if snapshot == "old" else "shells"
    return f"gadget{number} carries {number} {thing} in a box that was made for them in the year {1900 + number % 100}."


def cases():
    """Question and evidence of every cell of one repeat."""
    for number in range(QUESTIONS):
        for snapshot in ("old", "new"):
            yield f"q{number}-{snapshot}", f"What does gadget{number} carry?", fact(number, snapshot)


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def churngate(program, folder, address, at_once):
    lines = lambda rows: "".join(json.dumps(row) + "\n" for row in rows)
    asked = ({"id": f"q{n}", "question": f"What does gadget{n} carry?"} for n in range(QUESTIONS))
    write(folder / "questions.jsonl", lines(asked))
    for snapshot in ("old", "new"):
        write(folder / f"{snapshot}.jsonl", lines({"id": f"d{n}", "text": fact(n, snapshot)} for n in range(QUESTIONS)))
    write(
        folder / "churngate.yaml",
        f"""version: 1
name: efficiency
questions: {{ file: questions.jsonl }}
snapshots:
  old: {{ path: old.jsonl }}
  new: {{ path: new.jsonl }}
retrieve: {{ bm25: {{}}, top_k: 1 }}
generate:
  openai: {{ model: m-1, base_url: "http://{address}/v1", structured: plain }}
  repeats: 2
  concurrency: {at_once}
judge: {{ embedded: {{}} }}
""",
    )
    return [program, "run", "--quiet", "churngate.yaml"], {}


def stage_of(folder):
    """Seconds from the seal of the evidence to the seal of the answers: when each was last written."""
    run = next((folder / ".churngate").glob("*/answers.jsonl")).parent
    written = lambda name: (run / name).stat().st_mtime_ns
    return (written("answers.jsonl") - written("evidence.jsonl")) / 1e9


def promptfoo(peers, folder, address, at_once):
    tests = [{"vars": {"question": question, "evidence": evidence}} for _, question, evidence in cases()]
    config = {
        "prompts": ["Answer in one word.\n{{question}}\n{{evidence}}"],
        "providers": [{"id": "openai:chat:m-1", "config": {"apiBaseUrl": f"http://{address}/v1"}}],
        "tests": tests,
    }
    write(folder / "promptfooconfig.json", json.dumps(config))
    node = peers / "promptfoo/node_modules/node/bin/node"
    main = peers / "promptfoo/node_modules/promptfoo/dist/src/entrypoint.js"
    if not main.exists():
        main = peers / "promptfoo/node_modules/promptfoo/dist/src/main.js"
    command = [node, main, "eval", "-c", "promptfooconfig.json", "-j", str(at_once), "--repeat", "2"]
    quiet = {
        "OPENAI_API_KEY": "none",
        "PROMPTFOO_CONFIG_DIR": str(folder / "records"),
        "PROMPTFOO_DISABLE_TELEMETRY": "1",
        "PROMPTFOO_DISABLE_UPDATE": "1",
        "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
    }
    return command + ["--no-cache", "--no-table", "--no-progress-bar", "--no-share"], quiet


TASK = """from inspect_ai import Task, task
from inspect_ai.dataset import Sample, json_dataset
from inspect_ai.solver import generate
from inspect_ai.scorer import includes


@task
def efficiency():
    return Task(dataset=json_dataset("samples.jsonl"), solver=[generate()], scorer=includes())
"""


def inspect_ai(peers, folder, address, at_once):
    samples = ({"id": name, "input": f"{question}\n{evidence}", "target": "answer"} for name, question, evidence in cases())
    write(folder / "samples.jsonl", "".join(json.dumps(sample) + "\n" for sample in samples))
    write(folder / "task.py", TASK)
    command = [peers / "inspect/bin/inspect", "eval", "task.py", "--model", "openai/m-1", "--epochs", "2"]
    limits = ["--max-connections", str(at_once), "--max-samples", str(at_once), "--display", "none"]
    base = ["--model-base-url", f"http://{address}/v1", "-M", "responses_api=false"]
    return command + limits + base, {"OPENAI_API_KEY": "none", "INSPECT_LOG_DIR": str(folder / "logs")}


def evalcore(peers, folder, address, at_once):
    rows = ({"id": name, "input": f"{question}\n{evidence}"} for name, question, evidence in cases())
    write(folder / "cases.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    write(
        folder / "evals.yaml",
        f"""targets:
  model: {{ type: openai-compatible, url: "http://{address}/v1", model: m-1 }}
datasets:
  - file: cases.jsonl
scorers:
  - {{ type: contains, value: answer }}
run:
  concurrency: {at_once}
  trials: {{ count: 2, require: all }}
""",
    )
    return [peers / "evalcore/bin/evalcore", "run", "evals.yaml", "--cache", "off"], {}


PEERS = {"promptfoo": promptfoo, "inspect_ai": inspect_ai, "EvalCore": evalcore}
FOUND_BY = {"promptfoo": "promptfoo", "inspect_ai": "inspect/bin/inspect", "EvalCore": "evalcore/bin/evalcore"}


def run(command, extra, folder):
    """Wall seconds, CPU seconds, peak MiB and exit code of a process and what it started."""
    kept = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    with open(folder / "output", "wb") as output:
        begun = time.perf_counter()
        child = subprocess.Popen(
            [str(word) for word in command], cwd=folder, env=kept | extra, stdout=output, stderr=output, stdin=subprocess.DEVNULL
        )
        _, status, used = os.wait4(child.pid, 0)
        wall = time.perf_counter() - begun
    child.returncode = os.waitstatus_to_exitcode(status)
    return wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, child.returncode


def measured(name, plan, server, root, ideal):
    """One tool once: a row of figures."""
    # Kept until the end: a file system that has just removed thousands of files is slow to make new ones.
    folder = pathlib.Path(tempfile.mkdtemp(dir=root))
    command, extra = plan(folder)
    os.sync()
    print(f"begin {name}", file=sys.stderr, flush=True)
    time.sleep(1)
    server.seen()
    wall, cpu, peak, code = run(command, extra, folder)
    seen = server.seen()
    print(f"end {name}", file=sys.stderr, flush=True)
    if seen["calls"] != CALLS:
        print((folder / "output").read_text(errors="replace")[-2000:], file=sys.stderr)
        print(f"{name}: {seen['calls']} calls, exit code {code}", file=sys.stderr)
    row = {"calls": seen["seconds"], "whole": wall, "cpu": cpu, "peak": peak, "made": seen["calls"], "most": seen["most_in_flight"]}
    if name == "churngate":
        row["stage"] = stage_of(folder)
    return {**row, "ideal": ideal}


def bare(program, server, at_once, ideal):
    print("begin bare client", file=sys.stderr, flush=True)
    time.sleep(1)
    server.seen()
    command = [program, "load", server.address, str(CALLS), str(at_once)]
    wall = float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    seen = server.seen()
    print("end bare client", file=sys.stderr, flush=True)
    return {"calls": seen["seconds"], "whole": wall, "made": seen["calls"], "most": seen["most_in_flight"], "ideal": ideal}


def show(name, rows):
    middle = lambda key: statistics.median(row[key] for row in rows if key in row)
    ratio = lambda key: f"{middle(key) / rows[0]['ideal']:.3f}" if key in rows[0] else ""
    seconds = lambda key: f"{middle(key):.3f}" if key in rows[0] else ""
    peak = f"{middle('peak'):.0f}" if "peak" in rows[0] else ""
    most = max(row["most"] for row in rows)
    cells = [name, str(rows[0]["made"]), str(most), ratio("calls"), ratio("stage"), ratio("whole"), seconds("whole"), seconds("cpu"), peak]
    print("| " + " | ".join(cells) + " |", flush=True)


def compare(options, program, root, milliseconds, at_once):
    ideal = CALLS * milliseconds / 1000 / at_once
    rounds = math.ceil(CALLS / at_once) * milliseconds / 1000
    print(f"\n{CALLS} calls of {milliseconds} ms, {at_once} at once: ideal {ideal:.3f} s, in whole rounds {rounds / ideal:.3f} of it\n")
    print("| who | calls made | most at once | calls / ideal | stage / ideal | whole / ideal | whole, s | CPU, s | peak MiB |")
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    with Server(program, milliseconds) as server:
        plans = {"churngate": lambda folder: churngate(options.churngate, folder, server.address, at_once)}
        for name, plan in PEERS.items():
            if options.peers and (options.peers / FOUND_BY[name]).exists():
                plans[name] = lambda folder, plan=plan: plan(options.peers, folder, server.address, at_once)
        show("bare client", [bare(program, server, at_once, ideal) for _ in range(options.rounds)])
        for name, plan in plans.items():
            times = options.rounds if name == "churngate" else options.peer_rounds
            show(name, [measured(name, plan, server, root, ideal) for _ in range(times)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("churngate", type=pathlib.Path)
    parser.add_argument("--peers", type=pathlib.Path)
    parser.add_argument("--latency", type=int, nargs="+", default=[50, 500])
    parser.add_argument("--at-once", type=int, nargs="+", default=[16, 64])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peer-rounds", type=int, default=1)
    parser.add_argument("--questions", type=int, default=QUESTIONS, help="four calls each")
    parser.add_argument("--scratch", type=pathlib.Path, help="a folder on the disk that is measured")
    options = parser.parse_args()
    globals().update(QUESTIONS=options.questions, CALLS=4 * options.questions)
    options.churngate = options.churngate.resolve()
    options.peers = options.peers and options.peers.resolve()
    root = pathlib.Path(tempfile.mkdtemp(prefix="efficiency-", dir=options.scratch))
    try:
        program = built_server(root)
        for milliseconds in options.latency:
            for at_once in options.at_once:
                compare(options, program, root, milliseconds, at_once)
    finally:
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    main()
