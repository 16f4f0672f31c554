#!/bin/sh
# Run by dpkg and rpm before the files of the package are removed or replaced. Data and settings stay, also on purge:
# money depends on them.
set -e
[ -z "${DPKG_ROOT:-}" ] || exit 0
# dpkg says "remove", rpm says how many versions are left. An upgrade leaves the service running.
case "${1:-}" in remove | 0) systemctl disable --now wallet-sidecar >/dev/null 2>&1 || true ;; esac
