"""Privacy Curves: `streamlit run app.py` finds the application here.

The main script lives below `pages/` on purpose. Streamlit looks for a folder `pages` beside its
main script and, on a server whose first visitor follows a deep link, would run its own navigation
over it instead of ours.
"""

import sys
import threading
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

from pages.shared.server import assets, callbacks, computing, door, first_picture, headers, visitors
from pages.shared.state import run


def warm_up() -> None:
    """Compute the first picture while browsers show the stored one; compress what they load."""
    from pages.parts.explore import scene  # by a thread: the server answers meanwhile

    computing.use_workers()
    assets.assets().draw_first(first_picture.script(scene.first_figure()))
    assets.assets().pack()
    run.warm_up()


callbacks.finish()
assets.assets().draw_first(first_picture.script(first_picture.stored()))
threading.Thread(target=warm_up, daemon=True).start()
if Path(sys.argv[0]).resolve() == Path(__file__).resolve():  # streamlit runs it, and knows the port
    print(f"Privacy Curves: {door.address()}", flush=True)

app = st.App(
    "pages/shared/shell.py",
    middleware=[
        Middleware(headers.Guarded),
        Middleware(door.Door),
        Middleware(assets.FromMemory),
        Middleware(visitors.OneFileEach),
    ],
    lifespan=visitors.housekeeping,
)
