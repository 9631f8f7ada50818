"""A choice that stands in the page's address under its key, as the option itself and not as the words for it.

Streamlit's own binding writes the words that a list shows. They change, and no other page can link to them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st


def pick(
    label: str, options: Sequence[str], key: str, words: Callable[[str], str], means: str = "", **more: Any
) -> str:
    """The chosen one of `options`, the first when the address names none of them. `words`: how a list shows one.

    `means`: the option that the address means, where it may be written in another way.
    """
    _from_address(options, key, means)
    picked: str = st.selectbox(label, list(options), key=key, format_func=words, **more)
    if picked:
        st.query_params[key] = picked
    elif key in st.query_params:
        del st.query_params[key]
    st.session_state[_written(key)] = picked
    return picked


def _from_address(options: Sequence[str], key: str, means: str) -> None:
    """What the address names anew is picked; what is no option any more is forgotten.

    A page that was left has forgotten what was picked on it: there the address is the only one that knows.
    """
    asked = st.query_params.get(key, "")
    wanted = means or asked
    anew = key not in st.session_state or asked != st.session_state.get(_written(key), "")
    if anew and wanted in options:
        st.session_state[key] = wanted
    elif st.session_state.get(key, options[0]) not in options:
        del st.session_state[key]


def _written(key: str) -> str:
    return f"{key}_written"
