"""How an agent at work looks: a line or two a step as it ends, then the hidden check's verdict and where the run is."""

from __future__ import annotations

import signal
from dataclasses import replace

import typer
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from labkit.agents.steps import Outcome, Step
from labkit.cli.measuring import provider, refuse_busy
from labkit.cli.progress_view import drawn
from labkit.core.arms import arm_named
from labkit.engines.fleet import Fleet
from labkit.experiments.agent_run import AgentAsked, AgentRun, run_live
from labkit.experiments.fleet_provider import FleetProvider
from labkit.experiments.interrupt import Stopped, run_until_signal
from labkit.traffic.recording import Recording

_COLOURS = {"plan": "cyan", "act": "yellow", "observe": "blue", "evaluate": "magenta", "answer": "green"}
_LEFT, _TOKENS, _SECONDS, _TOOL = 15, 14, 8, 8
"""Cells of turn and kind, of the tokens, of the request's time and of the tool's."""
_MOST_LINES = 2
_WHY = {
    "finished": "it said that it was done",
    "steps": "the limit of steps was met",
    "tokens": "the limit of tokens was met",
    "seconds": "the limit of time was met",
    "error": "a request failed",
}


def work(asked: AgentAsked, attached: list[str]) -> Recording:
    """Run it, draw it, print the verdict; returns the recording. Raises typer.Exit when it was stopped or failed."""
    console = Console()

    def stopping(number: signal.Signals) -> None:
        console.print(f"\n{number.name}: putting things away; the run so far is kept.", highlight=False)

    def show(step: Step) -> None:
        if step.turn == 1:
            console.print(header(console.width))
        console.print(line(step, console.width), soft_wrap=True)

    engines = provider(asked.profile, attached)
    if asked.with_engine and isinstance(engines, FleetProvider):
        refuse_busy(Fleet(), [engines.plan(arm_named(asked.arm))])
    try:
        with drawn(console) as tell:
            # Without its counts a start is one line in a log, not one a second.
            live = run_live(asked, engines, on_step=show, on_progress=lambda p: tell(replace(p, done=None, total=None)))
            done = run_until_signal(live, stopping)
    except Stopped as stopped:
        raise typer.Exit(stopped.exit_status) from None
    _verdict(done, console)
    if done.outcome.stop_reason == "error":
        raise typer.Exit(3)
    return done.recording


def header(width: int) -> Text:
    """What the columns of `line` are."""
    numbers = f"{'in/cached/out':>{_TOKENS}} {'time':>{_SECONDS}}  tool"
    room = _room(width)
    return Text(f"{'':<{_LEFT}}{'said or called':<{room}}  {numbers}", "dim", no_wrap=True, overflow="crop")


def line(step: Step, width: int) -> Text:
    """One step in `width` cells: turn, kind, what was said or called in at most two lines, tokens, seconds."""
    text = Text(f"{step.turn:>3}  ").append(f"{step.kind:<9} ", _COLOURS[step.kind])
    if step.error:
        return text.append(f"failed: {step.error}", "red")
    room = _room(width)
    first, *more = _wrapped(_said(step), room)
    text.append(f"{first}{' ' * (room - cell_len(first))}  ").append(_numbers(step), "dim")
    return text.append("".join(f"\n{'':<{_LEFT}}{rest}" for rest in more))


def _room(width: int) -> int:
    return max(12, width - _LEFT - 2 - _TOKENS - 1 - _SECONDS - _TOOL)


def _wrapped(text: str, room: int) -> list[str]:
    """The text in one or two lines of at most `room` cells; an ellipsis where there is more."""
    flat = Text(" ".join(text.split()))
    lines = list(flat.wrap(Console(width=room), room, overflow="fold")) or [Text()]
    if len(lines) > _MOST_LINES:
        lines[1] = Text(f"{set_cell_size(lines[1].plain.rstrip(), min(cell_len(lines[1].plain.rstrip()), room - 1))}…")
    return [each.plain.rstrip() for each in lines[:_MOST_LINES]]


def _said(step: Step) -> str:
    if step.tool:
        about = step.tool.arguments.get("path") or step.tool.arguments.get("query") or ""
        return f"{step.tool.name} {about}{'' if step.tool.ok else '  (refused)'}"
    return str(step.reply.message.get("content") or "(nothing)") if step.reply else ""


def _numbers(step: Step) -> str:
    """`  749/704/29   1.20 s  0.3 s`: prompt, cached and output tokens, the request's time, the tool's own."""
    if step.reply is None:
        return ""
    usage, seconds = step.reply.usage, step.reply.t_end - step.reply.t_send
    counted = (usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens)
    tokens = "/".join(map(_dash, counted)) if any(n is not None for n in counted) else "-"
    tool = f"  {step.tool.seconds:.1f} s" if step.tool else ""
    return f"{tokens:>{_TOKENS}} {f'{seconds:.2f} s':>{_SECONDS}}{tool}"


def _verdict(done: AgentRun, console: Console) -> None:
    outcome = done.outcome
    console.print(
        Text("reached: ").append("yes", "bold green") if outcome.reached else Text("reached: ").append("no", "bold red")
    )
    console.print(f"{outcome.steps} steps in {outcome.seconds:.1f} s; {_WHY[outcome.stop_reason]}.", highlight=False)
    console.print(_isolation(outcome), highlight=False)
    console.print(f"Run folder: {done.run.folder}", highlight=False, soft_wrap=True)


def _isolation(outcome: Outcome) -> str:
    """What the model's code was kept from; what it was not is said as plainly."""
    if outcome.isolation is None:
        return "The agent ran no tests."
    words = {"net": "the network", "pids": "other processes", "files": "files outside the workspace"}
    closed = [words[door] for door in words if door in outcome.isolation]
    open_ = [words[door] for door in words if door not in outcome.isolation]
    said = f"Tests ran cut off from {', '.join(closed) or 'nothing'}"
    return f"{said}; this system does not let labkit cut them off from {', '.join(open_)}." if open_ else f"{said}."


def _dash(number: int | None) -> str:
    return "-" if number is None else str(number)
