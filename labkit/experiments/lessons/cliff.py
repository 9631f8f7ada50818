"""The eviction cliff, predicted: agents' blocks against those of a prefix cache, before anything is measured.

An agent comes back after all others have had their turn, and finds what they have left of its blocks. So the hit rate
stands until the agents' blocks are as many as the cache's, and within the next agent or two all of it is gone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from labkit.analysis.format import percent
from labkit.analysis.turn_taking import Turn, TurnTakingRow, turn_taking
from labkit.core.errors import BadInput
from labkit.engines.profiles import load_profile
from labkit.experiments.report.english import counted, listed
from labkit.store.runs import RunStore
from labkit.traffic.recording import Recording, named

_ALL, _NOTHING = 0.995, 0.005
"""Shares that are written as 100 % and as 0 %."""


@dataclass(frozen=True, kw_only=True)
class SmallCache:
    """`blocks` of `block_size` tokens that a profile's engines have for requests."""

    blocks: int
    block_size: int

    @property
    def words(self) -> str:
        return f"{self.blocks} blocks of {self.block_size} tokens, {self.blocks * self.block_size:,} in all"


@dataclass(frozen=True, kw_only=True)
class Need:
    """Blocks that an agent holds: `mean` over its turns, and at its longest (`most`)."""

    mean: float
    most: int

    def fits(self, cache: SmallCache) -> float:
        """Agents whose blocks are as many as the cache's, each at its mean."""
        return cache.blocks / self.mean

    def whole(self, cache: SmallCache) -> int:
        """Agents that fit even when all of them are at their longest."""
        return cache.blocks // self.most

    def gone(self, cache: SmallCache) -> int:
        """From so many agents on, the others leave nothing of what an agent had."""
        return math.ceil(self.fits(cache) + 1)

    def in_words(self, cache: SmallCache) -> str:
        """The arithmetic, in two sentences."""
        return (
            f"The cache has {cache.words}; an agent holds {self.mean:.1f} on average, and {self.most} at its longest. "
            f"So {counted(self.whole(cache), 'agent')} fit at any time and {self.fits(cache):.1f} on average, and with "
            f"{self.gone(cache)} or more the others leave nothing of what an agent had."
        )


def asked(engine: str, question: Mapping[str, Any], stored: str) -> Mapping[str, Any]:
    """What is, or was, asked: the prediction is about it. `stored`: the run that `engine="stored"` opens."""
    return RunStore().open(stored).info.asked if engine == "stored" else question


def small_cache(profile_name: str) -> SmallCache:
    """Of a profile that sets its number of blocks; one of them is vLLM's own. Raises BadInput for another."""
    flags = load_profile(profile_name).engine.flags
    blocks, size = flags.get("num-gpu-blocks-override"), flags.get("block-size")
    if not isinstance(blocks, int) or not isinstance(size, int):
        allowed = "one with num-gpu-blocks-override and block-size, such as cpu-smollm2+num-gpu-blocks-override=129"
        raise BadInput("profile", profile_name, allowed)
    return SmallCache(blocks=blocks - 1, block_size=size)


def turns_of(question: Mapping[str, Any]) -> list[list[Turn]]:
    """What the agents send, as it was counted when it was recorded; a conversation for each recording."""
    return [_turns(named(name), question.get("steps")) for name in question["recordings"]]


def _turns(recording: Recording, steps: int | None) -> list[Turn]:
    """Each prompt carries all of the step before, of whose reply the last token is in no block. Raises BadInput."""
    turns: list[Turn] = []
    for step in recording.steps[:steps]:
        prompt, generated = step.usage.prompt_tokens, step.usage.completion_tokens
        if prompt is None or generated is None:
            raise BadInput("recording", recording.header.name, "one whose steps have token counts")
        left = turns[-1].prompt + turns[-1].generated - 1 if turns else 0
        turns.append(Turn(prompt=prompt, generated=generated, shared=min(left, prompt)))
    return turns


def need_of(lives: Sequence[Sequence[Turn]], block_size: int) -> Need:
    """Over all turns of all conversations."""
    blocks = [turn.blocks(block_size) for turns in lives for turn in turns]
    return Need(mean=sum(blocks) / len(blocks), most=max(blocks))


def need_table(lives: Sequence[Sequence[Turn]], block_size: int) -> pd.DataFrame:
    """One row a turn: what it sends and gets, and the blocks that it holds at its end."""
    rows = [
        {"turn": n, "prompt tokens": turn.prompt, "reply tokens": turn.generated, "blocks": turn.blocks(block_size)}
        for turns in lives
        for n, turn in enumerate(turns, 1)
    ]
    return pd.DataFrame(rows).set_index("turn")


def predicted(lives: Sequence[Sequence[Turn]], agents: Sequence[int], cache: SmallCache) -> list[TurnTakingRow]:
    """What is found with 1, 2, ... agents that take turns, up to the most of `agents`.

    Every number, measured or not: between two that were measured the rest of the way is to be seen. Raises BadInput for
    a cache below one request.
    """
    return [turn_taking(lives, level, cache.blocks, cache.block_size) for level in range(1, max(agents) + 1)]


def predicted_table(expected: Sequence[TurnTakingRow]) -> pd.DataFrame:
    """One row per number of agents, in words."""
    rows = [
        {
            "agents": row.agents,
            "hit rate": percent(row.hit_rate),
            "ceiling": percent(row.hit_ceiling),
            "kept of it": percent(row.kept),
        }
        for row in expected
    ]
    return pd.DataFrame(rows).set_index("agents")


def predicted_in_words(expected: Sequence[TurnTakingRow], fits: float) -> str:
    """Where it falls, and over how many agents: `everything up to 4 agents, 63 % with 5, and nothing from 6 on`."""
    known = [(row.agents, row.kept) for row in expected if row.kept is not None]
    full = max((agents for agents, kept in known if kept >= _ALL), default=0)
    none = min((agents for agents, kept in known if kept <= _NOTHING), default=None)
    between = [f"{percent(kept)} with {agents}" for agents, kept in known if full < agents and kept > _NOTHING]
    last = "" if none is None else f"nothing from {none} on"
    parts = [f"everything up to {counted(full, 'agent')}" if full else "", *between, last]
    return (
        f"The cache is full at {fits:.1f} agents. Played turn by turn it keeps, of what an infinite one would serve, "
        f"{listed(part for part in parts if part)}."
    )
