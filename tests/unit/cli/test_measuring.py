"""What `labkit run` looks at before there is a run folder."""

from types import SimpleNamespace

import pytest

from labkit.cli.measuring import provider, refuse_busy
from labkit.core.errors import BadInput, EngineBusy
from labkit.experiments.serving import StaticProvider


class Holding:
    """A fleet of one engine, for the plan `up`, held by `owner`."""

    def __init__(self, owner: str | None) -> None:
        self._owner = owner

    def find(self, plan: str) -> SimpleNamespace | None:
        return SimpleNamespace(id="e1") if plan == "up" else None

    def holder(self, engine: SimpleNamespace) -> str | None:
        return self._owner


def test_an_engine_that_is_held_is_refused_before_there_is_a_folder():
    with pytest.raises(EngineBusy, match="e1 is held by run-7"):
        refuse_busy(Holding("run-7"), ["not up", "up"])


def test_free_engines_and_engines_that_are_not_up_are_not():
    refuse_busy(Holding(None), ["up"])
    refuse_busy(Holding("run-7"), ["not up"])


@pytest.mark.parametrize("said", ["abc", "0", "-16", "1.5"])
def test_a_block_size_that_is_no_number_of_tokens_is_refused_with_what_would_be(said: str):
    with pytest.raises(BadInput, match="block_size=N") as error:
        provider("cpu-smollm2", ["base=http://127.0.0.1:1", f"block_size={said}"])
    assert (error.value.field, error.value.value) == ("attach", f"block_size={said}")


def test_attached_engines_and_their_block_size():
    found = provider("cpu-smollm2", ["base=http://127.0.0.1:1", "block_size=32", "model=m"])
    assert found == StaticProvider({"base": "http://127.0.0.1:1"}, "m", 32)
    assert provider("cpu-smollm2", ["base=http://127.0.0.1:1", "model=m"]).block_size is None
