"""What holds for the blocking client holds for the one for asyncio, and its tasks can be canceled."""

from __future__ import annotations

import asyncio
import socket
import threading
import unittest
import unittest.mock
import uuid
from collections.abc import Coroutine, Iterator
from typing import Any, TypeVar

import support
import test_calls
import test_events
import test_sidecar
from support import (
    URL,
    ScriptedServer,
    Seen,
    Step,
    event,
    needs_sidecar,
    read_request,
    refuses,
    sandbox,
    streams,
)
from wallet_sidecar import AsyncPaymentEvents, AsyncWalletSidecar, NoAnswerError, OverCapacityError, PaymentEvent

_T = TypeVar("_T")
_loop = asyncio.new_event_loop()


def tearDownModule() -> None:
    # Connections that were closed last are over after one more turn.
    _loop.run_until_complete(asyncio.sleep(0))
    _loop.close()


def run(work: Coroutine[Any, Any, _T]) -> _T:
    return _loop.run_until_complete(work)


class Blocking:
    """The client for asyncio, called as the blocking one."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self._client = AsyncWalletSidecar(*args, **options)

    def __repr__(self) -> str:
        return repr(self._client)

    def __getattr__(self, name: str) -> Any:
        return lambda **given: run(getattr(self._client, name)(**given))

    def events(self, *, start_index: str | None = None) -> BlockingEvents:
        return BlockingEvents(self._client.events(start_index=start_index))


class BlockingEvents(Iterator[PaymentEvent]):
    """The stream for asyncio, read as the blocking one."""

    def __init__(self, events: AsyncPaymentEvents) -> None:
        self._events = events
        run(events.__aenter__())

    def __enter__(self) -> BlockingEvents:
        return self

    def __exit__(self, *_: object) -> None:
        run(self._events.__aexit__(None, None, None))

    def __next__(self) -> PaymentEvent:
        try:
            return run(self._events.__anext__())
        except StopAsyncIteration:
            raise StopIteration from None


class ForAsyncio(unittest.TestCase):
    """Runs the tests of a class on the client for asyncio."""

    def setUp(self) -> None:
        for module in (support, test_calls, test_sidecar):
            patch = unittest.mock.patch.object(module, "WalletSidecar", Blocking)
            patch.start()
            self.addCleanup(patch.stop)
        super().setUp()


class WhatIsSent(ForAsyncio, test_calls.WhatIsSent): ...


class AnAnswer(ForAsyncio, test_calls.AnAnswer): ...


class Errors(ForAsyncio, test_calls.Errors): ...


class Calls(ForAsyncio, test_calls.Calls): ...


class IgnoredFieldsOfARequest(ForAsyncio, test_calls.IgnoredFieldsOfARequest): ...


class TheUrl(ForAsyncio, test_calls.TheUrl): ...


class ASidecar(ForAsyncio, test_sidecar.ASidecar): ...


class AStream(ForAsyncio, test_events.AStream):
    def test_ends_when_another_thread_closes_it_while_it_waits(self) -> None:
        """A task does here what another thread does there."""

        async def scenario(url: str) -> list[str]:
            events = AsyncWalletSidecar(url).events()
            seen = [(await events.__anext__()).updated_index]
            waiting = asyncio.ensure_future(collect(events))
            await asyncio.sleep(0.05)
            events.close()
            return seen + await waiting

        with ScriptedServer(stays_open(event("u1"))) as server:
            self.assertEqual(run(asyncio.wait_for(scenario(server.url), 30)), ["u1"])
            self.assertEqual(len(server.seen), 1)


    def test_without_a_block_is_opened_by_its_first_step_and_not_again_when_that_gets_an_error(self) -> None:
        with ScriptedServer(refuses(8, 503)) as server:
            events = AsyncWalletSidecar(server.url).events()
            self.assertEqual(server.seen, [])
            with self.assertRaises(OverCapacityError):
                run(collect(events))
            self.assertEqual((run(collect(events)), len(server.seen)), ([], 1))


async def collect(events: AsyncPaymentEvents) -> list[str]:
    return [update.updated_index async for update in events]


def stays_open(text: str, rest: str = "", send_rest: threading.Event | None = None) -> Step:
    """A step that streams text, and the rest when told to; it ends when the client has gone."""

    def step(connection: socket.socket, seen: Seen) -> None:
        streams(text)(connection, seen)
        if send_rest is not None:
            send_rest.wait(30)
            connection.sendall(f"{len(rest.encode()):x}\r\n{rest}\r\n".encode())
        read_request(connection)

    return step


class ATask(unittest.TestCase):
    def test_that_is_canceled_closes_its_connection_and_stays_canceled(self) -> None:
        arrived, gone = threading.Event(), threading.Event()

        def hangs(connection: socket.socket, _: Seen) -> None:
            arrived.set()
            if connection.recv(1) == b"":
                gone.set()

        async def scenario(client: AsyncWalletSidecar) -> None:
            task = asyncio.ensure_future(client.wait_for_payment(index="x"))
            while not arrived.is_set():
                await asyncio.sleep(0.01)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task

        with ScriptedServer(hangs) as server:
            run(scenario(AsyncWalletSidecar(server.url)))
            self.assertTrue(gone.wait(30))
            self.assertEqual(len(server.seen), 1)

    def test_that_stops_waiting_for_an_update_loses_none(self) -> None:
        text = event("u1") + event("u2")
        send_rest = threading.Event()

        async def scenario(url: str) -> list[str]:
            async with AsyncWalletSidecar(url).events() as events:
                first = (await events.__anext__()).updated_index
                # Half of the next update is there.
                for _ in range(3):
                    with self.assertRaises(asyncio.TimeoutError):
                        await asyncio.wait_for(events.__anext__(), 0.05)
                send_rest.set()
                return [first, (await events.__anext__()).updated_index]

        half = len(event("u1")) + 40
        with ScriptedServer(stays_open(text[:half], text[half:], send_rest)) as server:
            self.assertEqual(run(scenario(server.url)), ["u1", "u2"])
            self.assertEqual(len(server.seen), 1)

    def test_that_stops_waiting_while_the_stream_is_broken_goes_on_after_the_last_update(self) -> None:
        is_back = threading.Event()

        def comes_back(connection: socket.socket, seen: Seen) -> None:
            is_back.wait(30)
            streams(event("u2"))(connection, seen)

        async def scenario(url: str) -> list[str]:
            async with AsyncWalletSidecar(url).events() as events:
                seen = [(await events.__anext__()).updated_index]
                with self.assertRaises(asyncio.TimeoutError):
                    await asyncio.wait_for(events.__anext__(), 0.05)
                is_back.set()
                return [*seen, (await events.__anext__()).updated_index]

        with ScriptedServer(streams(event("u1")), comes_back) as server:
            self.assertEqual(run(scenario(server.url)), ["u1", "u2"])
            first, *later = [seen.headers.get("last-event-id") for seen in server.seen]
            self.assertEqual((first, set(later)), (None, {"u1"}))

    @needs_sidecar
    def test_does_not_hold_up_others(self) -> None:
        async def scenario() -> list[str]:
            shop = AsyncWalletSidecar(URL)
            invoices = [
                await shop.create_invoice(amount=5, idempotency_key=f"order-{uuid.uuid4()}") for _ in range(40)
            ]
            waits = [asyncio.ensure_future(shop.wait_for_payment(index=invoice.index)) for invoice in invoices]
            for invoice in invoices:
                await asyncio.to_thread(sandbox, "pay", {"payable": invoice.invoice})
            return [payment.status for payment in await asyncio.gather(*waits)]

        self.assertEqual(run(asyncio.wait_for(scenario(), 60)), ["completed"] * 40)

    @needs_sidecar
    def test_hears_of_everything_from_where_its_block_begins(self) -> None:
        async def scenario() -> tuple[str, str]:
            shop = AsyncWalletSidecar(URL)
            async with shop.events() as events:
                invoice = await shop.create_invoice(amount=5, idempotency_key=f"order-{uuid.uuid4()}")
                return invoice.index, (await events.__anext__()).payment.index

        made, heard = run(asyncio.wait_for(scenario(), 60))
        self.assertEqual(made, heard)


class ABody(unittest.TestCase):
    def status_from(self, raw: bytes) -> str:
        with ScriptedServer(lambda connection, _: connection.sendall(raw)) as server:
            return run(AsyncWalletSidecar(server.url, max_retries=0).health()).status

    def test_is_read_by_its_length_in_chunks_or_to_the_end_of_the_connection(self) -> None:
        body = b'{"status":"' + b"x" * 200_000 + b'"}'
        chunks = b"".join(
            b"%x;a=b\r\n%s\r\n" % (len(part), part) for part in [body[:1], body[1:70_000], body[70_000:]]
        )
        for head, sent in [
            (b"content-length: %d" % len(body), body + b"later"),
            (b"transfer-encoding: chunked", chunks + b"0\r\ntrailer: x\r\n\r\n"),
            (b"x: y", body),
        ]:
            answer = b"HTTP/1.1 200 OK\r\n" + head + b"\r\n\r\n" + sent
            self.assertEqual(len(self.status_from(answer)), 200_000)
            self.assertEqual(len(self.status_from(b"HTTP/1.1 100 Continue\r\n\r\n" + answer)), 200_000)

    def test_that_breaks_off_is_no_answer(self) -> None:
        for head, sent in [
            (b"content-length: 15", b'{"status":"ok"'),
            (b"transfer-encoding: chunked", b'f\r\n{"status":"ok"}\r\n'),
            (b"transfer-encoding: chunked", b'20\r\n{"status":"ok"}'),
            (b"transfer-encoding: chunked", b'no size\r\n{"status":"ok"}'),
            (b"x: " + b"y" * 70_000, b'{"status":"ok"}'),
        ]:
            with self.subTest(head[:40]), self.assertRaises(NoAnswerError) as caught:
                self.status_from(b"HTTP/1.1 200 OK\r\n" + head + b"\r\n\r\n" + sent)
            self.assertEqual(caught.exception.kind, "unanswered")


if __name__ == "__main__":
    unittest.main()
