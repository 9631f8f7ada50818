"""The Doctor page: what failed first, what to do with its command, and when it was looked at."""

from __future__ import annotations

import loaders
import loaders.doctor
import pytest
from healthy import facts

from labkit.doctor.examine import examine
from labkit.doctor.facts import EngineFact, Load
from labkit.experiments.check_up import bytes_to_compare
from labkit.experiments.dashboard.doctor import byte_check

PAGE = "app_pages/doctor.py"


def words(app) -> str:
    kinds = ("markdown", "caption", "info", "warning", "error", "success", "code", "subheader")
    return "\n".join(element.value for kind in kinds for element in getattr(app, kind))


def opened(app):
    app.run().switch_page(PAGE)
    app.run()
    assert not app.exception
    return app


def showing(app, monkeypatch, **planted):
    """The page over planted facts."""
    report = examine(facts(**planted))
    monkeypatch.setattr(loaders.doctor, "report", lambda profile, thorough: report)
    return opened(app)


def test_this_machine_is_looked_at_and_the_missing_weights_are_told_first(app):
    opened(app)
    assert "Weights" in app.error[0].value
    said = words(app)
    assert "labkit models fetch smollm2-135m-instruct" in said
    assert said.index("model smollm2-135m-instruct is not ready") < said.index("**Clock**")
    assert "Checked " in said
    heads = ["Environment", "GPU node", "Memory", "Prompt prefix", "Transfer", "What can be run here"]
    assert [head.value for head in app.subheader] == heads
    assert "**mi300x-8-qwen3-235b**: none: " in said
    assert "labkit doctor --profile cpu-smollm2" in said


def test_a_healthy_machine_is_ready(app, monkeypatch):
    showing(app, monkeypatch)
    assert app.success[0].value.startswith("Ready: nothing that was checked")
    assert not app.error


def test_what_wants_a_look_stands_open_with_its_command(app, monkeypatch):
    left = EngineFact(id="e.1", arm="base", status="up", left=True)
    showing(app, monkeypatch, engines=(left,), load=Load(window_s=0.5, cores=1.5))
    assert app.warning[0].value == "Ready, with 2 things to look at: Other processes, Remains of a crash."
    assert "labkit down e.1" in [code.value for code in app.code]


def test_check_again_looks_again(app):
    opened(app)
    assert "no recording" in app.selectbox(key="recording").options
    before = loaders.doctor.report("cpu-smollm2", False)
    assert loaders.doctor.report("cpu-smollm2", False) == before
    app.button(key="again").click().run()
    assert not app.exception
    after = loaders.doctor.report("cpu-smollm2", False)
    assert (after.checked, after.took_s) != (before.checked, before.took_s)


def test_the_prompts_of_a_recording_are_compared(app, monkeypatch):
    showing(app, monkeypatch)
    app.selectbox(key="recording").select("tiny").run()
    assert not app.exception
    assert "tiny: all 3 requests extend the one before, byte for byte" in words(app)
    assert "--recording tiny" in words(app)


@pytest.mark.parametrize("thorough", [True, False])
def test_every_byte_of_the_weights_is_read_when_asked(app, monkeypatch, thorough):
    asked = []
    report = examine(facts())
    monkeypatch.setattr(loaders.doctor, "report", lambda profile, wanted: asked.append(wanted) or report)
    opened(app)
    app.toggle(key="thorough").set_value(thorough).run()
    assert asked[-1] is thorough


def test_weights_are_read_here_up_to_a_size_that_is_told(app, monkeypatch):
    showing(app, monkeypatch)
    assert app.toggle(key="thorough").label == "Read every byte of the weights (260 MiB)"
    monkeypatch.setattr(loaders.doctor, "to_compare", lambda profile: byte_check(profile, 235_000_000_000))
    app.run()
    assert not app.exception
    assert not app.toggle
    assert "The weights are 218.9 GiB" in words(app)
    assert "labkit doctor --profile cpu-smollm2 --thorough" in [code.value for code in app.code]


def test_a_folder_of_ones_own_has_no_checksums():
    assert bytes_to_compare("cpu-smollm2") == 273_000_000
    assert not byte_check("mi300x-8-qwen3-235b", bytes_to_compare("mi300x-8-qwen3-235b")).here
