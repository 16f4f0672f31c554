"""A bot that waits for payments, with the Python client: it follows every update, thanks each payer once, and goes on
where it was when it is started again. BOT_PAYMENTS says after how many payments it ends; without it the bot runs until
it is stopped."""

import json
import os
import sys
import urllib.request
import uuid
from pathlib import Path

from wallet_sidecar import Payment, WalletSidecar, WalletSidecarError

URL = os.environ.get("SIDECAR_URL", "http://127.0.0.1:5393")
# The place of the last update that was handled. A real bot stores it with what it did, in one transaction.
PLACE = Path(os.environ.get("BOT_STATE", "bot.place"))
wallet = WalletSidecar(URL, credentials=os.environ.get("SIDECAR_CREDENTIALS"))


def thank(payment: Payment) -> None:
    """Does what a payment is for. An update can come again after a crash, so this must not matter."""
    print(f"thank you for {payment.amount} sats: {payment.index}", flush=True)


def keep(place: str) -> None:
    """Stores the place whole or not at all, so that the next start finds one."""
    fresh = PLACE.with_suffix(".new")
    fresh.write_text(place)
    fresh.replace(PLACE)


def serve(invoice_of_a_visitor: str, most: float) -> None:
    """Handles updates until as many payments as asked for have arrived."""
    start_index = PLACE.read_text() if PLACE.exists() else None
    thanked = 0
    with wallet.events(start_index=start_index) as events:
        # The visitor pays once the bot listens; the sandbox's outside world plays the visitor.
        body = json.dumps({"payable": invoice_of_a_visitor}).encode()
        request = urllib.request.Request(f"{URL}/sandbox/pay", body, {"content-type": "application/json"})
        urllib.request.urlopen(request, timeout=60).close()
        for event in events:
            payment = event.payment
            if payment.direction == "inbound" and payment.status == "completed":
                thank(payment)
                thanked += 1
            keep(event.updated_index)
            if thanked >= most:
                return


try:
    # The key names the visitor's wish: however often this is repeated, there is one invoice for it.
    invoice = wallet.create_invoice(amount=21, description="a tip", idempotency_key=f"visit-{uuid.uuid4()}")
    print(f"tip me with {invoice.invoice}")
    serve(invoice.invoice, float(os.environ.get("BOT_PAYMENTS", "inf")))
except WalletSidecarError as error:
    sys.exit(f"{error} (error {error.code})" if error.code else str(error))
except KeyboardInterrupt:
    print("stopped; what comes now is handled after the next start")
