"""Webhooks are verified as Standard Webhooks requires."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import unittest
from email.message import Message
from typing import Any

from support import PAYMENT, ROOT
from wallet_sidecar import (
    ClientBudgetLow,
    PaymentFinalized,
    PaymentHeld,
    WebhookTest,
    WebhookVerificationError,
    verify_signature,
    verify_webhook,
)

VECTORS = json.loads((ROOT / "tests/vectors/standard-webhooks.json").read_text("utf-8"))
KEY = bytes([7]) * 32
SECRET = "whsec_" + base64.b64encode(KEY).decode()
SENT_AT = 1_764_000_000
EVENT = {**PAYMENT, "payer_name": "Zoë ₿", "timestamp": "2025-11-24T16:00:00.001Z", "user_pk": "ab" * 32}

LOW = json.dumps(
    {
        **{"client_pk": "ab" * 32, "created_at": SENT_AT, "expires_at": None, "label": "Agent", "approve_above": None},
        **{"scopes": ["send"], "permissions": [], "effective_permissions": ["pay_invoice"]},
        **{"origins": None, "own": False},
        "budget": {"amount": "10000", "period": "day", "max_payment": None, "spent": "8500", "resets_at": SENT_AT},
        **{"type": "client.budget_low", "timestamp": "2025-11-24T16:00:00.001Z", "user_pk": "ab" * 32},
    }
).encode()


def signed(body: bytes, webhook_id: str = "msg_1", at_secs: int = SENT_AT) -> dict[str, str]:
    """The headers of a webhook that was signed with the secret."""
    digest = hmac.new(KEY, f"{webhook_id}.{at_secs}.".encode() + body, hashlib.sha256).digest()
    return {
        "webhook-id": webhook_id,
        "webhook-timestamp": str(at_secs),
        "webhook-signature": "v1," + base64.b64encode(digest).decode(),
    }


def body_of(**fields: Any) -> bytes:
    return json.dumps({**EVENT, "type": "payment.finalized", **fields}, ensure_ascii=False).encode()


class TheStandardsOwnCases(unittest.TestCase):
    def test_are_accepted_and_rejected_as_the_standard_says(self) -> None:
        for vector in VECTORS["verify"]:
            with self.subTest(vector["id"]):

                def verify() -> None:
                    verify_signature(vector["payload"], vector["headers"], vector["secret"], now_secs=vector["now"])

                if vector["accept"]:
                    verify()
                else:
                    self.assertRaises(WebhookVerificationError, verify)

    def test_name_secrets_that_are_invalid(self) -> None:
        good = VECTORS["verify"][0]
        for vector in VECTORS["secrets"]:
            with self.subTest(vector["id"]), self.assertRaisesRegex(ValueError, "is not base64"):
                verify_signature("{}", good["headers"], vector["secret"], now_secs=good["now"])


class AWebhook(unittest.TestCase):
    def problem(self, body: bytes, headers: Any, **options: Any) -> str:
        with self.assertRaises(WebhookVerificationError) as caught:
            verify_webhook(body, headers, SECRET, **{"now_secs": SENT_AT, **options})
        return caught.exception.problem

    def test_is_the_payment_it_tells_of(self) -> None:
        body = body_of()
        event = verify_webhook(body, signed(body), SECRET, now_secs=SENT_AT)
        assert isinstance(event, PaymentFinalized)
        self.assertEqual((event.payer_name, str(event.amount), event.txid), ("Zoë ₿", "1000.5", None))

    def test_of_a_held_payment_has_a_type_of_its_own(self) -> None:
        body = body_of(type="payment.held", status="pending")
        self.assertIsInstance(verify_webhook(body, signed(body), SECRET, now_secs=SENT_AT), PaymentHeld)

    def test_of_a_budget_that_is_low_is_the_client(self) -> None:
        event = verify_webhook(LOW, signed(LOW), SECRET, now_secs=SENT_AT)
        assert isinstance(event, ClientBudgetLow) and event.budget is not None
        self.assertEqual((event.client_pk, str(event.budget.spent), event.origins), ("ab" * 32, "8500", None))

    def test_of_a_test_delivery_has_a_type_of_its_own(self) -> None:
        body = body_of(type="webhook.test", status="failed", amount="0")
        self.assertIsInstance(verify_webhook(body, signed(body), SECRET, now_secs=SENT_AT), WebhookTest)

    def test_may_have_headers_of_other_forms(self) -> None:
        body = body_of()
        message = Message()
        for name, value in signed(body).items():
            message[name.title()] = value
        event = verify_webhook(body.decode(), message, SECRET, now_secs=SENT_AT)
        assert isinstance(event, PaymentFinalized)
        self.assertEqual(event.fees, 0)

    def test_is_invalid_where_a_byte_has_changed(self) -> None:
        body = body_of()
        self.assertEqual(self.problem(body + b" ", signed(body)), "signature")
        self.assertEqual(self.problem(body, {**signed(body), "webhook-id": "msg_2"}), "signature")
        later = {**signed(body), "webhook-timestamp": str(SENT_AT + 1)}
        self.assertEqual(self.problem(body, later), "signature")

    def test_is_invalid_where_its_time_is_not_now_but_only_once_it_is_known_to_be_signed(self) -> None:
        body = body_of()
        for secs in [-301, 301]:
            self.assertEqual(self.problem(body, signed(body), now_secs=SENT_AT + secs), "age")
        self.assertEqual(self.problem(body + b" ", signed(body), now_secs=SENT_AT + 301), "signature")
        verify_webhook(body, signed(body), SECRET, now_secs=SENT_AT + 300)
        verify_webhook(body, signed(body), SECRET, now_secs=SENT_AT + 3600, tolerance_secs=3600)
        with self.assertRaisesRegex(WebhookVerificationError, "too old or too new"):
            verify_webhook(body, signed(body), SECRET)

    def test_names_every_other_problem(self) -> None:
        body = body_of()
        for name in signed(body):
            headers = {key: value for key, value in signed(body).items() if key != name}
            self.assertEqual(self.problem(body, headers), "header")
        for time in ["now", "1e9", "-1", "١"]:
            self.assertEqual(self.problem(body, {**signed(body), "webhook-timestamp": time}), "timestamp")
        for text in [b"no JSON", b"{}", b"[]", body_of(type="payment.lost"), body_of(fees=0.5)]:
            self.assertEqual(self.problem(text, signed(text)), "body")


if __name__ == "__main__":
    unittest.main()
