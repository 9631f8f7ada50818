"""A condition is read as it was written, and as nothing else."""

import pytest

from labkit.core.conditions import (
    agents_of,
    is_reference,
    method_of,
    of_agents,
    of_method,
    of_reference,
    of_steps,
    steps_of,
)


def test_steps_are_read_back():
    assert steps_of(of_steps(15)) == 15
    assert [steps_of(text) for text in ("", "agents=4", "steps=", "steps=x", "steps=4 more")] == [None] * 5


def test_agents_are_read_back():
    assert agents_of(of_agents(4)) == 4
    assert [agents_of(text) for text in ("", "steps=4", "agents=", "agents=x", "agents=4 more")] == [None] * 5


def test_a_drafter_is_read_back_and_a_reference_is_none():
    assert method_of(of_method("ngram")) == "ngram"
    assert [method_of(text) for text in ("", "steps=4", of_reference(), of_reference(("ngram", "suffix")))] == [""] * 4


@pytest.mark.parametrize(("method", "its"), [("ngram", True), ("suffix", True), ("gram", False), ("eagle3", False)])
def test_a_reference_of_some_drafters_is_that_of_each_and_of_no_other(method: str, its: bool):
    assert is_reference(of_reference(("ngram", "suffix")), method) is its
    assert not is_reference(of_reference(), method)


def test_what_is_without_a_drafter_is_a_reference():
    assert is_reference(of_reference())
    assert is_reference(of_reference(("ngram",)))
    assert not is_reference(of_method("ngram"))
    assert not is_reference("")
