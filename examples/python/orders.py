"""A web shop with orders, as a server of its own. POST /orders/<id> makes an invoice for an order, GET /orders/<id>
says how the order stands, and POST /hook takes the sidecar's webhooks: each is verified, and an order is paid once
however often its webhook comes. It listens on port WEBHOOK_PORT (8080) and keeps its orders in SHOP_DATABASE."""

import os
import sqlite3
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

from wallet_sidecar import WalletSidecar, WalletSidecarError, WebhookVerificationError, verify_webhook

PRICE = 1000
SECRET = os.environ.get("WEBHOOK_SECRET") or sys.exit("Set WEBHOOK_SECRET to the secret that the sidecar signs with.")
wallet = WalletSidecar(
    os.environ.get("SIDECAR_URL", "http://127.0.0.1:5393"),
    credentials=os.environ.get("SIDECAR_CREDENTIALS"),
)
orders = sqlite3.connect(os.environ.get("SHOP_DATABASE", "orders.sqlite"), isolation_level=None)
orders.execute("CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY, payment TEXT UNIQUE, state TEXT)")


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
        found = orders.execute("SELECT state FROM orders WHERE id = ?", (self.path.removeprefix("/orders/"),)).fetchone()
        self.reply(*((200, found[0]) if found else (404, "There is no such order.")))

    def order(self, order: str) -> None:
        """Answers with the invoice. The order is the idempotency key: however often it is asked, it has one invoice."""
        try:
            invoice = wallet.create_invoice(
                amount=PRICE, description=f"Order {order}", external_id=order, idempotency_key=f"order-{order}"
            )
        except WalletSidecarError as error:
            return self.reply(502, f"There is no invoice: {error}")
        # The order knows its payment before a customer can pay.
        orders.execute("INSERT INTO orders VALUES (?, ?, 'open') ON CONFLICT DO NOTHING", (order, invoice.index))
        self.reply(200, invoice.invoice)

    def hear(self, body: bytes) -> None:
        try:
            payment = verify_webhook(body, self.headers, SECRET)
        except WebhookVerificationError as error:
            return self.reply(400, str(error))
        if payment.type == "payment.finalized" and payment.status == "completed":
            # One statement decides, so that two webhooks at the same time count once.
            paid = "UPDATE orders SET state = 'paid' WHERE payment = ? AND state = 'open'"
            first = orders.execute(paid, (payment.index,)).rowcount == 1
            # What ships the order belongs here, or reads the orders that are paid.
            print(f"{payment.index} is paid: ship it" if first else "nothing new in this webhook", flush=True)
        # 200 says that the order is stored, and the sidecar need not tell again.
        self.reply(200, "Thank you.")

    def reply(self, status: int, text: str) -> None:
        self.send_response(status)
        self.send_header("content-type", "text/plain; charset=utf-8")
        self.end_headers()
        self.wfile.write(f"{text}\n".encode())

    def log_message(self, *_: object) -> None:
        pass


port = int(os.environ.get("WEBHOOK_PORT", 8080))
# One request at a time, as one connection to the database wants it.
server = HTTPServer(("127.0.0.1", port), Shop)
print(f"the shop is open on port {port}", flush=True)
try:
    server.serve_forever()
except KeyboardInterrupt:
    pass
