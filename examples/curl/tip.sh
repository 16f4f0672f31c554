#!/usr/bin/env bash
# Tips somebody by Lightning Address.
set -euo pipefail
source "$(dirname "$0")/sidecar.sh"

# Somebody to tip: a second wallet of the sandbox that claims a name. With a real wallet you are told the address.
other=$(call POST /sandbox/wallets | member client_credentials)
address=$(credentials=$other call PUT /v2/node/human_bitcoin_address "{\"username\":\"tips-$RANDOM-$RANDOM\"}" |
  member lightning_address)

# What the address takes: the answer names the least and the most, in sats.
echo "$address takes from $(call GET "/v2/node/analyze?payment_string=$address" | member min_amount) sats"

# The id of the tip in your books: with it as the key, a repeat after whatever went wrong pays once.
tip="tip-$(date +%s)-$RANDOM"
payment=$(call POST /v2/node/pay_lnurl "{\"lnurl\":\"$address\",\"amount\":\"210\",\"message\":\"Thank you\"}" "$tip")
if [ "$(member status <<<"$payment")" != completed ]; then
  echo "The tip did not arrive: $(member status_msg <<<"$payment")" >&2
  exit 1
fi
echo "tipped 210 sats, fees $(member fees <<<"$payment"): $(member index <<<"$payment")"
