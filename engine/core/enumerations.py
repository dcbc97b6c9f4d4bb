"""Enumerations of a few named things: kinds, laws, units, settings."""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from engine.core.errors import InputError, brief


class Enumeration(StrEnum):
    """Names that are text as well, so that links, files and digests hold the same text as ever.

    What belongs to a name follows its text, as the fields that the class declares above its names:
    `place: NoisePlace` and `SITE = "site", NoisePlace.SITES`.
    """

    def __new__(cls, text: str, *facts: object) -> Self:
        member = str.__new__(cls, text)
        member._value_ = text
        for field, fact in zip(cls.__annotations__, facts, strict=True):
            setattr(member, field, fact)
        return member

    def __repr__(self) -> str:
        return repr(self.value)

    @classmethod
    def named(cls, value: object, field: str) -> Self:
        """The member with this name."""
        try:
            return cls(str(value))
        except ValueError:
            names = ", ".join(member for member in cls if member)
            raise InputError(
                f"“{field}” must be one of {names}; got {brief(value)}.", field=field
            ) from None


class NoiseLaw(Enumeration):
    """The law of noise in what is sent.

    LAPLACE is independent in each number, DISCRETE_LAPLACE the same of whole numbers on counts of
    people by cell, NORM has density ∝ exp(−‖z‖), BITS are turned round by chance, and CHOICE
    decides which numbers are largest.
    """

    UNSTATED = ""
    GAUSSIAN = "gaussian"
    LAPLACE = "laplace"
    DISCRETE_LAPLACE = "discrete laplace"
    NORM = "norm"
    BITS = "bits"
    CHOICE = "choice"
    NONE = "none"


class Guarantee(Enumeration):
    """The δ that a mechanism takes: PURE none, APPROXIMATE one above 0, EITHER both."""

    PURE = "pure"
    APPROXIMATE = "approximate"
    EITHER = "either"

    @property
    def is_pure(self) -> bool:
        """True if no δ is ever needed."""
        return self is Guarantee.PURE


class NoisePlace(Enumeration):
    """Party that adds the noise of a study: the last one trusted with data as they are.

    Parameters of methods and rates have words of their own for it, with what else they choose:
    those of links and files, as the slides and papers have them. Each says its `place`.
    """

    SITES = "sites"
    CENTRE = "centre"
    SUMS = "sums"  # sites in shares: only the sum of their messages can be read
    PERSON = "person"  # everybody's own device: nobody is trusted
