"""Words that are not ours, made safe for a page that reads Markdown.

A model, a tool, an engine or an address writes what it likes. Unescaped, `<class 'Foo'>` would vanish, `[..](..)`
become a link, and a picture in a shared address make the reader's browser call somebody's server.
"""

from __future__ import annotations

import re

_MARKS = re.compile(
    r"[\\`*\[\]<>$~|#]"
    r"|!(?=\[)|&(?=#?\w+;)"  # a picture; a character by its name
    r"|:(?=[\w/+-])"  # a colour, a badge, an icon, an emoji
    r"|(?<![^\W_])_|_(?![^\W_])"  # not within a word, where it marks nothing
    r"|^[+-](?=\s)|(?<=^\d)[.)](?=\s)"  # a list
)
_TURNED = re.compile(r"(:)(?=material/|streamlit:|[\w+-]+:)|(?<!\S)([<>~-])(?=(?:->|-|>|=)(?!\S))")
"""What Streamlit turns into an icon, an emoji or an arrow after a backslash has done its work."""
_JOINER = "\N{WORD JOINER}"


def literal(text: str) -> str:
    """The same words on one line, so that where Markdown is read they look as they were written.

    Where no backslash helps, an invisible word joiner keeps the signs apart.
    """
    apart = _TURNED.sub(lambda found: found[0] + _JOINER, " ".join(text.split()))
    return _MARKS.sub(lambda found: f"\\{found[0]}", apart)
