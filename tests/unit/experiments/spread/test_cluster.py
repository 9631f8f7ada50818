"""Nodes as Ray lists them, nodes that cannot measure, and what is said where there is no cluster."""

import builtins
import importlib.util
import platform
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import labkit
from labkit.core.errors import BadInput, LabError
from labkit.experiments import spread
from labkit.experiments.spread import cluster, ray_import
from labkit.experiments.spread.address import checked
from labkit.experiments.spread.cluster import connected
from labkit.experiments.spread.fitness import check_alike
from labkit.experiments.spread.nodes import nodes_of

HERE = {"python": platform.python_version(), "labkit": labkit.__version__}


@pytest.fixture
def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def told(name: str, node_id: str, *, cpus: float = 4, alive: bool = True, head: bool = False, gpus: float = 0) -> dict:
    resources = {"CPU": cpus, "GPU": gpus} | ({"node:__internal_head__": 1.0} if head else {})
    return {"NodeName": name, "NodeID": node_id, "Alive": alive, "Resources": resources}


def test_nodes_are_named_as_they_were_given_and_never_by_address():
    found = nodes_of([told("192.0.2.7", "b"), told("big/one", "c", gpus=8), told("192.0.2.1", "a", head=True)])
    assert [(node.name, node.id, node.gpus) for node in found] == [
        ("node-1", "a", 0),
        ("node-2", "b", 0),
        ("big-one", "c", 8),
    ]
    assert [node.name for node in nodes_of([told("x", "a"), told("x", "b")])] == ["node-1", "node-2"]


def test_a_node_that_is_down_or_has_no_processor_is_none():
    fit = nodes_of([told("up", "a"), told("down", "b", alive=False), told("head", "c", cpus=0, head=True)])
    assert [node.name for node in fit] == ["up"]
    with pytest.raises(LabError, match="no node"):
        nodes_of([told("head", "c", cpus=0, head=True)])


@pytest.mark.parametrize(
    ("has", "said"),
    [
        ({"labkit": "", "error": "No module named 'labkit'"}, "there has no labkit"),
        ({"labkit": "0.0.0"}, "there has labkit 0.0.0"),
        ({"python": "3.9.1"}, "there has Python 3.9.1"),
    ],
)
def test_a_node_that_cannot_measure_is_named_with_the_next_step(has: dict, said: str):
    check_alike({"here": HERE, "there": {**HERE, "python": platform.python_version()}})
    with pytest.raises(LabError, match=said) as error:
        check_alike({"here": HERE, "there": {**HERE, **has}})
    assert error.value.hint


@pytest.mark.parametrize("address", ["", "http://a:1", "ray://a:10001", "host", "host:", ":6379", "host:port"])
def test_an_address_that_is_none_is_refused_before_ray_is_asked(address: str):
    with pytest.raises(BadInput, match="auto, or HOST:PORT"), connected(address):
        pass


def test_a_cluster_that_does_not_answer_is_said_at_once_with_the_next_step(free_port: int):
    with pytest.raises(LabError, match=f"No Ray cluster answers at 127.0.0.1:{free_port}") as error:
        cluster._connect(None, f"127.0.0.1:{free_port}")  # Ray is not asked: it would try for over a minute
    assert "ray start --head" in error.value.hint


class Refusing:
    """A Ray that ends `init` as planted, and takes `found` for `auto` where it is given."""

    def __init__(self, error: Exception, found: str | None = None) -> None:
        self._error = error
        if found:
            services = SimpleNamespace(canonicalize_bootstrap_address=lambda address: found)
            self._private = SimpleNamespace(services=services)

    def init(self, **_: object) -> None:
        raise self._error


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ConnectionError("Could not find any running Ray instance."), "No Ray cluster answers at auto: Could not find"),
        (RuntimeError("Version mismatch: The cluster was started with:\n Ray: 1"), "Ray refuses this process at auto"),
    ],
)
def test_what_ray_says_is_kept_in_one_line_with_the_next_step(error: Exception, said: str):
    with pytest.raises(LabError, match=said) as raised:
        cluster._connect(Refusing(error), "auto")
    assert "ray" in raised.value.hint


@pytest.mark.parametrize(
    ("environment", "said"), [("", "forgotten with: ray stop"), ("127.0.0.1:6379", "unset RAY_ADDRESS")]
)
def test_what_is_behind_auto_is_knocked_at_too(
    free_port: int, monkeypatch: pytest.MonkeyPatch, environment: str, said: str
):
    """As a cluster leaves its address that was killed: Ray would try for minutes."""
    monkeypatch.setenv("RAY_ADDRESS", environment)
    dead = f"127.0.0.1:{free_port}"
    with pytest.raises(LabError, match=rf"No Ray cluster answers at {dead} \(auto\)") as raised:
        cluster._connect(Refusing(AssertionError("Ray was asked"), dead), "auto")
    assert said in raised.value.hint
    assert "--ray HOST:PORT" in raised.value.hint


def test_a_cluster_behind_auto_that_answers_is_the_one_that_is_joined():
    with socket.create_server(("127.0.0.1", 0)) as there:
        address = f"127.0.0.1:{there.getsockname()[1]}"
        with pytest.raises(LabError, match=rf"Ray refuses this process at {address} \(auto\): as planted"):
            cluster._connect(Refusing(RuntimeError("as planted"), address), "auto")


@pytest.mark.parametrize("told", ["local", "ray://head:10001"])
def test_an_address_in_the_environment_that_is_none_is_refused_for_auto_alone(
    told: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("RAY_ADDRESS", told)
    with pytest.raises(BadInput, match="RAY_ADDRESS") as raised, connected("auto"):
        pass
    assert "unset RAY_ADDRESS" in raised.value.hint
    assert checked("head:6379") == "head:6379"


def test_no_hint_asks_an_index_for_labkit():
    words = "".join(path.read_text() for path in Path(spread.__file__).parent.glob("*.py"))
    assert "pip install -e '.[ray]'" in words
    assert "labkit[" not in words


def test_without_ray_the_next_step_is_said(monkeypatch: pytest.MonkeyPatch):
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "ray" else real(name, *rest))
    with pytest.raises(LabError, match="not installed") as error:
        ray_import.ray_module()
    assert "pip install 'ray>=2.50'" in error.value.hint
    assert "pip install -e '.[ray]'" in error.value.hint


def test_an_amdsmi_without_its_library_is_said_as_what_it_is(monkeypatch: pytest.MonkeyPatch):
    """As Ray 2.60 does where amdsmi is installed, its library is not, and nothing guards it."""
    real = builtins.__import__

    def raising(name: str, *rest, **more):
        if name == "ray":
            raise KeyError("libamd_smi.so")
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", raising)
    with pytest.raises(LabError, match=r"beside amdsmi.*libamd_smi\.so") as error:
        ray_import.ray_module()
    assert "amdsmi" in error.value.hint


def test_importing_the_package_imports_no_ray():
    code = (
        "import sys, importlib, pkgutil, labkit.experiments.spread as s\n"
        "for m in pkgutil.iter_modules(s.__path__): importlib.import_module(f'{s.__name__}.{m.name}')\n"
        "assert 'ray' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_cluster_that_wants_a_token_is_not_called_absent():
    class Asks:
        def init(self, **_: object) -> None:
            raise ConnectionError("ray.init() could not connect")

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(LabError, match=f"What listens at {address} does not let Ray in") as error:
            cluster._connect(Asks(), address)
    assert "RAY_AUTH_MODE=token" in error.value.hint
