"""What is sent, what errors say, and what is repeated."""

from __future__ import annotations

import json
import math
import pickle
import socket
import threading
import unittest
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from support import PAYMENT, ScriptedServer, Step, answers, cuts, read_request, refuses
from wallet_sidecar import (
    BudgetInput,
    ForbiddenError,
    IgnoredFields,
    NoAnswerError,
    OverBudgetDetails,
    OverBudgetError,
    OverCapacityError,
    PayableInvoice,
    RejectedError,
    WalletSidecar,
    WalletSidecarError,
)

OK = answers({"status": "ok"})
PAID = answers(PAYMENT)
IGNORING = answers({"status": "ok"}, headers={"X-Ignored-Fields": '"amt", "disclosures.a%2Eb"'})
FULL = refuses(8, 503, headers={"retry-after": "0"})


class TestCase(unittest.TestCase):
    def server(self, *steps: Step) -> ScriptedServer:
        # Python 3.10 has no enterContext.
        server = ScriptedServer(*steps)
        self.addCleanup(server.__exit__)
        return server

    def error_from(self, call: Any, *args: Any, **options: Any) -> WalletSidecarError:
        with self.assertRaises(WalletSidecarError) as caught:
            call(*args, **options)
        return caught.exception


class WhatIsSent(TestCase):
    def test_is_the_body_as_json_with_credentials_key_and_wish_not_to_wait(self) -> None:
        server = self.server(PAID)
        server.client(credentials=" secret\n").pay_invoice(
            invoice="lnbc1", max_fee=Decimal("0.50"), idempotency_key="order-1", respond_after_secs=0
        )
        [seen] = server.seen
        self.assertEqual((seen.method, seen.target), ("POST", "/v2/node/pay_invoice"))
        self.assertEqual(json.loads(seen.body), {"invoice": "lnbc1", "max_fee": "0.5"})
        sent = {name: seen.headers[name] for name in ["authorization", "content-type", "idempotency-key", "prefer"]}
        self.assertEqual(
            sent,
            {
                "authorization": "Bearer secret",
                "content-type": "application/json",
                "idempotency-key": "order-1",
                "prefer": "wait=0",
            },
        )

    def test_are_query_parameters_without_those_left_out_and_no_header_without_credentials(self) -> None:
        server = self.server(answers({"payments": [], "next_index": None}))
        server.client().list_payments(filter="all", limit=5)
        [seen] = server.seen
        self.assertEqual(seen.target, "/v2/node/list_payments?filter=all&limit=5")
        self.assertNotIn("authorization", seen.headers)

    def test_are_nested_objects_and_lists(self) -> None:
        made = {"client_pk": "ab", "client_credentials": "x", "created_at": 1, "effective_permissions": ["node_info"]}
        server = self.server(answers(made))
        budget = BudgetInput(amount=Decimal(2000), period="day")
        server.client().create_client(scopes=["send"], budget=budget)
        expected = {"scopes": ["send"], "budget": {"amount": "2000", "period": "day"}}
        self.assertEqual(json.loads(server.seen[0].body), expected)

    def test_goes_below_the_path_of_the_url(self) -> None:
        server = self.server(OK)
        WalletSidecar(server.url + "/wallet/").health()
        self.assertEqual(server.seen[0].target, "/wallet/v2/health")

    def test_is_never_a_float_and_nothing_that_breaks_a_header(self) -> None:
        server = self.server(PAID)
        wrong: Any = 0.5
        with self.assertRaisesRegex(TypeError, "^amount is 0.5, and a float would lose"):
            server.client().pay(payable="x", amount=wrong)
        with self.assertRaisesRegex(TypeError, "^max_payment is 0.5, and a float"):
            budget = BudgetInput(amount=5, period="day", max_payment=wrong)
            server.client().create_client(scopes=["send"], budget=budget)
        with self.assertRaisesRegex(ValueError, "^max_fee: 0.0001 is not an amount"):
            server.client().pay(payable="x", max_fee=Decimal("0.0001"))
        self.assertEqual(server.seen, [])

    def test_names_what_no_header_can_carry_and_never_shows_it(self) -> None:
        server = self.server(PAID)
        client = server.client()
        for text, place in [("order\u201317", 6), ("order\u211617", 6), ("order\r\n17", 6), ("order 17\x01", 9), ("", 1)]:
            calls: dict[str, Callable[[], object]] = {
                "idempotency_key": lambda: client.pay(payable="x", idempotency_key=text),
            }
            if text:
                calls["credentials"] = lambda: server.client(credentials=text)
                calls["start_index"] = lambda: client.events(start_index=text)
            for field, call in calls.items():
                with self.subTest(text, field=field), self.assertRaises(ValueError) as caught:
                    call()
                said = f"{field} must be one or more printable ASCII characters, and its character {place} is none. "
                self.assertIs(type(caught.exception), ValueError)
                self.assertEqual(str(caught.exception), said + "Nothing was sent.")
                self.assertIsNone(caught.exception.__context__)
        self.assertEqual(server.seen, [])


class AnAnswer(TestCase):
    def test_has_amounts_as_decimals_and_none_for_what_is_missing(self) -> None:
        payment = self.server(PAID).client().payment(index="x")
        self.assertEqual((payment.amount, payment.txid), (Decimal("1000.5"), None))
        assert payment.amount is not None
        self.assertEqual(payment.amount + payment.fees, Decimal("1000.5"))

    def test_of_a_later_version_is_read(self) -> None:
        later = {**PAYMENT, "status": "resting", "mood": {"x": 0.1}}
        self.assertEqual(self.server(answers(later)).client().payment(index="x").status, "resting")
        known = {"callback": "c", "kind": "invoice", "invoice": "lnbc1", "amount": "1"}
        analysis = {"payables": [known, {"callback": "d", "kind": "carrier-pigeon"}], "claimables": []}
        [payable] = self.server(answers(analysis)).client().analyze(payment_string="x").payables
        self.assertIsInstance(payable, PayableInvoice)

    def test_that_does_not_fit_is_foreign_and_may_have_taken_effect(self) -> None:
        for body in [{}, {**PAYMENT, "fees": 0.5}, {**PAYMENT, "fees": "-1"}, {**PAYMENT, "index": None}]:
            client = self.server(answers(body)).client()
            paid, read = self.error_from(client.pay, payable="x"), self.error_from(client.payment, index="x")
            self.assertEqual([paid.kind, paid.body, paid.http_status], ["foreign", body, 200])
            self.assertEqual([paid.may_have_taken_effect, read.may_have_taken_effect], [True, False])


class Errors(TestCase):
    def test_are_classes_by_code_with_what_the_sidecar_said(self) -> None:
        data = {"remaining": "12.5", "sent": "no"}
        error = self.error_from(self.server(refuses(109, 403, data)).client().pay, payable="x")
        self.assertIsInstance(error, OverBudgetError)
        self.assertEqual(error.data, OverBudgetDetails(remaining=Decimal("12.5"), sent="no", index=None))
        self.assertEqual(
            [str(error), error.kind, error.code, error.http_status, error.retry_after_secs],
            ["No.", "error", 109, 403, None],
        )
        issues = {"issues": [{"path": "amount", "message": "must be above zero"}]}
        with self.assertRaises(RejectedError) as caught:
            self.server(refuses(7, 400, issues)).client().create_invoice(amount=0)
        assert caught.exception.data is not None and caught.exception.data.issues is not None
        self.assertEqual(caught.exception.data.issues[0].path, "amount")

    def test_of_a_later_version_have_their_code_and_body(self) -> None:
        error = self.error_from(self.server(refuses(999, 400, {"x": 1})).client().node_info)
        self.assertIs(type(error), WalletSidecarError)
        self.assertEqual((error.code, error.data), (999, None))
        strange = self.error_from(self.server(refuses(108, 403, {"permission": 5})).client().node_info)
        self.assertIsInstance(strange, ForbiddenError)
        self.assertEqual(strange.data, None)

    def test_go_to_other_processes(self) -> None:
        error = self.error_from(self.server(refuses(109, 403, {"remaining": "1"})).client().node_info)
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((type(again), again.code, again.data), (OverBudgetError, 109, error.data))

    def test_say_so_when_another_server_answers(self) -> None:
        for step in [
            answers(b"<html>", 502),
            answers(b"<html>"),
            answers({"error": "no"}, 404),
            answers([]),
            answers(b"[" * 100_000),
            answers(b"", 302, {"location": "/elsewhere"}),
        ]:
            server = self.server(step)
            error = self.error_from(server.client(credentials="secret").health)
            self.assertEqual((error.kind, error.code, len(server.seen)), ("foreign", None, 1))

    def test_tell_a_connection_that_was_never_made_from_an_answer_that_never_came(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as closed:
            port = closed.getsockname()[1]
        client = WalletSidecar(f"http://127.0.0.1:{port}", max_retries=0, credentials="secret")
        refused = self.error_from(client.pay, payable="x")
        self.assertEqual((refused.kind, refused.may_have_taken_effect), ("unreachable", False))
        lost = self.error_from(self.server(cuts).client(max_retries=0).pay, payable="x")
        self.assertIsInstance(lost, NoAnswerError)
        self.assertEqual((lost.kind, lost.may_have_taken_effect), ("unanswered", True))
        self.assertRegex(str(lost), "ended without an answer: it may have taken effect.* before you try anew")
        self.assertNotIn("secret", repr(refused) + str(refused) + repr(client))

    def test_say_that_an_earlier_attempt_was_sent_where_no_repeat_reached_the_sidecar(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:

            def cut_once() -> None:
                with listener.accept()[0] as connection:
                    listener.close()
                    read_request(connection)

            client = WalletSidecar(f"http://127.0.0.1:{listener.getsockname()[1]}", max_retries=1)
            server = threading.Thread(target=cut_once)
            server.start()
            error = self.error_from(client.pay, payable="x", idempotency_key="k")
            server.join()
        self.assertEqual((error.kind, error.may_have_taken_effect), ("unreachable", True))
        sent = "check the url. An earlier attempt was sent: it may have taken effect.* Repeat the call with the same key.$"
        self.assertRegex(str(error), sent)

    def test_say_whether_the_call_may_have_taken_effect(self) -> None:
        for step, expected in [
            (refuses(106, 400), False),
            (refuses(110, 501), False),
            (refuses(6, 500), True),
            (refuses(5, 502, {"sent": "no"}), False),
            (refuses(106, 409, {"sent": "unknown"}), True),
            (answers(b"<html>", 404), True),
        ]:
            client = self.server(step).client(max_retries=0)
            errors = [self.error_from(client.pay, payable="x"), self.error_from(client.node_info)]
            self.assertEqual([error.may_have_taken_effect for error in errors], [expected, False])

    def test_say_that_it_may_when_any_attempt_may_have(self) -> None:
        client = self.server(FULL, refuses(104, 401)).client()
        error = self.error_from(client.pay, payable="x", idempotency_key="k")
        self.assertEqual((error.code, error.may_have_taken_effect), (104, True))


class Calls(TestCase):
    def test_are_repeated_after_a_cut_connection_and_while_the_sidecar_is_full(self) -> None:
        half = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"
        for step in [cuts, FULL, lambda connection, _: connection.sendall(half)]:
            server = self.server(step, OK)
            self.assertEqual(server.client().health().status, "ok")
            self.assertEqual(len(server.seen), 2)

    def test_are_repeated_twice_at_most_unless_told_otherwise(self) -> None:
        cases: list[tuple[dict[str, int], int]] = [
            ({}, 3),
            ({"max_retries": 4}, 5),
            ({"max_retries": 0}, 1),
        ]
        for options, attempts in cases:
            server = self.server(FULL)
            error = self.error_from(server.client(**options).node_info)
            self.assertIsInstance(error, OverCapacityError)
            self.assertEqual((error.retry_after_secs, len(server.seen)), (0, attempts))

    def test_that_post_are_repeated_only_with_a_key_and_with_the_same_one(self) -> None:
        for step in [cuts, FULL]:
            bare = self.server(step, PAID)
            self.error_from(bare.client().pay, payable="x")
            self.assertEqual(len(bare.seen), 1)
            keyed = self.server(step, PAID)
            keyed.client().pay(payable="x", amount="1", idempotency_key="k")
            first, second = keyed.seen
            self.assertEqual(first.raw, second.raw)
            self.assertEqual(second.headers["idempotency-key"], "k")

    def test_of_wait_for_next_payment_are_repeated_only_from_a_given_place(self) -> None:
        answer = answers({"payment": PAYMENT, "next_start_index": "u2"})
        bare = self.server(cuts, answer)
        self.error_from(bare.client().wait_for_next_payment)
        placed = self.server(cuts, answer)
        placed.client().wait_for_next_payment(start_index="u1")
        self.assertEqual((len(bare.seen), len(placed.seen)), (1, 2))

    def test_are_not_repeated_when_the_answer_is_final_or_the_pause_would_be_long(self) -> None:
        for step in [refuses(106, 400), refuses(4, 504), refuses(6, 500), refuses(5, 502)]:
            server = self.server(step, OK)
            self.error_from(server.client().node_info)
            self.assertEqual(len(server.seen), 1)
        busy = self.server(refuses(8, 503, headers={"retry-after": "3600"}), OK)
        self.assertEqual(self.error_from(busy.client().health, timeout=math.inf).retry_after_secs, 3600)
        self.assertEqual(len(busy.seen), 1)

    def test_end_when_their_time_is_over_repetitions_included(self) -> None:
        arrived = threading.Event()

        def hangs(connection: socket.socket, _: object) -> None:
            arrived.set()
            # Returns when the client has gone.
            connection.recv(1)

        server = self.server(hangs)
        error = self.error_from(server.client().pay, payable="x", idempotency_key="k", timeout=0.5)
        self.assertTrue(arrived.wait(30))
        self.assertEqual((error.kind, error.may_have_taken_effect, len(server.seen)), ("unanswered", True, 1))
        # The sidecar runs, so nothing says to check that; what to do next depends on the key.
        effect = "No answer within 0.5 seconds: it may have taken effect, and a payment may be on its way. "
        self.assertEqual(str(error), effect + "Repeat the call with the same key.")
        bare = self.error_from(server.client().pay, payable="x", timeout=0.5)
        self.assertEqual(str(bare), effect + "Look what became of it before you try anew.")
        waited = self.error_from(server.client().wait_for_payment, index="x", timeout=0.5)
        self.assertEqual(str(waited), "No answer within 0.5 seconds: call again.")
        synced = self.error_from(server.client().sync_payments, timeout=0.5)
        self.assertEqual(str(synced), "No answer within 0.5 seconds: call again.")
        read = self.error_from(server.client(timeout=1).health)
        self.assertRegex(str(read), "^No answer within 1 second:")
        patient = self.server(OK)
        self.assertEqual(patient.client().health(timeout=math.inf).status, "ok")


class IgnoredFieldsOfARequest(TestCase):
    def test_are_told_to_the_program(self) -> None:
        told: list[IgnoredFields] = []
        self.server(IGNORING).client(on_ignored_fields=told.append).health()
        self.assertEqual(told, [IgnoredFields("GET", "/v2/health", ("amt", "disclosures.a.b"))])

    def test_are_logged_where_the_program_does_not_ask(self) -> None:
        with self.assertLogs("wallet_sidecar", "WARNING") as logged:
            self.server(IGNORING).client().health()
        self.assertRegex(logged.output[0], "GET /v2/health .*ignored.*amt")


class TheUrl(unittest.TestCase):
    def test_is_http_or_https_and_nothing_besides(self) -> None:
        for url in [
            "127.0.0.1:5393",
            "ftp://127.0.0.1",
            "file:///run/sidecar",
            "http://",
            "http://user:secret@127.0.0.1:5393",
            "http://127.0.0.1:5393/?x=1",
            "http://127.0.0.1:5393/#x",
            "http://127.0.0.1:99999",
            "http://127.0.0.1:5393/a\r\nb",
        ]:
            with self.subTest(url), self.assertRaisesRegex(ValueError, "must be an http or https URL"):
                WalletSidecar(url)

    def test_takes_credentials_only_to_this_machine_or_over_https(self) -> None:
        for host in ["127.0.0.1", "127.9.9.9", "localhost", "a.localhost.", "[::1]"]:
            WalletSidecar(f"http://{host}:5393", credentials="secret")
        for host in ["10.0.0.1", "sidecar", "localhost.example", "0.0.0.0", "127.0.0.1.example", "[::2]"]:
            with self.subTest(host), self.assertRaisesRegex(ValueError, "only to this machine or over https"):
                WalletSidecar(f"http://{host}:5393", credentials="secret")
            WalletSidecar(f"http://{host}:5393", credentials=" \n")
            WalletSidecar(f"https://{host}", credentials="secret")


if __name__ == "__main__":
    unittest.main()
