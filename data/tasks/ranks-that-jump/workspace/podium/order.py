"""Putting things in order.

Contests sort by several keys, some of them downwards. Python sorts stably, which means that equal items keep the order
that they came in; everything here must keep that promise, in both directions.
"""


def sort_down(items, key):
    """A new list, the greatest key first; equal items keep their order."""
    return sorted(items, key=key)[::-1]


def sort_up(items, key):
    """A new list, the least key first; equal items keep their order."""
    return sorted(items, key=key)


def sort_by(items, *keys):
    """Sort by several (key, direction) pairs, the most important first; direction is `up` or `down`."""
    result = list(items)
    for key, direction in reversed(keys):
        if direction not in ("up", "down"):
            raise ValueError(f"direction must be up or down, not {direction!r}")
        result = sort_down(result, key) if direction == "down" else sort_up(result, key)
    return result


def ranks(values):
    """The rank of each value of a sorted list, from 1; equal values share a rank.

    `ranks([9, 7, 7, 5])` is `[1, 2, 2, 4]`: after a tie as many ranks are left out as there were others in it.
    """
    result = []
    for position, value in enumerate(values):
        if position and value == values[position - 1]:
            result.append(result[-1])
        else:
            result.append(result[-1] + 1 if result else 1)
    return result
