"""The stream of payment updates."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType

from .answers import error_of, foreign_error, json_of
from .connection import Connection
from .decoding import DecodingError, decode
from .event_stream import EventReader, StreamEvent
from .failure import WalletSidecarError
from .generated.types import Payment
from .retry import retry_delay_secs
from .transport import Transport

EVENTS_PATH = "/v2/node/events"
#: The sidecar writes at least every 15 seconds, so a stream that is silent for three times as long is dead.
SILENCE_SECS = 45.0
#: The longest line of a stream. A payment is far smaller.
MOST_LINE_BYTES = 4_194_304


@dataclass(frozen=True)
class PaymentEvent:
    """A payment that has changed."""

    payment: Payment
    #: The position of this update. Store it when you have processed the payment, and pass it as ``start_index`` to
    #: continue after it.
    updated_index: str


class Progress:
    """Where a reader of the stream stands, over all connections."""

    def __init__(self, start_index: str | None) -> None:
        self._last_event_id = start_index or ""
        self._attempt = 0

    def headers(self) -> Mapping[str, str]:
        """Returns the headers with which the stream goes on."""
        return {"last-event-id": self._last_event_id} if self._last_event_id else {}

    def taken(self, event: StreamEvent) -> PaymentEvent | None:
        """Takes an event. Returns its update; raises the error with which the sidecar ends a stream."""
        if event.event == "end":
            raise error_of(json_of(event.data.encode()), method="GET", http_status=None, retry_after=None)
        self._last_event_id = event.last_event_id or self._last_event_id
        self._attempt = 0
        return PaymentEvent(_payment_of(event), event.last_event_id) if event.event == "payment" else None

    def delay_secs(self, error: WalletSidecarError) -> float | None:
        """Returns the pause before the stream is opened again; None where that cannot help."""
        self._attempt += 1
        return retry_delay_secs(error, self._attempt)


class PaymentEvents(Iterator[PaymentEvent]):
    """The updates of all payments without gaps, from the moment it was made; it never ends by itself.

    When the stream breaks, it is opened again after the last update. Iteration raises when the credentials end, and
    stops after ``close``, which any thread may call.
    """

    def __init__(self, transport: Transport, start_index: str | None) -> None:
        self._transport = transport
        self._progress = Progress(start_index)
        self._closed = threading.Event()
        self._open()

    def __enter__(self) -> PaymentEvents:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        self._connection.close()

    def __next__(self) -> PaymentEvent:
        while not self._closed.is_set():
            try:
                event = self._reader.feed(self._connection.read_line(MOST_LINE_BYTES, SILENCE_SECS))
                update = None if event is None else self._progress.taken(event)
                if update is not None:
                    return update
            except WalletSidecarError as error:
                self._go_on_after(error)
        self._connection.close()
        raise StopIteration

    def close(self) -> None:
        """Ends the stream, also while another thread waits for its next update."""
        self._closed.set()
        self._connection.interrupt()

    def _open(self) -> None:
        self._connection: Connection = self._transport.open_stream(EVENTS_PATH, self._progress.headers())
        self._reader = EventReader()

    def _go_on_after(self, error: WalletSidecarError) -> None:
        """Opens the stream again. Raises where that cannot help."""
        self._connection.close()
        while not self._closed.is_set():
            delay_secs = self._progress.delay_secs(error)
            if delay_secs is None:
                self._closed.set()
                raise error
            if self._closed.wait(delay_secs):
                return
            try:
                self._open()
            except WalletSidecarError as next_error:
                error = next_error
                continue
            # A stream that was opened meanwhile must end too.
            if self._closed.is_set():
                self._connection.interrupt()
            return


def _payment_of(event: StreamEvent) -> Payment:
    body = json_of(event.data.encode())
    try:
        payment: Payment = decode(Payment, body)
        return payment
    except DecodingError as error:
        raise foreign_error("GET", None, body) from error
