"""Warm-up touches every grammar of the measured steps once, and says nothing that they say."""

from labkit.experiments.warmup import warmup
from labkit.traffic.recording import RecordedStep, Recording, RecordingHeader

TOOLS = [{"type": "function", "function": {"name": "look"}}]


def recording(*requests: dict) -> Recording:
    steps = tuple(
        RecordedStep(turn=n, kind="act", append=[{"role": "user", "content": "my task"}], reply={}, request=request)
        for n, request in enumerate(requests, 1)
    )
    header = RecordingHeader(name="r", task="t", decided_by="x", model="m", tools=TOOLS)
    return Recording(header=header, steps=steps)


def test_without_grammars_it_is_two_requests_of_forced_length():
    made = warmup([(recording({"tool_choice": "auto"}, {"extra": {"top_k": 1}}), 2)])
    assert [step.request["ignore_eos"] for step in made.steps] == [True, True]
    assert made.request(0).tools == TOOLS
    assert "my task" not in str(made)


def test_each_grammar_of_the_measured_steps_is_asked_for_once():
    one = {"tool_choice": "auto", "extra": {"structured_outputs": {"json": {"a": 1}}, "top_k": 1}, "max_tokens": 1004}
    steps = recording(one, one, {"tool_choice": "required"}, {"extra": {"structured_outputs": {"json": {}}}})
    asked = [warmup([(steps, 3)]).request(n) for n in range(2, 4)]
    assert len(warmup([(steps, 3)]).steps) == 4
    assert asked[0].extra == {"structured_outputs": {"json": {"a": 1}}}
    assert asked[1].tool_choice == "required"
    assert not any(request.ignore_eos or request.max_tokens > 12 for request in asked)
