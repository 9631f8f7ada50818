"""A grammar that allows exactly one well-formed call, so that even a 135M model never sends anything else.

The form is Hermes, spaced as the chat template writes a call back: the engine's parser turns it into `tool_calls`, and
the next request's prompt continues the very tokens that were generated.
"""

from __future__ import annotations

from collections.abc import Sequence

from labkit.agents.offers import EVERYTHING, Offer
from labkit.agents.specs import Param

_RULES = r"""root ::= "<tool_call>\n{\"name\": \"" call "}}\n</tool_call>"
char ::= [ !#-\[\]-~] | "\\" ["\\nt]
pathchar ::= [A-Za-z0-9_./-]"""


def grammar(offers: Sequence[Offer] = EVERYTHING) -> str:
    """EBNF (xgrammar's dialect) of one call of one of the offers, its strings bounded as the specs say."""
    return f"{_RULES}\ncall ::= {' | '.join(_call(offer) for offer in offers)}"


def _call(offer: Offer) -> str:
    head = rf'"{offer.spec.name}\", \"arguments\": {{"'
    return " ".join([head, *(_argument(p, offer) for p in offer.spec.params)])


def _argument(param: Param, offer: Offer) -> str:
    comma = "" if param is offer.spec.params[0] else ", "
    return rf'"{comma}\"{param.name}\": \"" {_value(param, offer.paths)} "\""'


def _value(param: Param, paths: Sequence[str] | None) -> str:
    if param.kind == "path" and paths is not None:
        return f"({' | '.join(_literal(path) for path in paths)})"
    letters = "pathchar" if param.kind == "path" else "char"
    return f"{letters}{{{0 if param.may_be_empty else 1},{param.limit}}}"


def _literal(path: str) -> str:
    return '"' + path.replace("\\", r"\\").replace('"', r"\"") + '"'
