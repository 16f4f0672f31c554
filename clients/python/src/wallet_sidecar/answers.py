"""What the answer to a call means."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from .decoding import DecodingError, decode
from .failure import NoAnswerError, WalletSidecarError
from .generated.errors import ERRORS_BY_CODE

_NOT_IMPLEMENTED = 501
_MOST_RETRY_DIGITS = 9


def json_of(text: bytes) -> Any:
    """Returns the JSON of an answer, in which no number becomes a float; None for what is not JSON."""
    try:
        return json.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError):
        return None


def error_of(body: Any, *, method: str, http_status: int | None, retry_after: str | None) -> WalletSidecarError:
    """Returns the error that the body of an answer describes."""
    if not _is_error_body(body):
        return foreign_error(method, http_status, body)
    code, data = body["code"], body.get("data")
    error_class, data_class = ERRORS_BY_CODE.get(code, (WalletSidecarError, None))
    return error_class(
        body["msg"],
        code=code,
        http_status=http_status,
        data=_details(data_class, data),
        body=body,
        retry_after_secs=_seconds(retry_after),
        may_have_taken_effect=method != "GET" and _leaves_open(data, http_status or 0),
    )


def foreign_error(method: str, http_status: int | None, body: Any) -> NoAnswerError:
    """Returns the error of an answer that is none of this API."""
    return NoAnswerError(
        "The answer did not come from a wallet-sidecar of this version: check the url.",
        kind="foreign",
        http_status=http_status,
        body=body,
        may_have_taken_effect=method != "GET",
    )


def _is_error_body(body: Any) -> bool:
    return isinstance(body, dict) and type(body.get("code")) is int and isinstance(body.get("msg"), str)


def _details(data_class: Any, data: Any) -> object:
    """Returns the details as an object; None where there are none that can be read."""
    if data_class is None or data is None:
        return None
    try:
        return decode(data_class, data)
    except DecodingError:
        return None


def _seconds(retry_after: str | None) -> int | None:
    text = retry_after or ""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_RETRY_DIGITS else None


def _leaves_open(data: Any, http_status: int) -> bool:
    """Whether an error answer leaves open if the request took effect.

    The sidecar's ``data.sent`` decides; without it every status from 500 on leaves it open, except 501.
    """
    sent = data.get("sent") if isinstance(data, dict) else None
    if isinstance(sent, str):
        return sent != "no"
    return http_status >= 500 and http_status != _NOT_IMPLEMENTED
