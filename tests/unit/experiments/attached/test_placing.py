"""Which arms an engine serves, by what it tells and by what its user says."""

import dataclasses

import pytest

from labkit.core.arms import ARMS, arm_named
from labkit.core.errors import BadInput
from labkit.experiments.attached.endpoints import Endpoint
from labkit.experiments.attached.placing import placed
from labkit.experiments.attached.records import AttachedEngine

TOLD = AttachedEngine(
    url="http://h:1", kind="vllm", maker="vllm", version="0.32.0", model="m", models=("m",), prefix_caching=True,
    speculation=False, split=False, salt="checked", probed=True,
)  # fmt: skip
SILENT = dataclasses.replace(TOLD, kind="gateway", prefix_caching=None, speculation=None, split=None, salt="accepted")


def at(arm: str | None = None) -> Endpoint:
    return Endpoint(url="http://h:1", arm=arm_named(arm) if arm else None)


def serves(engine: AttachedEngine, arm: str | None = None, arm_is: str | None = None, *, strict: bool = False):
    found = placed(at(arm), engine, arm_named(arm_is) if arm_is else None)
    ways = {each.label: found.how(each, strict=strict) for each in ARMS}
    return {label: how for label, how in ways.items() if how in ("flag", "salt")}


def test_an_engine_that_tells_serves_its_layers_with_and_without_the_cache():
    assert serves(TOLD) == {"base": "salt", "prefix": "flag"}
    assert serves(dataclasses.replace(TOLD, speculation=True)) == {"spec": "salt", "prefix+spec": "flag"}
    assert serves(dataclasses.replace(TOLD, split=True)) == {"pd": "salt", "prefix+pd": "flag"}
    assert serves(dataclasses.replace(TOLD, split=True, speculation=True)) == {"pd+spec": "salt", "all": "flag"}


def test_without_prefix_caching_only_the_arm_without_it():
    assert serves(dataclasses.replace(TOLD, prefix_caching=False)) == {"base": "flag"}


def test_a_server_that_refuses_salts_serves_only_the_arm_with_the_cache():
    assert serves(dataclasses.replace(TOLD, salt="refused")) == {"prefix": "flag"}


def test_strict_wants_the_servers_own_flag():
    assert serves(TOLD, strict=True) == {"prefix": "flag"}
    assert placed(at(), TOLD).how(arm_named("base"), strict=True) == "caching on"
    assert serves(dataclasses.replace(TOLD, prefix_caching=False), "base", strict=True) == {"base": "flag"}
    assert serves(SILENT, "base", strict=True) == {"base": "flag", "prefix": "flag"}


def test_what_is_not_told_is_what_the_user_says_and_is_noted():
    assert serves(SILENT, arm_is="pd") == serves(SILENT, "pd") == {"pd": "salt", "prefix+pd": "flag"}
    assert serves(SILENT) == {"base": "salt", "prefix": "flag"}
    assert placed(at(), TOLD).assumed == ()
    assumed = placed(at(), SILENT).assumed
    assert len(assumed) == 4
    assert "that it runs without speculation is not told: taken for granted" in assumed[0]


@pytest.mark.parametrize(
    ("engine", "said"),
    [
        (TOLD, "spec"),
        (TOLD, "pd"),
        (dataclasses.replace(TOLD, speculation=True), "base"),
        (dataclasses.replace(TOLD, split=True), "prefix"),
        (dataclasses.replace(TOLD, prefix_caching=False), "prefix"),
    ],
)
def test_a_word_against_what_the_engine_tells_is_refused(engine: AttachedEngine, said: str):
    for endpoint, arm_is in ((at(said), None), (at(), arm_named(said))):
        with pytest.raises(BadInput, match="the arm that the engine is in") as error:
            placed(endpoint, engine, arm_is)
        assert "tells that" in error.value.hint
