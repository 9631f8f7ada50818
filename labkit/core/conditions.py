"""What an experiment varied besides the arm, as the `condition` of its rows: written and read here only."""

from __future__ import annotations

import re

_METHOD, _NONE = "method=", "method=none"
_TOGGLED = "toggled from "
_FOR = f"{_NONE} for "
_STEPS, _AGENTS = re.compile(r"steps=(\d+)"), re.compile(r"agents=(\d+)")


def of_steps(count: int) -> str:
    """Of a pass that is cut after so many steps: `steps=15`."""
    return f"steps={count}"


def steps_of(condition: str) -> int | None:
    """15 of `steps=15`; None for another condition."""
    found = _STEPS.fullmatch(condition)
    return int(found[1]) if found else None


def of_agents(count: int) -> str:
    """Of rows while so many agents were at work: `agents=4`."""
    return f"agents={count}"


def agents_of(condition: str) -> int | None:
    """4 of `agents=4`; None for another condition."""
    found = _AGENTS.fullmatch(condition)
    return int(found[1]) if found else None


def of_method(method: str) -> str:
    """Of rows with this drafter: `method=ngram`."""
    return _METHOD + method


def of_reference(methods: tuple[str, ...] = ()) -> str:
    """Of rows without a drafter. `methods`: the drafters whose engine settings they have, where not everybody's."""
    return _FOR + "+".join(methods) if methods else _NONE


def method_of(condition: str) -> str:
    """`ngram` of `method=ngram`; empty for a reference and for another condition."""
    if not condition.startswith(_METHOD) or is_reference(condition):
        return ""
    return condition.removeprefix(_METHOD)


def is_reference(condition: str, method: str | None = None) -> bool:
    """Whether these rows are without a drafter; with `method`: and made for the engine settings of this one."""
    if method is not None:
        return condition.startswith(_FOR) and method in condition.removeprefix(_FOR).split("+")
    return condition == _NONE or condition.startswith(_FOR)


def of_toggled(planned: str) -> str:
    """Of rows in a live lap that was planned for this arm, from the first step on that another arm served."""
    return _TOGGLED + planned


def toggled_from(condition: str) -> str:
    """`base` of `toggled from base`; empty for another condition."""
    return condition.removeprefix(_TOGGLED) if condition.startswith(_TOGGLED) else ""
