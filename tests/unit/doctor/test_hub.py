"""The hub's cache, the hub itself, and how large a model is."""

from __future__ import annotations

import http.server
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from labkit.doctor import hub
from labkit.doctor.model_size import from_name, model_size


def cached(cache: Path, commit: str = "1", *, shards: int = 2, there: int = 2) -> Path:
    """A snapshot with an index of `shards` files, of which `there` are there, of 1,000 bytes each."""
    folder = cache / "models--Qwen--Qwen3-8B" / "snapshots" / commit
    folder.mkdir(parents=True)
    names = [f"model-{n}.safetensors" for n in range(shards)]
    for name in names[:there]:
        (folder / name).write_bytes(bytes(1000))
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {n: n for n in names}}))
    return folder


def test_only_a_whole_snapshot_counts(tmp_path: Path) -> None:
    assert hub.snapshot("Qwen/Qwen3-8B", tmp_path) is None
    cached(tmp_path, "half", there=1)
    assert hub.snapshot("Qwen/Qwen3-8B", tmp_path) is None
    whole = cached(tmp_path, "whole")
    assert hub.snapshot("Qwen/Qwen3-8B", tmp_path) == whole
    assert hub.snapshot("Qwen/Qwen3-4B", tmp_path) is None
    (whole / "model.safetensors.index.json").write_text("cut off {")
    assert hub.snapshot("Qwen/Qwen3-8B", tmp_path) is None


def test_a_model_in_one_file_has_no_index(tmp_path: Path) -> None:
    folder = cached(tmp_path)
    (folder / "model.safetensors.index.json").unlink()
    assert hub.snapshot("Qwen/Qwen3-8B", tmp_path) is None
    (folder / "model.safetensors").write_bytes(b"1")
    assert hub.snapshot("Qwen/Qwen3-8B", tmp_path) == folder


@pytest.mark.parametrize(
    ("environ", "folder"),
    [
        ({"HF_HUB_CACHE": "/a", "HF_HOME": "/b"}, "/a"),
        ({"HF_HOME": "/b"}, "/b/hub"),
        ({"XDG_CACHE_HOME": "/c"}, "/c/huggingface/hub"),
        ({}, str(Path("~/.cache/huggingface/hub").expanduser())),
    ],
)
def test_the_cache_is_where_the_hubs_library_has_it(environ: dict[str, str], folder: str) -> None:
    assert str(hub.cache_folder(environ)) == folder


def test_variables_of_the_hub() -> None:
    assert hub.offline({"HF_HUB_OFFLINE": "0"}) == hub.offline({}) == ""
    assert hub.offline({"HF_HUB_OFFLINE": "true"}) == "HF_HUB_OFFLINE"
    assert hub.offline({"TRANSFORMERS_OFFLINE": "1"}) == "TRANSFORMERS_OFFLINE"
    assert hub.endpoint({"HF_ENDPOINT": "http://mirror.test/"}) == "http://mirror.test"
    assert hub.endpoint({}).startswith("https://")


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_HEAD(self) -> None:
        time.sleep(float(self.path[1:] or 0))
        self.send_response(401 if self.path == "/0" else 200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Quiet."""


@pytest.fixture
def server() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as serving:
        thread = threading.Thread(target=serving.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{serving.server_port}"
        serving.shutdown()
        thread.join()


def test_any_answer_is_an_answer_and_a_slow_one_is_none(server: str) -> None:
    assert hub.answers(server) == ""
    assert hub.answers(f"{server}/0") == ""  # refused, but there
    began = time.monotonic()
    assert "no answer" in hub.answers(f"{server}/0.6", limit_s=0.1) or time.monotonic() - began < 0.5
    assert hub.answers(f"{server}/0.6", limit_s=0.1) != ""


def test_a_hub_that_is_not_there_says_why() -> None:
    assert "refused" in hub.answers("http://127.0.0.1:9")
    assert hub.answers("file:///etc/passwd") == "it is no http address"


@pytest.mark.parametrize(
    ("name", "flags", "size"),
    [
        ("Qwen/Qwen3-235B-A22B-Instruct-2507-FP8", {}, 235e9),
        ("Qwen/Qwen3-30B-A3B", {}, 60e9),
        ("Qwen/Qwen3-0.6B", {}, 1.2e9),
        ("Qwen/Qwen3-0.6B", {"dtype": "float32"}, 2.4e9),
        ("Qwen/Qwen3-14B-AWQ", {}, 7e9),
        ("smollm2-135m-instruct", {}, 270e6),
    ],
)
def test_a_name_tells_how_large_a_model_is(name: str, flags: dict[str, str], size: float) -> None:
    told = from_name(name, flags)
    assert told is not None
    assert told.size == pytest.approx(size)
    assert told.how.startswith("by its name: ")


def test_files_tell_better_and_some_names_tell_nothing(tmp_path: Path) -> None:
    told = model_size("Qwen/Qwen3-8B", cached(tmp_path), {})
    assert told is not None
    assert (told.size, told.how) == (2000, "its files")
    assert model_size("my/model", None, {}) is None
    assert model_size("A22B", None, {}) is None
