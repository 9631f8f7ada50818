"""The memory that a drafter really takes: blocks of KV cache and bytes of the machine, with it and without.

Blocks are read off the engine's own gauge (see `labkit.analysis.kv_blocks`), so that any run tells them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd

from labkit.analysis.format import missing, percent
from labkit.analysis.kv_blocks import blocks_of
from labkit.analysis.tables import numbers, typed_frame
from labkit.core.columns import column
from labkit.core.errors import LabError, WeightsError
from labkit.core.records import Record
from labkit.engines import weights
from labkit.engines.kv_bytes import kv_bytes_per_token
from labkit.engines.profiles import Profile, load_profile
from labkit.experiments.lessons.outcome import Outcome, unmeasured
from labkit.experiments.report.english import records
from labkit.store.runs import Run
from labkit.telemetry.engine_names import KV_USAGES

NO_DRAFTER = "none"
_POOL, _DTYPE = "--kv-cache-memory-bytes", "--dtype"
_WIDTH = {"float32": 4, "bfloat16": 2, "float16": 2}
_GB = 1e9
NEAR = 0.02
"""Shares that differ by less are the same: a block is never split."""


@dataclass(frozen=True, kw_only=True)
class RoomRow(Record):
    """One engine of the run."""

    drafter: str = column("string", "", "who guesses; `none`: nobody")
    arm: str = column("string", "", "label of the arm that the engine served")
    blocks: int | None = column("int64", "blocks", "of KV cache that requests can be given", nullable=True)
    tokens: int | None = column("int64", "tokens", "that these blocks hold", nullable=True)
    share: float | None = column("float64", "", "of the blocks without a drafter, 0 to 1", nullable=True)
    expected_tokens: int | None = column("int64", "tokens", "the same by arithmetic, not measured", nullable=True)
    n: int = column("int64", "", "readings of the gauge that the blocks follow from")
    used_gb: float | None = column("float64", "GB", "median memory of the machine while it was measured", nullable=True)
    n_used: int = column("int64", "", "readings of the machine's memory")


class _Engine(NamedTuple):
    """An engine as the run's events have it. `argv`: of the process that computes; `block_size`: tokens."""

    id: str
    arm: str
    drafter: str
    argv: Sequence[str]
    block_size: int | None


def room_table(run: Run) -> pd.DataFrame:
    """One row per engine without a split, in the order in which they served; columns as RoomRow declares them."""
    samples, steps, profile = run.samples(), run.steps(), _profile(run)
    rows = [_row(engine, samples, steps, profile) for engine in _engines(run)]
    alone = next((row.blocks for row in rows if row.drafter == NO_DRAFTER and row.blocks), None)
    shares = [None if not alone or not row.blocks else row.blocks / alone for row in rows]
    return typed_frame(RoomRow, rows).assign(share=pd.Series(shares, dtype="float64"))


def _profile(run: Run) -> Profile | None:
    """The profile of the run; None where it is not known on this machine."""
    try:
        return load_profile(str(run.info.asked.get("profile")))
    except LabError:
        return None


def _engines(run: Run) -> Iterator[_Engine]:
    """Each once, also where it served several blocks."""
    seen: set[str] = set()
    for event in run.events():
        layout = (event.get("plan") or {}).get("layout", []) if event["type"] == "serving" else []
        computing = [process for process in layout if process["metrics"]]
        if len(computing) == 1 and event["engine"] not in seen:
            seen.add(event["engine"])
            method = event["plan"].get("method")
            yield _Engine(
                event["engine"], event["arm"], method or NO_DRAFTER, computing[0]["argv"], event.get("block_size")
            )


def _row(engine: _Engine, samples: pd.DataFrame, steps: pd.DataFrame, profile: Profile | None) -> RoomRow:
    mine = samples["source"].str.startswith(f"{engine.id}/") & samples["name"].isin(KV_USAGES)
    usage = [float(value) for value in samples.loc[mine, "value"].dropna() if value > 0]
    blocks, used = blocks_of(usage), _used(engine.id, samples, steps)
    return RoomRow(
        drafter=engine.drafter,
        arm=engine.arm,
        blocks=blocks,
        tokens=None if blocks is None or engine.block_size is None else blocks * engine.block_size,
        expected_tokens=None if profile is None else _expected(engine, profile),
        n=len(usage),
        used_gb=None if not len(used) else float(used.median()) / _GB,
        n_used=len(used),
    )


def _used(engine: str, samples: pd.DataFrame, steps: pd.DataFrame) -> pd.Series[float]:
    """The machine's memory in use, bytes, from this engine's first send to its last reply."""
    mine = steps[steps["engine"] == engine]
    if not len(mine):
        return pd.Series(dtype="float64")
    began, ended = float(mine["t_send"].min()), float(numbers(mine, "t_end").max())
    during = (samples["t"] >= began) & (samples["t"] <= ended)
    host = (samples["source"] == "host") & (samples["name"] == "memory_used")
    return samples.loc[during & host, "value"].dropna().astype("float64")


def _expected(engine: _Engine, profile: Profile) -> int | None:
    """Whole blocks of the pool, less the one that vLLM never gives out; None for a draft whose layers are not known.

    A block holds the keys and values of every layer, those of a draft model among them.
    """
    per_token, pool, models = kv_bytes_per_token(profile), _option(engine.argv, _POOL), _models(engine.drafter, profile)
    if not per_token or not pool or not models or not engine.block_size:
        return None
    return (int(pool) // (per_token * models * engine.block_size) - 1) * engine.block_size


def _models(drafter: str, profile: Profile) -> int | None:
    """How often the target's layers are held: twice, where the draft is the same model; None for another model."""
    known = profile.layers.speculation.methods.get(drafter)
    model = known.config.get("model") if known else None
    if model is None:
        return 1
    return 2 if model == "{model}" else None


def _option(argv: Sequence[str], name: str) -> str:
    """What stands behind the option; empty when it is not there."""
    return argv[argv.index(name) + 1] if name in argv else ""


def draft_weights_gb(run: Run) -> float | None:
    """GB that a draft of the target's size keeps in memory: values in its file times their width in the engine.

    None where the file is not on this machine, or nothing says how wide a value is there.
    """
    profile = _profile(run)
    argv = next((engine.argv for engine in _engines(run)), ())
    width = _WIDTH.get(_option(argv, _DTYPE))
    try:
        file = weights.path(str(profile.model.weights)) / "model.safetensors" if profile else None
    except WeightsError:
        return None
    return file.stat().st_size / _WIDTH["bfloat16"] * width / _GB if file and width else None


def takes(rooms: pd.DataFrame, drafter: str, share: float) -> Outcome:
    """Whether this share of the blocks is left beside the drafter."""
    by_name = {row["drafter"]: row for row in records(rooms)}
    alone, beside = by_name.get(NO_DRAFTER), by_name.get(drafter)
    if alone is None or beside is None or missing(beside["share"]):
        return unmeasured(f"this run has no engine with {drafter} beside one without")
    saw = (
        f"beside {drafter} requests can be given {beside['blocks']:,} blocks, {beside['tokens']:,} tokens, and without "
        f"a drafter {alone['blocks']:,}: {percent(beside['share'])} are left "
        f"(n = {beside['n']} and {alone['n']} readings)"
    )
    return Outcome(abs(beside["share"] - share) <= NEAR, saw)


def weighs(rooms: pd.DataFrame, drafter: str, expected_gb: float | None) -> Outcome:
    """Whether the machine's memory shows what the draft's weights are by arithmetic, to a third."""
    by_name = {row["drafter"]: row for row in records(rooms)}
    alone, beside = by_name.get(NO_DRAFTER), by_name.get(drafter)
    if alone is None or beside is None or missing(alone["used_gb"]) or missing(beside["used_gb"]):
        return unmeasured(f"the machine's memory was not sampled both with {drafter} and without")
    more = beside["used_gb"] - alone["used_gb"]
    n = f"n = {beside['n_used']} and {alone['n_used']} readings of all that is in use"
    saw = f"with {drafter} the machine had {more:.2f} GB more in use"
    if expected_gb is None:
        return Outcome(None, f"{saw} ({n}), and its weights are not on this machine to compare")
    holds = abs(more - expected_gb) <= expected_gb / 3
    return Outcome(holds, f"{saw}, where the weights alone are {expected_gb:.2f} GB by arithmetic ({n})")


def claim_of(claims: pd.DataFrame, name: str) -> Mapping[str, Any]:
    """One published claim by its id. Raises KeyError for a name that no claim has."""
    return {row["id"]: row for row in records(claims)}[name]
