"""The worlds in which the statistics of effects are put to the test: planted gains, and noise of the size of real runs.

The scale of the noise is that of a real replay (SmolLM2-135M on the CPU engine, two cores that others used now and
then, four arms, three repeats, 4 requests; found by `inference.block_noise`): after request, arm and block were taken
out, 0.13 was left of the logarithm of a request's time (0.20 of its TTFT), and starts of one arm's engine differed by
0.15 as wholes. A second replay, on a machine at full load, had 0.2 and 0.4. Spread of gains between tasks is assumed.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from labkit.analysis.contrasts import TERMS
from labkit.core.arms import ARMS

Shape = Literal["even", "skewed", "outlier"]

PLANTED: dict[str, float] = {"prefix_caching": 1.6, "speculation": 1.25, "prefix_caching:speculation": 0.85}
"""Gains of the terms that do something; the other four are 1, so that one experiment has both."""


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """One world. Standard deviations are of natural logarithms.

    `spread`: of tasks' own main gains; interactions have half of it. `shape`: how that spread is: normal; skewed (an
    exponential: most tasks gain a little less, a few much more); or outlier (normal, but for one task that is ten times
    slower and three times noisier, and on which no layer does anything).
    `request`: of requests' own gains within a task. `noise`: of a request's time, Student's t with `tails` degrees of
    freedom. `pass_`: of a whole pass over one task; `block`: of a start of an engine.
    """

    name: str
    words: str
    gains: dict[str, float] = field(default_factory=lambda: dict(PLANTED))
    spread: float = 0.15
    shape: Shape = "even"
    request: float = 0.15
    noise: float = 0.2
    tails: float = 3.0
    pass_: float = 0.08
    block: float = 0.15
    repeats: int = 3
    requests: tuple[int, int] = (4, 12)
    """Fewest and most requests of a task."""
    tasks: tuple[int, ...] = ()
    """Numbers of tasks, where not those of all worlds."""
    arms: tuple[str, ...] = tuple(arm.label for arm in ARMS)
    """The arms that are measured. Where not all of them, `gains` must be empty: a term is then another one."""
    one_start: bool = False
    """All repeats of an arm on one start of its engine, as when an engine is not ended between them."""

    @property
    def terms(self) -> dict[str, float]:
        """All seven terms with their planted gains."""
        return {name: self.gains.get(name, 1.0) for name in map(":".join, TERMS)}


REAL = Scenario(name="as measured", words="noise of real runs, three repeats")
QUIET = replace(
    REAL, name="quiet machine", words="starts of an engine do not differ", block=0.0, noise=0.05, pass_=0.02
)
PAIR = ("base", "prefix")
SCENARIOS: tuple[Scenario, ...] = (
    REAL,
    replace(REAL, name="nothing works", words="as measured, and no layer does anything on average", gains={}),
    replace(REAL, name="skewed gains", words="a few tasks gain far more than most", shape="skewed", spread=0.3),
    replace(REAL, name="one slow outlier", words="one slow, noisy task on which nothing helps", shape="outlier"),
    replace(REAL, name="six repeats", words="as measured, with six repeats", repeats=6),
    replace(REAL, name="two repeats", words="as measured, with two repeats", repeats=2),
    replace(REAL, name="one repeat", words="as measured, with one repeat", repeats=1),
    replace(REAL, name="one task", words="one task, its own gains", tasks=(1,), spread=0.0, request=0.0),
    QUIET,
    replace(
        QUIET, name="quiet, skewed gains", words="quiet, and a few tasks gain far more", shape="skewed", spread=0.3
    ),
    *(
        replace(REAL, name=f"two arms, {n} repeats", words="two arms alone, no gain", gains={}, arms=PAIR, repeats=n)
        for n in (2, 3, 4, 6)
    ),
    replace(REAL, name="one start for all repeats", words="nothing works, engines kept", gains={}, one_start=True),
)
