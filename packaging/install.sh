#!/bin/sh
# Installs the wallet-sidecar binary that lies beside this script, after checking it against SHA256SUMS.
# usage: ./install.sh [target directory, default /usr/local/bin]
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
target=${1:-/usr/local/bin}

case "$(uname -s)" in
  Linux) os=linux ;;
  Darwin) os=darwin ;;
  *) echo "No build for $(uname -s): see the list of files in SHA256SUMS." >&2; exit 1 ;;
esac
case "$(uname -m)" in
  x86_64 | amd64) arch=x64 ;;
  aarch64 | arm64) arch=arm64 ;;
  *) echo "No build for $(uname -m): see the list of files in SHA256SUMS." >&2; exit 1 ;;
esac

file="wallet-sidecar-$os-$arch"
wanted=$(awk -v file="$file" '$2 == file { print $1 }' "$here/SHA256SUMS")
if command -v sha256sum >/dev/null 2>&1; then
  actual=$(sha256sum "$here/$file" | awk '{ print $1 }')
else
  actual=$(shasum -a 256 "$here/$file" | awk '{ print $1 }')
fi
if [ -z "$wanted" ] || [ "$wanted" != "$actual" ]; then
  echo "$file does not fit SHA256SUMS: do not use it, download it again." >&2
  exit 1
fi
mkdir -p "$target"
install -m 0755 "$here/$file" "$target/wallet-sidecar"
"$target/wallet-sidecar" --version
