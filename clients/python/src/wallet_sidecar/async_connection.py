"""One request over HTTP, for asyncio. The head of request and answer is written and read by http.client."""

from __future__ import annotations

import asyncio
import http.client
import io
import ssl
from collections.abc import Awaitable
from typing import Any, TypeVar

from .base_url import BaseUrl
from .connection import Request, http_connection, keep_alive, left_secs, no_answer
from .failure import NoAnswerError

_T = TypeVar("_T")
#: The longest head of an answer.
_MOST_HEAD_BYTES = 65_536
_MOST_PIECE_BYTES = 65_536
#: How a connection fails. Python 3.10 has a TimeoutError of asyncio's own, which is no OSError.
_BROKEN = (OSError, EOFError, ValueError, asyncio.TimeoutError, asyncio.LimitOverrunError, http.client.HTTPException)


class AsyncConnection:
    """A connection that carries one request. Every way in which no answer comes is a NoAnswerError.

    A task that waits for it can be canceled at any time, and what it has read is not lost.
    """

    response: http.client.HTTPResponse

    def __init__(
        self, url: BaseUrl, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._url = url
        self._request = request
        self._reader = reader
        self._writer = writer
        #: What is left of the body, or of its present chunk; None where the body lasts until the connection ends.
        self._left_bytes: int | None = 0
        self._is_over = False
        self._unread = b""

    @classmethod
    async def open(
        cls, url: BaseUrl, request: Request, deadline: float, context: ssl.SSLContext | None
    ) -> AsyncConnection:
        """Sends a request. Returns when the head of its answer is there."""
        http_1 = http_connection(url, context)
        head = _written(http_1, url, request)
        tls = (context or ssl.create_default_context()) if url.is_https else None
        try:
            opening = asyncio.open_connection(url.host, http_1.port, ssl=tls, limit=_MOST_HEAD_BYTES)
            reader, writer = await _by(deadline, opening)
        except _BROKEN as error:
            raise no_answer(url, request, was_connected=False) from error
        connection = cls(url, request, reader, writer)
        try:
            await _by(deadline, connection._exchange(head))
        except _BROKEN as error:
            connection.close()
            raise connection.no_answer() from error
        except BaseException:
            connection.close()
            raise
        return connection

    async def read(self, deadline: float) -> bytes:
        """Returns the whole body of the answer."""
        try:
            return await _by(deadline, self._rest())
        except _BROKEN as error:
            raise self.no_answer() from error

    async def read_line(self, most_bytes: int, silence_secs: float) -> bytes:
        """Returns the next line of the answer. Raises NoAnswerError when it has ended, broken or fallen silent."""
        try:
            while b"\n" not in self._unread:
                piece = await asyncio.wait_for(self._piece(), silence_secs)
                self._unread += piece
                if not piece or len(self._unread) > most_bytes:
                    raise self.no_answer()
        except _BROKEN as error:
            raise self.no_answer() from error
        line, _, self._unread = self._unread.partition(b"\n")
        return line + b"\n"

    def close(self) -> None:
        """Closes the connection, also while a task reads from it."""
        self._writer.transport.abort()

    def no_answer(self) -> NoAnswerError:
        """Returns the error of a request that got no answer."""
        return no_answer(self._url, self._request, was_connected=True)

    async def _exchange(self, head: bytes) -> None:
        keep_alive(self._writer.get_extra_info("socket"))
        self._writer.write(head)
        await self._writer.drain()
        text = await self._reader.readuntil(b"\r\n\r\n")
        while text.startswith((b"HTTP/1.1 100", b"HTTP/1.1 103")):
            text = await self._reader.readuntil(b"\r\n\r\n")
        given: Any = _Given(text)
        self.response = http.client.HTTPResponse(given, method=self._request.method)
        self.response.begin()
        self._left_bytes = 0 if self.response.chunked else self.response.length

    async def _rest(self) -> bytes:
        pieces = []
        while piece := await self._piece():
            pieces.append(piece)
        return b"".join(pieces)

    async def _piece(self) -> bytes:
        """Returns the next piece of the body; nothing at its end.

        After each await what was read is counted at once, so that a canceled task leaves all as it was.
        """
        while self._left_bytes == 0 and self.response.chunked and not self._is_over:
            # After a chunk comes an empty line.
            if size := (await self._reader.readuntil(b"\r\n")).partition(b";")[0].strip():
                self._left_bytes = int(size, 16)
                self._is_over = self._left_bytes == 0
        if self._left_bytes == 0:
            return b""
        if self._left_bytes is None:
            return await self._reader.read(_MOST_PIECE_BYTES)
        piece = await self._reader.read(min(self._left_bytes, _MOST_PIECE_BYTES))
        if not piece:
            raise EOFError("The answer broke off.")
        self._left_bytes -= len(piece)
        return piece


class _Given:
    """Stands for a socket: it keeps what http.client writes, and gives it a head to read."""

    def __init__(self, head: bytes = b"") -> None:
        self.written = bytearray()
        self._head = head

    def sendall(self, data: bytes) -> None:
        self.written += data

    def makefile(self, _mode: str) -> io.BytesIO:
        return io.BytesIO(self._head)


def _written(http_1: Any, url: BaseUrl, request: Request) -> bytes:
    """Returns the bytes of a request. Raises ValueError for what breaks a header."""
    http_1.sock = _Given()
    http_1.request(request.method, url.path + request.target, body=request.body, headers=dict(request.headers))
    return bytes(http_1.sock.written)


async def _by(deadline: float, work: Awaitable[_T]) -> _T:
    return await asyncio.wait_for(work, left_secs(deadline))
