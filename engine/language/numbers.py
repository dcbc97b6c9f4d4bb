"""Numbers as they are read on screen: few digits, a real minus, units.

"At most" numbers are rounded up and "at least" down, so that rounding never makes a sentence
false.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

_NARROW, _UNBROKEN = "\u202f", "\u00a0"
# Before a percent sign or a word as short as units are, after a sign, before the "=" of a symbol.
_KEPT = re.compile(
    r"(?<=\d\*\*) (?=%)|(?<=\d) (?=%|[^\W\d_]{1,7}\b)|(?<=[=±≤≥>]) (?=[\d−])"
    r"|(?<=\b[εδnm]) (?==)"
)
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def exactly(value: float) -> str:
    """Write a number as short as it can be read back, for links and files.

    Examples
    --------
    >>> [exactly(value) for value in (2.0, 0.1, 1e-7, 999999.9999999999)]
    ['2', '0.1', '1e-07', '999999.9999999999']
    """
    short = f"{value:.15g}"
    return short if float(short) == value else repr(float(value))


def number(value: float, digits: int = 3, is_padded: bool = False) -> str:
    """Write at most three significant digits, a real minus, thin spaces from a thousand on.

    Infinite is "unlimited". If padded, zeros at the end stay below 1, too: a number that follows a
    slider keeps its width.

    Examples
    --------
    >>> number(1.5324), number(-0.04), number(9.996), number(0.54, is_padded=True)
    ('1.53', '−0.04', '10.0', '0.540')
    """
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else "unlimited"
    value = float(f"{value:.{digits}g}")  # 9.996 is 10.0 and 12 345 is 12 300
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{min(decimals, 6)}f}"
    is_stripped = decimals > 2 and not is_padded
    return _signs(text.rstrip("0").rstrip(".") if is_stripped else text)


def together(values: Sequence[float]) -> list[str]:
    """Numbers of one unit in one sentence: all with the decimals of the largest.

    Examples
    --------
    >>> together([1.234, 0.05])
    ['1.23', '0.05']
    """
    largest = max((abs(v) for v in values), default=0.0)
    decimals = 0 if largest <= 0 else min(max(0, 2 - math.floor(math.log10(largest))), 4)
    return [_signs(f"{v:,.{decimals}f}") for v in values]


def small(value: float) -> str:
    """δ and its like: 2.5×10⁻⁵ instead of 2.5e-05.

    Examples
    --------
    >>> small(2.5e-5), small(0.01)
    ('2.5×10⁻⁵', '0.01')
    """
    if value >= 0.001 or value == 0:
        return f"{value:.3g}"
    digits, exponent = f"{value:.1e}".split("e")
    return f"{digits.removesuffix('.0')}×10{str(int(exponent)).translate(_SUPERSCRIPTS)}"


def error(value: float, unit: str, within: float = math.nan) -> str:
    """Write an error as everywhere, with its 95 % value: "1.53 cm (95 %: 2.41)".

    Empty if the error is not finite, so that nothing would be published; an infinite 95 % value is
    left out.

    Examples
    --------
    >>> error(1.5324, "cm", 2.41)
    '1.53 cm (95 %: 2.41)'
    >>> error(0.4112, "%", 0.619)
    '0.411 % (19 of 20 releases: 0.619 %)'
    """
    if not math.isfinite(value):
        return ""
    text = in_unit(value, unit)
    if not math.isfinite(within):
        return text
    within_words = f"{number(within)} %" if unit == "%" else number(within)
    return f"{text} ({most_releases(unit, '95 %')}: {within_words})"


def most_releases(unit: str, share: str = "95 % of releases") -> str:
    """Say how many releases a distance holds for, told apart from values that are percentages.

    `share` is the text for values in any other unit.
    """
    return "19 of 20 releases" if unit == "%" else share


def power_of_two(exponent: int) -> str:
    """Write a power of two with its exponent raised.

    Examples
    --------
    >>> power_of_two(-20)
    '2⁻²⁰'
    """
    return f"2{str(exponent).translate(_SUPERSCRIPTS)}"


def times(ratio: float) -> str:
    """Write a ratio: two digits, or "more than 100".

    Examples
    --------
    >>> times(2.34), times(250)
    ('2.3 times', 'more than 100 times')
    """
    if ratio >= 100:
        return "more than 100 times"
    return f"{ratio:.1f} times" if ratio < 9.95 else f"{ratio:.0f} times"


def change(relative: float) -> str:
    r"""Write a relative change in whole percent, on one line; "no change" under one percent.

    Examples
    --------
    >>> change(0.004), change(-0.3).replace("\N{NO-BREAK SPACE}", " ")
    ('no change', '−30 %')
    """
    if abs(relative) < 0.01:
        return "no change"
    return f"{'+' if relative > 0 else '−'}{percent(abs(relative))}".replace(" ", _UNBROKEN)


def percent(share: float) -> str:
    """Write a share in whole percent, rounded to the nearest."""
    return f"{100 * share:.0f} %"


def percent_of(share: float) -> str:
    """Write a share above 0, rounded up to tenths of a percent, or as "1 in 40 000" below .1 %.

    Examples
    --------
    >>> percent_of(0.1234)
    '12.4 %'
    """
    if share < 0.001:
        return one_in(share)
    return f"{math.ceil(share * 1000 - 1e-9) / 10:g} %"


def percent_up(chance: float) -> str:
    """Write an upper bound on a chance in whole percent, rounded up.

    Examples
    --------
    >>> percent_up(0.556), percent_up(0.999)
    ('56 %', 'more than 99 %')
    """
    return "more than 99 %" if chance > 0.99 else f"{math.ceil(round(100 * chance, 6))} %"


def at_most_percent(chance: float) -> str:
    """Write an upper bound on a probability, rounded up: "at most 56 %".

    Examples
    --------
    >>> at_most_percent(0.553)
    'at most 56 %'
    """
    percent = percent_up(chance)
    return percent if percent.startswith("more") else f"at most {percent}"


def one_in(value: float) -> str:
    """Write a small chance as "1 in 40 000"."""
    return f"1 in {whole(1 / value)}"


def whole(value: float) -> str:
    """Write a whole number, with thin spaces from a thousand on."""
    return _signs(f"{value:,.0f}")


def digits_up(value: float, digits: int) -> float:
    """Round a positive number up to so many digits; an infinite one or NaN stays as it is.

    Examples
    --------
    >>> digits_up(0.12345, 3), digits_down(0.12345, 3)
    (0.124, 0.123)
    """
    if not math.isfinite(value):
        return value
    step = 10.0 ** (math.floor(math.log10(value)) + 1 - digits)
    return float(f"{math.ceil(value / step - 1e-9) * step:.10g}")


def digits_down(value: float, digits: int) -> float:
    """Rounded down to so many digits."""
    step = 10.0 ** (math.floor(math.log10(value)) + 1 - digits)
    return float(f"{math.floor(value / step + 1e-9) * step:.10g}")


def two_digits_up(value: float) -> float:
    """Rounded up to two digits: what is said to be enough is enough; infinite stays."""
    return digits_up(value, 2)


def with_unit(text: str, unit: str) -> str:
    """Add the unit, if any, to a written number."""
    return f"{text} {unit}" if unit else text


def in_unit(value: float, unit: str, digits: int = 3) -> str:
    """Write a number with its unit.

    Examples
    --------
    >>> in_unit(0.4567, "cm")
    '0.457 cm'
    """
    return with_unit(number(value, digits), unit)


def stated(value: float, unit: str) -> str:
    """Write a stated number with its unit, with all of its digits.

    Examples
    --------
    >>> stated(1095, "days").isascii(), stated(0.1234, "cm")
    (False, '0.1234 cm')
    """
    return with_unit(_signs(f"{value:,.15g}"), unit)


def unbroken(text: str) -> str:
    r"""Keep quantities on one line: "95 %", "0.5 mmol/L", "ε = 0.8", "± 2".

    Examples
    --------
    >>> unbroken("95 % within 0.5 mmol/L of 12 hospitals at ε = 1")
    '95\xa0% within 0.5\xa0mmol/L of 12 hospitals at ε\xa0=\xa01'
    """
    return _KEPT.sub(_UNBROKEN, text)


def _signs(text: str) -> str:
    return text.replace(",", _NARROW).replace("-", "−")


def named(name: str, unit: str) -> str:
    """Name a quantity with its unit: the title of an axis or of a number.

    Examples
    --------
    >>> named("Height", "cm")
    'Height (cm)'
    """
    return f"{name} ({unit})" if unit else name
