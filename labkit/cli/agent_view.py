"""How an agent at work looks: one line a step as it ends, then whether the hidden check passed and where the run is."""

from __future__ import annotations

import signal
from dataclasses import replace

import typer
from rich.console import Console
from rich.text import Text

from labkit.agents.steps import Outcome, Step
from labkit.cli.progress_view import drawn
from labkit.engines.fleet import Fleet
from labkit.engines.profiles import load_profile
from labkit.experiments.agent_run import AgentAsked, AgentRun, run_live
from labkit.experiments.fleet_provider import FleetProvider
from labkit.experiments.interrupt import Stopped, run_until_signal
from labkit.traffic.recording import Recording

_COLOURS = {"plan": "cyan", "act": "yellow", "observe": "blue", "evaluate": "magenta", "answer": "green"}
_WHY = {
    "finished": "it said that it was done",
    "steps": "the limit of steps was met",
    "tokens": "the limit of tokens was met",
    "seconds": "the limit of time was met",
    "error": "a request failed",
}


def work(asked: AgentAsked) -> Recording:
    """Run it, draw it, print the verdict; returns the recording. Raises typer.Exit when it was stopped or failed."""
    console = Console()

    def stopping(number: signal.Signals) -> None:
        console.print(f"\n{number.name}: putting things away; the run so far is kept.", highlight=False)

    def show(step: Step) -> None:
        console.print(line(step, console.width))

    provider = FleetProvider(Fleet(), load_profile(asked.profile))
    try:
        with drawn(console) as tell:
            # Without its counts a start is one line in a log, not one a second.
            live = run_live(
                asked, provider, on_step=show, on_progress=lambda p: tell(replace(p, done=None, total=None))
            )
            done = run_until_signal(live, stopping)
    except Stopped as stopped:
        raise typer.Exit(stopped.exit_status) from None
    _verdict(done, console)
    if done.outcome.stop_reason == "error":
        raise typer.Exit(3)
    return done.recording


def line(step: Step, width: int) -> Text:
    """One step in one line of at most `width` cells: turn, kind, what was said or called, tokens, seconds."""
    text = Text(f"{step.turn:>3}  ", no_wrap=True, overflow="ellipsis").append(f"{step.kind:<9} ", _COLOURS[step.kind])
    if step.error:
        return text.append(f"failed: {step.error}", "red")
    numbers = _numbers(step)
    room = max(12, width - text.cell_len - len(numbers) - 2)
    return text.append(f"{_short(_said(step), room):<{room}}  ").append(numbers, "dim")


def _said(step: Step) -> str:
    if step.tool:
        about = step.tool.arguments.get("path") or step.tool.arguments.get("query") or ""
        return f"{step.tool.name} {about}{'' if step.tool.ok else '  (refused)'}"
    return str(step.reply.message.get("content") or "(nothing)") if step.reply else ""


def _numbers(step: Step) -> str:
    """`  749 in,   704 cached,   29 out,   1.20 s`, a dash for what was not measured; tools take their own time."""
    if step.reply is None:
        return ""
    usage, seconds = step.reply.usage, step.reply.t_end - step.reply.t_send
    tokens = f"{_dash(usage.prompt_tokens):>5} in, {_dash(usage.cached_tokens):>5} cached, "
    tool = f" + {step.tool.seconds:.1f} s" if step.tool else " " * 8
    return f"{tokens}{_dash(usage.completion_tokens):>4} out {seconds:6.2f} s{tool}"


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


def _short(text: str, width: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= width else f"{flat[: width - 1]}…"


def _dash(number: int | None) -> str:
    return "-" if number is None else str(number)
