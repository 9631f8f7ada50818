"""How a killed run ended, told without parsing it: it says the same as a whole reading."""

from __future__ import annotations

import json

import pytest
from builders import a_step, chunks_at

from labkit.store.layout import EVENTS, RUN
from labkit.store.runs import RunStore, RunWriter
from labkit.store.skimmed import KILLED


def killed(run: RunWriter) -> None:
    """Its writer is a process that is gone."""
    about = json.loads((run.folder / RUN).read_text())
    (run.folder / RUN).write_text(json.dumps({**about, "writer": {"pid": 2**22 + 1, "started": 0.0}}))


def test_a_long_killed_run_is_partial_and_keeps_its_steps(store: RunStore):
    run = store.create("quick", {}, {})
    for turn in range(1, 301):
        step = a_step(run.id, turn=turn)
        run.step(step, chunks_at(step, *[1 + i / 100 for i in range(100)]))
    killed(run)
    assert store.open(run.id).info.state == "partial"
    assert len(store.open(run.id).steps()) == 300


@pytest.mark.parametrize(
    ("lines", "state"),
    [
        ([], "failed"),
        (['{"t": 1, "type": "step", "step": {"turn": 1}, "chunks": []}'], "failed"),  # no step that can be read
        (["not JSON", "[1]", '{"no": "type"}'], "failed"),
        (['{"type":"finish","t":1,"state":"cancelled","note":"by hand"}'], "cancelled"),
        (['{"t": 1, "type": "finish", "state": "done", "note": ""}', '{"t": 2, "type": "resume"}'], "failed"),
    ],
)
def test_damaged_or_hand_written_events_are_no_hindrance(store: RunStore, lines: list[str], state: str):
    run = store.create("quick", {}, {})
    killed(run)
    with (run.folder / EVENTS).open("a") as file:
        file.writelines(f"{line}\n" for line in lines)
        file.write('{"t": 3, "type": "finish", "state": "done"')  # torn
    info = store.open(run.id).info
    assert info.state == state
    assert info.note == ("by hand" if state == "cancelled" else KILLED)
