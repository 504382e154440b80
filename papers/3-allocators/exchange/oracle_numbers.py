# SPDX-License-Identifier: Apache-2.0
"""The numbers of the oracle: text to exact fractions and back."""

import fractions
import re

QUANTITY = re.compile(r"[0-9]+")
PRICE = re.compile(r"([0-9]+)(\.[0-9]{1,4})?")


def decimal(value):
    """The shortest decimal of a number of whole ten-thousandths."""
    scaled = fractions.Fraction(value) * 10_000
    assert scaled.denominator == 1
    sign = "-" if scaled < 0 else ""
    whole, part = divmod(abs(scaled.numerator), 10_000)
    return sign + (f"{whole}.{part:04}".rstrip("0") if part else str(whole))


def average(money, quantity):
    """To the nearest ten-thousandth, half up."""
    if not quantity:
        return "0"
    exact = fractions.Fraction(money) / quantity * 10_000
    return decimal(fractions.Fraction((exact + fractions.Fraction(1, 2)) // 1, 10_000))


def quantity_of(text):
    """From 1 to a million, or None."""
    good = QUANTITY.fullmatch(text or "") and 1 <= int(text) <= 1_000_000
    return int(text) if good else None


def price_of(text):
    """Above 0, at most 100,000, 4 decimals at most, or None."""
    good = PRICE.fullmatch(text or "") and 0 < fractions.Fraction(text) <= 100_000
    return fractions.Fraction(text) if good else None
