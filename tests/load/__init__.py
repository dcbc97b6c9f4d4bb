"""Visitors without a browser: they speak the dashboard's own protocol to a real server."""
