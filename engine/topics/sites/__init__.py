"""Costs and contribution of each of several sites."""
