"""Does the engine that is installed here accept these plans, as far as its parsers and config classes go?

    told = ask_plans([make_plan(profile, arm)], python=sys.executable)
    told.verdicts[plan.key].status, .said, .reached

Nothing is started or loaded. Acceptance goes this far and no further: the engine's argument parser, what its server
asks of its options together, every config class that they reach, a connector's own settings, and the router's parser.
A platform's own checks are those of the machine that is asked: `PlansTold.platform`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

from labkit.core.clock import SystemClock
from labkit.core.progress import OnProgress, Progress, silent
from labkit.core.records import Record
from labkit.engines.accepts.asking import LIMIT_S, ask
from labkit.engines.accepts.configs import ADDED_TOKENS, model_configs
from labkit.engines.accepts.interpreter import engine_python
from labkit.engines.accepts.plan_words import models_in, question_of
from labkit.engines.accepts.records import Answer
from labkit.engines.plan import Plan
from labkit.engines.profiles import Profile
from labkit.engines.sglang import accepts as sglang

VLLM, SGLANG = "vLLM", "SGLang"
_NAMES = {"python": VLLM, "vllm": VLLM, "sglang": SGLANG}


@dataclass(frozen=True, kw_only=True)
class Verdict(Record):
    """Of one plan. `said`: the refusal in the engine's own words, or why it was not tried; empty otherwise.

    `role`: the process that was refused. `reached`: checks that let every process through, in their order.
    """

    status: Literal["accepted", "refused", "not tried"]
    said: str = ""
    role: str = ""
    reached: tuple[str, ...] = ()

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        return super().from_dict({**data, "reached": tuple(data.get("reached", ()))})


@dataclass(frozen=True, kw_only=True)
class PlansTold(Record):
    """All verdicts of one engine, by plan key. `version`: None where it is not installed. `asked_on`: YYYY-MM-DD.

    `platform`: what the engine took the machine for that was asked (`cpu`, `rocm`, `cuda`).
    """

    engine: str
    version: str | None
    platform: str | None
    asked_on: str
    verdicts: dict[str, Verdict]

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        verdicts = {key: Verdict.from_dict(each) for key, each in data["verdicts"].items()}
        return super().from_dict({**data, "verdicts": verdicts})


def engine_name(profile: Profile) -> str:
    """What the engine of the profile is called: `vLLM` or `SGLang`."""
    return _NAMES.get(profile.engine.command, profile.engine.command)


Asker = Callable[[Profile, Sequence[Plan], OnProgress], PlansTold]


def asker_of(profile: Profile) -> Asker | None:
    """Who can ask about the profile's engine; None: nobody, and its plans are not tried."""
    return _ASKERS.get(profile.engine.command)


def ask_plans(
    plans: Sequence[Plan], *, python: str | None, limit_s: float = LIMIT_S, on_progress: OnProgress = silent
) -> PlansTold:
    """What the vLLM of this interpreter says to each plan; one process for all. See `ask` for what is raised."""
    configs = model_configs()
    lost = {plan.key: _unknown_models(plan, configs) for plan in plans}
    asked = {plan.key: [(each.role, question_of(each)) for each in plan.processes] for plan in plans}
    questions = {one.id: one for key, each in asked.items() if not lost[key] for _, one in each}
    told = ask(list(questions.values()), configs, python=python, limit_s=limit_s, on_progress=on_progress)
    answers = {answer.id: answer for answer in told.answers}
    verdicts = {
        key: _not_known(lost[key]) if lost[key] else _verdict([(role, answers[one.id]) for role, one in each])
        for key, each in asked.items()
    }
    return PlansTold(engine=VLLM, version=told.vllm, platform=told.platform, asked_on=told.asked_on, verdicts=verdicts)


def _unknown_models(plan: Plan, configs: Mapping[str, Any]) -> list[str]:
    return sorted(model for model in models_in(plan) if model not in configs and not _is_model(model))


def _is_model(model: str) -> bool:
    return (Path(model) / "config.json").is_file()


def _not_known(models: Sequence[str]) -> Verdict:
    return Verdict(status="not tried", said=f"no config.json of {' and '.join(models)} is here")


def _verdict(answers: Sequence[tuple[str, Answer]]) -> Verdict:
    """Accepted is what every process is; the first that is not says why."""
    for role, answer in answers:
        if answer.status != "accepted":
            status: Literal["refused", "not tried"] = "refused" if answer.status == "refused" else "not tried"
            return Verdict(status=status, said=answer.said, role=role, reached=answer.reached)
    reached = dict.fromkeys(check for _, answer in answers for check in answer.reached)
    return Verdict(status="accepted", reached=tuple(reached))


def _ask_vllm(profile: Profile, plans: Sequence[Plan], on_progress: OnProgress) -> PlansTold:
    return ask_plans(plans, python=engine_python(profile), on_progress=on_progress)


def _ask_sglang(profile: Profile, plans: Sequence[Plan], on_progress: OnProgress) -> PlansTold:
    on_progress(Progress(stage="asking SGLang", total=len(plans)))
    configs = {
        name: {key: value for key, value in config.items() if key != ADDED_TOKENS}
        for name, config in model_configs().items()
    }
    told = sglang.ask(plans, configs, python=sglang.sglang_python())
    return PlansTold(
        engine=SGLANG,
        version=told.version,
        platform=told.platform,
        asked_on=f"{SystemClock().wall():%Y-%m-%d}",
        verdicts={key: Verdict.from_dict(each.to_dict()) for key, each in told.verdicts.items()},
    )


_ASKERS: dict[str, Asker] = {"python": _ask_vllm, "vllm": _ask_vllm, "sglang": _ask_sglang}
"""By what a profile's `command` says."""
