"""A page with a timed part on a machine that is too slow: its first run arrives in two pieces.

The first piece ends with the timer, and the second comes when the timer has rung and the server has
run the part again.
"""

import streamlit as st
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

whole = ForwardMsgQueue.flush


def in_two_pieces(queue):
    """What may be sent now."""
    kinds = [message.WhichOneof("type") for message in queue._queue]
    if not hasattr(queue, "is_late") and "auto_rerun" in kinds:
        queue.is_late = True
        end = kinds.index("auto_rerun") + 1
        first, queue._queue = queue._queue[:end], queue._queue[end:]
        queue._delta_index_map = {}
        return first
    if getattr(queue, "is_late", False) and not ran_again(kinds):
        return []
    queue.is_late = False
    return whole(queue)


def ran_again(kinds):
    """Whether a run has begun and ended since the first piece."""
    return "script_finished" in kinds[kinds.index("new_session"):] if "new_session" in kinds else False


ForwardMsgQueue.flush = in_two_pieces
app = st.App("slow_page.py")
