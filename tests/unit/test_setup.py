"""Set-up: which machines it takes, what it says when a step fails, and that an interrupted step is done over."""

import ast
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "requirements"))

from venv_setup import machine, pipconfig, venv  # noqa: E402
from venv_setup.runner import CommandFailed, Step, run, run_all  # noqa: E402
from venv_setup.steps import Installer, plan  # noqa: E402

SCRIPT = ROOT / "requirements/setup_venv.py"


def test_an_old_python_can_read_the_script():
    ast.parse(SCRIPT.read_text(encoding="utf-8"), feature_version=(3, 4))


@pytest.mark.parametrize("version", [(2, 7, 18), (3, 9, 2), (3, 14, 0)])
def test_a_python_that_does_not_do_is_told_which_would(version: tuple[int, ...]):
    code = f"import sys, runpy; sys.version_info = {version}; runpy.run_path({str(SCRIPT)!r}, run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"this is {version[0]}.{version[1]} (" in done.stderr
    assert "make setup PYTHON=" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("system", "processor"), [("Darwin", "arm64"), ("Linux", "aarch64"), ("Windows", "AMD64")])
def test_another_system_is_refused(tmp_path: Path, system: str, processor: str):
    with pytest.raises(machine.CannotSetUp, match=f"this is {system} on {processor}"):
        machine.check(tmp_path, system=system, machine=processor, free_gb=100)


def test_too_little_disk_is_refused_with_numbers(tmp_path: Path):
    machine.check(tmp_path, system="Linux", machine="x86_64", free_gb=6.1)
    with pytest.raises(machine.CannotSetUp, match=r"needs 6\.0 GB .* 3\.2 GB are free"):
        machine.check(tmp_path, system="Linux", machine="x86_64", free_gb=3.2)


def test_what_is_installed_already_needs_no_disk_again(tmp_path: Path):
    (tmp_path / ".venv").mkdir()
    with (tmp_path / ".venv/big").open("wb") as sparse:
        sparse.truncate(4_000_000_000)
    machine.check(tmp_path, system="Linux", machine="x86_64", free_gb=2.5)


def test_a_missing_library_is_named_with_its_package():
    with pytest.raises(machine.CannotSetUp, match="apt-get install libnothing1"):
        machine._check_libraries({"libnothing.so.1": "libnothing1"})


def _failing(tmp_path: Path) -> Step:
    argv = [sys.executable, "-c", "print('first'); print('no such wheel'); raise SystemExit(3)"]
    return Step("fetch it", lambda again: print(run(argv, cwd=tmp_path)), "Look at the mirror.")


def test_a_failing_step_says_what_where_why_and_what_next(tmp_path: Path):
    said: list[str] = []
    never = Step("never", lambda again: said.append("ran"), "")
    assert not run_all([_failing(tmp_path), never], tmp_path / "marker", said.append)
    told = said[-1]
    assert "[1/2] fetch it failed (status 3)" in told
    assert f"Command: {sys.executable} -c" in told
    assert "  | no such wheel\n" in told
    assert told.endswith("Look at the mirror.")
    assert "ran" not in said


def test_steps_are_numbered_named_and_timed(tmp_path: Path):
    said: list[str] = []
    assert run_all(
        [Step("one", lambda again: None, ""), Step("two", lambda again: None, "")], tmp_path / "m", said.append
    )
    assert said[0] == "[1/2] one ..."
    assert said[-1].startswith("[2/2] two: 0.")
    assert not (tmp_path / "m").exists()


def test_the_step_that_failed_is_done_over_and_the_others_are_not(tmp_path: Path):
    marker, over = tmp_path / "marker", {}

    def step(name: str, works: bool) -> Step:
        def go(again: bool) -> None:
            over[name] = again
            if not works:
                raise CommandFailed(["x"], 1, [])

        return Step(name, go, "")

    assert not run_all([step("a", True), step("b", False), step("c", True)], marker, lambda _: None)
    assert over == {"a": False, "b": False}
    assert run_all([step("a", True), step("b", True), step("c", True)], marker, lambda _: None)
    assert over == {"a": False, "b": True, "c": False}


def test_a_killed_step_is_remembered(tmp_path: Path):
    code = (
        f"import sys, time; sys.path.insert(0, {str(ROOT / 'requirements')!r})\n"
        "from pathlib import Path; from venv_setup.runner import Step, run_all\n"
        "run_all([Step('slow', lambda again: time.sleep(60), '')], Path('marker'))\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 20
    while not (tmp_path / "marker").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert (tmp_path / "marker").read_text() == "slow"


def test_a_half_installed_package_is_not_taken_for_installed(tmp_path: Path):
    site = tmp_path / "lib/python3.11/site-packages"
    for name, files in {"whole-1.dist-info": ["METADATA", "INSTALLER"], "half-1.dist-info": ["METADATA"]}.items():
        (site / name).mkdir(parents=True)
        for file in files:
            (site / name / file).write_text("")
    assert venv.clear_half_installed(tmp_path) == ["half-1.dist-info"]
    assert [folder.name for folder in site.iterdir()] == ["whole-1.dist-info"]


def test_an_environment_whose_python_is_gone_is_made_again(tmp_path: Path):
    folder = tmp_path / ".venv"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin/python").symlink_to("/nowhere/python3")
    (folder / "left-over").write_text("")
    assert not venv.usable(folder)
    venv.make(folder, again=False)
    assert venv.usable(folder)
    assert not (folder / "left-over").exists()


def test_a_usable_environment_is_kept_unless_its_making_was_cut_off(tmp_path: Path):
    folder = Path(sys.prefix)
    before = (folder / "pyvenv.cfg").stat().st_mtime_ns
    venv.make(folder, again=False)
    assert (folder / "pyvenv.cfg").stat().st_mtime_ns == before


LISTING = """:env:.index-url='https://env.example/simple'
global.cert='/etc/ssl/my.pem'
global.index-url='https://global.example/simple'
install.extra-index-url='https://a.example/simple https://b.example/simple'
"""


def test_pips_settings_are_said_in_uvs_words():
    assert pipconfig.uv_environment(LISTING, {}) == {
        "UV_DEFAULT_INDEX": "https://env.example/simple",
        "SSL_CERT_FILE": "/etc/ssl/my.pem",
    }
    assert "UV_DEFAULT_INDEX" not in pipconfig.uv_environment(LISTING, {"UV_DEFAULT_INDEX": "mine"})
    assert pipconfig.uv_environment("", {}) == {}


def test_installers_do_not_see_what_would_lead_them_astray():
    given = {"PYTHONDONTWRITEBYTECODE": "1", "PIP_TARGET": "/x", "PYTHONPATH": "/y", "PIP_INDEX_URL": "u", "HOME": "/h"}
    assert pipconfig.clean_environment(given) == {"PIP_INDEX_URL": "u", "HOME": "/h"}


def test_torch_is_a_step_of_its_own_before_the_rest(tmp_path: Path):
    names = [step.name for step in plan(Installer(tmp_path))]
    assert names.index("install torch (CPU build)") < names.index("install the other packages")
    assert all(step.advice for step in plan(Installer(tmp_path)))
