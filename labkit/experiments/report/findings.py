"""What the experiments that vary more than the arm have found, a sentence each, for the abstract."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from labkit.analysis.drafter_gain import gain_table
from labkit.analysis.drafters import drafter_table
from labkit.analysis.effect_words import TOO_FEW
from labkit.analysis.exponents import exponent_table
from labkit.analysis.format import missing, percent, plain, seconds, times
from labkit.analysis.interference import interference
from labkit.experiments.report.english import counted, interval, listed, records
from labkit.experiments.report.material import Material
from labkit.experiments.report.results.load import capacities

_GROWS = {"prompt_computed": "prompt tokens computed", "e2e_s": "time"}


def findings(material: Material) -> Iterator[str]:
    """Growth, drafters, capacity, company; nothing in a run that varied none of these."""
    yield from _growth(material)
    yield from _drafters(material)
    yield from _capacity(material)
    yield from _company(material)


def _growth(material: Material) -> Iterator[str]:
    if not any(condition.startswith("steps=") for condition in material.conditions):
        return
    rows = records(exponent_table(material.measured))
    for measure, name in _GROWS.items():
        of = [row for row in rows if row["measure"] == measure and not missing(row["exponent"])]
        told = [_exponent(row) for row in of if not row["verdict"].startswith(TOO_FEW)]
        untold = [_exponent(row) for row in of if row["verdict"].startswith(TOO_FEW)]
        if told:
            yield f"with the number of steps, {name} grew to the power of {listed(told)}"
        if untold:
            yield f"too few to tell how {name} grew with the number of steps: to the power of {listed(untold)}"


def _exponent(row: dict[str, Any]) -> str:
    span = "" if missing(row["low"]) else f", 95 % interval {interval(row)}"
    n = f"n = {row['n_units']}, over {row['over']}"
    return f"{plain(row['exponent'])} under {row['arm']} ({n}{span}: {row['verdict']})"


def _drafters(material: Material) -> Iterator[str]:
    if not any(condition.startswith("method=") for condition in material.conditions):
        return
    rates = {row["method"]: row for row in records(drafter_table(material.measured)) if row["by"] == "all"}
    gains = {row["method"]: row for row in records(gain_table(material.measured)) if row["by"] == "all"}
    for method, row in rates.items():
        gain = gains.get(method)
        made = _gained(gain) if gain else ""
        n = counted(row["n"], "request")
        yield f"of what {method} drafted, {percent(row['rate'])} was accepted (n = {n}){made}"


def _gained(row: dict[str, Any]) -> str:
    """What cannot be told is said to be so before its number, and without the interval, which starts are not in."""
    n = f"n = {counted(row['n_pairs'], 'pair')} of {counted(row['n_tasks'], 'task')}"
    if row["verdict"].startswith(TOO_FEW):
        starts = counted(row["n_starts"], "engine start")
        return f"; whether requests got faster is too few to tell ({times(row['gain'])}, {n}, {starts})"
    span = "" if missing(row["low"]) else f", 95 % interval {interval(row)}"
    return f" and made a request {times(row['gain'])} as fast ({n}{span}: {row['verdict']})"


def _capacity(material: Material) -> Iterator[str]:
    said, slo = capacities(material)
    if said:
        yield f"served well enough ({slo}): {'; '.join(said)}"


def _company(material: Material) -> Iterator[str]:
    """From the fewest agents to the most, arm by arm."""
    if material.info.experiment == "capacity" or not len(material.windows):
        return
    table = interference(material.steps, material.chunks, material.windows)
    said = []
    for arm in dict.fromkeys(table["arm"]):
        rows = sorted(records(table[table["arm"] == arm]), key=lambda row: int(row["agents"]))
        if len(rows) > 1:
            said.append(f"under {arm} {_from_to(rows[0], rows[-1])}")
    if said:
        yield f"in company, {'; '.join(said)}"


def _from_to(few: dict[str, Any], many: dict[str, Any]) -> str:
    ratio = "" if missing(many["ttft_ratio"]) else f", {times(many['ttft_ratio'])}"
    gaps = "" if missing(many["itl_ratio"]) else f", and the p99 of gaps {times(many['itl_ratio'])}"
    doubt = ", too few to tell" if many["too_few"] else ""
    return (
        f"the median time to first token went from {seconds(few['ttft_p50_s'])} with {counted(few['agents'], 'agent')} "
        f"to {seconds(many['ttft_p50_s'])} with {many['agents']}{ratio}{gaps} "
        f"(n = {counted(many['n_sent'], 'request')}{doubt})"
    )
