"""How an engine's numbers read on the page: tables as Markdown, so that a phone wraps them and a reader reads them."""

from __future__ import annotations

from collections.abc import Sequence

from labkit.analysis.format import DASH, plain
from labkit.experiments.dashboard.engines.cards import EngineCard, FleetView, ProcessLine
from labkit.experiments.dashboard.engines.plans import DiffView, PlanView

_GIB, _MIB = 1 << 30, 1 << 20


def size(n: int | None) -> str:
    """`3.5 GiB`, `240 MiB`; a dash when it is not known."""
    if n is None:
        return DASH
    return f"{n / _GIB:.1f} GiB" if n >= _GIB else f"{n / _MIB:.0f} MiB"


def age(seconds: float) -> str:
    """`40 s`, `12 min`, `3 h 5 min`."""
    hours, minutes = divmod(int(seconds) // 60, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min" if minutes else f"{seconds:.0f} s"


def process_table(card: EngineCard) -> str:
    """One row a process: role, pid, port, cores kept busy, resident memory."""
    return _table(("process", "pid", "port", "cores busy", "resident"), [_row(process) for process in card.processes])


def _row(process: ProcessLine) -> tuple[str, ...]:
    gone = "" if process.alive else " (ended)"
    port = str(process.port) if process.port else DASH
    return (f"{process.role}{gone}", str(process.pid), port, plain(process.cores), size(process.rss))


def port_table(plan: PlanView) -> str:
    """One row a process of a plan: role, port, what else it opens, host memory."""
    rows = [
        (
            process.role,
            str(process.port),
            ", ".join(f"{name} {number}" for name, number in process.ports) or DASH,
            size(process.memory),
        )
        for process in plan.processes
    ]
    return _table(("process", "port", "other ports", "host memory"), rows)


def diff_text(view: DiffView) -> str:
    """As a patch from the left arm to the right one: a heading for each process, then what goes and what comes."""
    lines = [f"--- {view.left}", f"+++ {view.right}"]
    for role in dict.fromkeys(row.role for row in view.rows):
        lines.append(f"@@ {role} @@")
        for row in view.rows:
            if row.role == role:
                lines += [
                    f"{sign} {row.setting} {value}" for sign, value in (("-", row.left), ("+", row.right)) if value
                ]
    return "\n".join(lines)


def summary(view: FleetView) -> str:
    """`2 engines: 1 up, 1 starting`, and what a crash left behind; empty for an empty fleet."""
    if not view.cards:
        return ""
    counts = {
        state: sum(card.state == state for card in view.cards) for state in dict.fromkeys(c.state for c in view.cards)
    }
    many = f"{len(view.cards)} engine{'s' * (len(view.cards) != 1)}"
    return f"{many}: {', '.join(f'{n} {_SAID.get(state, state)}' for state, n in counts.items())}"


_SAID = {"left": "left behind", "up": "up and free"}


def _table(heading: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [heading, tuple("---" for _ in heading), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
