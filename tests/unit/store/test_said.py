"""What was said is kept beside a step's numbers, masked, and read back; an older folder simply has none."""

from __future__ import annotations

import json

import pytest
from builders import a_step, chunks_at

from labkit.core.masking import MASK, masked_said
from labkit.store.layout import EVENTS
from labkit.store.runs import RunStore

CALL = {"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "a.py"}'}}
REPLY = {"role": "assistant", "content": None, "tool_calls": [CALL]}


def test_a_reply_is_read_back_with_the_name_of_its_step(store: RunStore):
    with store.create("quick", {}, {}) as run:
        step = a_step(run.id, turn=3, arm="prefix", recording="r", condition="agents=2", t_send=0.1 + 0.2)
        run.step(step, chunks_at(step, 1.0, 1.1), {"reply": REPLY})
        run.step(a_step(run.id, turn=4))
    opened = store.open(run.id)
    (said,) = opened.replies()
    assert (said.arm, said.turn, said.recording, said.condition) == ("prefix", 3, "r", "agents=2")
    assert said.t_send == opened.steps()["t_send"][0]
    assert (said.reply, said.append) == (REPLY, [])
    assert len(opened.steps()) == 2
    assert len(opened.chunks()) == 2


def test_what_one_agent_said_can_be_asked_for(store: RunStore):
    with store.create("capacity", {}, {}) as run:
        for agent in ("1", "11", "1.1"):
            run.step(a_step(run.id, agent=agent), texts={"reply": {"content": 'I am not "agent": "1"'}})
    assert [said.agent for said in store.open(run.id).replies("1")] == ["1"]
    assert len(store.open(run.id).replies()) == 3


def test_what_was_new_in_a_request_is_kept_where_it_is_told(store: RunStore):
    with store.create("agent", {}, {}) as run:
        run.step(a_step(run.id), texts={"reply": REPLY, "append": [{"role": "user", "content": "go"}]})
    assert store.open(run.id).replies()[0].append == [{"role": "user", "content": "go"}]


def test_secrets_in_what_was_said_are_masked(store: RunStore):
    with store.create("agent", {}, {}) as run:
        call = {"function": {"name": "edit", "arguments": json.dumps({"text": "password = hunter2"})}}
        reply = {"role": "assistant", "content": "Bearer hunter2", "tool_calls": [call]}
        run.step(a_step(run.id), texts={"reply": reply, "append": [{"role": "tool", "content": "HF_TOKEN=hf_hunter2"}]})
    assert "hunter2" not in (run.folder / EVENTS).read_text()
    assert MASK in store.open(run.id).replies()[0].append[0]["content"]


def test_a_secret_in_an_error_is_masked(store: RunStore):
    run = store.create("agent", {}, {})
    run.step(a_step(run.id, error="HTTP 401 for http://me:hunter2@host/"))
    run.__exit__(ValueError, ValueError("refused Bearer hunter2"), None)
    assert "hunter2" not in "".join(path.read_text() for path in run.folder.glob("*.json*"))
    opened = store.open(run.id)
    assert opened.steps()["error"][0] == f"HTTP 401 for http://{MASK}@host/"
    assert opened.info.note == f"ValueError: refused Bearer {MASK}"


@pytest.mark.parametrize(
    "code", ["sorted(x, key=lambda p: p.score)", "def get(self, key: str)", "cache_key = make(x)", "token: Token"]
)
def test_code_is_no_secret(code: str):
    assert masked_said(code) == code


@pytest.mark.parametrize(
    "text",
    ["api_key=hunter", "{'access_token': 'hunter'}", "key = hunter2", "token: hunterhunterhunterhunter",
     "secret: hunter", "http://me:hunter@127.0.0.1/v1", "Authorization: Bearer hunter"],
)  # fmt: skip
def test_what_can_be_nothing_but_a_secret_is_masked(text: str):
    assert "hunter" not in masked_said(text)
    assert masked_said(masked_said(text)) == masked_said(text)


def test_texts_that_look_like_the_end_of_a_line_do_not_cut_it(store: RunStore):
    text = '"type": "step", "chunks": [] } , "chunks": [{"index": 0}'
    with store.create("quick", {}, {}) as run:
        step = a_step(run.id)
        run.step(step, chunks_at(step, 1.0), {"reply": {"role": "assistant", "content": text}})
        run.event("note", words='"type": "step"')
    assert [said.reply["content"] for said in store.open(run.id).replies()] == [text]


def test_a_run_from_before_texts_were_kept_has_none(store: RunStore):
    with store.create("quick", {}, {}) as run:
        run.step(a_step(run.id))
    assert store.open(run.id).replies() == []
    assert len(store.open(run.id).steps()) == 1


def test_a_damaged_or_torn_line_hides_no_other(store: RunStore):
    run = store.create("quick", {}, {})
    run.step(a_step(run.id), texts={"reply": REPLY})
    run.close()
    with (run.folder / EVENTS).open("ab") as file:
        file.write(b'{"type": "step", "step": {}, "reply": {"role": "x"}, "chunks": []}\n{"type": "step", broken\n')
        file.write(b'{"type": "step", "step": {"turn": 2')
    assert [said.turn for said in store.open(run.id).replies()] == [1]
