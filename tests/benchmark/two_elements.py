"""A page with a slider and its value: what a rerun costs before anything is shown."""

import streamlit as st

st.title("Two elements", anchor=False)
st.text(f"value {st.slider('Value', 0, 23, 13)}")
