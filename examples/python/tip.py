"""Tips somebody by Lightning Address."""

import sys
import uuid
from urllib.parse import quote

from sidecar import call

# Somebody to tip: a second wallet of the sandbox that claims a name. With a real wallet you are told the address.
other = call("POST", "/sandbox/wallets")["client_credentials"]
name = {"username": f"tips-{uuid.uuid4().hex[:8]}"}
address = call("PUT", "/v2/node/human_bitcoin_address", name, credentials=other)["lightning_address"]

# What the address takes, in sats.
[lnurl] = call("GET", f"/v2/node/analyze?payment_string={quote(address)}")["payables"]
print(f"{address} takes from {lnurl['min_amount']} to {lnurl['max_amount']} sats")

# The id of the tip in your books: with it as the key, a repeat after whatever went wrong pays once.
tip = {"lnurl": address, "amount": "210", "message": "Thank you"}
payment = call("POST", "/v2/node/pay_lnurl", tip, key=f"tip-{uuid.uuid4()}")
if payment["status"] != "completed":
    sys.exit(f"The tip did not arrive: {payment['status_msg']}")
print(f"tipped {payment['amount']} sats, fees {payment['fees']}: {payment['index']}")
