"""A web shop with orders, as a server of its own. POST /orders/<id> makes an invoice for an order, GET /orders/<id>
says how the order stands, and POST /hook takes the sidecar's webhooks: each is verified, and an order is shipped once
however often its webhook comes. It listens on port WEBHOOK_PORT (8080) and keeps its orders in SHOP_DATABASE."""

import os
import sqlite3
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

from wallet_sidecar import WalletSidecar, WalletSidecarError, WebhookVerificationError, verify_webhook

PRICE = 1000
SECRET = os.environ.get("WEBHOOK_SECRET") or sys.exit("Set WEBHOOK_SECRET to the secret that the sidecar signs with.")
wallet = WalletSidecar(
    os.environ.get("SIDECAR_URL", "http://127.0.0.1:5393"),
    credentials=os.environ.get("SIDECAR_CREDENTIALS"),
)
orders = sqlite3.connect(os.environ.get("SHOP_DATABASE", "orders.sqlite"), isolation_level=None)
# An order has an invoice for each attempt to pay it, since an invoice expires. Each of them can bring money.
orders.execute(
    "CREATE TABLE IF NOT EXISTS invoices (payment TEXT PRIMARY KEY, shop_order TEXT, attempt INT, ends INT, state TEXT)"
)


class Shop(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", 0))
        # What is signed are the very bytes of the body.
        body = self.rfile.read(length) if length <= 262_144 else b""
        if self.path == "/hook":
            self.hear(body)
        elif self.path.startswith("/orders/"):
            self.order(self.path.removeprefix("/orders/"))
        else:
            self.reply(404, "Nothing is here.")

    def do_GET(self) -> None:
        state = state_of(self.path.removeprefix("/orders/"))
        self.reply(*((200, state) if state else (404, "There is no such order.")))

    def order(self, order: str) -> None:
        """Answers with the invoice. Order and attempt are the idempotency key: however often it is asked, there is one
        invoice, and when that has expired, one of the next attempt. A paid order has no further one."""
        if state_of(order) == "paid":
            return self.reply(409, "This order is paid.")
        last = "SELECT attempt, ends FROM invoices WHERE shop_order = ? ORDER BY attempt DESC"
        attempt, ends = orders.execute(last, (order,)).fetchone() or (0, 0)
        if ends <= time.time() * 1000:
            attempt += 1
        try:
            invoice = wallet.create_invoice(
                amount=PRICE,
                description=f"Order {order}",
                external_id=order,
                idempotency_key=f"order-{order}-{attempt}",
            )
        except WalletSidecarError as error:
            return self.reply(502, f"There is no invoice: {error}")
        # The order knows its payment before a customer can pay.
        new = "INSERT INTO invoices VALUES (?, ?, ?, ?, 'open') ON CONFLICT DO NOTHING"
        orders.execute(new, (invoice.index, order, attempt, invoice.expires_at))
        self.reply(200, invoice.invoice)

    def hear(self, body: bytes) -> None:
        try:
            told = verify_webhook(body, self.headers, SECRET)
        except WebhookVerificationError as error:
            return self.reply(400, str(error))
        # A refund is outbound, and may carry the order's external_id too.
        if told.type == "payment.finalized" and (told.status, told.direction) == ("completed", "inbound"):
            print(paid(told.index), flush=True)
        # 200 says that the order is stored, and the sidecar need not tell again.
        self.reply(200, "Thank you.")

    def reply(self, status: int, text: str) -> None:
        self.send_response(status)
        self.send_header("content-type", "text/plain; charset=utf-8")
        self.end_headers()
        self.wfile.write(f"{text}\n".encode())

    def log_message(self, *_: object) -> None:
        pass


def paid(index: str) -> str:
    # One statement decides, so that two webhooks at the same time count once.
    paid = "UPDATE invoices SET state = 'paid' WHERE payment = ? AND state = 'open'"
    if orders.execute(paid, (index,)).rowcount == 0:
        return "nothing new in this webhook"
    of_order = "(SELECT shop_order FROM invoices WHERE payment = ?)"
    count = f"SELECT count(*) FROM invoices WHERE state = 'paid' AND shop_order = {of_order}"
    if orders.execute(count, (index,)).fetchone() != (1,):
        return f"{index} pays an order again: give it back"
    # What ships the order belongs here, or reads the orders that are paid.
    return f"{index} is paid: ship it"


def state_of(order: str) -> str | None:
    """Whether an order is open or paid; None where there is no such order."""
    states = {state for (state,) in orders.execute("SELECT state FROM invoices WHERE shop_order = ?", (order,))}
    return "paid" if "paid" in states else "open" if states else None


# A webhook is tried three times. What was paid while the shop was down is looked up.
for (open_index,) in orders.execute("SELECT payment FROM invoices WHERE state = 'open'").fetchall():
    if wallet.payment(index=open_index).status == "completed":
        print(paid(open_index), flush=True)

port = int(os.environ.get("WEBHOOK_PORT", 8080))
# One request at a time, as one connection to the database wants it.
server = HTTPServer(("127.0.0.1", port), Shop)
print(f"the shop is open on port {port}", flush=True)
try:
    server.serve_forever()
except KeyboardInterrupt:
    pass
