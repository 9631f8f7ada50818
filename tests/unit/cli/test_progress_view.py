"""Progress without a terminal: a line per stage and per step, none for counted seconds."""

import io

from rich.console import Console

from labkit.cli.progress_view import drawn, time_left
from labkit.core.progress import Progress


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
    assert lines[0] == "0/4  starting pd  0 s of ~60 s  about 80 s left"
    assert lines[2] == "2/4  measuring pd  turn 2  about 10 s left"


def test_an_engines_words_are_not_taken_for_markup():
    odd = Progress(stage="pd refused", message="[/bold] [red]", done=1, total=4)
    assert "[/bold] [red]" in said(odd)
    assert said(odd, terminal=True)


def test_time_left_in_words():
    assert time_left(None) == ""
    assert time_left(42.4) == "about 42 s left"
    assert time_left(300) == "about 5 min left"
