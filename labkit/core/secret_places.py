"""Where in a text a secret may stand: after a name that gives it away, in a header, in an address, or by its own shape.

The text may be JSON, or JSON within JSON as the arguments of a tool call are: a quote then has 1, 3, 7 or 15
backslashes. A place never goes beyond the quotes that it is in, so that JSON stays JSON whatever is put there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MASK = "(not shown)"
NAME = r"(?:key|token|secret|passw(?:or)?d|authorization)"
_QUOTE = r"(?<!\\)(?:\\{15}|\\{7}|\\{3}|\\)?[\"']"
_SPACE = r"(?:\s|\\+[nrt])*"
_BEGIN = r"(?:(?<![a-z0-9])|(?<=\\[bfnrt])|(?<=\\u[0-9a-f]{4}))"
_SHAPE = (
    r"sk-(?=[\w-]*\d)[\w-]{10,}|hf_(?=[a-z]*\d)[a-z0-9]{10,}|gh[a-z]_[a-z0-9]{10,}|github_pat_\w{10,}"
    r"|AKIA[0-9A-Z]{12,}|xox[a-z]-[\w-]{10,}"
)
_LEAD = re.compile(
    rf"(?P<said>(?P<name>{NAME})(?P<named>{_QUOTE})?{_SPACE}[:=]=?{_SPACE}(?:\[{_SPACE})?)"
    rf"|(?P<listed>(?<!-)--[\w-]*{NAME}{_QUOTE}{_SPACE},{_SPACE}(?={_QUOTE}[^\s-]))"
    rf"|(?P<option>(?<!-)--[\w-]*{NAME}\s+(?!-))"
    rf"|{_BEGIN}(?P<scheme>Bearer\s+)"
    r"|(?P<login>://)(?=[^/@\s\"\\]+@)"
    rf"|{_BEGIN}(?P<shape>{_SHAPE})",
    re.IGNORECASE,
)
_OPEN, _ENDS = re.compile(_QUOTE), re.compile(r"\\*[\"'\n]")
_WORD = re.compile(r"(?:(?:Bearer|Basic)\s+)?+(?!:\s*[\\\"'{\[\dtfn-])(?:[^\s\"',}\[\]&\\]|\\(?![bfnrtu])\w)+", re.I)
_SENT, _USER = re.compile(r"[^\s\"'\\]+"), re.compile(r"[^/@\s\"\\]+(?=@)")


@dataclass(frozen=True, kw_only=True)
class Place:
    """From `start` to `end` in a text; both the same where nothing stands. `next`: where to look on.

    `name`: the name before it with what that name is a part of; empty where something else gave it away. `quotes`:
    those of a name whose value has none, as a number in JSON.
    """

    start: int
    end: int
    next: int
    name: str = ""
    quotes: str = ""


def next_place(text: str, at: int) -> Place | None:
    """The next place from `at` on; None when there is none."""
    lead = _LEAD.search(text, at)
    if lead is None:
        return None
    if lead["shape"]:
        return Place(start=lead.start("shape"), end=lead.end(), next=lead.end())
    if lead["scheme"] or lead["login"]:
        return _place(lead, (_SENT if lead["scheme"] else _USER).match(text, lead.end()))
    return _named(text, lead)


def _place(lead: re.Match[str], word: re.Match[str] | None, quotes: str = "") -> Place:
    if word is None or word[0].startswith(MASK.split()[0]):
        return Place(start=lead.end(), end=lead.end(), next=lead.end())
    return Place(start=word.start(), end=word.end(), next=lead.end(), name=_whole_name(lead), quotes=quotes)


def _whole_name(lead: re.Match[str]) -> str:
    return lead.string[max(0, lead.start() - 12) : lead.end("name")] if lead["name"] else ""


def _named(text: str, lead: re.Match[str]) -> Place:
    """The whole text in quotes, where they are surely its own; else its first word."""
    opened = _OPEN.match(text, lead.end())
    start = opened.end() if opened else lead.end()
    word = _WORD.match(text, start)
    if opened and (word or opened[0] == lead["named"]):
        end = _closed(text, start, opened[0])
        if end is not None and not text.startswith(MASK, start):
            key = lead["listed"] and re.compile(rf"{_QUOTE}\s*:").match(text, end)
            return Place(start=start, end=start if key else end, next=lead.end(), name=_whole_name(lead))
    if word and (word[0].endswith(":") or (lead["named"] and word[0].startswith("{"))):
        word = None
    return _place(lead, word, "" if opened else lead["named"] or "")


def _closed(text: str, start: int, quote: str) -> int | None:
    """Where the text in these quotes ends, at the same quote as deep within other texts; None: not on this line."""
    depth, sign = len(quote) - 1, quote[-1]
    for found in _ENDS.finditer(text, start):
        slashes, end = len(found[0]) - 1, found[0][-1]
        if end == sign and slashes % (2 * depth + 2) == depth:
            return found.end() - len(quote)
        if end == "\n" or (end == '"' and (sign == "'" or slashes < depth)):
            return None
    return None
