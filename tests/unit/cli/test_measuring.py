"""What `labkit run` looks at before there is a run folder."""

from types import SimpleNamespace

import pytest

from labkit.cli.measuring import refuse_busy
from labkit.core.errors import EngineBusy


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
