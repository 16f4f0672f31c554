#!/usr/bin/env bash
# Smoke test for a wallet-sidecar binary: starts it, makes a payment, restarts it, and checks that nothing was lost.
# usage: tests/smoke/run.sh [path of the binary]
set -euo pipefail
binary=$(realpath "${1:-dist/wallet-sidecar}")
folder=$(mktemp -d)
port=$((20000 + RANDOM % 20000))
base="http://127.0.0.1:$port"
pid=''
trap '[ -n "$pid" ] && kill -9 "$pid" 2>/dev/null; rm -rf "$folder"' EXIT

start() {
  local from to
  from=$(date +%s%N)
  "$binary" dev --data-dir "$folder/data" --listen-addr "127.0.0.1:$port" >>"$folder/log" 2>&1 &
  pid=$!
  for _ in $(seq 1 2000); do
    if curl -sf "$base/v2/health" 2>/dev/null | grep -q '"ok"'; then
      to=$(date +%s%N)
      echo "first healthy answer after $(((to - from) / 1000000)) ms"
      return
    fi
    sleep 0.005
  done
  cat "$folder/log"
  exit 1
}

stop() {
  kill -TERM "$pid"
  wait "$pid" && echo 'stopped with exit code 0'
  pid=''
}

# Prints the value of a string member of the JSON on stdin.
member() { sed "s/.*\"$1\":\"\([^\"]*\)\".*/\1/"; }
expect() { grep -q "$2" <<<"$1" || { echo "expected $2 in: $1"; exit 1; }; }

start
json=(-H 'content-type: application/json')
invoice=$(curl -sf "$base/v2/node/create_invoice" "${json[@]}" -d '{"amount":"1000","description":"smoke"}')
index=$(member index <<<"$invoice")
other=$(curl -sf -X POST "$base/sandbox/wallets" | member client_credentials)
paid=$(curl -sf "$base/v2/node/pay" -H "authorization: Bearer $other" "${json[@]}" \
  -d "{\"payable\":\"$(member invoice <<<"$invoice")\"}")
expect "$paid" '"status":"completed"'
echo 'paid an invoice from a second wallet'
for _ in 1 2 3 4 5 6 7 8; do curl -sf "$base/v2/node/node_info" >/dev/null; done
sleep 1
echo "idle memory $(($(ps -o rss= -p "$pid") / 1024)) MB"
before=$(curl -sf "$base/v2/node/node_info")
stop
start
after=$(curl -sf "$base/v2/node/node_info")
[ "$before" = "$after" ] || { echo "node_info changed over the restart: $before -> $after"; exit 1; }
found=$(curl -sf "$base/v2/node/payment?index=$index")
expect "$found" '"status":"completed"'
echo 'found everything after the restart'
stop
