"""A generator over the Claude CLI: python3 ask_claude.py --model MODEL [more of its arguments]. Needs `claude` on the path.

    generate:
      command:
        argv: [python3, ask_claude.py, --model, claude-sonnet-4-6, --effort, low]
        env: [ANTHROPIC_API_KEY]
        timeout_seconds: 300

The model gets the prompt and nothing else: no tools, so that there is one turn; no settings, memory, plugins, hooks or servers of
the machine (`--bare` reads no login either, hence the key); no session that a later call could see. Never add `--fallback-model`,
which answers by another model without a word, nor `--max-budget-usd`, which ends an answer in its midst.
"""
import json
import subprocess
import sys

ALONE = ["-p", "--output-format", "json", "--bare", "--tools", "", "--strict-mcp-config", "--no-session-persistence"]
SYSTEM = ["--system-prompt", "Reply with the answer alone."]
# Ends of a whole text. Older versions do not say how it ended.
ENDS = (None, "end_turn", "stop_sequence", "refusal")

prompt = json.load(sys.stdin)["prompt"]
ran = subprocess.run(["claude", *ALONE, *SYSTEM, *sys.argv[1:]], input=prompt.encode(), stdout=subprocess.PIPE)
if ran.returncode != 0:
    sys.exit(f"claude ended with {ran.returncode}")
try:
    said = json.loads(ran.stdout)
except ValueError:
    sys.exit("claude wrote no JSON")
# What is no such result is none: an error stands where the answer would be.
if not isinstance(said, dict) or (said.get("type"), said.get("subtype"), said.get("is_error")) != ("result", "success", False):
    sys.exit("claude gave no answer")
if said.get("stop_reason") not in ENDS or not isinstance(said.get("result"), str):
    sys.exit("claude gave no whole answer")
json.dump({"answer": said["result"]}, sys.stdout)
