"""The loop: its order, its limits, and requests that only ever grow."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from labkit.agents.loop import Loop
from labkit.agents.prompts import asking, kind_asked, opening
from labkit.agents.scripted import Act, Script, ScriptedModel
from labkit.agents.steps import Limits, Step
from labkit.agents.tools import Toolbox
from labkit.agents.workspace import Workspace
from labkit.core.chat import ChatRequest, Message, Reply, Usage
from labkit.core.clock import FakeClock
from labkit.core.errors import RequestFailed
from labkit.core.records import KINDS

FIX = Act("edit_file", {"path": "adder/core.py", "old": "a - b", "new": "a + b"})
READ, TEST, LIST = Act("read_file", {"path": "adder/core.py"}), Act("run_tests", {}), Act("list_files", {})
SEARCH, FINISH = Act("search_code", {"query": "def"}), Act("finish", {"summary": "done"})


@dataclass
class Watched:
    """A model that keeps what it was asked, takes time, and may fail or say something else."""

    model: ScriptedModel
    clock: FakeClock = field(default_factory=FakeClock)
    seconds: float = 0.0
    fails_at: int | None = None
    requests: list[ChatRequest] = field(default_factory=list)
    instead: Callable[[Message], Message] = lambda message: message

    async def chat(self, request: ChatRequest) -> Reply:
        self.requests.append(request)
        self.clock.advance(self.seconds)
        if len(self.requests) == self.fails_at:
            raise RequestFailed("the engine hung up")
        reply = await self.model.chat(request)
        return replace(reply, message=self.instead(reply.message), t_end=self.clock.now())


@pytest.fixture
def start(workspace: Workspace):
    def make(*acts: Act, limits: Limits | None = None, **watched) -> tuple[Loop, Watched, list[Step]]:
        model, steps = Watched(ScriptedModel(Script(acts)), **watched), list[Step]()
        loop = Loop("Repair it.", model, Toolbox(workspace), limits or Limits(), on_step=steps.append)
        loop.clock = model.clock
        return loop, model, steps

    return make


def kinds(steps: list[Step]) -> list[str]:
    return [step.kind for step in steps]


async def test_the_order_of_a_whole_run(start):
    loop, _, steps = start(LIST, SEARCH, READ, FIX, TEST, FINISH)
    outcome = await loop.run()
    said = ["plan", "act", "act", "observe", "act", "act", "act", "evaluate", "act", "answer"]
    assert kinds(steps) == said
    assert [step.turn for step in steps] == list(range(1, 11))
    assert (outcome.stop_reason, outcome.steps, outcome.answer) == ("finished", 10, "I am done.")
    assert set(said) == set(KINDS)


async def test_every_request_extends_the_one_before(start):
    loop, model, steps = start(LIST, SEARCH, FIX, TEST, FINISH)
    await loop.run()
    for before, after, step in zip(model.requests, model.requests[1:], steps[1:], strict=False):
        assert after.messages[: len(before.messages)] == before.messages
        assert after.messages[len(before.messages)]["role"] == "assistant"
        assert after.messages[len(before.messages) + 1 :] == step.append
        assert after.tools == before.tools


async def test_the_same_run_twice_makes_the_same_requests(start, folder):
    first = start(LIST, TEST, FINISH)
    await first[0].run()
    second = start(LIST, TEST, FINISH)
    await second[0].run()
    alike = [[{**r.to_dict(), "session": None} for r in model.requests] for _, model, _ in (first, second)]
    assert alike[0] == alike[1]


async def test_a_long_file_is_observed_and_a_short_one_is_not(start, folder):
    (folder / "long.py").write_text("x = 1\n" * 400)
    loop, _, steps = start(READ, Act("read_file", {"path": "long.py"}), FINISH)
    await loop.run()
    assert kinds(steps) == ["plan", "act", "act", "observe", "act", "answer"]


async def test_a_wrong_call_is_answered_with_an_error_and_the_run_goes_on(start):
    loop, model, steps = start(Act("read_file", {"path": "../secret.txt"}), Act("rm", {}), FINISH)
    outcome = await loop.run()
    assert [step.tool.ok for step in steps if step.tool] == [False, False, True]
    results = [m["content"] for m in model.requests[-1].messages if m["role"] == "tool"]
    assert "leaves the workspace" in results[0]
    assert "There is no tool 'rm'" in results[1]
    assert outcome.stop_reason == "finished"


async def test_the_limit_of_steps_counts_the_answer(start):
    acts = [LIST, READ] * 20
    loop, _, steps = start(*acts, limits=Limits(steps=7))
    outcome = await loop.run()
    assert (outcome.stop_reason, outcome.steps, steps[-1].kind) == ("steps", 7, "answer")


async def test_the_limit_of_seconds(start):
    loop, _, steps = start(*[LIST, READ] * 20, limits=Limits(seconds=10), seconds=3.0)
    outcome = await loop.run()
    assert (outcome.stop_reason, outcome.seconds) == ("seconds", 15.0)
    assert steps[-1].kind == "answer"


async def test_the_limit_of_tokens_and_results_that_fit_what_is_left(start, folder):
    (folder / "long.py").write_text("word " * 1100)
    loop, model, _ = start(*[Act("read_file", {"path": "long.py"}), LIST] * 9, limits=Limits(tokens=3000))

    async def count(request: ChatRequest, _: Message) -> Usage:
        return Usage(prompt_tokens=sum(len(str(m["content"])) for m in request.messages) // 3, completion_tokens=20)

    model.model.count = count
    outcome = await loop.run()
    assert outcome.stop_reason == "tokens"
    longest = max(len(str(m["content"])) for m in model.requests[-1].messages if m["role"] == "tool")
    assert longest == 1100 * 5
    assert sum(len(str(m["content"])) for m in model.requests[-1].messages) // 3 < 3000 + 500


async def test_a_request_that_fails_ends_the_run_and_is_reported(start):
    loop, _, steps = start(LIST, READ, FINISH, fails_at=3)
    outcome = await loop.run()
    assert (outcome.stop_reason, outcome.error, outcome.steps) == ("error", "the engine hung up", 3)
    assert steps[-1].reply is None
    assert steps[-1].error == "the engine hung up"


async def test_an_act_without_a_call_is_asked_for_again(start):
    spoken = iter([True, True, False, False, False])
    loop, model, _ = start(FINISH, instead=lambda m: {"role": "assistant", "content": "hm"} if next(spoken) else m)
    outcome = await loop.run()
    assert outcome.stop_reason == "finished"
    assert model.requests[2].messages[-1] == asking("act")


@pytest.mark.parametrize("arguments", ["{", "[]", '"x"', ""])
async def test_arguments_that_are_no_object_are_refused_not_raised(start, arguments: str):
    def broken(message: Message) -> Message:
        calls = json.loads(json.dumps(message.get("tool_calls") or []))
        for call in calls:
            if call["function"]["name"] == "read_file":
                call["function"]["arguments"] = arguments
        return {**message, "tool_calls": calls} if calls else message

    loop, _, steps = start(READ, FINISH, instead=broken)
    assert (await loop.run()).stop_reason == "finished"
    assert "read_file takes path" in steps[1].tool.result


async def test_a_second_call_in_one_step_is_answered_but_not_run(start):
    def doubled(message: Message) -> Message:
        calls = message.get("tool_calls") or []
        return {**message, "tool_calls": [*calls, {**calls[0], "id": "second"}]} if calls else message

    loop, model, steps = start(LIST, FINISH, instead=doubled)
    await loop.run()
    assert steps[1].tool.ok
    answers = {m["tool_call_id"]: m["content"] for m in model.requests[2].messages if m["role"] == "tool"}
    assert answers["second"] == "Not done: one call in a step."
    assert "adder/core.py" in answers["call-1"]


async def test_gaps_hold_the_time_between_a_reply_and_the_next_request(start):
    loop, model, steps = start(LIST, FINISH, seconds=2.0)
    use = loop.toolbox.use
    loop.toolbox.use = lambda *a: (model.clock.advance(0.5), use(*a))[1]
    await loop.run()
    assert [step.gap_s for step in steps] == [0.0, 0.0, 0.5, 0.5]
    assert [step.t_end - step.t_send for step in steps] == [2.0] * 4
    assert steps[1].tool.seconds == 0.5


@pytest.mark.parametrize("kind", KINDS)
def test_the_kind_that_is_asked_for_is_recognised(kind):
    messages = opening("Do it.") if kind == "plan" else [asking(kind)]
    assert kind_asked(messages) == kind


def test_a_tool_result_asks_for_the_next_act_even_if_it_reads_like_a_question():
    assert kind_asked([{"role": "tool", "content": asking("plan")["content"]}]) == "act"
