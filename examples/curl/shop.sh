#!/usr/bin/env bash
# Takes a payment in a web shop: creates an invoice for an order, waits for the webhook that says it is paid, and
# delivers once. The sidecar must have been started with --webhook-url http://127.0.0.1:8080/hook and
# --webhook-secret "$WEBHOOK_SECRET".
set -euo pipefail
folder=$(dirname "$0")
source "$folder/sidecar.sh"
: "${WEBHOOK_SECRET:?give it the secret that the sidecar signs with}"

order=${ORDER:-order-$(date +%s)-$RANDOM}
amount=${AMOUNT:-1000}

# Order and amount are the idempotency key: however often this is repeated, there is one invoice for them. A key is for
# one request, so the order alone would be error 111 once its amount has changed.
invoice=$(call POST /v2/node/create_invoice "{\"amount\":\"$amount\",\"description\":\"$order\"}" "$order-$amount")
index=$(member index <<<"$invoice")
echo "$order is to be paid with $(member invoice <<<"$invoice")"

# The shop listens before anybody can pay.
pipe=$(mktemp -u)
mkfifo -m 600 "$pipe"
perl "$folder/receive-webhook.pl" "$index" >"$pipe" &
receiver=$!
trap 'kill "$receiver" 2>/dev/null || true' EXIT
exec 3<"$pipe"
rm "$pipe"
read -r listening <&3 || exit 1
echo "$listening"

# The customer, played by the sandbox's outside world.
call POST /sandbox/pay "{\"payable\":\"$(member invoice <<<"$invoice")\"}" >/dev/null

if ! read -r payment <&3; then
  echo "No webhook for $order: see whether the sidecar has the --webhook-url and --webhook-secret of this shop." >&2
  exit 1
fi
if [ "$(member status <<<"$payment")" != completed ]; then
  echo "$order was not paid: $(member status_msg <<<"$payment")" >&2
  exit 1
fi
echo "$order is paid and can be delivered: $index"
