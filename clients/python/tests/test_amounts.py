"""Amounts are exact, and never floats (decision 20)."""

from __future__ import annotations

import re
import unittest
from decimal import Decimal, localcontext
from typing import Any

from wallet_sidecar import Sats, from_msat, to_msat

MAX_MSAT = 2_100_000_000_000_000_000


class ToMsat(unittest.TestCase):
    def test_reads_text_whole_numbers_and_decimals(self) -> None:
        cases: list[tuple[Sats, int]] = [
            ("0", 0),
            ("0.001", 1),
            ("0.5", 500),
            ("1000.010", 1_000_010),
            ("2100000000000000", MAX_MSAT),
            (7, 7000),
            (Decimal("0.5"), 500),
            (Decimal("1E+3"), 1_000_000),
            (Decimal("1.5000000"), 1500),
            (Decimal("-0"), 0),
        ]
        for amount, expected in cases:
            with self.subTest(amount=amount):
                self.assertEqual(to_msat(amount), expected)

    def test_rejects_what_is_no_amount(self) -> None:
        texts: list[Any] = ["", "-1", "+1", "1.", ".5", "1.0001", "1e3", " 1", "1,5", "１", "2100000000000000.001"]
        numbers: list[Any] = [-1, MAX_MSAT]
        decimals = ["0.0001", "-1", "NaN", "Infinity", "1E+999999", "1E-999999", "1.00000000000000000000000000000001"]
        for amount in [*texts, *numbers, *map(Decimal, decimals)]:
            named = f"^{re.escape(str(amount))} is not an amount"
            with self.subTest(amount=amount), self.assertRaisesRegex(ValueError, named):
                to_msat(amount)

    def test_rejects_floats_and_what_only_looks_like_a_number(self) -> None:
        values: list[Any] = [0.5, 1.0, True, None, b"1"]
        for value in values:
            named = f"^{re.escape(repr(value))} is a {type(value).__name__}: give an amount as"
            with self.subTest(value=value), self.assertRaisesRegex(TypeError, named):
                to_msat(value)

    def test_does_not_round_to_the_precision_of_the_program(self) -> None:
        with localcontext() as context:
            context.prec = 3
            self.assertEqual(to_msat(Decimal("2099999999999999.999")), MAX_MSAT - 1)
            self.assertEqual(to_msat(from_msat(MAX_MSAT - 1)), MAX_MSAT - 1)


class FromMsat(unittest.TestCase):
    def test_is_read_again_by_to_msat(self) -> None:
        for amount_msat, text in [(0, "0"), (1, "0.001"), (500, "0.5"), (1000, "1"), (1_010, "1.01"), (10**5, "100")]:
            self.assertEqual(str(from_msat(amount_msat)), text)
            self.assertEqual(to_msat(from_msat(amount_msat)), amount_msat)

    def test_rejects_what_is_no_amount(self) -> None:
        for amount_msat in [-1, MAX_MSAT + 1]:
            with self.assertRaisesRegex(ValueError, f"^{amount_msat} msat are not an amount"):
                from_msat(amount_msat)


if __name__ == "__main__":
    unittest.main()
