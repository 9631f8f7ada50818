"""Nothing outside the workspace can be read or written, whatever lies inside it."""

import os
from pathlib import Path

import pytest

from labkit.agents.workspace import MAX_FILE_BYTES, Workspace, copy_in
from labkit.core.errors import ToolError


def test_files_are_listed_sorted_without_byte_code_and_hidden_ones(folder: Path, workspace: Workspace):
    (folder / "adder/__pycache__").mkdir()
    (folder / "adder/__pycache__/core.pyc").write_bytes(b"\0")
    (folder / ".hidden").write_text("x")
    (folder / "a.txt").write_text("x")
    names = ["a.txt", "adder/__init__.py", "adder/core.py", "tests/__init__.py", "tests/test_core.py"]
    assert workspace.files() == names


def test_what_is_written_is_read(workspace: Workspace):
    workspace.write("adder/core.py", "übrig\n")
    assert workspace.read("./adder/core.py") == "übrig\n"


@pytest.mark.parametrize(
    "path", ["../secret.txt", "adder/../../secret.txt", "/etc/passwd", "", ".", "..", "adder//core.py", "a\0b", "adder"]
)
def test_a_path_that_leaves_or_names_no_file_is_refused(workspace: Workspace, path: str):
    with pytest.raises(ToolError):
        workspace.read(path)
    with pytest.raises(ToolError):
        workspace.write(path, "x")


def test_a_missing_file_is_answered_with_those_that_exist(workspace: Workspace):
    with pytest.raises(ToolError, match=r"adder/core\.py"):
        workspace.read("adder/cor.py")


@pytest.mark.parametrize("target", ["../secret.txt", "/etc/hostname"])
def test_a_link_to_a_file_outside_leads_nowhere(folder: Path, workspace: Workspace, target: str):
    (folder / "link.txt").symlink_to(target)
    with pytest.raises(ToolError):
        workspace.read("link.txt")
    with pytest.raises(ToolError):
        workspace.write("link.txt", "overwritten")
    assert "link.txt" not in workspace.files()
    assert (folder.parent / "secret.txt").read_text() == "the secret"


def test_a_folder_that_is_a_link_is_not_entered(folder: Path, workspace: Workspace):
    (folder / "up").symlink_to("..")
    with pytest.raises(ToolError):
        workspace.read("up/secret.txt")
    assert not [name for name in workspace.files() if name.startswith("up")]


def test_a_hard_link_to_a_file_outside_is_refused(folder: Path, workspace: Workspace):
    os.link(folder.parent / "secret.txt", folder / "hard.txt")
    with pytest.raises(ToolError, match="not a plain file"):
        workspace.read("hard.txt")


def test_a_pipe_does_not_block(folder: Path, workspace: Workspace):
    os.mkfifo(folder / "pipe")
    with pytest.raises(ToolError):
        workspace.read("pipe")


def test_the_workspace_stays_the_one_that_was_opened(folder: Path, workspace: Workspace):
    folder.rename(folder.parent / "moved")
    folder.symlink_to(folder.parent)
    assert "secret.txt" not in workspace.files()
    assert "add" in workspace.read("adder/core.py")


def test_what_is_too_large_or_no_text_is_refused(folder: Path, workspace: Workspace):
    (folder / "big.txt").write_text("x" * (MAX_FILE_BYTES + 1))
    (folder / "raw.bin").write_bytes(b"\xff\xfe\x00")
    for name in ("big.txt", "raw.bin"):
        with pytest.raises(ToolError):
            workspace.read(name)
    assert {"big.txt", "raw.bin"}.isdisjoint(workspace.texts())


def test_a_copy_holds_the_texts_only(folder: Path, workspace: Workspace, tmp_path: Path):
    (folder / "link.txt").symlink_to("../secret.txt")
    workspace.copy_to(tmp_path / "copy")
    assert (tmp_path / "copy/adder/core.py").is_file()
    assert not (tmp_path / "copy/link.txt").exists()


def test_copying_in_leaves_byte_code_behind(folder: Path, tmp_path: Path):
    (folder / "__pycache__").mkdir()
    copy_in(folder, tmp_path / "copy")
    assert not (tmp_path / "copy/__pycache__").exists()
