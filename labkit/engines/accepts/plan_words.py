"""The processes of a plan as questions: what is asked of whom, and which models must have a config.json for it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

from labkit.engines.accepts.records import Question
from labkit.engines.plan import Plan, ProcessSpec

_ROUTER = ("vllm-router", "vllm_router.launch_router")
_SPECULATION = "--speculative-config"


def question_of(process: ProcessSpec) -> Question:
    """The process as a question; equal processes have equal ids, so that each is asked once."""
    router = process.role == "router"
    given: dict[str, Any] = {"argv": _router_words(process.argv) if router else serve_words(process.argv)}
    given |= {} if router else {"env": process.env}
    name = hashlib.sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()[:12]
    return Question(id=name, kind="router" if router else "serve", text=process.role, given=given)


def serve_words(argv: Sequence[str]) -> list[str]:
    """What follows `vllm serve`, or `python -m MODULE`."""
    return list(argv[2:] if tuple(argv[:2]) == ("vllm", "serve") else argv[3:])


def _router_words(argv: Sequence[str]) -> list[str]:
    return list(argv[next(index for index, word in enumerate(argv) if word in _ROUTER) + 1 :])


def models_in(plan: Plan) -> set[str]:
    """Names or folders of the models that the plan's vLLM engines read: the target, and a drafter that is a model."""
    engines = (process.argv for process in plan.layout if process.role != "router")
    return {model for argv in engines for model in _models(argv)}


def _models(argv: Sequence[str]) -> Iterator[str]:
    words = serve_words(argv)
    yield words[words.index("--model") + 1] if "--model" in words else words[0]
    if _SPECULATION in words and (draft := json.loads(words[words.index(_SPECULATION) + 1]).get("model")):
        yield draft
