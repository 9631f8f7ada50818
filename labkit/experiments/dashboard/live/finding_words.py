"""The sentences of a finding: what the layers that differ did, and what was measured that goes with it."""

from __future__ import annotations

import math

import pandas as pd

from labkit.analysis.effect_words import SAME
from labkit.analysis.format import percent, plain, seconds, seconds_alike, times
from labkit.core.arms import ARMS, LAYERS, Layer, arm_named
from labkit.experiments.dashboard.live.pairs import Pairs

_NAMES: dict[Layer, str] = {
    "prefix_caching": "prefix caching",
    "pd_split": "the prefill/decode split",
    "speculation": "speculation",
}
_ERROR_CHARS = 120
_LABELS = frozenset(arm.label for arm in ARMS)


def layers_of(label: str) -> tuple[Layer, ...]:
    """The arm's layers; none of what is no arm (an agent without an engine)."""
    return arm_named(label).layers if label in _LABELS else ()


def subject(pairs: Pairs) -> str:
    """What differs: `Prefix caching`, `Adding speculation to prefix`, `pd in place of prefix`."""
    here, there = layers_of(pairs.arm), layers_of(pairs.against)
    more = [_NAMES[layer] for layer in LAYERS if layer in here and layer not in there]
    less = [_NAMES[layer] for layer in LAYERS if layer in there and layer not in here]
    if more and less:
        return f"{pairs.arm} in place of {pairs.against}"
    if less:
        return _capital(f"taking {' and '.join(less)} away from {pairs.against}")
    if not more:
        return f"Another run of {pairs.arm}"
    if len(more) == len(LAYERS):
        return "All three layers together"
    return _capital(" and ".join(more)) if not there else _capital(f"adding {' and '.join(more)} to {pairs.against}")


def headline(pairs: Pairs) -> str:
    """`Prefix caching made these 8 steps 1.72x faster (29.3 s → 17.0 s).`"""
    if pairs.ratio is None or pairs.arm_s is None or pairs.against_s is None:
        return (
            f"{pairs.arm} and {pairs.against} have finished no step in common yet, so nothing can be said of "
            f"{_small(subject(pairs))}."
        )
    (old, new), unit = seconds_alike(pairs.against_s, pairs.arm_s)
    took = f"({old} {unit} → {new} {unit})" if unit else ""
    these = f"this {pairs.n_words[2:]}" if pairs.n == 1 else f"these {pairs.n_words}"
    if abs(math.log(pairs.ratio)) <= SAME:
        return f"{subject(pairs)} left the time of {these} about the same {took}."
    word, factor = ("faster", pairs.ratio) if pairs.ratio > 1 else ("slower", 1 / pairs.ratio)
    return f"{subject(pairs)} made {these} {times(factor)} {word} {took}."


def no_answer(steps: pd.DataFrame) -> str:
    """Of a run that ended without a whole answer: why, and what to do."""
    n = "The only step" if len(steps) == 1 else f"None of the {len(steps)} steps"
    got = "got no answer" if len(steps) == 1 else "got an answer"
    told = steps["error"].dropna()
    why = f" ({_short(str(told.iloc[0]))})" if len(told) else ""
    return f"{n} {got}{why}. The engine's last words are on the Engines page; press Run to ask again."


def _short(text: str) -> str:
    line = next(iter(text.splitlines()), "")
    return line if len(line) <= _ERROR_CHARS else f"{line[:_ERROR_CHARS]}..."


def evidence(pairs: Pairs) -> tuple[str, ...]:
    """A sentence for each layer that differs, and the first token where no layer that speaks of it does."""
    here, there = set(layers_of(pairs.arm)), set(layers_of(pairs.against))
    differ = [layer for layer in LAYERS if (layer in here) != (layer in there)]
    said = [_SENTENCES[layer](pairs, layer in here) for layer in differ]
    said += [_first(pairs)] if "prefix_caching" in differ or "pd_split" in differ else []
    said += [_rest(pairs)] if "speculation" in differ or "pd_split" in differ else []
    return tuple(filter(None, said))


def _cache(pairs: Pairs, on: bool) -> str:
    with_cache = pairs.cache[0] if on else pairs.cache[1]
    if with_cache.hit_rate is None:
        return "The engine did not say how much of the prompts came from the cache."
    most = f" (at best {percent(with_cache.hit_ceiling)})" if with_cache.hit_ceiling is not None else ""
    who = "" if on else f" under {pairs.against}"
    return f"{percent(with_cache.hit_rate)} of the prompt tokens{who} came from the cache{most}."


def _drafts(pairs: Pairs, on: bool) -> str:
    if not on:
        return ""
    if pairs.accepted.rate is None:
        return "The engine told no drafts."
    length = "" if pairs.accepted.length is None else f", {plain(pairs.accepted.length)} tokens a round"
    return f"{percent(pairs.accepted.rate)} of the drafted tokens were accepted{length}."


def _moved(pairs: Pairs, on: bool) -> str:
    if not on or pairs.transfer_s is None:
        return ""
    return f"Moving the KV cache from prefill to decode took {seconds(pairs.transfer_s)} a step."


def _first(pairs: Pairs) -> str:
    new, old = pairs.first_s
    return (
        "" if new is None or old is None else f"First token after {seconds(new)} in place of {seconds(old)} (median)."
    )


def _rest(pairs: Pairs) -> str:
    new, old = pairs.token_s
    if new is None or old is None:
        return ""
    return f"{seconds(new)} for each further token in place of {seconds(old)} (median)."


_SENTENCES = {"prefix_caching": _cache, "pd_split": _moved, "speculation": _drafts}


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _small(text: str) -> str:
    return text[:1].lower() + text[1:] if not text.startswith(tuple(_LABELS)) else text
