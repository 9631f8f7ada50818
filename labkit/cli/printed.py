"""Experiments for which one table of arms would mix things up or say too little, and what prints theirs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rich.console import Console

from labkit.cli import confirm_view, effects_view, live_view, load_view, speculation_view, steps_view
from labkit.store.runs import Run

PRINTED: Final[dict[str, Callable[[Run, Console], object]]] = {
    **load_view.PRINTED,
    "confirm": confirm_view.print_run,
    "live": live_view.print_run,
    "factorial": effects_view.print_run,
    "steps": steps_view.print_run,
    "speculation": speculation_view.print_run,
}
