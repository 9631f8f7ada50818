"""Events come out the same however the network cuts the bytes."""

import pytest

from labkit.engines.sse import SseParser

STREAM = 'data: {"a": "Grüße 🙂"}\r\n\r\n: a comment\n\nid: 7\ndata:one\ndata: two\n\ndata: [DONE]\n\n'.encode()
EVENTS = ['{"a": "Grüße 🙂"}', "one\ntwo", "[DONE]"]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_any_cut_gives_the_same_events(size: int) -> None:
    parser = SseParser()
    events = [event for at in range(0, len(STREAM), size) for event in parser.feed(STREAM[at : at + size])]
    assert events == EVENTS


def test_an_unfinished_event_is_not_given_out() -> None:
    parser = SseParser()
    assert parser.feed(b'data: {"a": 1}\n') == []
    assert parser.feed(b"\n") == ['{"a": 1}']


def test_an_event_is_given_out_as_soon_as_its_blank_line_is_there() -> None:
    assert SseParser().feed(b"data: x\n\n") == ["x"]
    assert SseParser().feed(b"data: x\r\n\r\n") == ["x"]
