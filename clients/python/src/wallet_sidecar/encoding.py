"""Writes requests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from .amounts import amount_text, to_msat

_NULL = object()


def or_null(value: Any) -> Any:
    """Returns a member of a body that is sent as null where it is None; every other one is left out."""
    return _NULL if value is None else value


def query_text(query: Mapping[str, Any]) -> str:
    """Returns query parameters with their question mark; those that are None are left out."""
    given = {name: _query_value(name, value) for name, value in query.items() if value is not None}
    return f"?{urlencode(given)}" if given else ""


def body_bytes(body: Mapping[str, Any]) -> bytes:
    """Returns a body as JSON; members that are None are left out. Raises TypeError for a float."""
    return json.dumps(_json_value("body", body), ensure_ascii=False).encode()


def _query_value(name: str, value: Any) -> Any:
    plain = _json_value(name, value)
    return str(plain).lower() if isinstance(plain, bool) else plain


def _json_value(name: str, value: Any) -> Any:
    if value is _NULL:
        return None
    if isinstance(value, Decimal):
        try:
            return amount_text(to_msat(value))
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    if isinstance(value, float):
        raise TypeError(
            f"{name} is {value!r}, and a float would lose millisatoshis: give a Decimal, an int or a str."
        )
    if is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        return {name: _json_value(name, member) for name, member in value.items() if member is not None}
    if isinstance(value, (list, tuple)):
        return [_json_value(name, item) for item in value]
    return value
