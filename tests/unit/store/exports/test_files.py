"""Files appear whole or not at all, whatever the format."""

from pathlib import Path

import pytest

from labkit.core.errors import LabError
from labkit.store.exports import ALL, FORMATS, export
from labkit.store.exports.files import whole_file, write_json
from labkit.store.runs import Run, RunStore


def test_a_write_that_breaks_off_leaves_the_old_file_and_no_draft(tmp_path: Path):
    path = write_json(tmp_path / "new" / "a.json", {"a": 1})
    with pytest.raises(TypeError), whole_file(path) as file:
        file.writelines(["half", 1])  # type: ignore[list-item]
    assert path.read_text() == '{\n  "a": 1\n}\n'
    assert [p.name for p in path.parent.iterdir()] == ["a.json"]


@pytest.mark.parametrize("fmt", [*FORMATS, ALL])
def test_a_folder_that_cannot_be_made_is_an_error_in_words(run: Run, tmp_path: Path, fmt: str):
    (tmp_path / "file").write_text("")
    with pytest.raises(LabError, match="cannot be written"):
        export(run, fmt, tmp_path / "file")


@pytest.mark.parametrize("fmt", FORMATS)
def test_a_run_that_goes_on_and_one_without_steps_can_be_exported(store: RunStore, out: Path, fmt: str):
    with store.create("quick", {}, {}) as writer:
        export(store.open(writer.id), fmt, out / "live")
    export(store.open(writer.id), fmt, out / "empty")


def test_what_is_told_is_not_more_than_the_folder_holds(run: Run, out: Path):
    text = "".join(path.read_text() for fmt in ("aiperf", "llmd", "otlp", "perfetto") for path in export(run, fmt, out))
    assert "hunter2" not in text
    assert "HF_TOKEN" not in text
