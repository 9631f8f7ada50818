"""What SGLang 0.5.23 refuses, said before anything starts: rules of `srt/arg_groups/`, cited with each.

Only rules that a profile's own choices can break. The rest is asked of SGLang itself (accepts.py).
"""

from __future__ import annotations

from labkit.core.errors import BadInput
from labkit.engines.profiles.schema import Flags
from labkit.engines.sglang.settings import LAYER_SETTINGS

_OF_LAYERS = frozenset[str]().union(*LAYER_SETTINGS.values())
_TREES_IN_PAGES = ("flashinfer", "fa3", "triton")


def check_shared(flags: Flags) -> None:
    """Raises BadInput for a flag of `[engine.flags]`, the same in every arm, that is a layer's to set."""
    for name, value in flags.items():
        if f"--{name}" in _OF_LAYERS:
            raise BadInput(name, value, "a flag that no layer owns", "Choose an arm to switch a layer.")


def check(flags: Flags) -> None:
    """Raises BadInput for flags of one engine that SGLang would refuse together. `flags`: names without dashes."""
    algorithm = str(flags.get("speculative-algorithm", "")).upper()
    if algorithm == "NGRAM":
        _ngram(flags)
    elif algorithm:
        _tree(flags)
    _decode_cache(flags, algorithm)


def _ngram(flags: Flags) -> None:
    """speculative_hook.py, _handle_ngram. ROCm is torch's device `cuda`, which the rule on devices lets pass."""
    device = str(flags.get("device", "cuda"))
    if device not in ("cuda", "cpu", "xpu"):
        raise BadInput("device", device, "cuda, cpu or xpu", "SGLang drafts with NGRAM on those devices only.")
    breadth = _number(flags, "speculative-ngram-max-bfs-breadth", 10)
    if breadth > 1 and _page(flags) > 1 and flags.get("attention-backend") != "flashinfer":
        raise BadInput(
            "page-size",
            _page(flags),
            "1",
            f"NGRAM's tree of {breadth} branches is wrong in larger pages; or speculative-ngram-max-bfs-breadth = 1.",
        )


def _tree(flags: Flags) -> None:
    """speculative_hook.py, the end of _handle_eagle_family."""
    topk, backend = _number(flags, "speculative-eagle-topk", 1), flags.get("attention-backend")
    if topk > 1 and _page(flags) > 1 and backend not in _TREES_IN_PAGES:
        allowed = f"1, or a page-size of 1, or an attention-backend of {', '.join(_TREES_IN_PAGES)}"
        raise BadInput("speculative-eagle-topk", topk, allowed)


def _decode_cache(flags: Flags, algorithm: str) -> None:
    """speculative_hook.py, handle_speculative_decoding."""
    name = "disaggregation-decode-enable-radix-cache"
    if name in flags and algorithm not in ("", "DSPARK", "EAGLE", "EAGLE3"):
        raise BadInput(name, algorithm, "a speculative-algorithm of EAGLE, EAGLE3 or DSPARK, or none")


def _page(flags: Flags) -> int:
    return _number(flags, "page-size", 1)


def _number(flags: Flags, name: str, default: int) -> int:
    value = flags.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadInput(name, value, "a whole number")
    return value
