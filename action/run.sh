#!/usr/bin/env bash
# Maps the action's inputs to arguments, audits, publishes, and ends with the audit's exit code.
#
# The inputs come in as environment variables and go out as elements of an array: no text is evaluated. While the audit
# prints, the runner is told to obey no command.
set -euo pipefail

# Every declared output has a value on every path; publishing overwrites them.
for name in verdict exact-churn exact-lower-bound exact-upper-bound semantic-churn semantic-lower-bound \
  semantic-upper-bound questions stable-flips run-folder report-markdown report-json comment-url; do
  printf '%s=\n' "$name" >>"$GITHUB_OUTPUT"
done
printf 'published=false\n' >>"$GITHUB_OUTPUT"

fail() {
  printf '::error title=churngate::%s\n' "$1"
  exit 2
}

# Prints what a program prints, with the runner's commands switched off; gives back the program's exit code.
muted() {
  local token code=0
  token="$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')"
  printf '::stop-commands::%s\n' "$token"
  "$@" || code=$?
  printf '\n::%s::\n' "$token"
  return "$code"
}

case "$INPUT_COMMAND" in run | check) ;; *) fail '`command` is `run` or `check`' ;; esac
cd -- "$INPUT_WORKING_DIRECTORY"

# Runs are kept out of the checkout, where a change could have put one.
runs="$INPUT_RUNS"
[ -n "$runs" ] || runs="${RUNNER_TEMP:-$(mktemp -d)}/churngate-runs"
arguments=("$INPUT_COMMAND" "--runs=$runs")
base="${INPUT_BASE:-$EVENT_BASE}"
if [ -n "$base" ] && [ "$base" != none ]; then
  arguments+=("--base=$base")
fi
while IFS= read -r variable; do
  variable="${variable%$'\r'}"
  [ -z "$variable" ] || arguments+=("--new=$variable")
done <<<"$INPUT_NEW"
while IFS= read -r argument; do
  argument="${argument%$'\r'}"
  [ -z "$argument" ] || arguments+=("$argument")
done <<<"$INPUT_ARGS"

folder_file="$(mktemp "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/churngate-folder.XXXXXX")"
if [ "$INPUT_COMMAND" = run ]; then
  arguments+=("--quiet" "--folder-file=$folder_file")
fi
code=0
muted "$CHURNGATE" "${arguments[@]}" -- "$INPUT_SPEC" || code=$?
folder="$(cat -- "$folder_file")"
rm -f -- "$folder_file"

# Only these exit codes come with a verdict. After any other one, what lies in the folder is older than this step or not its
# own, and is not read.
case "$code" in 0 | 1 | 3) finished=true ;; *) finished=false ;; esac
if [ "$finished" = false ]; then
  printf '**Churngate:** the audit could not be completed (exit code %s), so there is no verdict.\n' "$code" \
    >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
elif [ -n "$folder" ]; then
  publishing=(publish "--comment=$INPUT_COMMENT" "--status=$INPUT_STATUS" "--disclosure=$INPUT_DISCLOSURE")
  [ "$INPUT_REQUIRE_PUBLISH" != true ] || publishing+=(--require-publish)
  [ -z "$INPUT_PULL_REQUEST" ] || publishing+=("--pull-request=$INPUT_PULL_REQUEST")
  [ -z "$INPUT_HEAD" ] || publishing+=("--head=$INPUT_HEAD")
  published=0
  "$CHURNGATE" "${publishing[@]}" -- "$folder" || published=$?
  # The verdict comes first: a publication that failed never takes its place.
  [ "$code" -ne 0 ] || code="$published"
fi
exit "$code"
