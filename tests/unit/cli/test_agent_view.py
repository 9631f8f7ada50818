"""The agent's steps and the recordings as a terminal shows them, at several widths."""

import pytest
import typer
from typer.testing import CliRunner

from labkit.agents.steps import Step, ToolUse
from labkit.cli import agent
from labkit.cli.agent_view import header, line
from labkit.core.chat import ChatRequest, Reply, Usage
from labkit.traffic.recording import list_recordings

SAID = "The loop in put runs while the length is at least the capacity, so it also evicts before it is full. " * 3


def step(said: str = SAID, usage: Usage | None = None, tool: ToolUse | None = None, error: str | None = None) -> Step:
    reply = Reply(
        message={"role": "assistant", "content": said}, finish_reason="stop", usage=usage or Usage(), t_send=1.0,
        t_first_token=None, t_first_visible=None, t_last=None, t_end=2.5, chunks=(),
    )  # fmt: skip
    return Step(
        turn=3, kind="observe", append=[], request=ChatRequest(messages=[]), t_send=1.0, t_end=2.5, gap_s=0.0,
        reply=None if error else reply, tool=tool, error=error,
    )  # fmt: skip


@pytest.mark.parametrize("width", [80, 120, 200])
def test_a_step_is_two_lines_at_most_that_use_the_width(width: int):
    usage = Usage(prompt_tokens=4316, cached_tokens=4288, completion_tokens=129)
    tool = ToolUse(name="read_file", arguments={"path": "shelf/" + "a" * 150}, result="", ok=True, seconds=0.31)
    first, second = line(step(usage=usage), width).plain.split("\n")
    assert first.rstrip().endswith("4316/4288/129   1.50 s")
    assert max(map(len, (first, second))) <= width
    assert second.endswith("…") == (len(SAID) > 2 * (width - 48))
    assert len(line(step(tool=tool), width).plain.split("\n")[0]) <= width
    assert "0.3 s" in line(step(tool=tool), width).plain


def test_what_was_not_counted_is_one_dash_and_a_short_text_one_line():
    plain = line(step("done"), 80).plain
    assert "\n" not in plain
    assert plain.split() == ["3", "observe", "done", "-", "1.50", "s"]
    assert header(80).plain.index("time") + len("time") == plain.index("1.50 s") + len("1.50 s")


def test_a_failed_step_says_why():
    assert line(step(error="HTTP 500"), 80).plain.endswith("failed: HTTP 500")


@pytest.mark.parametrize("width", ["40", "80", "120"])
def test_the_names_of_recordings_are_never_cut(width: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", width)
    app = typer.Typer()
    agent.register(app)
    lines = CliRunner().invoke(app, ["recordings"], catch_exceptions=False).output.splitlines()
    assert [row.split()[0] for row in lines[1:]] == list_recordings()
    assert ("task" in lines[0]) == (width == "120")
    assert max(map(len, lines)) <= int(width)
