#!/bin/sh
# Run by dpkg and rpm when the files of the package are in place. It asks nothing, and enables and starts nothing.
set -e
# The files went into an image, not into the system that runs.
[ -z "${DPKG_ROOT:-}" ] || exit 0
if systemctl daemon-reload >/dev/null 2>&1 && systemctl is-active --quiet wallet-sidecar; then
  echo 'The service still runs the version of before: systemctl restart wallet-sidecar'
fi
