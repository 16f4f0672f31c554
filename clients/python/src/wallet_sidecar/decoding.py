"""Makes objects of JSON, by the types of their fields."""

from __future__ import annotations

import functools
import re
import types
from collections.abc import Mapping
from dataclasses import is_dataclass
from decimal import Decimal
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

_AMOUNT = re.compile(r"[0-9]{1,16}(\.[0-9]{1,3})?")
_PLAIN: tuple[Any, ...] = (str, int, bool)


class DecodingError(ValueError):
    """The JSON does not have the form that was asked for."""


class _UnknownChoice(DecodingError):
    """The JSON is of a kind that this version does not know."""


def decode(form: Any, value: Any) -> Any:
    """Returns JSON as an object of a type. Raises DecodingError.

    Unknown fields and unknown words of an enumeration are accepted, since a later version of the sidecar may have more.
    """
    origin = get_origin(form)
    if form is Decimal:
        return _amount(value)
    if form in _PLAIN:
        return _plain(form, value)
    if form is Any:
        return value
    if origin is Literal:
        return _plain(type(get_args(form)[0]), value)
    if origin in (Union, types.UnionType):
        return _choice(get_args(form), value)
    if origin is tuple:
        return _items(get_args(form)[0], value)
    if origin is Mapping:
        return _members(get_args(form)[1], value)
    if isinstance(form, type) and is_dataclass(form):
        return _object(form, value)
    raise TypeError(f"nothing decodes {form}")


def _amount(value: Any) -> Decimal:
    if isinstance(value, str) and _AMOUNT.fullmatch(value):
        return Decimal(value)
    raise DecodingError("an amount is not decimal text")


def _plain(form: type, value: Any) -> Any:
    # In Python a bool is an int, in JSON it is not.
    if type(value) is form:
        return value
    raise DecodingError(f"a value is not of the type {form.__name__}")


def _choice(forms: tuple[Any, ...], value: Any) -> Any:
    """Decodes one of several forms: None, or the class whose constant fields fit."""
    if value is None and type(None) in forms:
        return None
    others = [form for form in forms if form is not type(None)]
    if len(others) == 1:
        return decode(others[0], value)
    # Literals are plain values, and classes are told apart by their constants.
    for form in others:
        if not (isinstance(form, type) and is_dataclass(form)):
            return decode(form, value)
        if isinstance(value, dict) and all(value.get(name) == it for name, it in _constants(form).items()):
            return decode(form, value)
    raise _UnknownChoice("a value is of a kind that this version does not know")


def _items(form: Any, value: Any) -> tuple[Any, ...]:
    """Decodes a list. Items of kinds that this version does not know are left out."""
    if not isinstance(value, list):
        raise DecodingError("a value is not a list")
    items = []
    for item in value:
        try:
            items.append(decode(form, item))
        except _UnknownChoice:
            continue
    return tuple(items)


def _members(form: Any, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise DecodingError("a value is not an object")
    return {name: decode(form, member) for name, member in value.items()}


def _object(form: type, value: Any) -> Any:
    if not isinstance(value, dict):
        raise DecodingError("a value is not an object")
    # A field that is missing is None, where None is allowed.
    return form(**{name: decode(type_, value.get(name)) for name, type_ in _fields(form).items()})


@functools.cache
def _fields(form: type) -> Mapping[str, Any]:
    return get_type_hints(form)


@functools.cache
def _constants(form: type) -> Mapping[str, Any]:
    """The fields of a class that have one possible value."""
    return {
        name: get_args(type_)[0]
        for name, type_ in _fields(form).items()
        if get_origin(type_) is Literal and len(get_args(type_)) == 1
    }
