"""Attacks on what a mechanism claims."""
