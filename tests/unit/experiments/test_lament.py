"""The words of an error as a run folder keeps them."""

import pytest

from labkit.core.errors import EngineError, LabError
from labkit.experiments.lament import words_of


@pytest.mark.parametrize(
    "error",
    [
        EngineError("started with --api-key hunter2", "export HF_TOKEN=hunter2", ("Authorization: Bearer hunter2",)),
        LabError("http://me:hunter2@host is gone", "Try --hf-token hunter2"),
        OSError("cannot read token=hunter2"),
    ],
)
def test_no_secret_stays_in_any_of_them(error):
    kept = words_of(error)
    assert set(kept) == {"message", "hint", "log_tail"}
    assert "hunter2" not in str(kept)


def test_the_rest_stays_as_it_was():
    kept = words_of(EngineError("it died", "Look at its log.", ("Killed",)))
    assert kept == {"message": "it died", "hint": "Look at its log.", "log_tail": ["Killed"]}
    assert words_of(OSError("no space"))["message"] == "no space"
