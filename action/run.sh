#!/usr/bin/env bash
# Maps the action's inputs to arguments, audits, publishes, and ends with the audit's exit code.
#
# The inputs come in as environment variables and go out as elements of an array: no text is evaluated. While the audit
# prints, the runner is told to obey no command.
set -euo pipefail

# A variable of the job's own that is called as one of this script's would hand on what the script puts into it to all that is
# started, and would count where the script sets none. By CDPATH the shell would look for folders elsewhere.
unset -v CDPATH token name word code line publishing merge commits tip temp runs folder_file failure_file arguments base found folder \
  replay finished published failing spec problems input otherwise why unstarted

# The token is for `publish` alone. This shell begins anew without it, since programs that the audit starts can read the
# environment that a process above them began with; it comes over a file that is closed before anything is started. That it
# does is told by an argument, which no environment has.
if [ -n "${GITHUB_TOKEN:-}" ]; then
  exec 3<<<"$GITHUB_TOKEN"
  exec env -u GITHUB_TOKEN bash -- "${BASH_SOURCE[0]}" token-follows
fi
token=""
if [ "${1:-}" = token-follows ]; then
  # White space around it is no part of it: a secret is easily kept with the line break behind it.
  read -r -d '' token <&3 || :
  exec 3<&-
fi

# Every declared output has a value on every path; publishing overwrites them.
for name in verdict exact-churn exact-lower-bound exact-upper-bound semantic-churn semantic-lower-bound \
  semantic-upper-bound questions stable-flips evidence-changed exploratory run-folder report-markdown report-json comment-url; do
  printf '%s=\n' "$name" >>"$GITHUB_OUTPUT"
done
printf 'published=false\n' >>"$GITHUB_OUTPUT"

# Prints what a program prints, with the runner's commands switched off; gives back the program's exit code.
muted() {
  local word code=0
  word="$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')"
  printf '::stop-commands::%s\n' "$word"
  "$@" || code=$?
  printf '\n::%s::\n' "$word"
  return "$code"
}

# Lines of an input as arguments, each behind a prefix.
lines() {
  local line
  while IFS= read -r line; do
    line="${line%$'\r'}"
    [ -z "$line" ] || arguments+=("$1$line")
  done <<<"$2"
}

# Says what has been found, or that nothing has; the arguments say which.
publish() {
  local publishing=(publish "--comment=$INPUT_COMMENT" "--outdated=$INPUT_OUTDATED" "--status=$INPUT_STATUS")
  publishing+=("--disclosure=$INPUT_DISCLOSURE" "--spec=$spec")
  [ "$INPUT_REQUIRE_PUBLISH" != true ] || publishing+=(--require-publish)
  [ -z "$INPUT_PULL_REQUEST" ] || publishing+=("--pull-request=$INPUT_PULL_REQUEST")
  [ -z "$INPUT_HEAD" ] || publishing+=("--head=$INPUT_HEAD")
  GITHUB_TOKEN="$token" "$CHURNGATE" "${publishing[@]}" "$@"
}

# Says on the pull request that the audit ended with this exit code, and why, as a file has it. A check, a shard and an artifact
# publish nothing where they fail, and a replay says nothing of the audit, whose mark and comment it must not take.
tell_failure() {
  local failing=("--failed=$1")
  if [ "$INPUT_COMMAND" = check ] || [ "$INPUT_COMMAND" = publish ] || [ -n "$INPUT_SHARD" ] || [ "$replay" = true ]; then
    printf '**Churngate:** `%s` could not be completed (exit code %s); the log says why.\n' \
      "$([ "$replay" = true ] && printf replay || printf %s "$INPUT_COMMAND")" "$1" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
    return 0
  fi
  [ ! -s "$2" ] || failing+=("--failure=$2")
  [ -z "$base" ] || failing+=("--base=$base")
  publish "${failing[@]}"
}

# Whether a program ended like this because it could not be started at all. Then it can tell nothing either, and only this script
# can: it is an audit that came to nothing, as any other.
is_unstarted() {
  [ "$1" = 126 ] || [ "$1" = 127 ] || return 1
  printf '::error title=churngate::%s\n' "$unstarted"
  printf '**Churngate:** no verdict: %s.\n' "$unstarted" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
}

# Ends before anything was audited.
stop() {
  local code="$1" why="$2"
  trap - EXIT
  printf '::error title=churngate::%s\n' "$why"
  [ -n "$failure_file" ] || failure_file="$(mktemp)" || failure_file=/dev/null
  printf '%s' "$why" >"$failure_file" || failure_file=/dev/null
  tell_failure "$code" "$failure_file" || :
  exit "$code"
}

fail() {
  stop 2 "$1"
}

# Whatever ends this script before it means to is an audit that came to nothing, and never looks like a verdict.
unexpected() {
  local code=$?
  trap - EXIT
  # A signal is the runner's, which has cancelled the job.
  [ "$code" -le 128 ] || exit "$code"
  stop 4 'the action failed; the log says where'
}

# Holds an input against the words that it may be. Where it is none of them, another stands for it while that is told.
words() {
  local name="$1" input="$2" otherwise="$3" word
  shift 3
  for word in "$@"; do
    [ "${!input}" != "$word" ] || return 0
  done
  printf -v word ', `%s`' "$@"
  problems+="; \`$name\` is one of ${word#, }"
  printf -v "$input" %s "$otherwise"
}

# The base branch's newest commit, where what is checked out is the merge with it that GitHub made of this pull request. The
# event names the commit of the last push to the pull request, which may lie before it.
merged_with() {
  local merge commits
  [ "${GITHUB_EVENT_NAME:-}" = pull_request ] && [ -n "$1" ] || return 1
  merge="$(git rev-list --parents --max-count=1 HEAD 2>/dev/null)" || return 1
  read -ra commits <<<"$merge"
  [ "${#commits[@]}" -eq 3 ] && [ "${commits[0]}" = "${GITHUB_SHA:-}" ] || return 1
  git merge-base --is-ancestor "$1" "${commits[1]}" 2>/dev/null || return 1
  printf '%s' "${commits[1]}"
}

# The default branch's newest commit, where what is checked out is none of its commits: nobody has agreed to that yet.
default_branch() {
  local tip
  # A replay takes no base.
  [ -n "${EVENT_DEFAULT_BRANCH:-}" ] && [ "$replay" = false ] || return 1
  tip="refs/remotes/origin/$EVENT_DEFAULT_BRANCH^{commit}"
  tip="$(git rev-parse --verify --quiet --end-of-options "$tip" 2>/dev/null)" || return 1
  ! git merge-base --is-ancestor HEAD "$tip" 2>/dev/null || return 1
  printf '%s' "$tip"
}

find_base() {
  base="$INPUT_BASE"
  [ -n "$base" ] || base="$(merged_with "${EVENT_BASE:-}")" || base="${EVENT_BASE:-}"
  [ -n "$base" ] || base="$(default_branch)" || base=""
  [ "$base" != none ] || base=""
}

failure_file=""
problems=""
replay=false
unstarted='the binary cannot be started: it is missing, is no program, or is one of another system'
# Where this script is now; once it is in the working directory the input itself names it.
case "$INPUT_SPEC" in /*) spec="$INPUT_SPEC" ;; *) spec="$INPUT_WORKING_DIRECTORY/$INPUT_SPEC" ;; esac
case $'\n'"$INPUT_ARGS" in *$'\n--replay'*) replay=true ;; esac
trap unexpected EXIT
find_base

# Everything that publishing needs is checked before anything is spent.
: "${INPUT_REQUIRE_PUBLISH:=false}"
words command INPUT_COMMAND run run check merge publish
words comment INPUT_COMMENT on-change always on-change never
words outdated INPUT_OUTDATED update update hide
words status INPUT_STATUS status status check none
words disclosure INPUT_DISCLOSURE ids ids questions answers
words require-publish INPUT_REQUIRE_PUBLISH false true false
case "$INPUT_PULL_REQUEST" in
  *[!0-9]* | ????????????????*)
    problems+='; `pull-request` is a number'
    INPUT_PULL_REQUEST=""
    ;;
esac
case "${#INPUT_HEAD}:$INPUT_HEAD" in
  0:) ;;
  *:*[!0-9a-f]*) problems+='; `head` is the full name of a commit' ;;
  40:* | 64:*) ;;
  *) problems+='; `head` is the full name of a commit' ;;
esac
case "$token" in
  *[![:graph:]]*)
    problems+='; `token` holds white space or another character that no token has'
    token=""
    ;;
esac
[ -z "$problems" ] || fail "an input of the action is not what it may be: ${problems#; }"

cd -- "$INPUT_WORKING_DIRECTORY" 2>/dev/null || fail 'there is no folder `working-directory`'
spec="$INPUT_SPEC"
find_base
if [ "$INPUT_COMMAND" = publish ]; then
  [ -d "$INPUT_ARTIFACT" ] || fail '`artifact` is the folder of a run'
  code=0
  publish --artifact -- "$INPUT_ARTIFACT" || code=$?
  ! is_unstarted "$code" || code=4
  trap - EXIT
  exit "$code"
fi

# Runs are kept out of the checkout, where a change could have put one.
temp="${RUNNER_TEMP:-$(mktemp -d)}"
runs="${INPUT_RUNS:-$temp/churngate-runs}"
folder_file="$(mktemp "$temp/churngate-folder.XXXXXX")"
failure_file="$(mktemp "$temp/churngate-failure.XXXXXX")"
arguments=("$INPUT_COMMAND" "--runs=$runs" "--failure-file=$failure_file")
found=true
if [ "$INPUT_COMMAND" = merge ]; then
  [ -n "$INPUT_SHARDS" ] || fail '`shards` is the folder whose folders are the shards'
  lines "" "$INPUT_ARGS"
  arguments+=("--disclosure=$INPUT_DISCLOSURE" "--folder-file=$folder_file" --)
  found=false
  for folder in "$INPUT_SHARDS"/*/; do
    [ ! -d "$folder" ] || { found=true && arguments+=("${folder%/}"); }
  done
else
  [ -z "$base" ] || arguments+=("--base=$base")
  lines --new= "$INPUT_NEW"
  lines "" "$INPUT_ARGS"
  [ "$INPUT_COMMAND" = check ] || arguments+=(--quiet "--disclosure=$INPUT_DISCLOSURE" "--folder-file=$folder_file")
  [ -z "$INPUT_SHARD" ] || arguments+=("--shard=$INPUT_SHARD")
  arguments+=(-- "$INPUT_SPEC")
fi
code=0
if [ "$found" = true ]; then
  muted "$CHURNGATE" "${arguments[@]}" || code=$?
else
  code=4
  # Where every job of the matrix failed nothing was uploaded.
  printf 'no shard was found in `%s`: the jobs that audit the shards uploaded none' "$INPUT_SHARDS" >"$failure_file"
  printf '::error title=churngate::no shard was found\n'
fi
folder="$(cat -- "$folder_file")"
if is_unstarted "$code"; then
  rm -f -- "$folder_file" "$failure_file"
  trap - EXIT
  exit 4
fi

# Only these exit codes come with a verdict, or with evidence compared where a spec asks for no more. After any other one, what lies in the folder is older than this step or not its
# own, and is not read: neither churn nor a pass is told, but that there is no verdict.
case "$code" in 0 | 1 | 3) finished=true ;; *) finished=false ;; esac
published=0
if [ "$finished" = false ]; then
  tell_failure "$code" "$failure_file" || published=$?
fi
if [ "$INPUT_COMMAND" = check ] || [ -n "$INPUT_SHARD" ]; then
  [ -z "$folder" ] || printf 'run-folder=%s\n' "$folder" >>"$GITHUB_OUTPUT"
elif [ "$finished" = true ]; then
  publish -- "$folder" || published=$?
  case "$published" in
    0 | 1 | 5 | 6) ;;
    *)
      # What ended before it could publish says nothing of the audit.
      printf '::warning title=churngate::the result could not be published; the log says why\n'
      [ "$INPUT_REQUIRE_PUBLISH" = true ] && published=6 || published=0
      ;;
  esac
fi
rm -f -- "$folder_file" "$failure_file"
trap - EXIT
# The verdict comes first: a publication that failed never takes its place. One that ends with 1 has found an earlier verdict that
# stands, which comes before an undecided one.
case "$code:$published" in 0:* | 3:1) code="$published" ;; esac
exit "$code"
