"""A page with made-up curves, so that the browser pieces can be driven without the engine.

Its files come as the dashboard's do: the chart library whole, off the disk, took a browser most of the
time in which it opened this page.
"""

import streamlit as st
from starlette.middleware import Middleware

from pages.shared.server import assets, headers

app = st.App("page.py", middleware=[Middleware(headers.Guarded), Middleware(assets.FromMemory)])
