"""Privacy Curves: `streamlit run app.py` finds the application here.

The main script lives below `pages/` on purpose. Streamlit looks for a folder `pages` beside its
main script and, on a server whose first visitor follows a deep link, would run its own navigation
over it instead of ours.
"""

import pathlib
import threading

import plotly
import streamlit as st
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from pages.shared import run

VENDOR = pathlib.Path(plotly.__file__).parent / "package_data"  # plotly.js, from our own server

# While the first visitor's browser loads the page, its picture is being computed.
threading.Thread(target=run.warm_up, daemon=True).start()

app = st.App("pages/shared/shell.py", routes=[Mount("/vendor", StaticFiles(directory=VENDOR))])
