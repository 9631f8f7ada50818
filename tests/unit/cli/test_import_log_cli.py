"""`labkit import-log`: writes what `labkit replay` takes, and says what to do next."""

from pathlib import Path

import pytest
import typer
from chat_logs import lines, written
from typer.testing import CliRunner

from labkit.cli import import_log
from labkit.core.errors import BadInput
from labkit.traffic.recording import named


def call(*words: str):
    app = typer.Typer()
    app.callback()(lambda: None)
    import_log.register(app)
    return CliRunner().invoke(app, ["import-log", *words], catch_exceptions=False)


def test_a_log_becomes_a_recording(tmp_path: Path):
    out = tmp_path / "mine.jsonl"
    said = call(str(written(tmp_path, lines())), "--out", str(out)).output
    assert f"{out} (3 steps, no token counts)" in said
    assert f"labkit doctor --recording {out}" in said
    assert f"labkit replay {out}" in said
    assert named(str(out)).header.name == "mine"


def test_who_counted_is_said(tmp_path: Path):
    log = lines()
    log[0]["response"]["usage"] = {"prompt_tokens": 5, "completion_tokens": 1}
    assert (
        "tokens as some-model counted them"
        in call(str(written(tmp_path, log)), "--out", str(tmp_path / "m.jsonl")).output
    )


def test_a_wrong_log_writes_nothing(tmp_path: Path):
    log = lines()
    log[1]["request"]["messages"] = []
    with pytest.raises(BadInput, match="line 2"):
        call(str(written(tmp_path, log)), "--out", str(tmp_path / "mine.jsonl"))
    assert not (tmp_path / "mine.jsonl").exists()


def test_the_agent_of_a_session_is_chosen(tmp_path: Path):
    log = [{**line, "session": name} for name in "ab" for line in lines()]
    out = tmp_path / "b.jsonl"
    call(str(written(tmp_path, log)), "--out", str(out), "--session", "b")
    assert len(named(str(out)).steps) == 3
