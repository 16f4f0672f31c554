"""Amounts. Those of answers are satoshis as Decimal, which adds exactly; none is ever a float."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Union

#: An amount of a request, in satoshis: a Decimal or text with up to three decimals, or a whole number.
Sats = Union[Decimal, int, str]

_AMOUNT = re.compile(r"([0-9]{1,16})(?:\.([0-9]{1,3}))?")
_MSAT_PER_SAT = 1000
#: 21 million BTC.
_MAX_MSAT = 21_000_000 * 100_000_000 * _MSAT_PER_SAT
#: No amount has more digits before its point than this.
_MOST_DIGITS = 16


def to_msat(amount: Sats) -> int:
    """Returns an amount in millisatoshis. Raises TypeError for a float, and ValueError for what is no amount."""
    amount_msat = _msat_of(amount)
    if amount_msat is None or not 0 <= amount_msat <= _MAX_MSAT:
        raise ValueError(
            f"{amount} is not an amount: give satoshis with up to three decimals, such as '1000' or '0.5', "
            "at most 21 million BTC."
        )
    return amount_msat


def from_msat(amount_msat: int) -> Decimal:
    """Returns millisatoshis in satoshis. Raises ValueError for what is below zero or above 21 million BTC."""
    return Decimal(amount_text(amount_msat))


def amount_text(amount_msat: int) -> str:
    """Returns millisatoshis as satoshis in the form that the sidecar writes: no exponent, no trailing zeros."""
    if not 0 <= amount_msat <= _MAX_MSAT:
        raise ValueError(f"{amount_msat} msat are not an amount: it must be from 0 to 21 million BTC.")
    sats, rest = divmod(amount_msat, _MSAT_PER_SAT)
    return f"{sats}.{rest:03}".rstrip("0").rstrip(".") if rest else str(sats)


def _msat_of(amount: Sats) -> int | None:
    if isinstance(amount, Decimal):
        return _msat_of_decimal(amount)
    if isinstance(amount, str):
        match = _AMOUNT.fullmatch(amount)
        return None if match is None else int(match[1]) * _MSAT_PER_SAT + int((match[2] or "").ljust(3, "0"))
    if isinstance(amount, int) and not isinstance(amount, bool):
        return amount * _MSAT_PER_SAT
    raise TypeError(
        f"{amount!r} is a {type(amount).__name__}: give an amount as a Decimal, an int or a str, "
        "since a float would lose millisatoshis."
    )


def _msat_of_decimal(amount: Decimal) -> int | None:
    """Reads the digits themselves, since calculations round to the precision of the program's context."""
    sign, digits, exponent = amount.as_tuple()
    if not isinstance(exponent, int) or len(digits) + exponent > _MOST_DIGITS:
        return None
    whole = int("".join(map(str, digits)) or "0") * (-1 if sign else 1)
    if exponent >= -3:
        return int(whole * 10 ** (exponent + 3))
    amount_msat, rest = divmod(whole, 10 ** min(-exponent - 3, len(digits) + 1))
    return None if rest else int(amount_msat)
