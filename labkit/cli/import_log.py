"""`labkit import-log`: what another agent framework logged, as a recording."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console


def register(app: typer.Typer) -> None:
    """Add `import-log` to the command line."""
    app.command("import-log", epilog="Example: labkit import-log chat-log.jsonl --out mine.jsonl")(import_log)


def import_log(
    log: Annotated[Path, typer.Argument(help='JSON lines: {"request": ..., "response": ...}, one LLM call each.')],
    out: Annotated[Path, typer.Option(help="The .jsonl file to write.")],
    session: Annotated[str | None, typer.Option(help="Which agent, in a log whose lines have a `session`.")] = None,
) -> None:
    """Turn a log of chat-completions requests and responses into a recording, to replay it under any arm.

    Each request must begin with the one before and its reply. Tool calls and results are kept. Token counts come from
    `usage`; times (`t_send`, `t_end`) are optional. Starts no engine.

    Example: labkit import-log chat-log.jsonl --out mine.jsonl
    """
    from labkit.traffic.from_chat_log import from_chat_log
    from labkit.traffic.recording import save

    recording = from_chat_log(log, name=out.stem, session=session)
    save(recording, out)
    counted = recording.header.counted_by
    tokens = f"tokens as {counted} counted them" if counted else "no token counts"
    said = f"Recording: {out} ({len(recording.steps)} steps, {tokens}). Check it: labkit doctor --recording {out}"
    Console().print(f"{said}\nReplay it: labkit replay {out}", highlight=False, soft_wrap=True)
