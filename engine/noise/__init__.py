"""Noise draws and the shapes of their scales: arrays and numbers in, arrays out."""

from __future__ import annotations

from engine.enumerations import Enumeration


class NoiseLaw(Enumeration):
    """The law of noise in what is sent.

    LAPLACE is independent in each number, NORM has density ∝ exp(−‖z‖), BITS are turned round by
    chance, and CHOICE decides which numbers are largest.
    """

    UNSTATED = ""
    GAUSSIAN = "gaussian"
    LAPLACE = "laplace"
    NORM = "norm"
    BITS = "bits"
    CHOICE = "choice"
    NONE = "none"
