"""The table of GPUs, in the report and in the terminal, of a run whose samples are made up."""

from pathlib import Path

import pytest
from builders import a_sample, a_step
from reports import report
from typer.testing import CliRunner

from labkit.cli import build
from labkit.experiments.gpu_words import GAUGE, HEAD, cells, note
from labkit.store.runs import Run, RunStore

ROW = {
    "arm": "base", "n_gpus": 8, "counted": True, "gfx_busy": 0.5, "gfx_busy_least": 0.05, "gfx_busy_most": 0.9,
    "memory_busy": 0.25, "vram_used": 180e9, "power_w": 4000.0, "power_max_w": 750.0, "link_read": 1.5e9,
    "link_written": None,
}  # fmt: skip


def test_a_row_in_its_units() -> None:
    assert dict(zip(HEAD, cells(ROW), strict=True)) == {
        "arm": "base", "GPUs": "8", "busy": "50 %", "least": "5.0 %", "most": "90 %", "memory": "25 %",
        "GB used": "180", "W": "4,000", "GB read": "1.50", "written": "–",
    }  # fmt: skip


def test_a_gauge_is_marked_and_explained() -> None:
    gauge = {**ROW, "counted": False}
    assert cells(gauge)[2] == "~50 %"
    assert note([ROW, gauge]).endswith(GAUGE)
    assert GAUGE not in note([ROW])
    assert cells({**gauge, "gfx_busy": None})[2] == "–"


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path / "runs"))


def made(*series: tuple[str, str, float]) -> Run:
    """A step of five seconds, and readings that stay the same, of two GPUs."""
    with RunStore().create("replay", {"profile": "p", "recording": "r", "arms": ["base"]}, {}) as writer:
        writer.step(a_step(writer.id, arm="base", t_send=1.0, t_first_token=2.0, t_last=6.0, t_end=6.0), [])
        for device in ("0000:05:00.0", "0000:0a:00.0"):
            for what, unit, value in series:
                common = {"source": "amdsmi", "name": f"{device}/{what}", "unit": unit, "value": value}
                writer.samples([a_sample(writer.id, t=float(t), **common) for t in range(9)])
        writer.finish("done")
    return RunStore().open(writer.id)


def test_the_report_and_the_ledger_have_the_table() -> None:
    run = made(("gfx_busy", "1", 0.37), ("vram_used", "bytes", 61e9), ("power", "W", 400.0))
    page = report(run.info.id).text
    assert "All GPUs of the machine" in page
    assert "37 %" in page
    shown = CliRunner().invoke(build(), ["ledger", run.info.id], env={"COLUMNS": "80"})
    assert shown.exit_code == 0
    assert "What did the GPUs do?" in shown.output
    line = next(line for line in shown.output.splitlines() if line.startswith("base") and "37 %" in line)
    assert line.split() == ["base", "2", *("37", "%") * 3, "–", "61.0", "800", "–", "–"]


def test_a_run_in_which_gpus_told_only_watts_leaves_no_trace() -> None:
    run = made(("power", "W", 400.0))
    assert "All GPUs of the machine" not in report(run.info.id).text
    assert "GPUs do" not in CliRunner().invoke(build(), ["ledger", run.info.id]).output
