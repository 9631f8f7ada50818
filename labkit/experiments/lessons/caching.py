"""What prefix caching did to one agent's turns: tables in words, and what became of a prediction.

A run is compared with itself: `base` and `prefix` got the same requests.
"""

from __future__ import annotations

import pandas as pd

from labkit.analysis.cache_gap import cache_gap
from labkit.analysis.format import count, missing, percent, plain, seconds
from labkit.analysis.latency import ttft
from labkit.analysis.tables import floats, numbers
from labkit.experiments.lessons.outcome import Outcome, unmeasured
from labkit.experiments.report.english import counted, records
from labkit.plots.rows import finished

OFF, ON = "base", "prefix"
_FEW = 5
_NAMED = {
    "cached": "cached",
    "new": "new",
    "rounding": "rounded off",
    "template_drift": "template drift",
    "eviction": "evicted",
    "routing": "in another process",
    "off": "caching is off",
}


def turn_table(steps: pd.DataFrame) -> pd.DataFrame:
    """One row a turn: prompt tokens, and under `base` and `prefix` the time to first token and what was computed."""
    kept = _pair(steps)
    return pd.DataFrame([_turn(int(str(turn)), of_turn) for turn, of_turn in kept.groupby("turn")]).set_index("turn")


def _turn(turn: int, steps: pd.DataFrame) -> dict[str, object]:
    off, on = (steps[steps["arm"] == arm] for arm in (OFF, ON))
    return {
        "turn": turn,
        "prompt tokens": count(_mean(steps, "prompt_tokens")),
        "computed, base": count(_mean(off, "computed")),
        "computed, prefix": count(_mean(on, "computed")),
        "cached, prefix": count(_mean(on, "cached_tokens")),
        "TTFT, base": seconds(_median(off, "ttft_s")),
        "TTFT, prefix": seconds(_median(on, "ttft_s")),
    }


def first_token(steps: pd.DataFrame) -> Outcome:
    """Whether the first token of later turns came in less than half the time: by turn, medians over passes."""
    medians = _medians(steps, "ttft_s")
    later = medians[medians.index > 1]
    if not len(later):
        return unmeasured("no later turn was finished in both arms")
    on, off = float(later[ON].median()), float(later[OFF].median())
    saw = (
        f"from turn 2 on the first token took {seconds(on)} with the cache and {seconds(off)} without "
        f"(medians of n = {counted(len(later), 'turn')})"
    )
    return Outcome(None if len(later) < _FEW else on < off / 2, saw)


def price(steps: pd.DataFrame) -> Outcome:
    """Whether a computed token costs the same with the cache and without: time to first token over tokens computed."""
    kept = _pair(steps)
    prices = {arm: _price(kept[kept["arm"] == arm]) for arm in (OFF, ON)}
    n = min(int((kept["arm"] == arm).sum()) for arm in prices)
    if any(missing(value) for value in prices.values()):
        return unmeasured("one of the arms did not say what it computed")
    each = " and ".join(f"{plain(1000 * value)} ms under {arm}" for arm, value in prices.items())
    saw = f"a computed prompt token cost {each} (time to first token over tokens, n = {counted(n, 'step')} each)"
    return Outcome(None if n < _FEW else abs(prices[ON] / prices[OFF] - 1) < 1 / 3, saw)


def _price(steps: pd.DataFrame) -> float:
    known = steps[steps["ttft_s"].notna() & steps["computed"].notna()]
    tokens = float(known["computed"].sum())
    return float(known["ttft_s"].sum()) / tokens if tokens else float("nan")


def gap_table(steps: pd.DataFrame) -> pd.DataFrame:
    """One row per arm: its prompt tokens by the name of their fate, and the ceiling; a dash: not known."""
    rows = records(cache_gap(steps))
    names = {"prompt": "prompt tokens", "ceiling": "ceiling", **_NAMED}
    table = [{"arm": row["arm"], "n": row["n"], **{names[name]: count(row[name]) for name in names}} for row in rows]
    return pd.DataFrame(table, columns=["arm", "n", *names.values()]).set_index("arm")


def nothing_evicted(steps: pd.DataFrame) -> Outcome:
    """Whether the cache held all that one agent came back to."""
    mine = [row for row in records(cache_gap(steps)) if row["arm"] == ON]
    if not mine or missing(mine[0]["lost"]) or not mine[0]["prompt"]:
        return unmeasured(f"no step of {ON} has both its cached tokens and its ceiling measured")
    (row,) = mine
    parts = ", ".join(
        f"{percent(row[name] / row['prompt'])} {words}"
        for name, words in _NAMED.items()
        if not missing(row[name]) and row[name]
    )
    lost = f"{row['lost']:,} of {row['prompt']:,} prompt tokens were in the ceiling and not in the cache"
    return Outcome(row["lost"] == 0, f"{lost}; the prompts were {parts} (n = {counted(row['n'], 'step')})")


def _pair(steps: pd.DataFrame) -> pd.DataFrame:
    """Finished steps of the two arms, with `ttft_s` and `computed`."""
    kept = finished(steps)
    kept = kept[kept["arm"].isin((OFF, ON))]
    computed = numbers(kept, "prompt_tokens") - numbers(kept, "cached_tokens")
    return kept.assign(ttft_s=floats(ttft(kept)), computed=computed)


def _medians(steps: pd.DataFrame, name: str) -> pd.DataFrame:
    """Turns that both arms finished, a column per arm."""
    kept = _pair(steps)
    wide = kept.groupby(["turn", "arm"])[name].median().unstack("arm")
    return wide.reindex(columns=[OFF, ON]).dropna()


def _mean(steps: pd.DataFrame, name: str) -> float | None:
    values = numbers(steps, name)
    return float(values.mean()) if len(values) else None


def _median(steps: pd.DataFrame, name: str) -> float | None:
    return float(steps[name].median()) if len(steps) else None
