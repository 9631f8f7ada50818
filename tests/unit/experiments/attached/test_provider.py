"""Engines that run already as a run's engines: who serves which arm, what is refused before, what the run keeps."""

import dataclasses
import json
from pathlib import Path

import pytest
from other_servers import BARE, RAY, SGLANG, Shape, serving

from labkit.core.arms import arm_named
from labkit.core.chat import Usage
from labkit.core.errors import EngineError, LabError, UnknownName
from labkit.engines.fake import FakeDials, FakeEngine
from labkit.engines.profiles import load_profile
from labkit.experiments.asked import Asked
from labkit.experiments.attached.alike import differences
from labkit.experiments.attached.endpoints import Endpoint, endpoints_of
from labkit.experiments.attached.findings import findings
from labkit.experiments.attached.placing import placed
from labkit.experiments.attached.provider import AttachedProvider, attach
from labkit.experiments.attached.records import AttachedEngine
from labkit.experiments.report import write_report
from labkit.experiments.runner import run_replay
from labkit.store.runs import Run, RunStore
from labkit.traffic.recording import RecordedStep, Recording, RecordingHeader, save

KEY = "not-for-any-file-9"


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.fixture
def source(tmp_path: Path) -> str:
    steps = tuple(
        RecordedStep(
            turn=turn,
            kind="act",
            append=[{"role": "user", "content": f"look at {turn} " * 20}],
            reply={"role": "assistant", "content": "ok"},
            request={"max_tokens": 3},
            usage=Usage(completion_tokens=3),
        )
        for turn in range(1, 4)
    )
    header = RecordingHeader(name="three", task="t", decided_by="scripted", model="fake", tools=[])
    return str(save(Recording(header=header, steps=steps), tmp_path / "three.jsonl"))


async def run(source: str, folder: Path, provider: AttachedProvider, *arms: str) -> Run:
    asked = Asked(profile="", recording=source, arms=arms)
    return await run_replay("replay", asked, provider, store=RunStore(folder / "runs"))


async def test_one_engine_serves_both_arms_of_its_cache_as_the_fleets_would(source: str, tmp_path: Path):
    async with FakeEngine() as engine:
        found = await run(source, tmp_path, await attach(endpoints_of([f"{engine.base_url}/v1/"])), "base", "prefix")
    steps = found.steps()[~found.steps()["warmup"]]
    base, prefix = (steps[steps["arm"] == arm] for arm in ("base", "prefix"))
    assert found.info.state == "done"
    assert (base["cached_tokens"] == 0).all()
    assert prefix["cached_tokens"].iloc[-1] > 0
    assert (set(base["switched_by"]), set(prefix["switched_by"])) == ({"salt"}, {"flag"})
    filled = ["queue_s", "prefill_s", "decode_s", "server_s", "ceiling_tokens", "reachable_tokens"]
    assert steps[filled].notna().all().all()
    assert "null throughout" not in found.info.note
    events = [event for event in found.events() if event["type"] == "attached"]
    assert [(event["arm"], event["unread"], event["noted"]) for event in events] == [
        ("base", {}, []),
        ("prefix", {}, []),
    ]
    known = found.info.fingerprint["engines"][engine.base_url.removeprefix("http://")]
    assert (known["attached"], known["kind"], known["model"]) == (True, "vllm", "fake")
    assert (known["prefix_caching"], known["block_size"], known["command_lines"]) == (True, 16, "not known")
    report = write_report(found).read_text()
    assert "vllm, attached in prefix; its command lines are not known" in report


async def test_what_a_bare_server_leaves_null_is_listed_and_nothing_else_is_null(source: str, tmp_path: Path):
    async with serving(BARE) as (url, front):
        found = await run(source, tmp_path, await attach(endpoints_of([url])), "prefix")
    steps = found.steps()[~found.steps()["warmup"]]
    (event,) = [event for event in found.events() if event["type"] == "attached"]
    of_engines = [
        "cached_tokens", "retokenized_tokens", "ceiling_tokens", "reachable_tokens", "shared_tokens", "append_tokens",
        "queue_s", "prefill_s", "decode_s", "server_s",
    ]  # fmt: skip
    assert {name for name in of_engines if steps[name].isna().all()} == set(event["unread"])
    assert steps[["prompt_tokens", "completion_tokens", "t_first_token", "t_end"]].notna().all().all()
    assert "server_s null throughout, as no page of counters beside the API" in found.info.note
    assert "that its prefix caching is on is not told" in found.info.note
    assert all("cache_salt" in body for body in front.seen)


async def test_counters_stand_in_for_replies_that_tell_no_times(source: str, tmp_path: Path):
    shape = Shape(passes=("/v1/models", "/v1/chat/completions", "/tokenize", "/metrics"), owned_by="vllm",
                  drops=frozenset({"metrics"}))  # fmt: skip
    async with serving(shape) as (url, _):
        found = await run(source, tmp_path, await attach(endpoints_of([url])), "prefix")
    steps = found.steps()[~found.steps()["warmup"]]
    assert steps[["queue_s", "prefill_s", "decode_s", "server_s"]].notna().all().all()
    assert "null throughout" not in found.info.note


async def test_sglang_tells_its_settings_and_no_secret_of_them():
    async with serving(SGLANG) as (url, _):
        provider = await attach(endpoints_of([url]))
    engine = provider.engines[0].engine
    told = (engine.kind, engine.version, engine.block_size, engine.prefix_caching, engine.speculation)
    assert told == ("sglang", "0.5.23", 16, True, False)
    served = await provider.serve(arm_named("prefix"))
    assert "--enable-cache-report" in served.attached["unread"]["cached_tokens"]
    assert "never to be kept" not in json.dumps(provider.fingerprint([arm_named("prefix")]))


async def test_ray_serve_behind_a_path(source: str, tmp_path: Path):
    async with serving(RAY) as (url, _):
        found = await run(source, tmp_path, await attach(endpoints_of([f"{url}/v1"])), "base", "prefix")
    steps = found.steps()[~found.steps()["warmup"]]
    assert found.info.state == "done"
    assert steps[steps["arm"] == "prefix"]["cached_tokens"].iloc[-1] > 0
    assert set(steps["engine"]) == {url.removeprefix("http://")}


async def test_an_arm_that_needs_another_engine_is_refused_before_there_is_a_run(source: str, tmp_path: Path):
    async with FakeEngine() as engine:
        provider = await attach(endpoints_of([engine.base_url]))
        received = len(engine.received)
        with pytest.raises(LabError, match="spec is another engine than http") as error:
            await run(source, tmp_path, provider, "base", "spec")
        assert len(engine.received) == received
    assert not list((tmp_path / "runs").glob("*"))
    for words in ("vllm serve fake", "--speculative-config", "--endpoint spec=URL", "base, prefix"):
        assert words in error.value.hint


async def test_a_named_profile_shows_its_own_commands():
    async with FakeEngine() as engine:
        provider = await attach(endpoints_of([engine.base_url]), profile=load_profile("cpu-smollm2"), strict=True)
        with pytest.raises(LabError, match="under --strict") as error:
            provider.require([arm_named("base")])
        with pytest.raises(LabError) as split:
            provider.require([arm_named("pd")])
    assert "--no-enable-prefix-caching" in error.value.hint
    assert "vllm_router" in split.value.hint
    assert "--kv-transfer-config" in split.value.hint


async def test_each_arm_may_have_an_engine_of_its_own(source: str, tmp_path: Path):
    spec = FakeDials(num_spec_tokens=2, acceptance=(1,))
    async with FakeEngine() as plain, FakeEngine(spec) as drafting:
        provider = await attach(endpoints_of([plain.base_url, f"spec={drafting.base_url}"]))
        found = await run(source, tmp_path, provider, "prefix", "spec", "prefix+spec")
    steps = found.steps()[~found.steps()["warmup"]]
    assert steps[steps["arm"] != "prefix"]["accepted_tokens"].notna().all()
    assert steps[steps["arm"] == "prefix"]["accepted_tokens"].isna().all()
    assert set(steps[steps["arm"] == "prefix+spec"]["engine"]) == {drafting.base_url.removeprefix("http://")}


async def test_engines_of_different_models_are_refused_and_a_name_that_all_serve_is_asked_of_each():
    async with (
        FakeEngine() as one,
        serving(Shape(models=("m2",))) as (url, _),
    ):
        asked = [f"base={url}", f"prefix+spec={one.base_url}"]
        with pytest.raises(LabError, match="arms of different models are not compared") as error:
            await attach(endpoints_of(asked, probe=False))
        for words in (f"{url} is asked for 'm2'", f"{one.base_url} is asked for 'fake'"):
            assert words in error.value.message
        assert "--served-model NAME" in error.value.hint
        with pytest.raises(UnknownName, match="m2"):
            await attach(endpoints_of(asked, probe=False, model="m2"))
    async with FakeEngine() as one, serving(Shape(models=("m2", "fake"))) as (url, _):
        both = await attach(endpoints_of([f"base={url}", one.base_url], probe=False, model="fake"))
    assert both.fingerprint([arm_named("base")])["model"] == "fake"


async def test_what_else_differs_between_two_engines_is_in_the_remarks_once(source: str, tmp_path: Path):
    async with FakeEngine() as one, FakeEngine(FakeDials(block_size=32)) as two:
        provider = await attach(endpoints_of([f"base={one.base_url}", f"prefix={two.base_url}"]))
        found = await run(source, tmp_path, provider, "base", "prefix")
    ports = [each.base_url.removeprefix("http://") for each in (one, two)]
    words = f"differ in block size (tokens), which no layer changes: 16 on {ports[0]}, 32 on {ports[1]}"
    assert found.info.note.count(words) == 1
    assert "base, prefix: the attached engines" in found.info.note
    assert "max_model_len" not in found.info.note


def test_what_an_engine_does_not_tell_is_no_difference():
    facts = {"kind": "vllm", "model": "m", "models": ("m",)}
    quiet = AttachedEngine(url="http://127.0.0.1:1", maker=None, version=None, **facts)
    vllm = AttachedEngine(url="http://127.0.0.1:2", maker="vllm", version="0.32.0", max_model_len=9, **facts)
    sglang = AttachedEngine(url="http://127.0.0.1:3", maker="sglang", version="0.5.23", max_model_len=8, **facts)
    assert list(differences([quiet, vllm])) == []
    said = list(differences([quiet, vllm, sglang]))
    assert [words.split(",")[0].rpartition(" in ")[2] for words in said] == [
        "max_model_len (tokens)",
        "maker",
        "version",
    ]
    assert said[1].endswith("not told on 127.0.0.1:1, vllm on 127.0.0.1:2, sglang on 127.0.0.1:3")


async def test_a_drafter_is_served_by_the_endpoint_of_its_name_alone():
    spec = FakeDials(num_spec_tokens=2, acceptance=(1,))
    async with FakeEngine(spec) as one, FakeEngine(spec) as two:
        asked = endpoints_of([f"spec ngram={one.base_url}", f"spec suffix={two.base_url}"])
        provider = await attach(asked, spec_method="ngram")
    arm = arm_named("spec")
    assert provider.find(arm, "ngram")[0].engine.url == one.base_url
    assert provider.find(arm, "suffix")[0].engine.url == two.base_url
    with pytest.raises(LabError, match="no --endpoint is named spec eagle") as error:
        provider.require([arm], ["eagle"])
    assert "--endpoint 'spec eagle=URL'" in error.value.hint
    assert "vllm serve" not in error.value.hint  # whose weights a drafter has, only a profile knows


async def test_both_halves_are_read_where_their_pages_are_named_and_listed_where_not(source: str, tmp_path: Path):
    """One fake plays decode and the API, another prefill: what is read is who is asked."""
    async with FakeEngine(FakeDials(transfer_s=0.01)) as decode, FakeEngine() as prefill:
        pages = [f"prefill={prefill.base_url}/metrics", f"decode={decode.base_url}"]
        whole = await attach(endpoints_of([f"pd={decode.base_url}"], pages))
        served = await whole.serve(arm_named("pd"))
        assert set(served.metrics) == {"prefill", "decode"}
        assert served.attached["unread"] == {}
        found = await run(source, tmp_path, await attach(endpoints_of([f"pd={decode.base_url}"], pages[1:])), "pd")
    steps = found.steps()[~found.steps()["warmup"]]
    assert (steps["transferred_tokens"] > 0).all()
    assert steps["transfer_s"].notna().all()
    assert steps["server_s"].isna().all()
    assert "pd: server_s null throughout, as no --metrics prefill=URL was given" in found.info.note


async def test_a_page_that_is_no_engines_is_refused_before():
    async with serving(dataclasses.replace(BARE, says={"/metrics": {"router": 1}})) as (url, _):
        with pytest.raises(EngineError, match="has no counters of vLLM or SGLang") as error:
            await attach(endpoints_of([url], [f"engine={url}"]))
    assert "Name the engine's own" in error.value.hint
    async with FakeEngine() as engine:
        with pytest.raises(EngineError, match="--metrics decode") as error:
            await attach(endpoints_of([f"pd={engine.base_url}"], ["decode=http://127.0.0.1:9"]))
    assert "curl http://127.0.0.1:9/metrics" in error.value.hint


async def test_the_key_is_sent_with_every_request_and_is_in_no_file(source: str, tmp_path: Path, monkeypatch):
    monkeypatch.setenv("MY_KEY", KEY)
    async with serving(Shape(key=KEY)) as (url, front):
        found = await run(source, tmp_path, await attach(endpoints_of([url], api_key_env="MY_KEY")), "base", "prefix")
        assert found.info.state == "done"
        assert set(front.keys) == {f"Bearer {KEY}"}
    files = [path for path in found.folder.rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if KEY.encode() in path.read_bytes()]
    assert '"key_from": "MY_KEY"' in (found.folder / "events.jsonl").read_text()


async def test_a_key_that_is_refused_is_in_no_error(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    async with serving(Shape(key="another")) as (url, _):
        with pytest.raises(EngineError, match="it wants a key") as error:
            await attach(endpoints_of([url]))
    assert KEY not in f"{error.value} {error.value.args}"


async def test_without_a_probe_no_token_is_made_and_that_is_noted():
    async with FakeEngine() as engine:
        provider = await attach(endpoints_of([engine.base_url], probe=False))
        assert engine.received == []
    served = await provider.serve(arm_named("prefix"))
    assert "--no-probe" in " ".join(served.attached["noted"])


async def test_what_can_be_measured_and_how_to_go_on():
    async with FakeEngine() as engine:
        asked = endpoints_of([engine.base_url])
        full = findings(await attach(asked), asked)
    async with serving(BARE) as (url, _):
        asked = endpoints_of([url], arm_is="pd")
        bare = findings(await attach(asked), asked)
    assert full.serves == {"base": "salt", "prefix": "flag"}
    assert full.unread == {}
    assert f"labkit run quick --arms base,prefix --endpoint {engine.base_url}" in full.go_on
    assert bare.serves == {"pd": "salt", "prefix+pd": "flag"}
    assert {"transfer_s", "cached_tokens"} <= set(bare.unread)
    assert set(bare.measured) == {
        "t_send", "t_first_token", "t_first_visible", "t_last", "t_end", "prompt_tokens", "completion_tokens",
    }  # fmt: skip
    assert bare.go_on[0].endswith("--arm-is pd")


async def test_sglangs_own_page_says_which_times_stay_null():
    page = (Path(__file__).parents[3] / "sglang_pages" / "colocated-after.txt").read_text()
    async with serving(dataclasses.replace(SGLANG, pages={"/metrics": page})) as (url, _):
        provider = await attach(endpoints_of([url]))
    served = await provider.serve(arm_named("prefix"))
    engine = provider.engines[0].engine
    assert served.metrics == {"engine": f"{url}/metrics"}
    assert {"requests", "prefix_hits", "queue_s"} <= set(engine.counts["engine"])
    assert "decode_s" in served.attached["unread"]


def test_an_engine_elsewhere_and_in_use_is_noted():
    engine = AttachedEngine(
        url="http://10.0.0.5:8000", kind="vllm", maker="vllm", version=None, model="m", models=("m",), running=3,
        key_from="MY_KEY", probed=True, salt="checked", prefix_caching=True, speculation=False, split=False,
    )  # fmt: skip
    there = placed(Endpoint(url=engine.url), engine)
    noted = AttachedProvider([there]).facts(there, arm_named("prefix"))["noted"]
    assert [words.split(" ")[0] for words in noted] == ["samples", "the", "somebody"]
    here = dataclasses.replace(engine, url="http://127.0.0.1:8000", running=0)
    near = placed(Endpoint(url=here.url), here)
    assert AttachedProvider([near]).facts(near, arm_named("prefix"))["noted"] == []
