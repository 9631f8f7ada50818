"""Replay against a model that is a list: what is sent, in which history, under which salt, and what failures do."""

import itertools

import pytest

from labkit.core.chat import ChatRequest, Reply, Usage
from labkit.core.clock import FakeClock
from labkit.core.errors import BadInput, RequestFailed
from labkit.traffic.recording import RecordedStep, Recording, RecordingHeader
from labkit.traffic.replay import Replayed, ReplayOptions, replay
from labkit.traffic.said import said_sha256
from labkit.traffic.salt import SaltPolicy

TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {}}}]


def call(call_id: str, arguments: str = "{}") -> dict:
    return {"id": call_id, "type": "function", "function": {"name": "look", "arguments": arguments}}


def recording(lengths: tuple[int | None, ...] = (5, 6, 7), gap_s: float = 2.0) -> Recording:
    steps = []
    for turn, length in enumerate(lengths, 1):
        first = [{"role": "system", "content": "s"}, {"role": "user", "content": "go"}]
        later = [{"role": "tool", "tool_call_id": f"r{turn - 1}", "content": f"result {turn - 1}"}]
        steps.append(
            RecordedStep(
                turn=turn,
                kind="act",
                append=first if turn == 1 else later,
                reply={"role": "assistant", "content": f"said {turn}", "tool_calls": [call(f"r{turn}")]},
                request={
                    "max_tokens": 40,
                    "tool_choice": "required",
                    "extra": {"structured_outputs": {"json": {}}, "top_k": 1},
                },
                usage=Usage(completion_tokens=length),
                gap_s=0.0 if turn == 1 else gap_s,
            )
        )
    header = RecordingHeader(name="tiny", task="t", decided_by="scripted", model="m", tools=TOOLS)
    return Recording(header=header, steps=tuple(steps))


class Answers:
    """Says the next of its lines, fails where the line is an exception, and takes one second of the clock."""

    def __init__(self, *lines: object, clock: FakeClock | None = None) -> None:
        self.asked: list[ChatRequest] = []
        self.clock = clock or FakeClock(100.0)
        self._lines = itertools.chain(lines, itertools.repeat("mine"))

    async def chat(self, request: ChatRequest) -> Reply:
        self.asked.append(request)
        sent, line = self.clock.now(), next(self._lines)
        self.clock.advance(1.0)
        if isinstance(line, Exception):
            raise line
        message = line if isinstance(line, dict) else {"role": "assistant", "content": line}
        end = self.clock.now()
        return Reply(
            message=message, finish_reason="stop", usage=Usage(), chunks=(), t_send=sent, t_first_token=end,
            t_first_visible=end, t_last=end, t_end=end,
        )  # fmt: skip


async def sent(
    model: Answers, source: Recording | None = None, salt: SaltPolicy | None = None, **options
) -> list[Replayed]:
    async def pause(seconds: float) -> None:
        model.clock.advance(seconds)

    steps = replay(
        source or recording(), model, ReplayOptions(**options), salt or SaltPolicy(), clock=model.clock, pause=pause
    )
    return [done async for done in steps]


async def test_recorded_history_sends_the_very_requests_again():
    model, source = Answers(), recording()
    await sent(model, source)
    assert [r.messages for r in model.asked] == [source.messages(n) for n in range(3)]
    assert {r.max_tokens for r in model.asked} == {40}
    assert model.asked[0].tools == TOOLS
    assert model.asked[0].tool_choice == "required"
    assert model.asked[0].extra == {"structured_outputs": {"json": {}}, "top_k": 1}
    assert not model.asked[0].ignore_eos


async def test_live_history_puts_the_engines_own_text_into_the_next_turn():
    own = {"role": "assistant", "content": "own", "tool_calls": [call("x9", '{"a": 1}')]}
    model = Answers(own)
    await sent(model, history="live")
    assistant, tool = model.asked[1].messages[2:4]
    assert assistant["content"] == "own"
    assert assistant["tool_calls"][0]["function"]["arguments"] == '{"a": 1}'
    assert assistant["tool_calls"][0]["id"] == tool["tool_call_id"] == "r1"


async def test_a_pass_has_one_salt_of_its_own_and_a_salted_arm_one_per_request():
    model = Answers()
    await sent(model)
    await sent(model)
    salts = [request.cache_salt for request in model.asked]
    assert len(set(salts[:3])) == 1
    assert len(set(salts)) == 2
    await sent(model, salt=SaltPolicy(per_request=True))
    assert len({request.cache_salt for request in model.asked[6:]}) == 3


async def test_pinned_forces_the_recorded_length_and_drops_the_grammar():
    model = Answers()
    await sent(model, mode="pinned")
    assert [r.max_tokens for r in model.asked] == [5, 6, 7]
    assert all(r.ignore_eos and r.tool_choice == "none" and r.tools for r in model.asked)
    assert model.asked[0].extra == {"top_k": 1}


async def test_pinned_without_a_known_length_is_refused_before_anything_is_sent():
    model = Answers()
    with pytest.raises(BadInput, match="turn 2"):
        await sent(model, recording((5, None, 7)), mode="pinned")
    assert model.asked == []
    assert len(await sent(model, recording((5, None, 7)), mode="pinned", steps=1)) == 1


async def test_gaps_are_slept_and_the_lag_of_a_send_is_measured_from_their_end():
    model = Answers()
    steps = await sent(model, gaps=True)
    assert [s.t_intended for s in steps] == [100.0, 103.0, 106.0]
    assert all(s.t_send == s.t_intended for s in steps)
    assert [s.t_intended for s in await sent(Answers())] == [100.0, 101.0, 102.0]


async def test_a_failed_request_is_a_row_and_the_recorded_reply_stands_in_for_it():
    model = Answers(RequestFailed("HTTP 500: boom", status=500), "fine")
    steps = await sent(model, history="live")
    assert [s.error for s in steps] == ["HTTP 500: boom", None, None]
    assert model.asked[1].messages[2]["content"] == "said 1"
    assert steps[0].t_end == 101.0


async def test_failures_in_a_row_end_the_replay_and_a_success_starts_the_count_again():
    broken = RequestFailed("no")
    assert len(await sent(Answers(broken, broken, "ok"), recording((1,) * 6), max_failures=3)) == 6
    assert len(await sent(Answers("ok", broken, broken), recording((1,) * 6), max_failures=2)) == 3


async def test_steps_limit_how_much_is_sent():
    assert len(await sent(Answers(), steps=2)) == 2
    assert len(await sent(Answers(), steps=99)) == 3


@pytest.mark.parametrize(
    ("options", "field"), [({"mode": "fast"}, "mode"), ({"history": "none"}, "history"), ({"steps": 0}, "steps")]
)
def test_options_that_mean_nothing_are_refused(options: dict, field: str):
    with pytest.raises(BadInput) as error:
        ReplayOptions(**options)
    assert error.value.field == field


def test_the_hash_of_a_text_sees_tool_calls_and_not_their_ids():
    one = said_sha256({"content": None, "tool_calls": [call("a", "{}")]})
    assert one == said_sha256({"content": "", "tool_calls": [call("b", "{}")]})
    assert one != said_sha256({"content": "", "tool_calls": [call("a", '{"x": 1}')]})
    assert one != said_sha256({"content": "", "reasoning": "hm", "tool_calls": [call("a", "{}")]})


async def test_with_a_due_time_whatever_the_caller_does_between_steps_is_lag():
    clock, pauses = FakeClock(100.0), []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        clock.advance(seconds)

    model = Answers(clock=clock)
    steps = []
    async for done in replay(
        recording(), model, ReplayOptions(gaps=True), SaltPolicy(), clock=clock, pause=pause, due=103.0
    ):
        steps.append(done)
        clock.advance(2.5)  # the gap is 2 s: the next request leaves half a second late
    assert pauses == [3.0, 0.0, 0.0]
    assert [step.t_intended for step in steps] == [103.0, 106.0, 109.5]
    assert [step.t_send - step.t_intended for step in steps] == [0.0, 0.5, 0.5]


async def test_after_a_failure_the_next_step_is_due_when_the_caller_asks_for_it():
    clock = FakeClock(100.0)
    model = Answers(RequestFailed("no"), clock=clock)
    steps = []
    async for done in replay(recording(), model, ReplayOptions(), SaltPolicy(), clock=clock, due=100.0):
        steps.append(done)
        clock.advance(5.0 if done.error else 0.0)
    assert [step.t_send - step.t_intended for step in steps] == [0.0, 0.0, 0.0]
