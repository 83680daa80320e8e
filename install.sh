#!/bin/sh
# Installs the dreamdb executable of a release.
#
#   sh install.sh [VERSION]                such as v0.1.0; default: the newest
#
#   DREAMDB_INSTALL     folder to install into           (default: ~/.local/bin)
#   DREAMDB_RELEASES    where releases are               (default: this project's on GitHub)
#   DREAMDB_TARGET      such as linux-x64-baseline       (default: what this machine is)
#
# The sum of what was loaded is compared with SHA256SUMS before anything is installed, and the
# executable is started once before it takes its name.
set -eu

releases=${DREAMDB_RELEASES:-https://github.com/OWNER/dreamdb/releases}
folder=${DREAMDB_INSTALL:-${HOME:?}/.local/bin}
version=${1:-latest}
cpuinfo=${DREAMDB_CPUINFO:-/proc/cpuinfo}

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

# What this machine is, in the words of the releases' file names.
target() {
  system=$(uname -s)
  machine=$(uname -m)
  case $system in
    Linux) system=linux ;;
    Darwin) system=darwin ;;
    *) fail "there is no executable for $system; see $releases" ;;
  esac
  case $machine in
    x86_64 | amd64) machine=x64 ;;
    aarch64 | arm64) machine=arm64 ;;
    *) fail "there is no executable for $machine; see $releases" ;;
  esac
  # Without AVX2 the usual executable ends with an illegal instruction.
  if [ "$system-$machine" = linux-x64 ] && ! grep -qw avx2 "$cpuinfo" 2>/dev/null; then
    machine=x64-baseline
  fi
  echo "$system-$machine"
}

# load URL FILE
load() {
  if command -v curl >/dev/null 2>&1; then
    curl --fail --silent --show-error --location --output "$2" "$1"
  elif command -v wget >/dev/null 2>&1; then
    wget -q -O "$2" "$1"
  else
    fail "neither curl nor wget is here"
  fi || fail "$1 could not be loaded"
}

sum_of() {
  if command -v sha256sum >/dev/null 2>&1; then
    sha256sum "$1" | cut -d ' ' -f 1
  else
    shasum -a 256 "$1" | cut -d ' ' -f 1
  fi
}

name=dreamdb-${DREAMDB_TARGET:-$(target)}
case $version in
  latest) from=$releases/latest/download ;;
  *) from=$releases/download/$version ;;
esac
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT INT TERM

load "$from/SHA256SUMS" "$temporary/SHA256SUMS"
load "$from/$name.gz" "$temporary/$name.gz"
expected=$(sed -n "s/^\([0-9a-f]\{64\}\)  $name\.gz\$/\1/p" "$temporary/SHA256SUMS")
[ -n "$expected" ] || fail "SHA256SUMS has no sum of $name.gz"
found=$(sum_of "$temporary/$name.gz")
[ "$found" = "$expected" ] || fail "$name.gz has the sum $found, expected $expected; not installed"

mkdir -p "$folder"
gzip -d "$temporary/$name.gz"
chmod 755 "$temporary/$name"
said=$("$temporary/$name" --version) || fail "$name does not run on this machine; not installed"
cp "$temporary/$name" "$folder/.dreamdb.new"
mv "$folder/.dreamdb.new" "$folder/dreamdb"
echo "$said installed as $folder/dreamdb"
case :$PATH: in
  *:"$folder":*) ;;
  *) echo "note: $folder is not in PATH" ;;
esac
