"""Pays out with the Python client and credentials that have a budget: a thief of them can spend no more than that."""

import os
import sys
import uuid

from sidecar import URL, call
from wallet_sidecar import BudgetInput, OverBudgetError, Payment, WalletSidecar

wallet = WalletSidecar(URL, credentials=os.environ.get("SIDECAR_CREDENTIALS"))
# At most 2000 sats a day and 1000 at once, fees included. The credentials are answered this one time.
client = wallet.create_client(
    label="payouts",
    scopes=["send"],
    budget=BudgetInput(amount=2000, period="day", max_payment=1000),
)
payouts = WalletSidecar(URL, credentials=client.client_credentials)


def payout(payee: str, amount: int) -> Payment:
    """Pays an invoice of the payee, which the sandbox's outside world writes."""
    terms = {"amount": str(amount), "description": payee}
    invoice = call("POST", "/sandbox/invoice", terms)["invoice"]
    # The id of the payout in your books: with it as the key, a repeat after whatever went wrong pays once.
    return payouts.pay_invoice(invoice=invoice, idempotency_key=f"payout-{uuid.uuid4()}")


try:
    payment = payout("alice", 800)
    if payment.status != "completed":
        sys.exit(f"alice was not paid: {payment.status_msg}")
    print(f"alice was paid {payment.amount} sats: {payment.index}")
    try:
        payout("bob", 1500)
        sys.exit("The budget should have refused this.")
    except OverBudgetError as refusal:
        # Nothing was sent.
        print(f"bob was refused: {refusal}")
finally:
    wallet.revoke_client(client_pk=client.client_pk)
