"""The stream of updates resumes without gaps (decision 89)."""

from __future__ import annotations

import socket
import threading
import unittest
import unittest.mock

from support import PAYMENT, ScriptedServer, Seen, cuts, event, read_request, refuses, streams
from wallet_sidecar import OverCapacityError, PaymentEvents, UnauthenticatedError, WalletSidecarError
from wallet_sidecar.connection import Connection

END = refuses(104, 401)


def collect(events: PaymentEvents) -> tuple[list[str], WalletSidecarError | None]:
    """Returns the indexes of the updates until the stream ends, and the error that ended it."""
    indexes = []
    try:
        for update in events:
            indexes.append(update.updated_index)
    except WalletSidecarError as error:
        return indexes, error
    return indexes, None


def resumed_after(server: ScriptedServer) -> list[str | None]:
    return [seen.headers.get("last-event-id") for seen in server.seen]


class AStream(unittest.TestCase):
    def test_that_ends_or_breaks_is_opened_again_after_its_last_event(self) -> None:
        with ScriptedServer(
            streams(f": open\n\n{event('u1')}{event('u2')}id: u3\nevent: payment\ndata: {{"),
            streams(event("u3")),
            cuts,
            streams(event("u4") + 'event: end\ndata: {"code":8,"msg":"Stopping."}\n\n'),
            streams('event: end\ndata: {"code":104,"msg":"Revoked: ask anew."}\n\n'),
        ) as server:
            indexes, error = collect(server.client().events())
            self.assertEqual(indexes, ["u1", "u2", "u3", "u4"])
            self.assertEqual(resumed_after(server), [None, "u2", "u3", "u3", "u4"])
            self.assertIsInstance(error, UnauthenticatedError)
            self.assertEqual(str(error), "Revoked: ask anew.")

    def test_goes_on_after_the_place_it_was_opened_at(self) -> None:
        with ScriptedServer(streams(": open\nid: u7\n\n"), END) as server:
            self.assertIsInstance(collect(server.client().events())[1], UnauthenticatedError)
            self.assertEqual(resumed_after(server), [None, "u7"])

    def test_starts_after_the_given_place_in_whatever_lines_it_comes(self) -> None:
        text = ": ₿\r\n\r\n" + event("u9").replace("\n", "\r\n").replace('{"index"', '{\r\ndata: "index"')
        with ScriptedServer(streams(text), END) as server, server.client().events(start_index="u8") as events:
            update = next(events)
            self.assertEqual((update.updated_index, update.payment.rail), ("u9", PAYMENT["rail"]))
            self.assertEqual(resumed_after(server), ["u8"])

    def test_is_not_opened_again_when_the_first_call_gets_an_error(self) -> None:
        with ScriptedServer(refuses(8, 503)) as server:
            with self.assertRaises(OverCapacityError):
                server.client().events()
            self.assertEqual(len(server.seen), 1)

    def test_stays_ended_after_an_error(self) -> None:
        with ScriptedServer(streams(event("u1")), END) as server:
            events = server.client().events()
            self.assertIsInstance(collect(events)[1], UnauthenticatedError)
            self.assertEqual(collect(events), ([], None))
            self.assertEqual(len(server.seen), 2)

    def test_ends_when_another_thread_closes_it_while_it_waits(self) -> None:
        waiting, gone = threading.Event(), threading.Event()
        read_line = Connection.read_line

        def told(connection: Connection, most_bytes: int, silence_secs: float) -> bytes:
            waiting.set()
            return read_line(connection, most_bytes, silence_secs)

        def stays_open(connection: socket.socket, seen: Seen) -> None:
            streams(event("u1"))(connection, seen)
            try:
                read_request(connection)
            except ConnectionError:
                gone.set()

        with ScriptedServer(stays_open) as server:
            events = server.client().events()
            self.assertEqual(next(events).updated_index, "u1")

            def close() -> None:
                waiting.wait()
                events.close()

            with unittest.mock.patch.object(Connection, "read_line", told):
                closer = threading.Thread(target=close)
                closer.start()
                self.assertEqual(collect(events), ([], None))
                closer.join()
            self.assertTrue(gone.wait(30))
            self.assertEqual(len(server.seen), 1)

    def test_ends_with_its_block(self) -> None:
        with ScriptedServer(streams(event("u1") + event("u2"))) as server:
            with server.client().events() as events:
                self.assertEqual(next(events).updated_index, "u1")
            self.assertEqual(collect(events), ([], None))


if __name__ == "__main__":
    unittest.main()
