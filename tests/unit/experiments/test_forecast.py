"""The time left: from guesses at first, then from what this run saw."""

from labkit.experiments.forecast import GUESS_STEP_S, Forecast


def test_before_anything_happened_it_is_guesses():
    forecast = Forecast({"base": 2, "pd": 1}, [30.0, 0.0, 60.0])
    assert forecast.eta_s() == 3 * GUESS_STEP_S + 90.0


def test_it_learns_from_steps_and_starts():
    forecast = Forecast({"base": 3, "pd": 2}, [30.0, 50.0])
    forecast.start_left(0, 12.0)
    forecast.start_left(1, -3.0)
    forecast.step_took("base", 4.0)
    forecast.step_took("base", 2.0)
    assert forecast.eta_s() == 1 * 3.0 + 2 * 3.0 + 12.0


def test_an_arm_of_its_own_speed_does_not_follow_the_mean():
    forecast = Forecast({"base": 2, "spec": 2}, [])
    forecast.step_took("base", 8.0)
    forecast.step_took("spec", 2.0)
    assert forecast.eta_s() == 8.0 + 2.0


def test_a_dropped_arm_takes_no_time():
    forecast = Forecast({"base": 1, "pd": 5}, [])
    forecast.step_took("base", 1.0)
    forecast.drop("pd")
    assert forecast.eta_s() == 0.0
