"""Privacy Curves: `streamlit run app.py` finds the application here.

The main script lives below `pages/` on purpose. Streamlit looks for a folder `pages` beside its
main script and, on a server whose first visitor follows a deep link, would run its own navigation
over it instead of ours.
"""

import threading

import streamlit as st
from starlette.middleware import Middleware
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from pages.shared.server import headers, messages, visitors
from pages.shared.state import run

# While the first visitor's browser loads the page, its picture is being computed.
threading.Thread(target=run.warm_up, daemon=True).start()

app = st.App(
    "pages/shared/shell.py",
    # plotly.js comes from our own server, out of the installed package
    routes=[Mount("/vendor", StaticFiles(packages=[("plotly", "package_data")]))],
    middleware=[Middleware(headers.Guarded), Middleware(messages.OnlyMessages),
                Middleware(visitors.OneFileEach)],
    lifespan=visitors.housekeeping,
)
