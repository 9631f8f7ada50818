import unittest

from again import GaveUp, Policy, retry


class Flaky:
    """Fails the first `times`, then works."""

    __name__ = "flaky"

    def __init__(self, times, error=OSError):
        self.times, self.error, self.calls = times, error, 0

    def __call__(self):
        self.calls += 1
        if self.calls <= self.times:
            raise self.error("not now")
        return "done"


class RetryTest(unittest.TestCase):
    def test_the_third_attempt_is_made(self):
        flaky = Flaky(2)
        self.assertEqual(retry(Policy(attempts=3), sleep=lambda _: None)(flaky)(), "done")
        self.assertEqual(flaky.calls, 3)

    def test_patience_ends(self):
        flaky = Flaky(9)
        with self.assertRaises(GaveUp) as caught:
            retry(Policy(attempts=4), sleep=lambda _: None)(flaky)()
        self.assertEqual((flaky.calls, caught.exception.attempts), (4, 4))

    def test_other_errors_are_not_repeated(self):
        flaky = Flaky(1, ValueError)
        with self.assertRaises(ValueError):
            retry(Policy(attempts=4), sleep=lambda _: None)(flaky)()
        self.assertEqual(flaky.calls, 1)
