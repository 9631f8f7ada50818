"""How an attached engine looks in a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

from labkit.analysis.format import DASH
from labkit.engines.attach_kind import TITLES
from labkit.experiments.attached.findings import Findings

_SALTS = {
    "checked": "taken, and read as vLLM reads it",
    "accepted": "taken; whether it is read is not told",
    "refused": "refused",
    None: DASH,
}
_ON = {True: "on", False: "off", None: DASH}
_YES = {True: "yes", False: "no", None: DASH}


def print_findings(found: Findings, console: Console) -> None:
    """What it is, what it tells, what can be measured, what cannot and why, and the commands to go on."""
    known = found.known
    by = f", {known['maker']} behind it" if known["maker"] not in (None, known["kind"]) else ""
    version = f" {known['version']}" if known["version"] else ""
    console.print(f"{known['url']} is {TITLES[known['kind']]}{version}{by}.", highlight=False, soft_wrap=True)
    console.print(_sent(known), highlight=False, soft_wrap=True)
    console.print(_told(found))
    console.print(_measured(found))
    for words in found.noted:
        console.print(f"Note: {words}.", highlight=False, markup=False, soft_wrap=True)
    console.print("Go on:", highlight=False)
    for command in found.go_on:
        console.print(f"  {command}", highlight=False, markup=False, soft_wrap=True)


def _sent(known: Mapping[str, Any]) -> str:
    if not known["probed"]:
        return "No request was sent: what only a reply tells is not known."
    return "A request of one token was sent, and one with a cache salt that vLLM refuses unread."


def _told(found: Findings) -> Table:
    table = Table("", "what it tells", box=None, header_style="bold", show_header=False)
    for name, value in _facts(found.known):
        table.add_row(name, value)
    table.add_row("serves", ", ".join(f"{arm} (by {how})" for arm, how in found.serves.items()))
    return table


def _facts(known: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "model", known["model"] + (f" of {', '.join(known['models'])}" if len(known["models"]) > 1 else "")
    yield "longest context", f"{known['max_model_len']} tokens" if known["max_model_len"] else DASH
    yield "KV block", f"{known['block_size']} tokens" if known["block_size"] else DASH
    yield "prefix caching", _ON[known["prefix_caching"]]
    yield "speculation", _ON[known["speculation"]]
    yield "prefill/decode split", _YES[known["split"]]
    yield "KV connector", known["kv_connector"] or DASH
    for role, urls in known["workers"].items():
        yield f"{role} behind it", ", ".join(urls)
    yield "counters", ", ".join(f"{role}: {url}" for role, url in known["metrics"].items()) or DASH
    yield "tokenizer", _YES[known["tokenizer"]]
    yield "cached tokens in usage", _YES[known["cached_tokens"]]
    yield "token ids in the stream", _YES[known["token_ids"]]
    yield "times in the reply", _YES[known["request_metrics"]]
    yield "cache salt", _SALTS[known["salt"]]
    yield "API key", f"from {known['key_from']}" if known["key_from"] else "none"


def _measured(found: Findings) -> Table:
    table = Table("column of a step", "measured", "why not", box=None, header_style="bold")
    for column in found.measured:
        table.add_row(column, "yes", "")
    for column, why in found.unread.items():
        table.add_row(column, "no", why)
    return table
