"""One trajectory put together: the rows of its steps, what was said in them, and the account of their tokens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from labkit.analysis.reply_account import drawn
from labkit.analysis.token_account import Added, shares
from labkit.core.chat import Message
from labkit.experiments.dashboard.opened import Opened
from labkit.experiments.dashboard.trajectory.lines import chars_of, line_of, tools_line
from labkit.experiments.dashboard.trajectory.records import Line, Reply, Trajectory, Turn
from labkit.experiments.dashboard.trajectory.texts import Texts, texts_of
from labkit.experiments.dashboard.trajectory.which import Which, rows_of
from labkit.experiments.solved import solved_tasks
from labkit.store.table_rows import rows_where
from labkit.traffic.said import said_sha256


def trajectory(opened: Opened, which: Which) -> Trajectory:
    """One trajectory of the run; without a turn where the run has no such. Raises RunUnreadable."""
    rows = rows_of(opened, which)
    texts = texts_of(opened, which, rows)
    lines, counts = _conversation(rows, texts)
    streams = _streams(rows_where(opened.run, "chunks", arm=sorted(set(rows["served"])), agent=[which.agent]))
    turns = [_turn(row, texts, counts[n], _tokens(streams, row)) for n, row in enumerate(_records(rows))]
    return Trajectory(
        which=which,
        lines=lines,
        turns=tuple(turns),
        history=_first(rows, "history"),
        mode=_first(rows, "mode"),
        switched_by=_first(rows, "switched_by"),
        seconds=_span(rows),
        note=texts.note,
        reached=_reached(opened, which),
        recorded_reached=texts.reached,
        live=opened.live,
    )


def _records(rows: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Rows as plain dicts, null as None."""
    for row in rows.to_dict("records"):
        yield {str(name): None if pd.isna(value) else value for name, value in row.items()}


def _conversation(rows: pd.DataFrame, texts: Texts) -> tuple[tuple[Line, ...], list[int]]:
    """All messages with their shares, and how many of them each step's prompt is made of."""
    lines, added, counts = list[Line](), list[list[Added]](), list[int]()
    new: list[tuple[Line, int | None]] = [(tools_line(texts.tools), None)] if texts.tools else []
    for row in _records(rows):
        turn = int(row["turn"])
        new += [(line_of(message, turn), None) for message in texts.append.get(turn, [])]
        lines += [line for line, _ in new]
        added.append([Added(chars=chars_of(line), tokens=tokens) for line, tokens in new])
        counts.append(len(lines))
        new = _history(row, texts)
    found = shares(added, [row["prompt_tokens"] for row in _records(rows)])
    return tuple(replace(line, share=share) for line, share in zip(lines, found, strict=True)), counts


def _history(row: dict[str, Any], texts: Texts) -> list[tuple[Line, int | None]]:
    """The reply that the next request holds, and its tokens: recorded, or the engine's own where that goes on."""
    turn, own = int(row["turn"]), row["completion_tokens"]
    if row["history"] == "recorded":
        message, tokens = texts.recorded.get(turn), texts.counted.get(turn)
        tokens = own if tokens is None and message and row["text_sha256"] == said_sha256(message) else tokens
    else:
        message, tokens = texts.replies.get(turn) or texts.recorded.get(turn), own
    return [(replace(line_of(message, turn), reply=True), tokens)] if message else []


def _turn(row: dict[str, Any], texts: Texts, messages: int, chunks: Sequence[int | None]) -> Turn:
    names = ("kind", "prompt_tokens", "cached_tokens", "tool_name", "tool_s", "tool_bytes", "error")
    return Turn(
        turn=int(row["turn"]),
        arm=row["served"],
        counts=not row["warmup"],
        messages=messages,
        ttft_s=_between(row, "t_send", "t_first_token"),
        decode_s=_between(row, "t_first_token", "t_last"),
        e2e_s=_between(row, "t_send", "t_end"),
        reply=_reply(row, texts, chunks),
        **{name: row[name] for name in names},
    )


def _reply(row: dict[str, Any], texts: Texts, chunks: Sequence[int | None]) -> Reply:
    turn, recorded = int(row["turn"]), texts.recorded.get(int(row["turn"]))
    said = texts.replies.get(turn)
    same = None if recorded is None or row["text_sha256"] is None else _same(row, said, recorded)
    if said is None and same:
        said = recorded
    return Reply(
        line=line_of(said, turn) if said else None,
        tokens=row["completion_tokens"],
        accepted=row["accepted_tokens"],
        drafted=row["drafted_tokens"],
        rounds=row["drafts"],
        made=drawn(row["completion_tokens"], row["accepted_tokens"], chunks),
        finish_reason=row["finish_reason"],
        text_sha256=row["text_sha256"],
        same=same,
        recorded=line_of(recorded, turn) if recorded and same is not True else None,
        goes_on="recorded" if row["history"] == "recorded" else "live",
    )


def _same(row: dict[str, Any], said: Message | None, recorded: Message) -> bool:
    """By hash; where secrets were masked, by the texts that are left."""
    return bool(row["text_sha256"] == said_sha256(recorded) or (said and said_sha256(said) == said_sha256(recorded)))


def _streams(chunks: pd.DataFrame) -> dict[tuple[str, int], list[tuple[float, int | None]]]:
    """Arm and turn to when each event came, and its tokens, in order."""
    found = dict[tuple[str, int], list[tuple[float, int | None]]]()
    rows = chunks.sort_values("t", kind="stable")[["arm", "turn", "t", "tokens"]].itertuples(index=False)
    for arm, turn, t, tokens in rows:
        found.setdefault((str(arm), int(turn)), []).append((float(t), None if pd.isna(tokens) else int(tokens)))
    return found


def _tokens(streams: Mapping[tuple[str, int], list[tuple[float, int | None]]], row: dict[str, Any]) -> list[int | None]:
    """Tokens of each event of the step's stream: of those between its send and its end."""
    end = row["t_end"] if row["t_end"] is not None else float("inf")
    stream = streams.get((row["served"], int(row["turn"])), [])
    return [tokens for t, tokens in stream if row["t_send"] <= t <= end]


def _between(row: dict[str, Any], start: str, end: str) -> float | None:
    return None if row[start] is None or row[end] is None else float(row[end] - row[start])


def _span(rows: pd.DataFrame) -> float | None:
    """From the first send to the last end."""
    return None if rows["t_end"].isna().all() else float(rows["t_end"].max() - rows["t_send"].min())


def _first(rows: pd.DataFrame, name: str) -> str:
    return str(rows[name].iloc[0]) if len(rows) else ""


def _reached(opened: Opened, which: Which) -> bool | None:
    """The hidden check's verdict. A replay solves nothing anew, so nobody checked."""
    tasks = None if which.recording else solved_tasks(opened.info, opened.events)
    if tasks is None:
        return None
    mine = tasks[(tasks["task"] == which.task) & (tasks["repeat"].astype(str) == which.repeat)]
    for name, wanted in (("arm", which.arm), ("agent", which.agent)):
        mine = mine[mine[name] == wanted] if (mine[name] == wanted).any() else mine
    return bool(mine["solved"].iloc[0]) if len(mine) == 1 else None
