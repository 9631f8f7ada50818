"""How much room a text takes in a terminal, counted in cells.

Most letters take one cell. East Asian wide letters take two. Marks that combine with the letter before take none.
"""

ELLIPSIS = "\u2026"


def cells(text):
    """The number of terminal cells that a text takes."""
    return len(text)


def pad(text, width, align="left"):
    """The text with blanks up to `width` cells; a longer text is returned as it is."""
    missing = max(0, width - len(text))
    if align == "left":
        return text + " " * missing
    if align == "right":
        return " " * missing + text
    if align == "center":
        before = missing // 2
        return " " * before + text + " " * (missing - before)
    raise ValueError(f"align must be left, right or center, not {align!r}")


def clip(text, width):
    """The text if it fits in `width` cells, else its beginning with an ellipsis, `width` cells at most."""
    if width < 1:
        raise ValueError(f"width must be at least 1, not {width}")
    if cells(text) <= width:
        return text
    return text[: width - 1] + ELLIPSIS
