"""What two runs did not have in common, as somebody who compares them wants to read it.

Engines are kept under the key of their plan, so one flag more gives another key and plain `difference` would call all
of the engine other. Here engines of two runs meet by their roles and by how much of their command lines they share, and
a command line differs option by option.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from labkit.core.masking import masked
from labkit.store.command_line import options
from labkit.store.fingerprint import Difference, difference

_FIRST = ("model", "profile", "engines", "packages", "cpu", "gpu", "memory_bytes", "machine", "recordings", "git")
"""The order of reading: what weighs most on a time comes first."""


def run_differences(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[Difference]:
    """Every fact that differs between the fingerprints of two runs; None: not known or not there."""
    one, two = dict(a), dict(b)
    one["engines"], two["engines"] = _aligned(a.get("engines") or {}, b.get("engines") or {})
    return sorted(difference(one, two), key=_weight)


def _weight(found: Difference) -> tuple[int, str]:
    top = found.key.split(".")[0]
    return (_FIRST.index(top) if top in _FIRST else len(_FIRST), found.key)


def _aligned(a: Mapping[str, Any], b: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Engines of both by one name each, with options in place of argument lists."""
    pairs = [(key, key) for key in a if key in b]
    left, right = [key for key in a if key not in b], [key for key in b if key not in a]
    near = sorted(product(left, right), key=lambda pair: -_shared(a[pair[0]], b[pair[1]]))
    for key_a, key_b in near:
        if key_a in left and key_b in right and _shared(a[key_a], b[key_b]) > 0:
            left.remove(key_a)
            right.remove(key_b)
            pairs.append((key_a, key_b))
    pairs += [(key, "") for key in left] + [("", key) for key in right]
    one, two = dict[str, Any](), dict[str, Any]()
    for number, (key_a, key_b) in enumerate(pairs, 1):
        name = _name(number, a.get(key_a) or b.get(key_b))
        show = _opened if key_a and key_b else _closed
        one |= {name: show(a[key_a])} if key_a else {}
        two |= {name: show(b[key_b])} if key_b else {}
    return one, two


def _name(number: int, engine: Any) -> str:
    return f"{number} {'+'.join(_roles(engine))}".strip()


def _roles(engine: Any) -> list[str]:
    return [str(process.get("role")) for process in _processes(engine)]


def _processes(engine: Any) -> Sequence[Mapping[str, Any]]:
    return engine.get("processes") or () if isinstance(engine, Mapping) else ()


def _shared(one: Any, two: Any) -> float:
    """Share of options that two engines have in common; 0 for engines of other roles."""
    if not _roles(one) or _roles(one) != _roles(two):
        return 0.0
    left, right = (
        {(process.get("role"), *item) for process in _processes(side) for item in options(process["argv"]).items()}
        for side in (one, two)
    )
    return len(left & right) / max(len(left | right), 1)


def _opened(engine: Any) -> Any:
    """The engine's hashes, and each process's options and environment under its role."""
    if not isinstance(engine, Mapping):
        return engine
    kept = {key: value for key, value in engine.items() if key != "processes"}
    for process in _processes(engine):
        told = {**options(process.get("argv") or ()), **(process.get("env") or {})}
        kept[str(process.get("role"))] = {name: masked(name, str(value)) for name, value in told.items()}
    return kept


def _closed(engine: Any) -> Any:
    """An engine that the other run has none like, in a line."""
    commands = [_line(options(process.get("argv") or ())) for process in _processes(engine)]
    return "; ".join(commands) or engine


def _line(said: Mapping[str, str]) -> str:
    """Options as a command line again, secrets masked."""
    words = [value if name == "command" else f"{name} {masked(name, value)}" for name, value in said.items()]
    return " ".join(words)
