"""The address at which others reach this server, as their browsers must write it."""

from __future__ import annotations

import ipaddress
import os
from urllib.parse import urlsplit

import streamlit as st

ADDRESS_NAME = "PRIVACY_CURVES_ADDRESS"
UNREACHED = "Phones cannot reach this computer yet."


def page_for_others(page: str) -> str:
    """The address of a page for other computers; "" where this one alone reaches the server.

    The environment says it, or else the address in this visitor's own browser.

    Raises
    ------
    ValueError
        If what the environment says is no address of a server.
    """
    stated = os.environ.get(ADDRESS_NAME, "")
    if stated:
        if urlsplit(stated).scheme not in ("http", "https") or not urlsplit(stated).hostname:
            raise ValueError(f"{ADDRESS_NAME} must begin with http:// or https:// and name a "
                             f"server; got {stated!r}.")
        return f"{stated.rstrip('/')}/{page}"
    parts = urlsplit(st.context.url or "")
    if not parts.hostname or is_loopback(parts.hostname):
        return ""
    folder = parts.path.rstrip("/").rpartition("/")[0]
    return f"{parts.scheme}://{parts.netloc}{folder}/{page}"


def is_loopback(host: str) -> bool:
    """Whether a name or number leads a computer to itself."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        number = ipaddress.ip_address(host)
    except ValueError:
        return False
    return number.is_loopback or number.is_unspecified


def what_to_do() -> str:
    """What to do where others cannot reach the server, in place of a link."""
    return (f"{UNREACHED} Ask whoever runs the app to open it to your network. They start it with "
            "make run ADDRESS=0.0.0.0, and you open it by this computer’s name in the network.")
