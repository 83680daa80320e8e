#!/bin/sh
# Installs the S3 servers that the store tests run against into .cache/bin, unless they are there.
# Exit status 0 also when a server cannot be installed: the reason is printed and the tests that
# need it say that they were left out.
set -u
cd "$(dirname "$0")/.." || exit 1
bin="$PWD/.cache/bin"
mkdir -p "$bin"

install() {
  name=$1
  package=$2
  version=$3
  if [ -x "$bin/$name" ] && [ "$(cat "$bin/$name.version" 2>/dev/null)" = "$version" ]; then
    echo "$name $version: already in .cache/bin"
    return
  fi
  if ! command -v go >/dev/null 2>&1; then
    echo "$name $version: not installed, because the command go is missing"
    return
  fi
  echo "$name $version: building with $(go version)"
  if GOBIN="$bin" CGO_ENABLED=0 go install -trimpath "$package@v$version"; then
    echo "$version" >"$bin/$name.version"
  else
    echo "$name $version: not installed, because the build failed"
  fi
}

install gofakes3 github.com/johannesboyne/gofakes3/cmd/gofakes3 1.2.0
install versitygw github.com/versity/versitygw/cmd/versitygw 1.8.0

# A server that ignores conditions; the tests want it refused.
name=s3rver
version=3.7.1
if [ -x "$bin/$name" ] && [ "$(cat "$bin/$name.version" 2>/dev/null)" = "$version" ]; then
  echo "$name $version: already in .cache/bin"
elif ! command -v npm >/dev/null 2>&1; then
  echo "$name $version: not installed, because the command npm is missing"
elif npm install --prefix .cache/s3rver --no-audit --no-fund --no-package-lock --loglevel error \
  "$name@$version"; then
  ln -sf "../s3rver/node_modules/.bin/$name" "$bin/$name"
  echo "$version" >"$bin/$name.version"
else
  echo "$name $version: not installed, because npm failed"
fi
