#!/usr/bin/env bash
# Finds or installs the binary, and writes its path to the step's output `binary`.
#
# In this order: the binary that the caller names; the tool cache and the release of the version in checksums.json, both
# only where their SHA-256 is the one written there; a build of this action's own source. A binary whose SHA-256 differs
# is never used, and never silently replaced by a build. Digests stand there at the commits that the release workflow tags;
# at any other commit there are none, and the action says that it builds itself.
set -euo pipefail

# Variables of the job's own that are called as this script's are none of it. By CDPATH the shell would look for folders elsewhere.
unset -v CDPATH here checksums version target expected suffix temp cache binary url fresh

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
checksums="$here/checksums.json"

fail() {
  printf '::error title=churngate::%s\n' "$1"
  exit 2
}

use() {
  printf 'binary=%s\n' "$1" >>"$GITHUB_OUTPUT"
  exit 0
}

target() {
  case "$(uname -s)-$(uname -m)" in
    Linux-x86_64) echo x86_64-unknown-linux-musl ;;
    Linux-aarch64 | Linux-arm64) echo aarch64-unknown-linux-musl ;;
    Darwin-x86_64) echo x86_64-apple-darwin ;;
    Darwin-arm64) echo aarch64-apple-darwin ;;
    MINGW*-x86_64 | MSYS*-x86_64 | CYGWIN*-x86_64) echo x86_64-pc-windows-msvc ;;
    *) echo none ;;
  esac
}

sha256_of() {
  if command -v sha256sum >/dev/null; then
    sha256sum "$1" | cut -d ' ' -f 1
  else
    shasum -a 256 "$1" | cut -d ' ' -f 1
  fi
}

# One member of checksums.json, which has one member a line.
member() {
  sed -n "s/^ *\"$1\": *\"\([0-9a-zA-Z.+-]*\)\",\{0,1\} *\$/\1/p" "$checksums" | head -n 1
}

download() {
  curl --proto '=https' --tlsv1.2 --fail --silent --show-error --location --retry 3 --max-time 300 --output "$2" "$1"
}

if [ -n "${INPUT_BINARY_PATH:-}" ]; then
  # A name that begins with a hyphen is no option, and `-` alone would be the folder before this one.
  binary="$INPUT_BINARY_PATH"
  case "$binary" in -*) binary="./$binary" ;; esac
  # It would end the line of the output and begin another one.
  case "$binary" in *$'\n'*) fail 'the path that `binary-path` names has a line break' ;; esac
  [ -f "$binary" ] && [ -x "$binary" ] ||
    fail 'the binary that `binary-path` names does not exist, is no file or is not executable'
  use "$(cd -- "$(dirname -- "$binary")" && pwd)/$(basename -- "$binary")"
fi

version="$(member version)"
target="$(target)"
expected="$(member "$target")"
suffix=""
case "$target" in *windows*) suffix=.exe ;; esac
temp="${RUNNER_TEMP:-${TMPDIR:-/tmp}}"
cache="${RUNNER_TOOL_CACHE:-$temp}/churngate/$version/$target"
binary="$cache/churngate$suffix"

if [ -n "$expected" ]; then
  if [ -f "$binary" ] && [ "$(sha256_of "$binary")" = "$expected" ]; then
    use "$binary"
  fi
  url="${INPUT_DOWNLOAD_URL:-}"
  if [ -z "$url" ] && [ -n "${ACTION_REPOSITORY:-}" ]; then
    url="${GITHUB_SERVER_URL:-https://github.com}/$ACTION_REPOSITORY/releases/download/v$version"
  fi
  if [ -n "$url" ]; then
    fresh="$temp/churngate-download$suffix"
    if download "${url%/}/churngate-$target$suffix" "$fresh"; then
      [ "$(sha256_of "$fresh")" = "$expected" ] || fail 'the downloaded binary is not the one of action/checksums.json'
      mkdir -p "$cache"
      chmod 755 "$fresh"
      mv "$fresh" "$binary"
      use "$binary"
    fi
    echo "the release could not be downloaded; building this action's source instead"
  fi
else
  echo "action/checksums.json names no binary for this platform ($target); building this action's source with cargo"
fi

command -v cargo >/dev/null || fail 'no released binary for this platform, and no cargo to build one; set `binary-path`'
# Cargo and rustup read settings from the folder they are started in and above: never from the audited repository.
cd "$here/.."
cargo install --locked --path . --root "$temp/churngate-build" --target-dir "$temp/churngate-target" --quiet
use "$temp/churngate-build/bin/churngate$suffix"
