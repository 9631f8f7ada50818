"""The lesson on transfers: what moves from prefill to decode, by the connector's own counters and by arithmetic."""

from __future__ import annotations

from typing import Any

import pandas as pd

from labkit.analysis.format import DASH, count, percent, plain, seconds
from labkit.analysis.tables import is_finished, numbers, total
from labkit.engines.kv_bytes import KvShape
from labkit.experiments.compared import compared
from labkit.experiments.dashboard.layers.rows import condition_words
from labkit.experiments.dashboard.layers.split_words import megabytes
from labkit.experiments.dashboard.layers.transfers import Moved, moved, step_transfers
from labkit.experiments.lessons.outcome import Outcome, unmeasured
from labkit.experiments.report.english import counted
from labkit.plots.transfers import TransfersInfo, transfers_info
from labkit.store.runs import Run

_BLOCK = "--block-size"
_NO_COUNTERS = "the connector counted no transfer (MoRI-IO has no metrics at all; NIXL has)"


def all_moved(run: Run, arm: str) -> Moved:
    """Sums over everything of this arm that counts."""
    return moved(run.events(), compared(run.info, run.steps()), arm)


def transfers_shown(run: Run, arm: str) -> pd.DataFrame:
    """What the connector counted of the arm, a row for each condition of the run, for readers."""
    steps = compared(run.info, run.steps())
    mine, events = steps[steps["arm"] == arm], run.events()
    rows = {
        condition_words(str(condition)): _shown(moved(events, mine[mine["condition"] == condition], arm))
        for condition in sorted(mine["condition"].unique())
    }
    return pd.DataFrame.from_dict(rows, orient="index")


def _shown(found: Moved) -> dict[str, str]:
    each = found.prompt_transferred / found.transfers if found.transfers and found.prompt_transferred else None
    return {
        "transfers (n)": count(found.transfers),
        "failed": count(found.transfer_failures),
        "prompt tokens moved, a transfer": plain(each),
        "moved, a transfer": megabytes(found.bytes_each),
        "time, a transfer": seconds(found.s_each),
        "bytes a token": DASH if (of := bytes_a_token(found)) is None else f"{of:,.0f}",
        "rate": DASH if found.bytes_per_s is None else f"{megabytes(found.bytes_per_s)}/s",
    }


def bytes_a_token(found: Moved) -> float | None:
    """Bytes that were moved over prompt tokens that had been missing; None where one of them was not counted."""
    known = found.transfer_bytes is not None and found.prompt_transferred
    return float(found.transfer_bytes or 0) / float(found.prompt_transferred or 1) if known else None


def block_tokens(run: Run) -> int | None:
    """Tokens of a block of the run's KV cache, as its engines' command lines say; None where they do not agree."""
    engines = (run.info.fingerprint.get("engines") or {}).values()
    argvs = [process["argv"] for engine in engines if isinstance(engine, dict) for process in engine["processes"]]
    said = {int(argv[argv.index(_BLOCK) + 1]) for argv in argvs if _BLOCK in argv}
    return said.pop() if len(said) == 1 else None


def whole_blocks_move(run: Run, arm: str, shape: KvShape | None) -> Outcome:
    """Whether the bytes are those of whole blocks, and so a little more a token than arithmetic says."""
    found, block = all_moved(run, arm), block_tokens(run)
    per_token = bytes_a_token(found)
    if per_token is None or shape is None or block is None:
        return unmeasured(_NO_COUNTERS)
    blocks, rest = divmod(found.transfer_bytes or 0, block * shape.bytes_per_token)
    how = f"exactly {blocks:,} blocks" if rest == 0 else f"{blocks:,} blocks and {rest:,} bytes"
    more = plain(per_token / shape.bytes_per_token)
    saw = (
        f"{counted(found.transfers or 0, 'transfer')} moved {how} of {block} tokens, {per_token:,.0f} bytes for each "
        f"of the {found.prompt_transferred:,} tokens that decode had missed: {more} times the arithmetic"
    )
    return Outcome(rest == 0 and per_token >= shape.bytes_per_token, saw)


def share_of_the_wait(run: Run, arm: str) -> Outcome:
    """Whether transfers are a small part of the time to first token: under a tenth, over the steps that told both."""
    steps = compared(run.info, run.steps())
    mine = steps[(steps["arm"] == arm) & is_finished(steps) & steps["transfer_s"].notna()]
    waited = total(numbers(mine, "t_first_token") - numbers(mine, "t_send"))
    moving = total(numbers(mine, "transfer_s"))
    if not waited or moving is None:
        return unmeasured(f"no step of {arm} told how long its transfer took")
    saw = (
        f"transfers took {seconds(moving)} of the {seconds(waited)} until first tokens, {percent(moving / waited)} of "
        f"them, n = {counted(len(mine), 'step')}"
    )
    return Outcome(moving < waited / 10, saw)


def dots(run: Run, arm: str, shape: KvShape | None) -> TransfersInfo:
    """Size against time of every transfer that belongs to one step; `shape` None: in tokens."""
    steps = compared(run.info, run.steps())
    return transfers_info(step_transfers(steps[steps["arm"] == arm], shape.bytes_per_token if shape else None), arm)


def turn_bytes(run: Run, arm: str, shape: KvShape) -> pd.DataFrame:
    """What the run's own turns would move with this `shape`: all of the prompt, or only what was new. By turn.

    The run's tokens are those of its own model; another model's tokenizer counts the same text otherwise.
    """
    steps = compared(run.info, run.steps())
    mine = steps[(steps["arm"] == arm) & is_finished(steps)]
    table = pd.DataFrame(
        {
            "turn": mine["turn"],
            "prompt": numbers(mine, "prompt_tokens"),
            "new": numbers(mine, "prompt_tokens") - numbers(mine, "cached_tokens"),
        }
    ).dropna()
    by_turn = table.groupby("turn").agg(n=("prompt", "size"), prompt=("prompt", "median"), new=("new", "median"))
    rows = [_turn(turn, row, shape) for turn, row in by_turn.iterrows()]
    return pd.DataFrame(rows).set_index("turn") if rows else pd.DataFrame()


def _turn(turn: Any, row: pd.Series[Any], shape: KvShape) -> dict[str, Any]:
    return {
        "turn": int(turn),
        "n": int(row["n"]),
        "prompt tokens, median": f"{row['prompt']:,.0f}",
        "of these new, median": f"{row['new']:,.0f}",
        "whole prompt": megabytes(row["prompt"] * shape.bytes_per_token),
        "new tokens only": megabytes(row["new"] * shape.bytes_per_token),
    }
