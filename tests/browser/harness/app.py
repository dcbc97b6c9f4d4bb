"""A page with made-up curves, so that the browser pieces can be driven without the engine."""

import pathlib

import plotly
import streamlit as st
from starlette.middleware import Middleware
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from pages.shared.server import headers

PLOTLY = pathlib.Path(plotly.__file__).parent / "package_data"
app = st.App("page.py", routes=[Mount("/vendor", StaticFiles(directory=PLOTLY))],
             middleware=[Middleware(headers.Guarded)])
