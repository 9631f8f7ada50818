"""The vLLM that is installed accepts every arm of every profile, with every drafter, in every variant.

No engine is started and nothing is fetched: all plans go to one process, through `labkit.engines.accepts`. A platform's
own checks (attention backend, devices) are those of the CPU here; the rest is what the plan would meet anywhere.
"""

from __future__ import annotations

import sys

import pytest

from labkit.core.arms import ARMS
from labkit.engines.accepts.plans import VLLM, PlansTold, Verdict, ask_plans, engine_name
from labkit.engines.plan import Plan, ProcessSpec
from labkit.engines.profiles import list_profiles, load_profile
from labkit.experiments.matrix import matrix, read_told
from labkit.experiments.matrix.cells import Cell, cell_tables

pytestmark = pytest.mark.engine

PROFILES = [name for name in list_profiles() if engine_name(load_profile(name)) == VLLM]
Names = dict[str, Cell]


def changed(plan: Plan, role: str, *words: str) -> Plan:
    """The plan with more words in the command line of one process."""
    layout = [with_argv(each, (*each.argv, *words)) if each.role == role else each for each in plan.layout]
    return Plan.from_dict({**plan.to_dict(), "layout": [each.to_dict() for each in layout]})


def replaced(plan: Plan, flag: str, value: str) -> Plan:
    """The plan with another value of a flag, wherever it stands."""

    def argv(each: ProcessSpec) -> tuple[str, ...]:
        before = [None, *each.argv][: len(each.argv)]
        return tuple(value if last == flag else word for last, word in zip(before, each.argv, strict=True))

    layout = [with_argv(each, argv(each)).to_dict() for each in plan.layout]
    return Plan.from_dict({**plan.to_dict(), "layout": layout})


def with_argv(process: ProcessSpec, argv: tuple[str, ...]) -> ProcessSpec:
    return ProcessSpec.from_dict({**process.to_dict(), "argv": argv})


CPU, GPU = (next(iter(cell_tables(name)[0].plans.values())) for name in ("cpu-smollm2", "mi300x-8-qwen3-235b"))
BAD = {
    "misspelt": changed(CPU, "engine", "--block-sise", "32"),
    "router": changed(GPU, "router", "--log-level", "warn"),
    "parallel": replaced(GPU, "--tensor-parallel-size", "3"),
    "length": replaced(GPU, "--max-model-len", "10000000"),
    "cache": replaced(GPU, "--kv-cache-dtype", "float7"),
}
"""Plans that nobody should accept."""


@pytest.fixture(scope="module")
def cells() -> Names:
    """Every cell of every profile, by `profile/arm/drafter`."""
    tables = [table for name in PROFILES for table in cell_tables(name)]
    named = {f"{table.profile.name}/{cell.arm}/{cell.method}": cell for table in tables for cell in table.cells}
    assert {name: cell.refused for name, cell in named.items() if not cell.plan} == {}
    return named


@pytest.fixture(scope="module")
def told(cells: Names) -> PlansTold:
    """One process for all of them: vLLM's import takes ten seconds."""
    plans = [cell.plan for cell in cells.values() if cell.plan]
    return ask_plans([*plans, *BAD.values()], python=sys.executable)


def test_every_arm_drafter_and_variant_is_asked(cells: Names) -> None:
    for name in PROFILES:
        profile = load_profile(name)
        for arm in ARMS:
            for method in profile.layers.speculation.methods if arm.speculation else [None]:
                assert f"{name}/{arm}/{method}" in cells
        for variant in profile.variants:
            assert any(key.startswith(f"{name}+{variant}/") for key in cells), "a variant that changes no plan"
    assert len(cells) > 200


def test_every_plan_is_accepted(cells: Names, told: PlansTold) -> None:
    wrong = {name: told.verdicts[cell.key] for name, cell in cells.items()}
    wrong = {name: each for name, each in wrong.items() if each.status != "accepted"}
    assert {name: each for name, each in wrong.items() if not needs_arctic(name, each)} == {}


def needs_arctic(name: str, verdict: Verdict) -> bool:
    """Suffix decoding is refused, in these words, where the optional package is not installed."""
    return name.endswith("/suffix") and "pip install arctic-inference" in verdict.said


def test_acceptance_goes_as_far_as_the_plan_has_processes(cells: Names, told: PlansTold) -> None:
    for name, cell in cells.items():
        verdict = told.verdicts[cell.key]
        if verdict.status == "accepted":
            wanted = ["argument parser", "options of the server", "config classes"]
            wanted += ["MoRI-IO's settings"] if cell.connector == "MoRIIOConnector" else []
            wanted += ["router's parser"] if cell.plan and cell.plan.entry.role == "router" else []
            assert list(verdict.reached) == wanted, name


@pytest.mark.parametrize("name", PROFILES)
def test_the_kept_answers_are_those_of_this_engine(name: str, told: PlansTold) -> None:
    kept = read_told(name)
    assert kept is not None, f"labkit matrix --profile {name} --refresh"
    assert (kept.version, kept.platform) == (told.version, told.platform)
    keys = [cell.key for table in cell_tables(name) for cell in table.cells if cell.method != "suffix"]
    changed = {key: (kept.verdicts.get(key), told.verdicts[key]) for key in keys}
    assert {key: pair for key, pair in changed.items() if pair[0] != pair[1]} == {}, f"--profile {name} --refresh"


@pytest.mark.parametrize("name", PROFILES)
def test_the_matrix_of_these_answers_leaves_nothing_untried(name: str, told: PlansTold) -> None:
    assert matrix(name, told=told).counts["not tried"] == 0


@pytest.mark.parametrize(
    ("name", "role", "said"),
    [
        ("misspelt", "engine", "unrecognized arguments: --block-sise"),
        ("router", "router", "invalid choice: 'warn'"),
        ("parallel", "engine-0", "divisible"),
        ("length", "engine-0", "max_model_len"),
        ("cache", "engine-0", "kv-cache-dtype"),
    ],
)
def test_the_check_can_fail(name: str, role: str, said: str, told: PlansTold) -> None:
    """The same questions refuse what vLLM, its config classes and its router do not take."""
    verdict = told.verdicts[BAD[name].key]
    assert (verdict.status, verdict.role) == ("refused", role)
    assert said in verdict.said
