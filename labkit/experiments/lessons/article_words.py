"""Answers and numbers as the cells of the article's tables say them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from labkit.analysis.format import missing, plain, times
from labkit.engines.accepts import Answer
from labkit.experiments.report.english import counted, records

METRICS = {
    "ttft_s": "time to first token",
    "e2e_s": "end-to-end time",
    "itl_p99_s": "ITL p99",
    "tokens_per_s": "tokens per second",
    "prompt_computed": "prompt tokens computed",
    "acceptance_length": "tokens per round",
    "slo_attainment": "requests within an objective",
    "request_rate": "the highest rate within an objective",
    "cpu_share": "the CPU's share of the time",
    "api": "name in code",
    "usd_per_task": "dollars per task",
}
_MOST = 150


def metric_words(metric: str) -> str:
    return METRICS.get(metric, metric.replace("_", " "))


def in_words(answer: Answer) -> str:
    """`refused: ...`, `ignored: none of 62 settings changes ...`, `accepted: transfer_timeout 30.0, now 5.0`."""
    if answer.status == "ignored":
        return f"ignored: {ignored_words(answer)}"
    if answer.status != "accepted":
        return f"{answer.status}: {first_line(answer.said)}"
    read = ", ".join(_read(name, value, changed=bool(answer.compared)) for name, value in answer.read.items())
    return f"accepted: {read}" if read else "accepted"


def _read(name: str, value: Any, *, changed: bool) -> str:
    return f"{name} {value[0]}, now {value[1]}" if changed else f"{name} {value}"


def ignored_words(answer: Answer) -> str:
    """`none of 62 settings changes with it, and no warning names it`."""
    warned = "a warning names it" if answer.warned else "no warning names it"
    return f"none of {answer.compared} settings changes with it, and {warned}"


def code_span(said: str) -> str:
    """The engine's words for Markdown, which would take `__init__` for bold."""
    return "`" + said.replace("`", "'") + "`"


def cell(text: str) -> str:
    """Markdown for a cell of a table, which shows backticks as they are."""
    return text.replace("`", "")


def with_interval(row: Mapping[str, Any]) -> str:
    """`1.54x (1.45-1.64)`, `69 %`: a row of `seen`, its 95 % interval where it has one."""
    value = _range(row["value"], row["value"], str(row["unit"]))
    low, high = (None if missing(row[end]) else row[end] for end in ("low", "high"))
    return value if low is None or high is None else f"{value} ({plain(low)}-{plain(high)})"


def one_line(code: str) -> str:
    """Lines of code as one, for a cell."""
    return "; ".join(line.strip() for line in code.splitlines())


def first_line(said: str, most: int = _MOST) -> str:
    """The engine's words on one line, cut to what fits in a cell."""
    line = " ".join(said.split())
    return line if len(line) <= most else f"{line[:most].rsplit(' ', 1)[0]} ..."


def rows_of(seen: pd.DataFrame, layer: str, metric: str, unit: str) -> pd.DataFrame:
    """The rows that a claim of this layer, metric and unit is compared with."""
    return seen[(seen["layer"] == layer) & (seen["metric"] == metric) & (seen["unit"] == unit)]


def gains(rows: pd.DataFrame) -> str:
    """`1.39x (1.18 to 1.63, n 30, prefix)`, one after the other."""
    return "; ".join(_gain(row) for row in records(rows))


def _gain(row: Mapping[str, Any]) -> str:
    span = "" if missing(row["low"]) or missing(row["high"]) else f"{row['low']:.2f} to {row['high']:.2f}, "
    return f"{times(row['value'])} ({span}n {row['n']}, {row['where']})"


def levels(rows: pd.DataFrame) -> str:
    """`76 to 94 % (7 settings, n 412)`, or one number with its setting."""
    unit, n = str(rows["unit"].iloc[0]), int(rows["n"].sum())
    settings = f"{len(rows)} settings" if len(rows) > 1 else str(rows["where"].iloc[0])
    return f"{_range(rows['value'].min(), rows['value'].max(), unit)} ({settings}, n {n})"


def claimed(claims: pd.DataFrame) -> str:
    """What several claims on one metric say: `9 claims, 19 to 97 %`; those without a number are counted alone."""
    numbers = claims[claims["value"].notna()]
    said = [
        f"{counted(len(of), 'claim')}, {_range(_values(of, 'low').min(), _values(of, 'high').max(), str(unit))}"
        for unit, of in numbers.groupby("unit", sort=True)
    ]
    without = len(claims) - len(numbers)
    return "; ".join([*said, *([f"{counted(without, 'claim')} without a number"] if without else [])])


def _values(claims: pd.DataFrame, end: str) -> pd.Series[float]:
    """The published values, and this end of the published ranges."""
    values: pd.Series[float] = pd.concat([claims["value"], claims[end]])
    return values


def _range(low: float, high: float, unit: str) -> str:
    said = list(dict.fromkeys(_number(value, unit) for value in (low, high)))
    return " to ".join(f"{each}x" for each in said) if unit == "x" else f"{' to '.join(said)} {unit}"


def _number(value: float, unit: str) -> str:
    """Whole per cent from ten on; else three digits."""
    return plain(value) if unit != "%" else f"{value:.0f}" if value >= 10 else f"{value:.1f}"
