"""Means with intervals, against hand numbers, the libraries, and planted truths."""

import math
from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm
from builders import a_step, frame_of
from scipy import stats
from statsmodels.stats.power import TTestPower

from labkit.analysis.contrasts import TERMS, arm_contrasts, term_contrasts
from labkit.analysis.draws import ARM_NAMES, draw
from labkit.analysis.effects import effects, holm
from labkit.analysis.inference import block_noise, estimate, estimate_repeats
from labkit.analysis.power import errors_needed, smallest_gain
from labkit.analysis.rivals import cluster_robust, requests_alone, sign_flips
from labkit.analysis.scenarios import QUIET, REAL, SCENARIOS
from labkit.analysis.simulation import CHOSEN, _holm, calibration, estimates
from labkit.core.errors import BadInput
from labkit.core.records import ChunkRecord

UNITS = np.array([0.1, 0.3, 0.2, 0.5, 0.05])


def test_without_blocks_it_is_scipys_t():
    found, expected = estimate(UNITS), stats.ttest_1samp(UNITS, 0.0)
    assert (float(found.mean), float(found.p)) == pytest.approx((UNITS.mean(), expected.pvalue))
    assert (float(found.low), float(found.high)) == pytest.approx(tuple(expected.confidence_interval()))


def test_no_spread_and_one_unit():
    assert estimate(np.zeros(5)).p == 1.0
    assert estimate(np.full(5, 0.5)).p < 1e-12
    with pytest.raises(BadInput, match="units"):
        estimate(np.array([0.1]))


def test_blocks_by_hand():
    """Two tasks, two arms, two repeats. One block is off by 0.4 in both tasks: its interaction of +-0.1, df 1."""
    cells = np.zeros((2, 2, 2))
    cells[:, 0, 0] = 0.4
    noise = block_noise(cells)
    assert (float(noise.block), float(noise.rest), noise.block_df, noise.rest_df) == pytest.approx((0.04, 0.0, 1, 1))
    units = np.array([0.1, 0.3])
    found = estimate(units, 2.0, noise)
    assert float(found.se) == pytest.approx(math.sqrt(0.01 + 2.0 * 0.04 / 2))
    assert float(found.df) == pytest.approx(0.05**2 / (0.01**2 / 1 + 0.04**2 / 1))


def test_block_variance_is_recovered_and_drift_is_not_in_it():
    drawn = draw(REAL, 10, 400, seed=3)
    noise = block_noise(drawn.over_requests(drawn.logs))
    assert math.sqrt(float(noise.between.mean())) == pytest.approx(REAL.block, rel=0.05)
    quiet = draw(QUIET, 10, 400, seed=3)
    assert float(block_noise(quiet.over_requests(quiet.logs)).between.mean()) < 1e-4


@pytest.mark.parametrize("shape", [(1, 4, 3), (4, 1, 3), (4, 4, 1)])
def test_block_noise_needs_two_of_each(shape):
    assert block_noise(np.zeros(shape)) is None


def test_contrasts_are_balanced_and_orthogonal():
    weights = np.array([[one.weights[arm] for arm in ARM_NAMES] for one in term_contrasts(ARM_NAMES)])
    assert np.allclose(weights.sum(axis=1), 0)
    gram = weights @ weights.T
    assert np.allclose(gram, np.diag(np.diag(gram)))
    assert [one.name for one in term_contrasts(ARM_NAMES)] == [":".join(term) for term in TERMS]


@pytest.mark.parametrize("df", [4, 9, 19])
def test_power_is_that_of_statsmodels_where_it_has_one(df):
    size = TTestPower().solve_power(nobs=df + 1, alpha=0.05, power=0.8)
    assert errors_needed(df) == pytest.approx(size * math.sqrt(df + 1), rel=1e-4)


def test_power_holds_where_the_libraries_give_up():
    dice = np.random.default_rng(1)
    spread = np.sqrt(dice.chisquare(2, 40_000) / 2)
    t = (dice.standard_normal(40_000) + errors_needed(2, 0.05 / 14)) / spread
    assert (np.abs(t) > stats.t.isf(0.025 / 14, 2)).mean() == pytest.approx(0.8, abs=0.01)
    assert smallest_gain(0.0, 4) == 1.0


def test_the_rivals_are_what_they_are_called():
    counts = np.array([4.0, 6.0, 9.0])
    dice = np.random.default_rng(2)
    values, groups = dice.normal(0.2, 1, int(counts.sum())), np.repeat(np.arange(3), counts.astype(int))
    means = np.array([values[groups == g].mean() for g in range(3)])
    within = np.array([values[groups == g].var() for g in range(3)])
    plain = requests_alone(means[None, None], within[None, None], counts)
    assert float(plain.p) == pytest.approx(stats.ttest_1samp(values, 0).pvalue)
    robust = cluster_robust(means[None, None], counts)
    fit = sm.OLS(values, np.ones_like(values)).fit(
        cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False}
    )
    residual = np.array([values[groups == g].sum() - counts[g] * values.mean() for g in range(3)])
    assert fit.bse[0] == pytest.approx(math.sqrt((residual**2).sum()) / counts.sum())
    share = counts / counts.sum()
    assert float(robust.se) == pytest.approx(math.sqrt((residual**2 / (1 - share)).sum()) / counts.sum())
    assert float(sign_flips(np.array([[[0.1, 0.2, 0.3, 0.4, 0.5]]])).p) == 2 / 32


def test_holm_of_many_is_holm_of_each():
    p = np.random.default_rng(4).uniform(size=(4, 7)) ** 3
    assert _holm(p).reshape(2, 14).tolist() == [pytest.approx(holm(list(family))) for family in p.reshape(2, 14)]


def test_what_is_simulated_is_what_effects_computes():
    drawn = draw(REAL, 5, 1, seed=5)
    steps = [
        a_step(
            arm=arm, task=f"t{task}", repeat=repeat, turn=turn, t_send=0.0, t_end=float(np.exp(logs[turn, a, repeat]))
        )
        for task, logs in enumerate(drawn.logs[0])
        for turn in range(int(drawn.counts[task]))
        for a, arm in enumerate(ARM_NAMES)
        for repeat in range(REAL.repeats)
    ]
    found = effects(frame_of(steps), frame_of([], ChunkRecord)).query("metric == 'e2e_s'")
    simulated = estimates(drawn, term_contrasts(ARM_NAMES))
    for column, values in (("gain", simulated.mean), ("low", simulated.low), ("high", simulated.high)):
        assert np.log(found[column]).tolist() == pytest.approx(values[0].tolist())
    assert found["p"].tolist() == pytest.approx(simulated.p[0].tolist())
    assert found["df"].tolist() == pytest.approx(simulated.df[0].tolist())


def test_one_task_by_hand():
    """Two arms, three repeats: the paired t test of the repeats."""
    base, arm = np.array([0.5, 0.9, 0.6]), np.array([0.2, 0.4, 0.5])
    found = estimate_repeats(np.array((base - arm).mean()), 2.0, np.stack([base, arm]))
    expected = stats.ttest_rel(base, arm)
    assert (float(found.p), float(found.df)) == pytest.approx((expected.pvalue, 2.0))
    assert (float(found.low), float(found.high)) == pytest.approx(tuple(expected.confidence_interval()))
    with pytest.raises(BadInput, match="two repeats"):
        estimate_repeats(np.array(0.1), 2.0, np.zeros((2, 1)))


def test_one_task_is_covered():
    own = calibration([world for world in SCENARIOS if world.tasks], experiments=200, seed=8).iloc[0]
    assert (own.tasks, own.method) == (1, CHOSEN)
    assert 0.93 <= own.coverage <= 0.97


@pytest.mark.parametrize("tasks", [5, 10])
def test_a_small_calibration_holds(tasks):
    """400 experiments: a share of 95 % is within 93 to 97 (three standard errors of one term's share: 2.2 points)."""
    table = calibration([REAL], [tasks], experiments=200, seed=8).set_index("method")
    own = table.loc[CHOSEN]
    assert 0.93 <= own.coverage <= 0.97
    assert own.false_positives <= 0.07
    assert own.family_wise <= stats.binom.isf(0.001, 200, 0.05) / 200
    assert own.wrong_sign < 0.01
    assert table.loc["t on requests"].false_positives > 0.3
    assert table.loc["t on task means"].false_positives > 0.15


def test_arms_against_base_are_covered_too():
    drawn = draw(REAL, 5, 300, seed=9)
    contrasts = arm_contrasts(ARM_NAMES, ARM_NAMES)
    many = draw(REAL, 5, 1, seed=1)
    terms = np.array([[one.weights[arm] for arm in ARM_NAMES] for one in term_contrasts(ARM_NAMES)])
    per_arm = -many.truth @ (terms / (terms**2).sum(axis=1, keepdims=True))
    truth = np.array([one.of(-per_arm, ARM_NAMES) for one in contrasts])
    found = estimates(drawn, contrasts)
    inside = ((found.low <= truth) & (truth <= found.high)).mean()
    assert 0.92 <= inside <= 0.98


def test_two_arms_have_one_term_and_only_without_gains():
    world = replace(REAL, gains={}, arms=("base", "prefix"), repeats=2)
    drawn = draw(world, 5, 3, seed=1)
    assert (drawn.logs.shape[-2:], [one.name for one in drawn.contrasts]) == ((2, 2), ["prefix_caching"])
    assert estimates(drawn, drawn.contrasts).p.shape == (3, 1)
    with pytest.raises(BadInput, match="gains"):
        draw(replace(world, gains={"prefix_caching": 2.0}), 5, 3, seed=1)


def test_why_a_verdict_needs_starts_of_its_own_and_three_degrees_of_freedom():
    """What docs/calibration.md says: nil effects that would be claimed at 5 % (slack: three standard errors)."""
    names = ("one start for all repeats", "two arms, 2 repeats", "two arms, 4 repeats")
    found = calibration([world for world in SCENARIOS if world.name in names], tasks=(10,), experiments=200, seed=6)
    claimed = found[found["method"] == CHOSEN].set_index("scenario")["false_positives"]
    assert claimed["one start for all repeats"] > 0.4
    assert claimed["two arms, 2 repeats"] > 0.075
    assert claimed["two arms, 4 repeats"] < 0.05 + 3 * math.sqrt(0.05 * 0.95 / 400)
