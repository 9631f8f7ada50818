"""A key comes from the environment, and nothing shows it."""

import pytest
from other_servers import Shape, serving

from labkit.core.chat import ChatRequest
from labkit.core.errors import BadInput, RequestFailed
from labkit.engines.bearer import bearer_from
from labkit.engines.client import EngineClient

KEY = "plainwordsonly"
HELLO = ChatRequest(messages=[{"role": "user", "content": "hello"}], max_tokens=1)


def test_the_named_variable_else_the_usual_one_else_none():
    here = {"MINE": KEY, "OPENAI_API_KEY": "other"}
    assert bearer_from(here, "MINE").headers == {"Authorization": f"Bearer {KEY}"}
    assert bearer_from(here).headers == {"Authorization": "Bearer other"}
    assert bearer_from({}) is None


@pytest.mark.parametrize("here", [{}, {"MINE": " "}, {"MINE": "two\nlines"}])
def test_a_variable_that_is_named_must_hold_one(here: dict[str, str]):
    with pytest.raises(BadInput, match="MINE"):
        bearer_from(here, "MINE")


def test_nothing_that_prints_it_shows_it():
    bearer = bearer_from({"MINE": KEY}, "MINE")
    assert KEY not in repr(bearer)
    assert KEY not in bearer.hidden(f"no such key: {KEY}!")


async def test_the_client_sends_it_and_hides_it_when_the_server_says_it_back():
    async with serving(Shape(key=KEY)) as (url, front):
        async with EngineClient(url, "fake", bearer=bearer_from({"MINE": KEY}, "MINE")) as client:
            assert (await client.chat(HELLO)).finish_reason
        assert front.keys == [f"Bearer {KEY}"]
    wrong = bearer_from({"MINE": "wrongwords"}, "MINE")
    async with serving(Shape(key=KEY)) as (url, _), EngineClient(url, "fake", bearer=wrong) as client:
        with pytest.raises(RequestFailed, match=r"no such key: Bearer .not shown.") as error:
            await client.chat(HELLO)
    assert "wrongwords" not in f"{error.value} {error.value.args}"
