"""Randomised algorithms: data and budgets in, a protected estimate and its ledger out."""

from __future__ import annotations

from engine.mechanism import Mechanism as Mechanism
from engine.mechanism import one_per_server as one_per_server
from engine.registry import Registry

mechanisms = Registry("engine.mechanisms", "mechanism")
