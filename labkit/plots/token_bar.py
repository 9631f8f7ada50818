"""A bar of one message's tokens as an SVG: made of numbers and the theme's colours alone, whatever the message says."""

from __future__ import annotations

from collections.abc import Sequence

from labkit.plots.theme import Mode, Part, part_color

HEIGHT_PX = 8


def token_bar_svg(runs: Sequence[tuple[Part, int]], mode: Mode = "light") -> str:
    """The runs side by side over the whole width, each as wide as its share of all tokens. Empty without tokens."""
    whole = sum(count for _, count in runs)
    if not whole:
        return ""
    rects, start = list[str](), 0
    for part, count in ((part, count) for part, count in runs if count):
        x, width = 100 * start / whole, 100 * count / whole
        rects.append(f'<rect x="{x:.3f}%" width="{width:.3f}%" height="{HEIGHT_PX}" fill="{part_color(part, mode)}"/>')
        start += count
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="100%" height="{HEIGHT_PX}">{"".join(rects)}</svg>'
