"""The stream of payment updates, for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from types import TracebackType

from .async_connection import AsyncConnection
from .async_transport import AsyncTransport
from .event_stream import EventReader
from .failure import WalletSidecarError
from .payment_events import EVENTS_PATH, MOST_LINE_BYTES, SILENCE_SECS, PaymentEvent, Progress


class AsyncPaymentEvents(AsyncIterator[PaymentEvent]):
    """The updates of all payments without gaps; it never ends by itself.

    ``async with`` opens the stream, so that nothing is missed from there on; without it the first step of the iteration
    does. When the stream breaks, it is opened again after the last update. Iteration raises when the credentials end,
    and stops after ``close``. A canceled step loses no update: the next one goes on.
    """

    def __init__(self, transport: AsyncTransport, start_index: str | None) -> None:
        self._transport = transport
        self._progress = Progress(start_index)
        self._connection: AsyncConnection | None = None
        self._was_opened = False
        self._closed = False

    async def __aenter__(self) -> AsyncPaymentEvents:
        await self._opened()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __anext__(self) -> PaymentEvent:
        while not self._closed:
            try:
                connection = await self._opened()
                event = self._reader.feed(await connection.read_line(MOST_LINE_BYTES, SILENCE_SECS))
                update = None if event is None else self._progress.taken(event)
                if update is not None:
                    return update
            except WalletSidecarError as error:
                await self._go_on_after(error)
        raise StopAsyncIteration

    def close(self) -> None:
        """Ends the stream, also while a task waits for its next update."""
        self._closed = True
        self._drop()

    async def _opened(self) -> AsyncConnection:
        if self._connection is None:
            connection = await self._transport.open_stream(EVENTS_PATH, self._progress.headers())
            self._connection, self._reader, self._was_opened = connection, EventReader(), True
            # A stream that was opened meanwhile must end too.
            if self._closed:
                self._drop()
            return connection
        return self._connection

    async def _go_on_after(self, error: WalletSidecarError) -> None:
        """Waits until the stream can be opened again. Raises where that cannot help."""
        self._drop()
        if self._closed:
            return
        delay_secs = self._progress.delay_secs(error) if self._was_opened else None
        if delay_secs is None:
            self._closed = True
            raise error
        await asyncio.sleep(delay_secs)

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None
