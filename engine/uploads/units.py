"""Units in names of columns, and whether two ways of writing a unit mean the same."""

from __future__ import annotations

import re
from itertools import chain

_SPELLINGS = {  # the first is how it is written
    "seconds": ("s", "sec", "secs", "second"),
    "minutes": ("min", "mins", "minute"),
    "half hour": ("halfhour", "hh", "30min"),
    "hours": ("h", "hr", "hrs", "hour"),
    "days": ("d", "day"),
    "weeks": ("wk", "wks", "week"),
    "months": ("mo", "month"),
    "years": ("y", "yr", "yrs", "year", "a", "calendaryears"),
    "mm": (),
    "cm": ("centimetre", "centimeter"),
    "m": ("metre", "meter"),
    "km": (),
    "m²": ("m2",),
    "µg": ("ug", "mcg"),
    "mg": (),
    "g": ("gram", "grams"),
    "kg": (),
    "lb": ("lbs",),
    "µl": ("ul",),
    "ml": (),
    "dL": (),
    "L": ("litre", "liter"),
    "mol": (),
    "mmol": (),
    "µmol": ("umol",),
    "nmol": (),
    "pmol": (),
    "Wh": (),
    "kWh": (),
    "MWh": (),
    "J": (),
    "kJ": (),
    "kcal": (),
    "W": ("watt",),
    "kW": (),
    "mmHg": (),
    "Pa": (),
    "hPa": (),
    "kPa": (),
    "bar": (),
    "Hz": (),
    "mV": (),
    "%": ("percent", "pct"),
    "°C": ("degc", "celsius"),
    "°F": ("degf", "fahrenheit"),
    "IU": (),
    "1": ("beats", "count", "counts"),
    "1/minutes": ("bpm",),
}
_BY_SPELLING = {
    spelling.casefold().replace(" ", ""): unit
    for unit, others in _SPELLINGS.items()
    for spelling in chain((unit,), others)
}
_OF_TIME = ("seconds", "minutes", "half hour", "hours", "days", "weeks", "months", "years")
_SINCE = ("since", "from", "after")  # as in days_since_surgery
_MAX_WORDS = 3  # of a unit behind a name, as in glucose_mg_per_dl
_LONGEST = 200  # characters of a name that are looked at


def known_unit(text: str) -> str:
    """Normalise the spelling of a unit; "" for an unknown one.

    Examples
    --------
    >>> known_unit("min"), known_unit("MG/DL"), known_unit("bpm") == known_unit("per minute")
    ('minutes', 'mg/dL', True)
    >>> known_unit("Stunden")
    ''
    """
    plain = text.strip().casefold().replace("\u03bc", "µ")  # the Greek letter and the sign
    parts = re.split(r"/|\bper\b", plain) if plain else []
    if len(parts) == 2 and not parts[0].strip():
        parts[0] = "1"
    units = [_BY_SPELLING.get(re.sub(r"[\s_-]", "", part), "") for part in parts]
    return "/".join(units) if len(units) in (1, 2) and all(units) and units != ["1"] else ""


def same_unit(unit: str, other_unit: str) -> bool:
    """True if two texts mean one known unit or, if unknown, are alike."""
    return (known_unit(unit) or unit.strip().casefold()) == (
        known_unit(other_unit) or other_unit.strip().casefold()
    )


def unit_that_differs(name: str, stated: str) -> str:
    """The unit that the name of a column says where another of the same kind is stated; else "".

    A unit of time is compared with one of time alone, and others where they have several letters:
    vitamin_d is in no days, and score_g in no grams.

    Examples
    --------
    >>> unit_that_differs("follow_up_months", "days"), unit_that_differs("weight_lb", "kg")
    ('months', 'lb')
    >>> unit_that_differs("vitamin_d", "nmol/L"), unit_that_differs("age_years", "y")
    ('', '')
    """
    known = known_unit(stated)
    of_time = known in _OF_TIME
    named = unit_in_name(name, of_time) if known else ""
    is_told = of_time or (named not in _OF_TIME and (len(named) > 1 or named == "%"))
    return named if named != known and is_told else ""


def unit_in_name(name: str, of_time: bool = False) -> str:
    """Find a known unit in the name of a column; "" without one.

    Of a column that says when something was observed, `of_time`, only units of time are looked for,
    as in days_since_surgery, too.

    Examples
    --------
    >>> unit_in_name("KWH/hh (per half hour)"), unit_in_name("glucose_mg_dl")
    ('kWh/half hour', 'mg/dL')
    >>> unit_in_name("Height [cm]"), unit_in_name("age_years", of_time=True), unit_in_name("height")
    ('cm', 'years', '')
    """
    name = name[:_LONGEST].strip()
    outer = re.sub(r"[(\[][^)\]]*[)\]]", "", name).strip()
    words = [word for word in re.split(r"[\s_,;:]+", outer) if word]
    found = [known_unit(outer)] if len(outer) > 1 else []
    if not of_time:  # hr is a heart rate
        found = [unit for unit in found if unit not in _OF_TIME]
    found += [known_unit(text) for text in re.findall(r"[(\[]([^)\]]*)[)\]]", name)]
    found += [_behind(words[-number:]) for number in range(min(_MAX_WORDS, len(words) - 1), 0, -1)]
    if of_time and len(words) > 1 and words[1].casefold() in _SINCE:
        found.insert(0, known_unit(words[0]))
    return next((unit for unit in found if unit and (not of_time or unit in _OF_TIME)), "")


def _behind(words: list[str]) -> str:
    """Find the unit in the last words of a name: mg_dl and mg_per_dl are mg/dL."""
    return (
        known_unit(" ".join(words))
        if len(words) != 2
        else (known_unit("/".join(words)) or known_unit(" ".join(words)))
    )


def in_words(unit: str) -> str:
    """Write a known unit as it is read in a sentence: "kWh per half hour"."""
    above, _, below = unit.partition("/")
    if not below:
        return unit
    below_in_words = below.removesuffix("s") if below in _OF_TIME else below
    if above == "1":
        return f"per {below_in_words}"
    return f"{above} per {below_in_words}" if below in _OF_TIME else unit
