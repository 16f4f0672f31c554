#!/bin/sh
# Installs wallet-sidecar from a release, or removes it: see usage below.
# Nothing is changed unless the signature and the checksum fit, and the binary starts.
set -eu

usage() {
  cat <<'TEXT'
usage: sh install.sh [--from <folder or URL>] [--prefix <folder>] [--checksums-only] [--allow-older]
       sh install.sh --uninstall [--prefix <folder>]

Installs the program with its man page, completions and systemd unit from a release.

  --from <folder or URL>  the release; without it, the folder that this script lies in
  --prefix <folder>       where to install; without it /usr/local for root, and ~/.local for others
  --checksums-only        do not check the signature, where no program for it is there
  --allow-older           install a release that is older than the one that is there
  --uninstall             remove what was installed; data and settings stay
  --help                  this text
TEXT
}

# The key that releases are signed with. It is empty in a release that is not signed.
public_key='{{public key}}'

refuse() {
  echo "$1" >&2
  exit 1
}

wrong_usage() {
  echo "$1" >&2
  usage >&2
  exit 2
}

from=''
prefix=''
action=install
signature=wanted
older=refused
while [ $# -gt 0 ]; do
  case "$1" in
    --from | --prefix)
      [ -n "${2:-}" ] || wrong_usage "A value is missing after $1."
      if [ "$1" = --from ]; then from=${2%/}; else prefix=${2%/}; fi
      shift
      ;;
    --checksums-only) signature=unwanted ;;
    --allow-older) older=allowed ;;
    --uninstall) action=uninstall ;;
    --help | -h)
      usage
      exit 0
      ;;
    *) wrong_usage "$1 is not known here." ;;
  esac
  shift
done

if [ -z "$prefix" ]; then
  if [ "$(id -u)" -eq 0 ]; then prefix=/usr/local; else prefix=$HOME/.local; fi
fi
case "$prefix" in /*) ;; *) prefix=$(pwd)/$prefix ;; esac

case "$(uname -s)" in
  Linux) os=linux ;;
  Darwin) os=darwin ;;
  *) refuse "No build for $(uname -s): see the list of files in SHA256SUMS." ;;
esac

# Services of root are in the system's systemd; those of others are in the systemd of the user.
if [ "$(id -u)" -eq 0 ]; then
  systemctl='systemctl'
  unit_file=wallet-sidecar.service
  unit=$prefix/lib/systemd/system/wallet-sidecar.service
else
  systemctl='systemctl --user'
  unit_file=wallet-sidecar-user.service
  unit=$prefix/share/systemd/user/wallet-sidecar.service
fi
program=$prefix/bin/wallet-sidecar
man_page=$prefix/share/man/man1/wallet-sidecar.1
bash_completion=$prefix/share/bash-completion/completions/wallet-sidecar
zsh_completion=$prefix/share/zsh/site-functions/_wallet-sidecar
fish_completion=$prefix/share/fish/vendor_completions.d/wallet-sidecar.fish
papers=$prefix/share/doc/wallet-sidecar

if [ "$action" = uninstall ]; then
  [ -e "$program" ] || refuse "$program is not there: name the folder that it was installed into with --prefix."
  if [ -e "$unit" ] && $systemctl is-active --quiet wallet-sidecar 2>/dev/null; then
    refuse "The service is running. Stop it first: $systemctl disable --now wallet-sidecar"
  fi
  rm -f "$program" "$man_page" "$bash_completion" "$zsh_completion" "$fish_completion" "$unit" ||
    refuse "Not everything below $prefix could be removed: use sudo."
  rm -rf "$papers"
  echo "removed $program and what was installed with it; data and settings are left as they are"
  exit 0
fi

case "$(uname -m)" in
  x86_64 | amd64) arch=x64 ;;
  aarch64 | arm64) arch=arm64 ;;
  *) refuse "No build for $(uname -m): see the list of files in SHA256SUMS." ;;
esac
[ -n "$from" ] || from=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
name="wallet-sidecar-$os-$arch"
case "$public_key" in '{'*) refuse 'This is the pattern of the script: use install.sh of a release.' ;; esac

new=''
work=$(mktemp -d)
trap 'rm -rf "$work" ${new:+"$new"}' EXIT
trap 'exit 1' HUP INT TERM

# Prints how the release is read: by https, by http from this machine, or from a folder; nothing for another URL. What
# stands before an @ is no part of the host, so a URL with a user is refused, as is a host with characters that programs
# read in different ways.
source_kind() {
  case "$from" in *://*) ;; *) echo folder && return ;; esac
  authority=${from#*://}
  authority=${authority%%[/?#]*}
  case "$authority" in
    '['*']'*) host="${authority%%]*}]" ;;
    *) host=${authority%%:*} ;;
  esac
  case "${authority#"$host"}" in
    '') ;;
    :*[!0-9]*) return 0 ;;
    :*) ;;
    *) return 0 ;;
  esac
  case "$host" in
    '[]' | '['*[!0-9A-Fa-f:.]*']') return 0 ;;
    '['*']') ;;
    '' | *[!A-Za-z0-9._-]*) return 0 ;;
  esac
  case "$from" in
    https://*) echo https ;;
    http://*) case "$host" in 127.0.0.1 | localhost | '[::1]') echo loopback ;; esac ;;
  esac
}

get() {
  case "$(source_kind)" in
    https | loopback)
      command -v curl >/dev/null 2>&1 || refuse 'curl is missing: install it, or download the release yourself.'
      curl -fsSL --proto-redir '=https' -o "$work/$1" "$from/$1" ||
        refuse "$from/$1 cannot be read: check the address after --from."
      ;;
    '') refuse "$from is not https: download the release over https." ;;
    folder)
      cp -- "$from/$1" "$work/$1" 2>/dev/null ||
        refuse "$from/$1 cannot be read: name the folder or URL of a release with --from."
      ;;
  esac
}

# Checks one Ed25519 signature of the key in $work/key; exits with 0 where it fits.
# usage: fits <file with what is signed> <file with the 64 bytes of the signature>
fits() {
  openssl pkeyutl -verify -pubin -keyform DER -inkey "$work/key" -rawin -in "$1" -sigfile "$2" >/dev/null 2>&1
}

# Checks a signature of minisign's form with OpenSSL 3: line 2 holds algorithm, id of the key and the signature of the
# BLAKE2b hash; line 4 holds the signature of that signature with the comment in line 3.
signed_by_openssl() {
  lines=$work/SHA256SUMS.minisig
  # 12 bytes that say "public key of Ed25519" in DER come before the key's own 32.
  printf '\060\052\060\005\006\003\053\145\160\003\041\000' >"$work/key"
  printf '%s' "$public_key" | openssl base64 -d -A | tail -c 32 >>"$work/key"
  sed -n 2p "$lines" | tr -d '\n' | openssl base64 -d -A >"$work/line"
  [ "$(head -c 2 "$work/line")" = ED ] || return 1
  tail -c 64 "$work/line" >"$work/signature"
  openssl dgst -blake2b512 -binary "$work/SHA256SUMS" >"$work/hash"
  fits "$work/hash" "$work/signature" || return 1
  sed -n 4p "$lines" | tr -d '\n' | openssl base64 -d -A >"$work/whole"
  { cat "$work/signature" && sed -n '3s/^trusted comment: //p' "$lines" | tr -d '\n'; } >"$work/commented"
  fits "$work/commented" "$work/whole"
}

check_signature() {
  get SHA256SUMS.minisig
  if command -v minisign >/dev/null 2>&1; then
    minisign -V -q -P "$public_key" -m "$work/SHA256SUMS" -x "$work/SHA256SUMS.minisig" >/dev/null 2>&1 ||
      refuse 'The signature of SHA256SUMS does not fit: do not use this release, download it again.'
  elif openssl pkeyutl -help 2>&1 | grep -q rawin; then
    signed_by_openssl ||
      refuse 'The signature of SHA256SUMS does not fit: do not use this release, download it again.'
  else
    refuse 'The signature cannot be checked, because neither minisign nor OpenSSL 3 is installed. Install one of them; or, if you trust the place that the release and this script came from, add --checksums-only.'
  fi
  echo "signed: $(sed -n '3s/^trusted comment: //p' "$work/SHA256SUMS.minisig")"
}

get SHA256SUMS
if [ -z "$public_key" ]; then
  echo 'This release is not signed: use it only if you built it yourself.' >&2
elif [ "$signature" = unwanted ]; then
  echo 'The signature was not checked: the checksums prove only that the download is whole.' >&2
else
  check_signature
fi

# The smaller archive is taken where this machine reads it: tar of macOS does so by itself, that of Linux by the program
# xz. Releases of before have no such archive.
archive="$name.tar.gz"
if { [ "$os" = darwin ] || command -v xz >/dev/null 2>&1; } && grep -q "  $name.tar.xz\$" "$work/SHA256SUMS"; then
  archive="$name.tar.xz"
fi
get "$archive"
wanted=$(awk -v file="$archive" '$2 == file { print $1 }' "$work/SHA256SUMS")
if command -v sha256sum >/dev/null 2>&1; then
  actual=$(sha256sum "$work/$archive" | awk '{ print $1 }')
else
  actual=$(shasum -a 256 "$work/$archive" | awk '{ print $1 }')
fi
if [ -z "$wanted" ] || [ "$wanted" != "$actual" ]; then
  refuse "$archive does not match SHA256SUMS: do not use it, download it again."
fi
tar -xf "$work/$archive" -C "$work" || refuse "$archive cannot be unpacked: download it again."
unpacked=$work/$name

mkdir -p "$prefix/bin" 2>/dev/null || refuse "$prefix/bin cannot be created: name another folder with --prefix, or use sudo."
[ -w "$prefix/bin" ] || refuse "$prefix/bin cannot be written to: name another folder with --prefix, or use sudo."
# Exits with 0 where the first version comes before the second, in the order of semver.org.
# usage: is_before <version> <version>
is_before() {
  awk -v a="$1" -v b="$2" '
    function rank(x, y) { return x == y ? 0 : x < y ? -1 : 1 }
    function order(x, y,   ax, ay, n, m, i, d) {
      n = split(x, ax, "."); m = split(y, ay, ".")
      for (i = 1; i <= n && i <= m; i++) {
        if (ax[i] ~ /^[0-9]+$/ && ay[i] ~ /^[0-9]+$/) d = rank(ax[i] + 0, ay[i] + 0)
        else if (ax[i] ~ /^[0-9]+$/) d = -1
        else if (ay[i] ~ /^[0-9]+$/) d = 1
        else d = rank(ax[i] "", ay[i] "")
        if (d) return d
      }
      return rank(n, m)
    }
    BEGIN {
      sub(/\+.*/, "", a); sub(/\+.*/, "", b)
      before_a = before_b = ""
      if (i = index(a, "-")) { before_a = substr(a, i + 1); a = substr(a, 1, i - 1) }
      if (i = index(b, "-")) { before_b = substr(b, i + 1); b = substr(b, 1, i - 1) }
      d = order(a, b)
      if (d == 0 && before_a != before_b)
        d = before_a == "" ? 1 : before_b == "" ? -1 : order(before_a, before_b)
      exit d < 0 ? 0 : 1
    }'
}

# Prints the version of a program of ours; nothing where it is none, or does not start.
version_of() {
  [ -x "$1" ] || return 0
  { "$1" --version 2>/dev/null || true; } | sed -n '1s/^\([0-9][0-9]*\.[0-9][0-9]*\.[0-9][^ ]*\).*/\1/p'
}

# The file is replaced in one step, so that a running sidecar keeps the old one, and an interruption leaves it in place.
new="$prefix/bin/.wallet-sidecar.$$"
install -m 0755 "$unpacked/wallet-sidecar" "$new"
"$new" --version >/dev/null || refuse "The program does not start on this machine: nothing was installed."
present=$(version_of "$program")
offered=$(version_of "$new")
# Somebody who serves an old release, with its true signature, brings back the faults that newer ones have mended.
if [ "$older" = refused ] && [ -n "$present" ] && is_before "$offered" "$present"; then
  refuse "This release is $offered, and $present is installed: nothing was changed. If you want the older one, restore its backup too, and add --allow-older."
fi

# usage: put <file of the archive> <where>; a file that the archive does not hold is left out
put() {
  [ -e "$unpacked/$1" ] || return 0
  mkdir -p "$(dirname "$2")"
  install -m 0644 "$unpacked/$1" "$2"
}
put man/wallet-sidecar.1 "$man_page"
put completions/wallet-sidecar.bash "$bash_completion"
put completions/_wallet-sidecar "$zsh_completion"
put completions/wallet-sidecar.fish "$fish_completion"
put LICENSE "$papers/LICENSE"
put THIRD_PARTY_NOTICES.txt "$papers/THIRD_PARTY_NOTICES.txt"
if [ "$os" = linux ]; then
  sed "s|^ExecStart=/usr/local/bin/|ExecStart=$prefix/bin/|" "$unpacked/$unit_file" >"$work/unit"
  mkdir -p "$(dirname "$unit")"
  install -m 0644 "$work/unit" "$unit"
fi
mv -f "$new" "$program"
new=''
echo "installed $program $("$program" --version)"
# systemd goes on with the old unit until it is told, and a running service with the old program until it is restarted.
if [ "$os" = linux ] && $systemctl daemon-reload >/dev/null 2>&1 && $systemctl is-active --quiet wallet-sidecar; then
  echo "The service still runs the version of before: $systemctl restart wallet-sidecar"
fi
case ":$PATH:" in
  *":$prefix/bin:"*) ;;
  *) echo "$prefix/bin is not in PATH: add it, or call $program" ;;
esac
