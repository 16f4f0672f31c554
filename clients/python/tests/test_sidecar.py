"""The client against a running sidecar on the sandbox."""

from __future__ import annotations

import socket
import threading
import unittest
import uuid
from decimal import Decimal
from urllib.parse import urlsplit

from support import OTHER, URL, ScriptedServer, Seen, Step, needs_sidecar, received, sandbox
from wallet_sidecar import (
    BudgetInput,
    CheckedProofValid,
    CreatePayerProofDisclosures,
    IdempotencyConflictError,
    NotFoundError,
    OverBudgetError,
    Payment,
    RejectedError,
    TimedOutError,
    UnauthenticatedError,
    WalletSidecar,
)


def forwards(is_answered: bool) -> Step:
    """A step that hands the request to the sidecar, and gives the answer back or cuts the connection."""

    def step(connection: socket.socket, seen: Seen) -> None:
        address = urlsplit(URL)
        with socket.create_connection((address.hostname or "", address.port or 0)) as sidecar:
            # The sidecar knows itself by its own address only.
            host = seen.headers["host"].encode()
            sidecar.sendall(seen.raw.replace(b"Host: " + host, b"Host: " + address.netloc.encode()))
            answer = received(sidecar)
            while not complete(answer):
                answer += received(sidecar)
        if is_answered:
            connection.sendall(answer)

    return step


def complete(answer: bytes) -> bool:
    """Whether an answer has all of its body."""
    head, end, body = answer.partition(b"\r\n\r\n")
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return len(body) >= int(line.partition(b":")[2])
    return bool(end) and body.endswith(b"0\r\n\r\n")


@needs_sidecar
class ASidecar(unittest.TestCase):
    def setUp(self) -> None:
        self.shop = WalletSidecar(URL)
        self.customer = WalletSidecar(URL, credentials=OTHER)

    def key(self) -> str:
        return f"order-{uuid.uuid4()}"

    def test_takes_a_payment(self) -> None:
        invoice = self.shop.create_invoice(amount=Decimal("1000.5"), description="Zoë ₿", idempotency_key=self.key())
        self.assertEqual((invoice.amount, invoice.description), (Decimal("1000.5"), "Zoë ₿"))
        paid = self.customer.pay(payable=invoice.invoice, idempotency_key=self.key())
        self.assertEqual((paid.status, paid.direction, paid.amount), ("completed", "outbound", Decimal("1000.5")))
        received = self.shop.wait_for_payment(index=invoice.index, timeout_secs=30)
        self.assertEqual((received.status, received.hash), ("completed", paid.hash))
        info = self.shop.node_info()
        self.assertEqual(info.balance, info.lightning_balance + info.onchain_balance)

    def test_gives_the_same_invoice_for_the_same_key_and_an_error_for_another_request(self) -> None:
        key = self.key()
        first = self.shop.create_invoice(amount=5, idempotency_key=key)
        self.assertEqual(self.shop.create_invoice(amount=5, idempotency_key=key), first)
        with self.assertRaises(IdempotencyConflictError):
            self.shop.create_invoice(amount=6, idempotency_key=key)

    def test_pays_once_when_the_answer_to_a_payment_is_cut_off(self) -> None:
        invoice = self.shop.create_invoice(amount=70, idempotency_key=self.key())
        before = self.customer.node_info().balance
        with ScriptedServer(forwards(False), forwards(False), forwards(True)) as between:
            client = between.client(credentials=OTHER)
            paid = client.pay_invoice(invoice=invoice.invoice, idempotency_key=self.key())
        self.assertEqual(len(between.seen), 3)
        self.assertEqual(len({seen.headers["idempotency-key"] for seen in between.seen}), 1)
        self.assertEqual((paid.status, paid.amount), ("completed", 70))
        self.assertEqual(before - self.customer.node_info().balance, 70 + paid.fees)

    def test_returns_the_pending_payment_of_who_does_not_wait_and_its_end_by_a_wait(self) -> None:
        held = sandbox("invoice", {"amount": "80", "behavior": "hold"})
        pending = self.shop.pay_invoice(
            invoice=held["invoice"], respond_after_secs=0, idempotency_key=self.key(), timeout=30
        )
        self.assertEqual(pending.status, "pending")
        with self.assertRaises(TimedOutError):
            self.shop.wait_for_payment(index=pending.index, timeout_secs=0)
        ends: list[Payment] = []
        waiter = threading.Thread(target=lambda: ends.append(self.shop.wait_for_payment(index=pending.index)))
        waiter.start()
        sandbox("holds", {"payment_hash": held["payment_hash"], "settle": False})
        waiter.join(60)
        self.assertEqual([end.status for end in ends], ["failed"])

    def test_waits_for_the_next_update_from_a_place(self) -> None:
        start = self.shop.updated_payments().updated_index
        while (page := self.shop.updated_payments(start_index=start)).updated_index is not None:
            start = page.updated_index
        invoice = self.shop.create_invoice(amount=9, idempotency_key=self.key())
        update = self.shop.wait_for_next_payment(start_index=start, timeout_secs=30)
        self.assertEqual(update.payment.index, invoice.index)

    def test_streams_updates_from_where_the_stream_was_opened_and_resumes_it(self) -> None:
        with self.shop.events() as events:
            first = self.shop.create_invoice(amount=1, idempotency_key=self.key())
            update = next(events)
            self.assertEqual((update.payment.index, update.payment.status), (first.index, "pending"))
        sandbox("pay", {"payable": first.invoice})
        second = self.shop.create_invoice(amount=2, idempotency_key=self.key())
        with self.shop.events(start_index=update.updated_index) as events:
            missed = [next(events).payment, next(events).payment]
        self.assertEqual([payment.index for payment in missed], [first.index, second.index])
        self.assertEqual(missed[0].status, "completed")

    def test_refuses_what_a_budget_does_not_allow_and_what_a_revoked_client_asks(self) -> None:
        budget = BudgetInput(amount="100", period="day", max_payment=50)
        made = self.shop.create_client(label="python", scopes=["send", "read_info"], budget=budget)
        client = WalletSidecar(URL, credentials=made.client_credentials)
        grant = client.client_info()
        assert grant.budget is not None
        self.assertEqual((grant.label, grant.kind, grant.budget.max_payment), ("python", "client_credentials", 50))
        with self.assertRaises(OverBudgetError) as caught:
            client.pay(payable=sandbox("invoice", {"amount": "60"})["invoice"], idempotency_key=self.key())
        assert caught.exception.data is not None
        self.assertEqual((caught.exception.data.remaining, caught.exception.data.sent), (100, "no"))
        self.assertFalse(caught.exception.may_have_taken_effect)
        self.assertIn(made.client_pk, self.shop.list_clients().clients)
        self.shop.revoke_client(client_pk=made.client_pk)
        with self.assertRaises(UnauthenticatedError):
            client.client_info()

    def test_names_what_is_wrong_with_a_request(self) -> None:
        with self.assertRaises(RejectedError) as caught:
            self.shop.create_invoice(expiration_secs=-1)
        assert caught.exception.data is not None and caught.exception.data.issues is not None
        self.assertEqual([issue.path for issue in caught.exception.data.issues], ["expiration_secs"])
        with self.assertRaises(NotFoundError):
            self.shop.payment(index=f"{'0' * 19}-ln_{'0' * 64}")

    def test_clears_a_note_with_none(self) -> None:
        invoice = self.shop.create_invoice(amount=3, personal_note="mine", idempotency_key=self.key())
        self.shop.update_personal_note(index=invoice.index, personal_note="yours")
        self.assertEqual(self.shop.payment(index=invoice.index).personal_note, "yours")
        self.shop.update_personal_note(index=invoice.index, personal_note=None)
        self.assertIsNone(self.shop.payment(index=invoice.index).personal_note)

    def test_proves_a_payment_of_an_offer(self) -> None:
        offer = self.shop.create_offer(description="tea").offer
        paid = self.customer.pay_offer(offer=offer, amount=21, idempotency_key=self.key())
        shown = CreatePayerProofDisclosures(offer_description=True)
        proof = self.customer.create_payer_proof(index=paid.index, disclosures=shown).proof
        checked = self.shop.verify_payer_proof(proof=proof)
        assert isinstance(checked, CheckedProofValid)
        self.assertEqual((checked.offer_description, checked.payment_hash), ("tea", paid.hash))

    def test_reads_every_list(self) -> None:
        self.shop.sync_payments()
        page = self.shop.list_payments(filter="all", order="asc", limit=1000)
        self.assertTrue(all(isinstance(payment.fees, Decimal) for payment in page.payments))
        chain = [payment for payment in page.payments if payment.tx is not None]
        self.assertTrue(all(payment.tx and payment.tx.output[0].value > 0 for payment in chain))
        channels = self.shop.list_channels().channels
        self.assertTrue(all(channel.our_balance <= channel.channel_value for channel in channels))
        [payable] = self.shop.analyze(payment_string=self.shop.create_offer().offer).payables
        self.assertEqual(payable.kind, "offer")
        self.assertIsInstance(self.shop.webhook_deliveries(limit=1).deliveries, tuple)


if __name__ == "__main__":
    unittest.main()
