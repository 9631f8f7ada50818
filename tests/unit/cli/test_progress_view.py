"""Progress without a terminal: a line per stage and per step, none for counted seconds."""

import io

from rich.console import Console

from labkit.cli.progress_view import drawn
from labkit.core.clock import FakeClock
from labkit.core.progress import Progress, time_left


def said(*reports: Progress, terminal: bool = False) -> str:
    out = io.StringIO()
    with drawn(Console(file=out, force_terminal=terminal, width=200)) as on_progress:
        for report in reports:
            on_progress(report)
    return out.getvalue()


def test_seconds_of_a_start_are_one_line_and_every_step_is_one():
    starting = [
        Progress(stage="starting pd", message=f"{n} s of ~60 s", done=0, total=4, eta_s=80 - n) for n in range(5)
    ]
    steps = [Progress(stage="measuring pd", message=f"turn {n}", done=n, total=4, eta_s=10) for n in (1, 2)]
    lines = said(*starting, *steps).splitlines()
    assert len(lines) == 3
    assert lines[0] == "0/4  starting pd: 0 s of ~60 s, about 1 min 20 s left"
    assert lines[2] == "2/4  measuring pd: turn 2, about 10 s left"


def test_a_long_start_is_a_line_each_ten_seconds_that_says_starting_once():
    out, clock = io.StringIO(), FakeClock()
    with drawn(Console(file=out, width=200), clock) as on_progress:
        for n in range(25):
            on_progress(Progress(stage="starting base", message=f"starting ({n} s of ~30 s): engine", eta_s=30 - n))
            clock.advance(1.0)
    assert out.getvalue().splitlines() == [
        f"starting base: engine, {n} s of ~30 s, about {30 - n} s left" for n in (0, 10, 20)
    ]


def test_an_engines_words_are_not_taken_for_markup():
    odd = Progress(stage="pd refused", message="[/bold] [red]", done=1, total=4)
    assert "[/bold] [red]" in said(odd)
    assert said(odd, terminal=True)


def test_time_left_in_words():
    assert time_left(None) == ""
    assert time_left(42.4) == "about 42 s left"
    assert time_left(300) == "about 5 min 00 s left"
