"""In what an engine's chat API differs from vLLM's, as far as the lab asks for more than OpenAI's.

SGLang refuses token ids in a stream (HTTP 400) and takes other names for what it adds to the last event: the drafts of
this request and all ids at once, under `sglext`. Its first event, with the role and no text, is sent when the first
token is there, whatever a tool parser holds back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

Dialect = Literal["vllm", "sglang"]
ASKS: Mapping[Dialect, Mapping[str, Any]] = {
    "vllm": {"return_token_ids": True},
    "sglang": {"return_output_ids_in_sglext": True, "return_spec_tokens_details": True},
}
"""What a chat request asks for beside the text. Engines that do not know a field ignore it."""
_SERVER = "sglang.launch_server"


def dialect_of(plan: Mapping[str, Any] | None, attached: Mapping[str, Any] | None = None) -> Dialect:
    """Of an engine by the plan that started it, as `Plan.to_dict` has it, or by what an attached one said of itself.

    `attached`: as the event `attached` has it, with the engine under `known`.
    """
    if attached and attached.get("known", {}).get("maker") == "sglang":
        return "sglang"
    words = [word for process in (plan or {}).get("layout", ()) for word in process["argv"]]
    return "sglang" if _SERVER in words else "vllm"
