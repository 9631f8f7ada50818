"""How engines that were attached were named: kept with the run, and said again as options that can be typed."""

import shlex

import pytest

from labkit.core.arms import arm_named
from labkit.core.errors import BadInput
from labkit.core.records import RunInfo
from labkit.engines.profiles import load_profile
from labkit.experiments.attached.endpoints import endpoints_of
from labkit.experiments.attached.kept import attach_words, attached_engines, kept, profile_of
from labkit.experiments.attached.placing import placed
from labkit.experiments.attached.records import AttachedEngine
from labkit.experiments.attached.same_model import require_same_model
from labkit.experiments.words import asked_in_words
from labkit.store.masking import without_secrets


def an_engine(url: str = "http://h:1", **told: object) -> AttachedEngine:
    known = {"kind": "vllm", "maker": "vllm", "version": "0", "model": "m", "models": ("m",), "probed": True, **told}
    return AttachedEngine(url=url, **known)  # type: ignore[arg-type]


def kept_of(endpoints: list[str], metrics: list[str] = (), arm_is: str | None = None, **told: object):
    asked = endpoints_of(endpoints, metrics, arm_is=arm_is)
    return kept([placed(each, an_engine(each.url, **told), asked.arm_is) for each in asked.endpoints])


def test_what_was_said_is_said_again():
    pages = ["pd:prefill=http://p:1/metrics", "pd:decode=http://d:2/metrics"]
    said = kept_of(
        ["http://h:1", "pd=http://h:2", "spec ngram=http://h:3"], pages, models=("m", "n"), key_from="MY_KEY"
    )
    words = attach_words({"attached": without_secrets(said)}, {})
    assert words == [
        "--endpoint", "http://h:1", "--endpoint", "pd=http://h:2", "--endpoint", "spec ngram=http://h:3",
        "--metrics", pages[0], "--metrics", pages[1], "--served-model", "m", "--api-key-env", "MY_KEY",
    ]  # fmt: skip
    endpoints = [word for option, word in zip(words[::2], words[1::2], strict=True) if option == "--endpoint"]
    assert [each.drafter for each in endpoints_of(endpoints, pages).endpoints] == [None, None, "ngram"]


def test_only_what_is_needed_is_said():
    assert kept_of(["http://h:1"]) == {"endpoint": ["http://h:1"]}
    assert kept_of(["http://h:1"], arm_is="spec", probed=False) == {
        "endpoint": ["http://h:1"], "arm_is": "prefix+spec", "probe": False,
    }  # fmt: skip
    assert "arm_is" not in kept_of(["http://h:1"], speculation=True, split=False)


def test_the_command_can_be_typed():
    asked = {"profile": "", "recording": "r", "arms": ["base", "prefix"], "attached": kept_of(["prefix=http://h:1"])}
    said = asked_in_words("replay", asked)
    assert said == "labkit replay r --arms base,prefix --endpoint prefix=http://h:1"
    named = asked_in_words("replay", {**asked, "profile": "cpu-smollm2"})
    assert named == "labkit replay r --profile cpu-smollm2 --arms base,prefix --endpoint prefix=http://h:1"
    quoted = asked_in_words("replay", {**asked, "attached": kept_of(["spec ngram=http://h:3"])})
    assert shlex.split(quoted)[-1] == "spec ngram=http://h:3"
    assert asked_in_words("theirs", {"n": 3, "attached": kept_of(["http://h:1"])}) == "n 3, --endpoint http://h:1"


def test_a_run_of_before_the_names_were_kept_says_the_addresses():
    told = {"attached": True, "arm": "prefix", "url": "http://h:1"}
    one = {"engines": {"h:1": told}}
    two = {"engines": {"h:1": told, "h:2": {**told, "arm": "spec", "url": "http://h:2"}}}
    assert attach_words({}, one) == ["--endpoint", "http://h:1"]
    assert attach_words({}, two) == ["--endpoint", "prefix=http://h:1", "--endpoint", "spec=http://h:2"]
    fleet = {"engines": {"1a2b": {"processes": []}, "base": "http://h:1"}}
    assert attach_words({"profile": "p"}, fleet) == []
    assert (attached_engines(fleet), attached_engines({})) == ({}, {})


def test_an_attached_run_is_of_no_profiles_machine():
    about = {"id": "r", "experiment": "quick", "created": "", "state": "done", "asked": {"profile": "p"}}
    assert profile_of(RunInfo(**about, fingerprint={})) == "p"
    assert profile_of(RunInfo(**about, fingerprint={"engines": {"h": {"attached": True}}})) == ""


def test_a_profile_of_another_model_is_refused_with_both_names():
    (endpoint,) = endpoints_of(["http://h:1"]).endpoints
    profile = load_profile("mi300x-8-qwen3-30b-a3b")

    def attached_as(model: str):
        return [placed(endpoint, an_engine(model=model), arm_named("prefix"))]

    for same in ("qwen3-30b-a3b", profile.model.path, f"/models/{profile.model.path.split('/')[1]}/"):
        require_same_model(profile, attached_as(same))
    with pytest.raises(BadInput) as error:
        require_same_model(profile, attached_as("smollm2-135m"))
    for words in ("http://h:1 serves 'smollm2-135m'", "'qwen3-30b-a3b'", profile.model.path, "Leave --profile out"):
        assert words in error.value.hint
