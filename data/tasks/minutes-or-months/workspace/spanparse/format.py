"""Writing durations: the fewest units that say it exactly, the longest first."""

from spanparse.units import SECONDS, largest_first


def format_span(seconds, units=4):
    """A duration as text: `5400` becomes `1h30m`.

    At most `units` different units are used; what is left is rounded into the last of them. Nothing becomes `0s`.
    """
    sign = "-" if seconds < 0 else ""
    left = round(abs(seconds) * 1000)
    parts = []
    for unit in largest_first():
        size = round(SECONDS[unit] * 1000)
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count}{unit}")
        if len(parts) == units:
            break
    return sign + "".join(parts) if parts else "0s"


def format_table(spans):
    """Names and durations as aligned lines."""
    width = max((len(name) for name in spans), default=0)
    return "\n".join(f"{name:<{width}}  {format_span(seconds)}" for name, seconds in spans.items())
