"""Effects in words: what can be said of a comparison, what cannot, and what would have been needed. Pure."""

from __future__ import annotations

import math

from labkit.analysis.comparisons import MIN_REPEATS, REPEATS, TASKS, Comparison
from labkit.analysis.format import times
from labkit.analysis.power import smallest_gain

ALPHA = 0.05
MIN_TASKS = 5
"""Fewer tasks than the simulation proves the interval for (docs/calibration.md): the interval is shown, no verdict."""
FEW_TASKS = 10
"""Fewer tasks than it takes to see that gains are skewed."""
SKEWED = 1.0
"""Skewness over tasks from which the interval covers 91 to 93 % and not 95, by the same simulation."""
MIN_STARTS = 2
"""Fewer starts of an engine show nothing of what starts differ by."""
MIN_BLOCK_DF = 3
"""Degrees of freedom of what starts differ by; with fewer it is too often taken for nothing, by the same simulation."""
SAME = math.log(1.05)
"""An interval within 5 % of 1 says that there is nothing worth having either way."""
_LARGE = 100.0
TOO_FEW, NOT_MEASURED = "too few to tell", "not measured"


def level(found: Comparison, family: int, headline: bool) -> float:
    """What p must stay below, for the smallest gain: in the headline set, Holm's strictest step."""
    return ALPHA / max(family, 1) if headline and found.p is not None else ALPHA


def smallest(found: Comparison, alpha: float) -> float | None:
    """The smallest gain that this n would have shown; None without an interval."""
    return None if found.se is None or found.df is None else smallest_gain(found.se, found.df, alpha)


def verdict(found: Comparison, p: float | None, corrected: bool, needed: float | None) -> str:
    """`p`: after Holm, when `corrected`. `needed`: the smallest gain. Starts with the verdict's own word or words."""
    if found.gain is None:
        return _untold(found)
    if p is None or found.low is None or found.high is None:
        have = f"one task and {_counted(found.n_repeats, 'repeat')}"
        return f"{TOO_FEW}: {have}; an interval needs 5 tasks, or {MIN_REPEATS} repeats of one task"
    would = "" if needed is None else _would_miss(needed)
    if found.over == TASKS and found.n_tasks < MIN_TASKS:
        return f"{TOO_FEW}: {found.n_tasks} tasks, and the interval is proven from {MIN_TASKS}{would}"
    if why := blind(found):
        return f"{TOO_FEW}: {why}"
    if p < ALPHA:
        return ("better" if found.gain > 0 else "worse") + _scope(found, corrected)
    if found.low > -SAME and found.high < SAME:
        return f"same: within 5 %, with 95 % confidence{_scope(found, True)}"
    return f"{TOO_FEW}{would}{_scope(found, corrected)}"


def _would_miss(needed: float) -> str:
    """What this n would not have shown; from a hundredfold on the number itself says nothing any more."""
    if needed > _LARGE:
        return f"; even a gain of {_LARGE:.0f}x would be missed"
    return f"; a gain below {times(needed)} would be missed"


def method(found: Comparison) -> str:
    """How the interval was made; empty without one."""
    if found.df is None:
        return ""
    if found.over != TASKS:
        return "Student's t on repeats of paired log ratios, error pooled over arms"
    blocks = "" if found.block_sd is None else ", block variance added"
    return f"Student's t on task means of paired log ratios{blocks}"


def note(found: Comparison) -> str:
    """What limits the result, one sentence each."""
    said = []
    if found.n_left_out:
        said.append(f"{_counted(found.n_left_out, 'request')} failed or without a value in some arm, left out of all.")
    if found.n_zero:
        zero = f"{_counted(found.n_zero, 'pass', 'passes')} with no prompt token computed in some arm left out"
        said.append(f"{zero}: a ratio to 0 has no size, so the gain shown is too small.")
    said += _of_starts(found)
    if found.over == TASKS and found.n_tasks < FEW_TASKS:
        said.append(f"Fewer than {FEW_TASKS} tasks: if a few gain far more than most, the interval is too narrow.")
    elif found.skew is not None and abs(found.skew) > SKEWED:
        said.append("A few tasks differ far more than the rest, so the interval is a little too narrow.")
    if found.over == REPEATS:
        said.append("About this one task only.")
    return " ".join(said)


def _untold(found: Comparison) -> str:
    if found.missing:
        return f"{NOT_MEASURED}: no value of {', '.join(found.missing)}"
    if found.arms_used:
        return f"{NOT_MEASURED}: no request has a value in all of {', '.join(found.arms_used)}"
    return f"{NOT_MEASURED}: no arm has a value"


def blind(found: Comparison) -> str:
    """Why starts of an engine could have made this result and nothing would show it; empty where that is not so.

    Token counts do not depend on them.
    """
    if found.metric == "prompt_computed" or found.low is None:
        return ""
    if found.n_repeats < MIN_STARTS:
        return "one repeat, so one start of an engine, cannot tell a layer from a slow start; ask for 3 repeats"
    if found.n_starts < MIN_STARTS:
        return f"{found.n_repeats} repeats on one start of an engine cannot tell a layer from a slow start; {_FRESH}"
    if found.over == TASKS and (found.block_df is None or found.block_df < MIN_BLOCK_DF):
        enough = 1 + math.ceil(MIN_BLOCK_DF / (found.block_arms - 1))
        have = f"{found.block_arms} arms with {found.n_repeats} repeats"
        return f"{have} cannot show what starts of an engine differ by; ask for {enough} repeats"
    return ""


_FRESH = "measure in random order (a seed), on engines that the run starts itself"


def _of_starts(found: Comparison) -> list[str]:
    """What the starts of engines leave out of the interval."""
    said = []
    if blind(found) and found.n_starts < MIN_STARTS:
        one = "One repeat" if found.n_repeats < MIN_STARTS else "One start of an engine for all repeats of an arm"
        said.append(f"{one}: what differs between two starts of an engine is not in the interval.")
    elif found.n_starts < found.n_repeats and found.low is not None and found.metric != "prompt_computed":
        few = f"Only {found.n_starts} starts of an engine in {found.n_repeats} repeats"
        said.append(f"{few}, so the interval is too narrow.")
    if found.shared and found.metric != "prompt_computed":
        arms = ", ".join(f"{one} and {other}" for one, other in found.shared)
        said.append(f"Arms that shared a start of an engine, so that starts seem to differ less: {arms}.")
    return said


def _scope(found: Comparison, corrected: bool) -> str:
    """What a reader must not overlook."""
    task = ", on this one task" if found.over == REPEATS else ""
    return task + ("" if corrected else ", exploring (outside the headline set, not corrected)")


def _counted(n: int, one: str, many: str | None = None) -> str:
    return f"{n} {one if n == 1 else many or one + 's'}"
