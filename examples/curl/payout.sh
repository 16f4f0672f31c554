#!/usr/bin/env bash
# Pays out with a client that has a budget: a thief of its credentials can spend no more than that.
set -euo pipefail
source "$(dirname "$0")/sidecar.sh"

# At most 2000 sats a day and 1000 at once, fees included. The credentials are answered this one time.
client=$(call POST /v2/node/create_client '{
  "label": "payouts", "scopes": ["send"],
  "budget": {"amount": "2000", "period": "day", "max_payment": "1000"}
}')
owner=$credentials
trap 'credentials=$owner; call POST /v2/node/revoke_client "{\"client_pk\":\"$(member client_pk <<<"$client")\"}" >/dev/null' EXIT
credentials=$(member client_credentials <<<"$client")

# payout NAME AMOUNT: the payee's invoice comes from the sandbox's outside world. The last argument is the id of the
# payout in your books: with it as the key, a repeat after whatever went wrong pays once.
payout() {
  local invoice
  invoice=$(credentials=$owner call POST /sandbox/invoice "{\"amount\":\"$2\",\"description\":\"$1\"}" |
    member invoice)
  call POST /v2/node/pay_invoice "{\"invoice\":\"$invoice\"}" "payout-$1-$(date +%s)-$RANDOM"
}

payment=$(payout alice 800)
if [ "$(member status <<<"$payment")" != completed ]; then
  echo "alice was not paid: $(member status_msg <<<"$payment")" >&2
  exit 1
fi
echo "alice was paid 800 sats: $(member index <<<"$payment")"

# Error 109 is the budget's; nothing was sent.
if refusal=$(payout bob 1500 2>&1); then
  echo 'The budget should have refused this.' >&2
  exit 1
fi
case $refusal in
  *'"code":109'*) echo "bob was refused: $(member msg <<<"$refusal")" ;;
  *) echo "$refusal" >&2; exit 1 ;;
esac
