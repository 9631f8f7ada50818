"""Other ways to get an interval or a p from clustered pairs, to choose between them by evidence and not by taste.

Only the simulation uses them. Each takes the experiments' contrasts and gives an Estimate, whatever it is worth.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from labkit.analysis.inference import Estimate
from labkit.analysis.tables import Floats


def requests_alone(units: Floats, within: Floats, counts: Floats) -> Estimate:
    """Student's t on requests as if they were independent: what ignoring tasks does.

    `units`: contrasts, experiment x term x task (means over requests); `within`: their variance over requests, with the
    number of requests as divisor; `counts`: requests of each task.
    """
    n = counts.sum()
    mean = (units * counts).sum(axis=-1) / n
    square = ((within + (units - mean[..., None]) ** 2) * counts).sum(axis=-1) / (n - 1)
    return _student(mean, np.sqrt(square / n), np.full(mean.shape, n - 1))


def cluster_robust(units: Floats, counts: Floats) -> Estimate:
    """Least squares on requests with CR2 errors clustered by task (Bell and McCaffrey 2002), tasks - 1 df.

    With an intercept alone, the adjustment of cluster g is 1 / sqrt(1 - its share of the requests).
    """
    share = counts / counts.sum()
    mean = (units * share).sum(axis=-1)
    variance = (share**2 * (units - mean[..., None]) ** 2 / (1 - share)).sum(axis=-1)
    return _student(mean, np.sqrt(variance), np.full(mean.shape, counts.size - 1.0))


def sign_flips(units: Floats, seed: int = 0, flips: int = 999) -> Estimate:
    """A wild cluster bootstrap of the t statistic under no effect, with Rademacher signs: all of them up to ten tasks.

    With an intercept alone this is the sign-flip permutation test. It gives a p and no interval.
    """
    tasks = units.shape[-1]
    signs = _all_signs(tasks) if tasks <= 10 else _some_signs(tasks, flips, seed)
    square = (units**2).sum(axis=-1)[..., None]
    means = units @ signs.T / tasks
    t = np.abs(means) / np.sqrt(np.maximum(square / tasks - means**2, 1e-30))
    p = (t >= t[..., :1] * (1 - 1e-9)).mean(axis=-1)
    mean = units.mean(axis=-1)
    none = np.full(mean.shape, np.nan)
    return Estimate(mean=mean, se=none, df=none, low=none, high=none, p=p)


def _student(mean: Floats, se: Floats, df: Floats) -> Estimate:
    reach = stats.t.ppf(0.975, df) * se
    return Estimate(
        mean=mean, se=se, df=df, low=mean - reach, high=mean + reach, p=2 * stats.t.sf(np.abs(mean) / se, df)
    )


def _all_signs(tasks: int) -> Floats:
    """Every pattern of signs, the observed one first."""
    bits = np.arange(2**tasks)[:, None] >> np.arange(tasks) & 1
    return np.asarray(1.0 - 2.0 * bits, dtype=np.float64)


def _some_signs(tasks: int, flips: int, seed: int) -> Floats:
    drawn = np.random.default_rng(seed).choice([-1.0, 1.0], size=(flips, tasks))
    return np.vstack([np.ones(tasks), drawn])
