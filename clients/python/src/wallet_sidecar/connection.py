"""One request over HTTP."""

from __future__ import annotations

import http.client
import math
import socket
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType

from .base_url import BaseUrl
from .failure import NoAnswerError

#: Seconds of silence after which the system asks whether the other side is still there.
_KEEPALIVE_SECS = 30


@dataclass(frozen=True)
class Request:
    """What is sent. ``target`` is path and query, below the path of the base URL."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes | None


class Connection:
    """A connection that carries one request. Every way in which no answer comes is a NoAnswerError."""

    def __init__(self, url: BaseUrl, request: Request, deadline: float, context: ssl.SSLContext | None) -> None:
        self._url = url
        self._request = request
        self._deadline = deadline
        self._http = http_connection(url, context)
        try:
            self._http.timeout = self._left_secs()
            self._http.connect()
        except (OSError, http.client.HTTPException) as error:
            self._http.close()
            raise self.no_answer(was_connected=False) from error
        self._socket: socket.socket = self._http.sock
        try:
            keep_alive(self._socket)
            self.response = self._answer()
        except (OSError, http.client.HTTPException) as error:
            self._http.close()
            raise self.no_answer() from error
        except BaseException:
            self._http.close()
            raise

    def __enter__(self) -> Connection:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _answer(self) -> http.client.HTTPResponse:
        request = self._request
        target = self._url.path + request.target
        self._http.request(request.method, target, body=request.body, headers=dict(request.headers))
        self._socket.settimeout(self._left_secs())
        # Nothing is followed here: a redirect could send the credentials to another server.
        return self._http.getresponse()

    def read(self) -> bytes:
        """Returns the whole body of the answer."""
        try:
            self._socket.settimeout(self._left_secs())
            return self.response.read()
        except (OSError, http.client.HTTPException) as error:
            raise self.no_answer() from error

    def read_line(self, most_bytes: int, silence_secs: float) -> bytes:
        """Returns the next line of the answer. Raises NoAnswerError when it has ended, broken or fallen silent."""
        try:
            self._socket.settimeout(silence_secs)
            line = self.response.readline(most_bytes)
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise self.no_answer() from error
        if not line.endswith(b"\n"):
            raise self.no_answer()
        return line

    def interrupt(self) -> None:
        """Ends the reading of another thread."""
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            # It is closed already.
            pass

    def close(self) -> None:
        """Closes the connection."""
        self.response.close()
        self._http.close()

    def no_answer(self, *, was_connected: bool = True) -> NoAnswerError:
        """Returns the error of a request that got no answer."""
        return no_answer(self._url, self._request, was_connected=was_connected)

    def _left_secs(self) -> float | None:
        return left_secs(self._deadline)


def no_answer(url: BaseUrl, request: Request, *, was_connected: bool) -> NoAnswerError:
    """Returns the error of a request that got no answer."""
    return NoAnswerError(
        f"The connection to the sidecar at {url} ended without an answer: {after_no_answer(request)}"
        if was_connected
        else f"No sidecar answered at {url}: check that it runs, and check the url.",
        kind="unanswered" if was_connected else "unreachable",
        may_have_taken_effect=was_connected and request.method != "GET",
    )


def after_no_answer(request: Request) -> str:
    """Says what to do after a request that was sent and got no answer. A POST without a key must not be repeated."""
    if request.method != "POST":
        return "call again."
    if "idempotency-key" in request.headers:
        return "it may have taken effect, and a payment may be on its way. Repeat the call with the same key."
    return "it may have taken effect, and a payment may be on its way. Look what became of it before you try anew."


def left_secs(deadline: float) -> float | None:
    """Returns the seconds that are left; None for no limit. Raises TimeoutError where none are."""
    if deadline == math.inf:
        return None
    secs = deadline - time.monotonic()
    if secs > 0:
        return secs
    raise TimeoutError("The time for the call is over.")


def http_connection(url: BaseUrl, context: ssl.SSLContext | None) -> http.client.HTTPConnection:
    if not url.is_https:
        return http.client.HTTPConnection(url.host, url.port)
    return http.client.HTTPSConnection(url.host, url.port, context=context or ssl.create_default_context())


def keep_alive(connected: socket.socket) -> None:
    """Lets the system notice a machine that has gone while a call waits without a limit."""
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    idle = getattr(socket, "TCP_KEEPIDLE", None)
    if idle is not None:
        connected.setsockopt(socket.IPPROTO_TCP, idle, _KEEPALIVE_SECS)
