"""Takes a payment in a web shop: creates an invoice for an order, waits for the webhook that says it is paid, and
delivers once. The sidecar must have been started with --webhook-url http://127.0.0.1:8080/hook and
--webhook-secret "$WEBHOOK_SECRET"."""

import base64
import hashlib
import hmac
import json
import os
import queue
import sys
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from sidecar import call

KEY = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
webhooks = queue.Queue()


def verified(headers, body):
    """Whether the sidecar has signed this body just now (Standard Webhooks)."""
    webhook_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    # An old webhook that somebody has seen and sends again is refused.
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > 300:
        return False
    digest = hmac.new(KEY, f"{webhook_id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    expected = b"v1," + base64.b64encode(digest)
    given = headers.get("webhook-signature", "").encode().split()
    return any(hmac.compare_digest(signature, expected) for signature in given)


class Hook(BaseHTTPRequestHandler):
    def do_POST(self):
        length = int(self.headers.get("content-length", 0))
        # What is signed are the very bytes of the body.
        body = self.rfile.read(length) if length <= 262_144 else b""
        good = verified(self.headers, body)
        if good:
            webhooks.put(json.loads(body))
        self.send_response(200 if good else 400)
        self.end_headers()

    def log_message(self, *_):
        pass


# The shop listens before anybody can pay.
server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("WEBHOOK_PORT", 8080))), Hook)
threading.Thread(target=server.serve_forever, daemon=True).start()

order = os.environ.get("ORDER") or f"order-{uuid.uuid4()}"
amount = os.environ.get("AMOUNT", "1000")
# Order and amount are the idempotency key: however often this is repeated, there is one invoice for them. A key is for
# one request, so the order alone would be error 111 once its amount has changed.
body = {"amount": amount, "description": order}
invoice = call("POST", "/v2/node/create_invoice", body, key=f"{order}-{amount}")
print(f"{order} is to be paid with {invoice['invoice']}")

# The customer, played by the sandbox's outside world.
call("POST", "/sandbox/pay", {"payable": invoice["invoice"]})

# A webhook can come twice, and those of other payments come too: a shop looks its order up by the index.
try:
    while (payment := webhooks.get(timeout=60))["index"] != invoice["index"]:
        pass
except queue.Empty:
    sys.exit("No webhook: see whether the sidecar has the address and secret of this shop.")
if payment["status"] != "completed":
    sys.exit(f"{order} was not paid: {payment['status_msg']}")
print(f"{order} is paid and can be delivered: {payment['index']}")
