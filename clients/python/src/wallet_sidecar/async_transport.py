"""Calls a sidecar from asyncio, and repeats what is safe to repeat."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any

from .async_connection import AsyncConnection
from .connection import Request
from .failure import WalletSidecarError
from .transport import Attempts, Call, Calls, failure_of, is_stream, result_of


class AsyncTransport(Calls):
    """Calls one sidecar. A canceled call closes its connection."""

    async def open_stream(self, path: str, headers: Mapping[str, str]) -> AsyncConnection:
        """Opens a stream. It is never repeated here, because only the stream's reader knows where to resume."""
        deadline = time.monotonic() + self._timeout
        connection = await self._send(path, Request("GET", path, headers, None), deadline)
        if is_stream(connection.response):
            return connection
        try:
            raise failure_of("GET", connection.response, await connection.read(deadline))
        finally:
            connection.close()

    async def _call(self, call: Call) -> Any:
        attempts = Attempts(call, self._max_retries)
        while True:
            try:
                connection = await self._send(call.path, call.request, attempts.deadline)
                try:
                    body = await connection.read(attempts.deadline)
                finally:
                    connection.close()
                return result_of(call, connection.response, body)
            except WalletSidecarError as error:
                delay_secs = attempts.delay_secs(error)
                if delay_secs is None:
                    raise
            await asyncio.sleep(delay_secs)

    async def _send(self, path: str, request: Request, deadline: float) -> AsyncConnection:
        connection = await AsyncConnection.open(self._url, self._with_headers(request), deadline, self._ssl_context)
        self._tell_ignored(request.method, path, connection.response)
        return connection
