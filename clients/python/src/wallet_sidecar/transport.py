"""Calls a sidecar, and repeats what is safe to repeat."""

from __future__ import annotations

import logging
import math
import re
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import unquote

from .answers import error_of, foreign_error, json_of
from .base_url import base_url_of
from .connection import Connection, Request, after_no_answer
from .decoding import DecodingError, decode
from .encoding import body_bytes, query_text
from .failure import WalletSidecarError
from .generated.version import VERSION
from .retry import retry_delay_secs

_log = logging.getLogger("wallet_sidecar")
#: The names in the header X-Ignored-Fields, a list of strings (RFC 9651) that are percent-encoded.
_IGNORED_NAME = re.compile(r'"((?:[^"%]|%[0-9A-F]{2})*)"')
#: The first character of a text that no header can carry, or the beginning of an empty one.
_NOT_IN_HEADER = re.compile(r"[^ -~]|\A\Z")
#: What a program calls the headers that it gives.
_GIVEN = {"idempotency-key": "idempotency_key", "last-event-id": "start_index"}


@dataclass(frozen=True)
class IgnoredFields:
    """Fields of a request that the sidecar does not know and has ignored."""

    method: str
    path: str
    #: Nested ones are paths such as ``disclosures.offer_issuer``.
    names: tuple[str, ...]


@dataclass(frozen=True)
class Call:
    """A call of a method: its request, and what it returns."""

    path: str
    request: Request
    #: The class of the answer; None where nothing is returned.
    answer: Any
    is_repeatable: bool
    limit_secs: float


class Answer(Protocol):
    """The head of an answer."""

    status: int

    def getheader(self, name: str) -> str | None:
        """Returns a header; None where it is missing."""


class Calls:
    """The calls of one sidecar, whatever sends them. It has no state of its own, so threads and tasks may share it."""

    def __init__(
        self,
        url: str,
        *,
        credentials: str | None,
        timeout: float,
        max_retries: int,
        on_ignored_fields: Callable[[IgnoredFields], None] | None,
        ssl_context: ssl.SSLContext | None,
    ) -> None:
        secret = (credentials or "").strip()
        self._url = base_url_of(url, sends_credentials=secret != "")
        self._headers = {"user-agent": f"wallet-sidecar-python/{VERSION}", "connection": "close"}
        if secret:
            self._headers["authorization"] = f"Bearer {_in_header('credentials', secret)}"
        self._timeout = timeout
        self._max_retries = max_retries
        self._on_ignored_fields = on_ignored_fields or _warn_of_ignored_fields
        self._ssl_context = ssl_context

    def _call(self, call: Call) -> Any:
        """Makes a call, repeats it where that is safe, and returns its answer, or what can be awaited for it."""
        raise NotImplementedError

    def get(
        self, path: str, query: Mapping[str, Any], answer: Any, *, timeout: float | None, waits_secs: float = 0
    ) -> Any:
        """Reads data. The call is repeated when no answer came."""
        # The sidecar counts the update in this answer as seen. A repeat would skip it if the answer was lost.
        is_repeatable = path != "/v2/node/wait_for_next_payment" or query.get("start_index") is not None
        request = Request("GET", path + query_text(query), {}, None)
        return self._call(Call(path, request, answer, is_repeatable, self._limit_secs(timeout, waits_secs)))

    def put(self, path: str, body: Mapping[str, Any], answer: Any, *, timeout: float | None) -> Any:
        """Makes a change that may be made twice. The call is repeated when no answer came."""
        return self._call(Call(path, _written("PUT", path, body, {}), answer, True, self._limit_secs(timeout, 0)))

    def post(
        self,
        path: str,
        body: Mapping[str, Any],
        answer: Any,
        *,
        timeout: float | None,
        idempotency_key: str | None = None,
        respond_after_secs: int | None = None,
        waits_secs: float = 0,
    ) -> Any:
        """Performs an action. With an idempotency key the call is repeated when no answer came."""
        headers = {}
        if idempotency_key is not None:
            headers["idempotency-key"] = idempotency_key
        if respond_after_secs is not None:
            headers["prefer"] = f"wait={respond_after_secs}"
        request = _written("POST", path, body, headers)
        is_repeatable = idempotency_key is not None
        return self._call(Call(path, request, answer, is_repeatable, self._limit_secs(timeout, waits_secs)))

    def _with_headers(self, request: Request) -> Request:
        for name, text in request.headers.items():
            _in_header(_GIVEN.get(name, name), text)
        return Request(request.method, request.target, {**self._headers, **request.headers}, request.body)

    def _tell_ignored(self, method: str, path: str, response: Answer) -> None:
        names = _ignored_names(response.getheader("x-ignored-fields") or "")
        if names:
            self._on_ignored_fields(IgnoredFields(method, path, names))

    def _limit_secs(self, timeout: float | None, waits_secs: float) -> float:
        return self._timeout + waits_secs if timeout is None else timeout


class Transport(Calls):
    """Calls one sidecar, and waits for its answers."""

    def open_stream(self, path: str, headers: Mapping[str, str]) -> Connection:
        """Opens a stream. It is never repeated here, because only the stream's reader knows where to resume."""
        connection = self._send(path, Request("GET", path, headers, None), time.monotonic() + self._timeout)
        if is_stream(connection.response):
            return connection
        with connection:
            raise failure_of("GET", connection.response, connection.read())

    def _call(self, call: Call) -> Any:
        attempts = Attempts(call, self._max_retries)
        while True:
            try:
                with self._send(call.path, call.request, attempts.deadline) as connection:
                    return result_of(call, connection.response, connection.read())
            except WalletSidecarError as error:
                delay_secs = attempts.delay_secs(error)
                if delay_secs is None:
                    raise
            time.sleep(delay_secs)

    def _send(self, path: str, request: Request, deadline: float) -> Connection:
        connection = Connection(self._url, self._with_headers(request), deadline, self._ssl_context)
        self._tell_ignored(request.method, path, connection.response)
        return connection


class Attempts:
    """The attempts of one call, which share its time."""

    def __init__(self, call: Call, max_retries: int) -> None:
        self.deadline = time.monotonic() + call.limit_secs
        self._call = call
        self._most = max_retries if call.is_repeatable else 0
        self._attempt = 0
        self._may_have_taken_effect = False

    def delay_secs(self, error: WalletSidecarError) -> float | None:
        """Returns the pause before the call is repeated; None where it is not.

        The error tells then whether any attempt may have taken effect, and whether the time for the call is over.
        """
        # Timers may fire a moment early.
        if error.kind == "unanswered" and time.monotonic() > self.deadline - 0.005:
            error.args = (_late_text(self._call),)
        if error.kind == "unreachable" and self._may_have_taken_effect:
            error.args = (f"{error} An earlier attempt was sent: {after_no_answer(self._call.request)}",)
        self._attempt += 1
        self._may_have_taken_effect = self._may_have_taken_effect or error.may_have_taken_effect
        error.may_have_taken_effect = self._may_have_taken_effect
        delay_secs = retry_delay_secs(error, self._attempt)
        if delay_secs is None or self._attempt > self._most or time.monotonic() + delay_secs >= self.deadline:
            return None
        return delay_secs


def result_of(call: Call, response: Answer, body: bytes) -> Any:
    """Returns what an answer says. Raises its error."""
    method = call.request.method
    if not 200 <= response.status < 300:
        raise failure_of(method, response, body)
    content = json_of(body)
    if not isinstance(content, dict):
        raise foreign_error(method, response.status, content)
    try:
        return None if call.answer is None else decode(call.answer, content)
    except DecodingError as error:
        raise foreign_error(method, response.status, content) from error


def failure_of(method: str, response: Answer, body: bytes) -> WalletSidecarError:
    """Returns the error of an answer."""
    retry_after = response.getheader("retry-after")
    return error_of(json_of(body), method=method, http_status=response.status, retry_after=retry_after)


def is_stream(response: Answer) -> bool:
    """Whether an answer is a stream of events."""
    return response.status == 200 and (response.getheader("content-type") or "").startswith("text/event-stream")


def waits(secs: float | None) -> float:
    """Returns the seconds that the sidecar itself waits before it answers; without a limit for None."""
    return math.inf if secs is None else secs


def _late_text(call: Call) -> str:
    unit = "second" if call.limit_secs == 1 else "seconds"
    return f"No answer within {call.limit_secs:g} {unit}: {after_no_answer(call.request)}"


def _written(method: str, path: str, body: Mapping[str, Any], headers: Mapping[str, str]) -> Request:
    return Request(method, path, {"content-type": "application/json", **headers}, body_bytes(body))


def _in_header(name: str, text: str) -> str:
    """Returns a text that goes into a header. Raises ValueError that names it, and does not show it, for another one."""
    wrong = _NOT_IN_HEADER.search(text)
    if wrong is None:
        return text
    raise ValueError(
        f"{name} must be one or more printable ASCII characters, and its character {wrong.start() + 1} is none. "
        "Nothing was sent."
    )


def _ignored_names(header: str) -> tuple[str, ...]:
    return tuple(unquote(name) for name in _IGNORED_NAME.findall(header))


def _warn_of_ignored_fields(ignored: IgnoredFields) -> None:
    names = ", ".join(ignored.names)
    _log.warning(
        "The wallet-sidecar does not know these fields of %s %s and ignored them: %s.",
        ignored.method,
        ignored.path,
        names,
    )
