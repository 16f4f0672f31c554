#!/bin/sh
# Installs the wallet-sidecar binary of a release for this machine, after checking it against SHA256SUMS.
# usage: install.sh [--from <folder or URL of the release>] [target directory, default /usr/local/bin]
# Without --from the release is the folder of this script. Nothing is changed unless the checksum matches.
set -eu

refuse() {
  echo "$1" >&2
  exit 1
}

from=''
if [ "${1:-}" = --from ]; then
  [ -n "${2:-}" ] || refuse 'Name a folder or URL after --from.'
  from=${2%/}
  shift 2
fi
[ -n "$from" ] || from=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
target=${1:-/usr/local/bin}

case "$(uname -s)" in
  Linux) os=linux ;;
  Darwin) os=darwin ;;
  *) refuse "No build for $(uname -s): see the list of files in SHA256SUMS." ;;
esac
case "$(uname -m)" in
  x86_64 | amd64) arch=x64 ;;
  aarch64 | arm64) arch=arm64 ;;
  *) refuse "No build for $(uname -m): see the list of files in SHA256SUMS." ;;
esac
file="wallet-sidecar-$os-$arch"

new=''
work=$(mktemp -d)
trap 'rm -rf "$work" ${new:+"$new"}' EXIT
trap 'exit 1' HUP INT TERM

# The checksums come from the same place as the binary, so that place must be reached over https or be this machine.
get() {
  case "$from" in
    https://* | http://127.0.0.1:* | http://localhost:*)
      command -v curl >/dev/null 2>&1 || refuse 'curl is missing: install it, or download the release yourself.'
      curl -fsSL --proto-redir '=https' -o "$work/$1" "$from/$1" ||
        refuse "$from/$1 cannot be read: check the address after --from."
      ;;
    *://*) refuse "$from is not https: download the release over https." ;;
    *)
      cp -- "$from/$1" "$work/$1" 2>/dev/null ||
        refuse "$from/$1 cannot be read: name the folder or URL of a release with --from."
      ;;
  esac
}

get SHA256SUMS
get "$file"
wanted=$(awk -v file="$file" '$2 == file { print $1 }' "$work/SHA256SUMS")
if command -v sha256sum >/dev/null 2>&1; then
  actual=$(sha256sum "$work/$file" | awk '{ print $1 }')
else
  actual=$(shasum -a 256 "$work/$file" | awk '{ print $1 }')
fi
if [ -z "$wanted" ] || [ "$wanted" != "$actual" ]; then
  refuse "$file does not match SHA256SUMS: do not use it, download it again."
fi

mkdir -p "$target" 2>/dev/null || refuse "$target cannot be created: name another directory, or use sudo."
[ -w "$target" ] || refuse "$target cannot be written to: name another directory, or use sudo."
# The file is replaced in one step, so that a running sidecar keeps the old one, and an interruption leaves it in place.
new="$target/.wallet-sidecar.$$"
install -m 0755 "$work/$file" "$new"
"$new" --version >/dev/null || refuse "$file does not start on this machine: nothing was installed."
mv -f "$new" "$target/wallet-sidecar"
echo "installed $target/wallet-sidecar $("$target/wallet-sidecar" --version)"
