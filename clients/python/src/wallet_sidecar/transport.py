"""Calls a sidecar, and repeats what is safe to repeat."""

from __future__ import annotations

import logging
import math
import re
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from .answers import error_of, foreign_error, json_of
from .base_url import base_url_of
from .connection import Connection, Request
from .decoding import DecodingError, decode
from .encoding import body_bytes, query_text
from .failure import WalletSidecarError
from .generated.version import VERSION
from .retry import retry_delay_secs

_log = logging.getLogger("wallet_sidecar")
#: The names in the header X-Ignored-Fields, a list of strings (RFC 9651) that are percent-encoded.
_IGNORED_NAME = re.compile(r'"((?:[^"%]|%[0-9A-F]{2})*)"')


@dataclass(frozen=True)
class IgnoredFields:
    """Fields of a request that the sidecar does not know and has ignored."""

    method: str
    path: str
    #: Nested ones are paths such as ``disclosures.offer_issuer``.
    names: tuple[str, ...]


class Transport:
    """Calls one sidecar. It has no state of its own, so threads may share it."""

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
            self._headers["authorization"] = f"Bearer {secret}"
        self._timeout = timeout
        self._max_retries = max_retries
        self._on_ignored_fields = on_ignored_fields or _warn_of_ignored_fields
        self._ssl_context = ssl_context

    def get(
        self, path: str, query: Mapping[str, Any], answer: Any, *, timeout: float | None, waits_secs: float = 0
    ) -> Any:
        """Reads data. The call is repeated when no answer came."""
        # The sidecar counts the update in this answer as seen. A repeat would skip it if the answer was lost.
        is_repeatable = path != "/v2/node/wait_for_next_payment" or query.get("start_index") is not None
        request = Request("GET", path + query_text(query), {}, None)
        return self._call(path, request, answer, is_repeatable, self._limit_secs(timeout, waits_secs))

    def put(self, path: str, body: Mapping[str, Any], answer: Any, *, timeout: float | None) -> Any:
        """Makes a change that may be made twice. The call is repeated when no answer came."""
        return self._call(path, _written("PUT", path, body, {}), answer, True, self._limit_secs(timeout, 0))

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
        limit_secs = self._limit_secs(timeout, waits_secs)
        return self._call(path, _written("POST", path, body, headers), answer, idempotency_key is not None, limit_secs)

    def open_stream(self, path: str, headers: Mapping[str, str]) -> Connection:
        """Opens a stream. It is never repeated here, because only the stream's reader knows where to resume."""
        request = Request("GET", path, headers, None)
        deadline = time.monotonic() + self._timeout
        connection = self._send(path, request, deadline)
        response = connection.response
        if response.status == 200 and (response.getheader("content-type") or "").startswith("text/event-stream"):
            return connection
        with connection:
            raise self._failure(connection, request)

    def _call(self, path: str, request: Request, answer: Any, is_repeatable: bool, limit_secs: float) -> Any:
        deadline = time.monotonic() + limit_secs
        may_have_taken_effect = False
        attempt = 0
        while True:
            attempt += 1
            try:
                return self._once(path, request, answer, deadline)
            except WalletSidecarError as error:
                delay_secs = retry_delay_secs(error, attempt)
                may_have_taken_effect = may_have_taken_effect or error.may_have_taken_effect
                error.may_have_taken_effect = may_have_taken_effect
                if not is_repeatable or delay_secs is None or attempt > self._max_retries:
                    raise
                if time.monotonic() + delay_secs >= deadline:
                    raise
            time.sleep(delay_secs)

    def _once(self, path: str, request: Request, answer: Any, deadline: float) -> Any:
        with self._send(path, request, deadline) as connection:
            status = connection.response.status
            if not 200 <= status < 300:
                raise self._failure(connection, request)
            body = json_of(connection.read())
            if not isinstance(body, dict):
                raise foreign_error(request.method, status, body)
            try:
                return None if answer is None else decode(answer, body)
            except DecodingError as error:
                raise foreign_error(request.method, status, body) from error

    def _send(self, path: str, request: Request, deadline: float) -> Connection:
        sent = Request(request.method, request.target, {**self._headers, **request.headers}, request.body)
        connection = Connection(self._url, sent, deadline, self._ssl_context)
        names = _ignored_names(connection.response.getheader("x-ignored-fields") or "")
        if names:
            self._on_ignored_fields(IgnoredFields(request.method, path, names))
        return connection

    def _failure(self, connection: Connection, request: Request) -> WalletSidecarError:
        response = connection.response
        return error_of(
            json_of(connection.read()),
            method=request.method,
            http_status=response.status,
            retry_after=response.getheader("retry-after"),
        )

    def _limit_secs(self, timeout: float | None, waits_secs: float) -> float:
        return self._timeout + waits_secs if timeout is None else timeout


def waits(secs: float | None) -> float:
    """Returns the seconds that the sidecar itself waits before it answers; without a limit for None."""
    return math.inf if secs is None else secs


def _written(method: str, path: str, body: Mapping[str, Any], headers: Mapping[str, str]) -> Request:
    return Request(method, path, {"content-type": "application/json", **headers}, body_bytes(body))


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
