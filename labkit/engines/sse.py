"""Server-sent events from bytes: a network block may end anywhere, even inside a character or a line end."""

from __future__ import annotations


class SseParser:
    """Feed it bytes as they come; get the data of every event that is complete.

    Follows the WHATWG event-stream rules for `data` fields and comments; other fields are ignored. An event that the
    stream's end cuts off is never given out.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[str] = []

    def feed(self, block: bytes) -> list[str]:
        """The data of the events that `block` completes, in order. Bytes that are not UTF-8 become U+FFFD."""
        events: list[str] = []
        for line in self._lines(block):
            if not line:
                events += self._take()
            elif line.startswith(b"data:"):
                self._data.append(line[5:].removeprefix(b" ").decode("utf-8", "replace"))
        return events

    def _lines(self, block: bytes) -> list[bytes]:
        lines = (self._rest + block).splitlines(keepends=True)
        # A final "\r" may be the first half of "\r\n": wait for the next block.
        self._rest = lines.pop() if lines and not lines[-1].endswith(b"\n") else b""
        return [line.rstrip(b"\r\n") for line in lines]

    def _take(self) -> list[str]:
        data, self._data = self._data, []
        return ["\n".join(data)] if data else []
