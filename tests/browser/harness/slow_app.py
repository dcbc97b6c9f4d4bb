"""A page with a timed part on a machine that is too slow: its first run arrives in two pieces.

The first piece ends with the timer, and the second comes when the timer has long rung.
"""

import time

import streamlit as st
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

LATE_SECONDS = 1.5
whole = ForwardMsgQueue.flush


def in_two_pieces(queue):
    """What may be sent now."""
    kinds = [message.WhichOneof("type") for message in queue._queue]
    if not hasattr(queue, "late_from") and "auto_rerun" in kinds:
        queue.late_from = time.monotonic() + LATE_SECONDS
        end = kinds.index("auto_rerun") + 1
        first, queue._queue = queue._queue[:end], queue._queue[end:]
        queue._delta_index_map = {}
        return first
    return [] if time.monotonic() < getattr(queue, "late_from", 0) else whole(queue)


ForwardMsgQueue.flush = in_two_pieces
app = st.App("slow_page.py")
