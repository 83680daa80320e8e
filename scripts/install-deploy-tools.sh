#!/bin/sh
# Builds what the tests judge deploy/ with into .cache/bin, unless it is there: jobvalidate (the API
# server's own rules, tests/deploy/jobvalidate) and kustomize.
# Exit status 0 also when something cannot be built: the reason is printed, and the tests that need it
# say that they were left out.
set -u
cd "$(dirname "$0")/.." || exit 1
bin="$PWD/.cache/bin"
mkdir -p "$bin"

# build COMMAND VERSION GO-ARGUMENT...
build() {
  name=$1
  version=$2
  shift 2
  if [ -x "$bin/$name" ] && [ "$(cat "$bin/$name.version" 2>/dev/null)" = "$version" ]; then
    echo "$name $version: already in .cache/bin"
  elif ! command -v go >/dev/null 2>&1; then
    echo "$name $version: not built, because the command go is missing"
  elif CGO_ENABLED=0 go "$@"; then
    echo "$version" >"$bin/$name.version"
    echo "$name $version: built"
  else
    echo "$name $version: not built, because the build failed"
  fi
}

sources=$(cat tests/deploy/jobvalidate/main.go tests/deploy/jobvalidate/go.mod | cksum | cut -d' ' -f1)
build jobvalidate "$sources" -C tests/deploy/jobvalidate build -trimpath -ldflags '-s -w' \
  -o "$bin/jobvalidate" .
export GOBIN="$bin"
build kustomize 5.7.1 install -trimpath sigs.k8s.io/kustomize/kustomize/v5@v5.7.1
