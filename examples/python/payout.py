"""Pays out with a client that has a budget: a thief of its credentials can spend no more than that."""

import sys
import uuid

from sidecar import SidecarError, call

# At most 2000 sats a day and 1000 at once, fees included. The credentials are answered this one time.
client = call(
    "POST",
    "/v2/node/create_client",
    {
        "label": "payouts",
        "scopes": ["send"],
        "budget": {"amount": "2000", "period": "day", "max_payment": "1000"},
    },
)
credentials = client["client_credentials"]


def payout(payee, amount):
    """Pays an invoice of the payee, which the sandbox's outside world writes."""
    terms = {"amount": amount, "description": payee}
    invoice = call("POST", "/sandbox/invoice", terms)["invoice"]
    # The id of the payout in your books: with it as the key, a repeat after whatever went wrong pays once.
    key = f"payout-{uuid.uuid4()}"
    return call("POST", "/v2/node/pay_invoice", {"invoice": invoice}, key, credentials)


try:
    payment = payout("alice", "800")
    if payment["status"] != "completed":
        sys.exit(f"alice was not paid: {payment['status_msg']}")
    print(f"alice was paid 800 sats: {payment['index']}")
    try:
        payout("bob", "1500")
        sys.exit("The budget should have refused this.")
    except SidecarError as refusal:
        # Error 109 is the budget's; nothing was sent.
        if refusal.code != 109:
            raise
        print(f"bob was refused: {refusal}")
finally:
    call("POST", "/v2/node/revoke_client", {"client_pk": client["client_pk"]})
