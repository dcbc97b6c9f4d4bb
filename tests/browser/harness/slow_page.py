"""Something above a timed part, the part, and something below it."""

import streamlit as st

from pages.shared.frame import timed

st.title("Above")
timed.run(lambda: st.markdown("Looks again"), 0.3)
st.markdown("Below")
