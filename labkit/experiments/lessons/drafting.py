"""Before drafts are measured: what each drafter of a profile promises, what it is in a plan, and which heads fit."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import pandas as pd

from labkit.analysis.draft_promise import break_even
from labkit.analysis.format import DASH
from labkit.core.arms import Arm, arm_named
from labkit.engines.plan import make_plan
from labkit.engines.plan_diff import diff
from labkit.engines.profiles import Profile

COPIERS = ("ngram", "suffix")
"""Drafters that look a continuation up and run no model."""
_ACTIVE, _WHOLE = re.compile(r"-A(\d+(?:\.\d+)?)B\b"), re.compile(r"(\d+(?:\.\d+)?)B\b")
_PROMISES = ["method", "k", "c", "passes", "most_tokens", "most_gain"]


class Head(NamedTuple):
    """A published EAGLE3 head: who made it, the model that it was trained on, and where it is listed."""

    name: str
    trained_on: str
    listed: str


HEADS = (
    Head("RedHatAI/Qwen3-235B-A22B-speculator.eagle3", "Qwen3-235B-A22B", "vllm-project/speculators, README"),
    Head("nvidia/Qwen3-235B-A22B-Eagle3", "Qwen3-235B-A22B", "SafeAILab/EAGLE, README"),
    Head("lmsys/Qwen3-235B-A22B-EAGLE3", "Qwen3-235B-A22B", "SafeAILab/EAGLE, README (SGLang's format)"),
    Head(
        "RedHatAI/Qwen3-235B-A22B-Instruct-2507-speculator.eagle3",
        "Qwen3-235B-A22B-Instruct-2507",
        "Hugging Face, vLLM's format",
    ),
    Head(
        "nebius/EAGLE3-Qwen3-235B-A22B-Instruct-2507",
        "Qwen3-235B-A22B-Instruct-2507",
        "Hugging Face",
    ),
)
"""Read in August 2026. No head was loaded by this project."""


def promises(profile: Profile) -> pd.DataFrame:
    """One row per drafter: method, k, c, passes (1 + c k), most_tokens (1 + k) and most_gain of a round.

    `c`, and what follows from it, is null where only a measurement can tell: see `cost_of_draft`.
    """
    model = _model(profile)
    rows = []
    for name, method in profile.layers.speculation.methods.items():
        k, c = int(method.config["num_speculative_tokens"]), cost_of_draft(method.config, model)
        passes = None if c is None else break_even(c, k)
        rows.append((name, k, c, passes, 1 + k, None if passes is None else (1 + k) / passes))
    return pd.DataFrame(rows, columns=_PROMISES).astype(dict.fromkeys(("c", "passes", "most_gain"), "float64"))


def cost_of_draft(config: Mapping[str, Any], model: str) -> float | None:
    """The time of one draft token over that of one pass of the model (`c`), as far as it follows from the settings.

    0 for a drafter that runs no model, 1 for the same model, else the sizes in the two names: parameters that are
    active for a token, whatever their format. None for a head, whose name says the size of its model.
    """
    method = config["method"]
    if method in COPIERS:
        return 0.0
    if method != "draft_model":
        return None
    draft = str(config["model"])
    if draft in ("{model}", model):
        return 1.0
    sizes = _billions(draft), _billions(model)
    return None if sizes[0] is None or sizes[1] is None else sizes[0] / sizes[1]


def _billions(name: str) -> float | None:
    found = _ACTIVE.search(name) or _WHOLE.search(name)
    return float(found[1]) if found else None


def _model(profile: Profile) -> str:
    return str(profile.model.path or profile.model.weights)


def plan_lines(profile: Profile, arm: str = "prefix+spec") -> str:
    """For each drafter, the settings of `arm` that the same arm without speculation has not, and what all arms get."""
    with_it = arm_named(arm)
    without = Arm(prefix_caching=with_it.prefix_caching, pd_split=with_it.pd_split, speculation=False)
    lines = []
    for name, method in profile.layers.speculation.methods.items():
        plans = [make_plan(profile, each, spec_method=name) for each in (without, with_it)]
        lines.append(f"{name}: {method.about}")
        lines += dict.fromkeys(f"  {one.setting} {one.right or DASH}" for one in diff(*plans))
        lines += [f"  in every arm, so that none is favoured: {json.dumps(method.pins)}"] if method.pins else []
    return "\n".join(lines)


def heads(profile: Profile) -> pd.DataFrame:
    """HEADS beside the profile's model: name, trained_on, listed, fits, planned. FP8 or not is no difference."""
    model = _model(profile).rsplit("/", 1)[-1].removesuffix("-FP8")
    planned = {method.config.get("model") for method in profile.layers.speculation.methods.values()}
    rows = [(*head, head.trained_on == model, head.name in planned) for head in HEADS]
    return pd.DataFrame(rows, columns=[*Head._fields, "fits", "planned"])


def refusals(events: Iterable[Mapping[str, Any]]) -> str:
    """A line for each drafter that the engine would not start with, in the engine's words."""
    said = [f"{event['label']} was refused: {event['message']}" for event in events if event["type"] == "refused"]
    return "\n".join(dict.fromkeys(said)) or "Every drafter that was asked for started."
