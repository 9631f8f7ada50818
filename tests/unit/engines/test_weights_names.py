"""The three ways to name a model, through the public functions and the command line."""

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from labkit.cli import models as commands
from labkit.core.errors import UnknownName, WeightsError
from labkit.engines import weights
from labkit.engines.weights import folder as weights_folder
from labkit.engines.weights import hub, manifest, registry
from labkit.engines.weights.models import kind_of
from labkit.engines.weights.registry import DEFAULT


@pytest.fixture(autouse=True)
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LABKIT_MODELS", str(tmp_path / "models"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "models"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "mine"
    made.mkdir()
    for name in ("config.json", "model-00001-of-00002.safetensors", "tokenizer.json"):
        (made / name).write_text("{}")
    return made


def test_kinds_of_names(folder: Path):
    assert kind_of(DEFAULT) == "name"
    assert kind_of(str(folder)) == kind_of("mine") == kind_of("./not-there") == kind_of("~/x") == "folder"
    assert kind_of("Qwen/Qwen3-0.6B") == "hub"
    assert kind_of("a/b/c") == kind_of("smolm") == "name"


def test_the_default_model_is_listed_with_why_it_is_not_ready(models: Path):
    (only,) = weights.list_models()
    assert (only.name, only.fetched, only.problem) == (DEFAULT, False, "it is not there")
    assert only.folder == models / DEFAULT


def test_a_model_that_was_not_fetched_says_how():
    with pytest.raises(WeightsError, match="not ready") as missing:
        weights.path(DEFAULT)
    assert missing.value.hint == f"labkit models fetch {DEFAULT}"


def test_an_unknown_name_offers_the_nearest():
    with pytest.raises(UnknownName, match=DEFAULT):
        weights.fetch("smollm2-135m")


def test_a_folder_is_a_model(folder: Path):
    assert weights.path(str(folder)) == weights.fetch("mine") == folder


@pytest.mark.parametrize("name", ["config.json", "model-00001-of-00002.safetensors", "tokenizer.json"])
def test_a_folder_that_lacks_a_file_is_named_with_it(folder: Path, name: str):
    (folder / name).unlink()
    with pytest.raises(WeightsError, match="lacks") as lack:
        weights.path(str(folder))
    assert name.rpartition(".")[2] in lack.value.message


@pytest.mark.parametrize(
    ("config", "head"),
    [
        ('{"speculators_config": {"algorithm": "eagle3"}, "architectures": ["Eagle3Speculator"]}', True),
        ('{"architectures": ["LlamaForCausalLMEagle3"]}', True),
        ('{"architectures": ["Qwen3ForCausalLM"]}', False),
        ('{"architectures": null}', False),
        ("[]", False),
    ],
)
def test_a_drafters_head_has_no_tokenizer_of_its_own(folder: Path, config: str, head: bool):
    (folder / "tokenizer.json").unlink()
    (folder / "config.json").write_text(config)
    assert (weights_folder.missing(folder) == []) is head
    (folder / "model-00001-of-00002.safetensors").unlink()
    assert "*.safetensors (the weights)" in weights_folder.missing(folder)


def test_a_folder_that_is_not_there():
    with pytest.raises(WeightsError, match="does not exist"):
        weights.fetch("./nowhere")


def test_a_hub_model_is_found_in_the_hubs_cache(tmp_path: Path):
    revision = "0" * 40
    repository = tmp_path / "models--owner--name"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs/main").write_text(revision)
    snapshot = repository / "snapshots" / revision
    snapshot.mkdir(parents=True)
    (snapshot / "config.json").write_text("{}")
    assert hub.snapshot("owner/name", offline=True, cache=tmp_path) == snapshot


def test_a_hub_model_that_was_not_fetched_says_how(tmp_path: Path):
    with pytest.raises(WeightsError, match="has not been fetched") as missing:
        hub.snapshot("owner/name", offline=True, cache=tmp_path)
    assert missing.value.hint == "labkit models fetch owner/name"


@pytest.fixture
def run() -> CliRunner:
    return CliRunner()


def _app() -> typer.Typer:
    app = typer.Typer()
    commands.register(app)
    return app


def test_path_prints_the_folder_and_nothing_else(run: CliRunner, folder: Path):
    assert run.invoke(_app(), ["models", "path", str(folder)]).output == f"{folder}\n"


def test_fetch_of_a_folder_says_that_it_is_ready(run: CliRunner, folder: Path):
    assert "is ready in" in run.invoke(_app(), ["models", "fetch", str(folder)]).output


def test_list_names_the_default_model(run: CliRunner):
    assert DEFAULT in run.invoke(_app(), ["models", "list"]).output


def test_a_damaged_model_is_told_by_its_file_before_it_is_fetched_again(models: Path):
    assert commands.damage(DEFAULT) == commands.damage("Qwen/Qwen3-0.6B") == ""
    made = models / DEFAULT
    made.mkdir(parents=True)
    (made / "config.json").write_text("{}")
    manifest.write(made, registry.MODELS[DEFAULT].recipe)
    assert commands.damage(DEFAULT) == ""
    (made / "config.json").write_text("[]")
    assert "config.json has the wrong checksum" in commands.damage(DEFAULT)
