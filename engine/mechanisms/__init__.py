"""Randomised algorithms: data and budgets in, a protected estimate and its ledger out."""

from __future__ import annotations

from engine.mechanisms.base import Mechanism as Mechanism
from engine.mechanisms.base import mechanisms as mechanisms
from engine.mechanisms.base import one_per_server as one_per_server
