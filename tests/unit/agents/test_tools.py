"""Every tool does its work, and says what is wrong in words that a model can act on."""

from collections.abc import Callable
from pathlib import Path

import pytest

from labkit.agents.specs import TOOLS, call_tokens, schemas
from labkit.agents.tools import MAX_HITS, MAX_RESULT_CHARS, Toolbox
from labkit.agents.workspace import Workspace
from labkit.core.errors import ToolError


@pytest.fixture
def use(workspace: Workspace) -> Callable[..., str]:
    toolbox = Toolbox(workspace)
    return lambda name, **arguments: toolbox.use(name, arguments)


def test_list_files(use):
    assert use("list_files").splitlines() == [
        "adder/__init__.py (1 lines)",
        "adder/core.py (5 lines)",
        "tests/__init__.py (0 lines)",
        "tests/test_core.py (8 lines)",
    ]


def test_search_code(use):
    assert use("search_code", query="def add") == "adder/core.py:4: def add(a, b):"
    with pytest.raises(ToolError, match="No line contains 'nothing'"):
        use("search_code", query="nothing")


def test_many_hits_are_counted_not_shown(folder: Path, use):
    (folder / "many.py").write_text("same\n" * 50)
    lines = use("search_code", query="same").splitlines()
    assert len(lines) == MAX_HITS + 1
    assert lines[-1] == "[20 more lines]"


def test_read_file(use):
    assert use("read_file", path="adder/__init__.py") == "from adder.core import add\n"
    assert use("read_file", path="tests/__init__.py") == "[empty file]"


def test_a_long_file_keeps_its_beginning_and_end(folder: Path, use):
    (folder / "long.py").write_text("first\n" + "x" * 9000 + "\nlast")
    text = use("read_file", path="long.py")
    assert text.startswith("first")
    assert text.endswith("last")
    assert "characters left out]" in text
    assert len(text) < MAX_RESULT_CHARS + 50


def test_edit_and_run_tests(use):
    assert use("run_tests").endswith("FAILED (failures=1)")
    assert use("edit_file", path="adder/core.py", old="a - b", new="a + b").startswith("Edited adder/core.py at line 5")
    assert use("run_tests").endswith("Ran 1 test\n\nOK")


def test_the_isolation_of_a_test_run_is_known_afterwards(workspace: Workspace):
    toolbox = Toolbox(workspace)
    assert toolbox.isolation is None
    toolbox.use("run_tests", {})
    assert toolbox.isolation is not None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"path": "adder/core.py", "old": "return a * b", "new": "x"}, "The nearest line is: return a - b"),
        ({"path": "adder/core.py", "old": "a", "new": "x"}, "occurs 3 times"),
        ({"path": "adder/none.py", "old": "a", "new": "x"}, "The files are: adder/__init__.py"),
        ({"path": "tests/test_core.py", "old": "5", "new": "-1"}, "read-only"),
        ({"path": "./tests/test_core.py", "old": "5", "new": "-1"}, "read-only"),
        ({"path": "../secret.txt", "old": "the", "new": "x"}, "leaves the workspace"),
        ({"path": "adder/core.py", "old": "", "new": "x"}, "must not be empty"),
        ({"path": "adder/core.py", "old": "a"}, "takes path, old, new"),
        ({"path": "adder/core.py", "old": "a", "new": 3}, "takes path, old, new"),
    ],
)
def test_an_edit_that_cannot_be_done_changes_nothing(folder: Path, use, arguments, said: str):
    before = (folder / "adder/core.py").read_text()
    with pytest.raises(ToolError) as error:
        use("edit_file", **arguments)
    assert said in error.value.message
    assert (folder / "adder/core.py").read_text() == before


def test_an_unknown_tool_names_those_that_exist(use):
    with pytest.raises(ToolError, match="list_files, search_code"):
        use("rm", path="/")


def test_the_same_call_twice_is_not_done_again(use):
    use("list_files")
    with pytest.raises(ToolError, match="do something else"):
        use("list_files")
    use("read_file", path="adder/core.py")
    use("list_files")


def test_tests_that_never_end_are_stopped_and_said_so(folder: Path, workspace: Workspace):
    from labkit.agents.sandbox import SandboxLimits

    (folder / "adder/core.py").write_text("import time\ntime.sleep(60)\n")
    result = Toolbox(workspace, SandboxLimits(wall_s=0.5)).use("run_tests", {})
    assert result.endswith("The tests did not end within 0.5 seconds and were stopped.")


def test_schemas_bound_every_argument():
    for spec, tool in zip(TOOLS, schemas(), strict=True):
        parameters = tool["function"]["parameters"]
        assert parameters["additionalProperties"] is False
        assert parameters["required"] == [param.name for param in spec.params]
        assert all(0 < value["maxLength"] < call_tokens() for value in parameters["properties"].values())
        assert "strict" not in tool["function"]
    assert all(tool["function"]["strict"] for tool in schemas(strict=True))
