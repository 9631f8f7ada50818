import unittest

from again import Backoff, GaveUp, Policy, retry


class HiddenTest(unittest.TestCase):
    def attempt(self, policy, failures):
        calls, slept = [], []

        @retry(policy, sleep=slept.append)
        def job():
            calls.append(1)
            if len(calls) <= failures:
                raise OSError("not now")
            return len(calls)

        try:
            return job(), len(calls), slept
        except GaveUp as error:
            self.assertEqual(error.attempts, len(calls))
            return None, len(calls), slept

    def test_every_number_of_attempts(self):
        for attempts in (1, 2, 3, 6):
            _, calls, slept = self.attempt(Policy(attempts=attempts, first=1), failures=99)
            self.assertEqual(calls, attempts)
            self.assertEqual(len(slept), attempts - 1)

    def test_waits_of_one_job_do_not_lengthen_those_of_the_next(self):
        policy = Policy(attempts=3, first=1, factor=3)
        for _ in range(3):
            self.assertEqual(self.attempt(policy, failures=99)[2], [1, 3])

    def test_the_limit_holds_from_the_first_wait_to_the_last(self):
        waits = self.attempt(Policy(attempts=7, first=2, factor=4, longest=20), failures=99)[2]
        self.assertEqual(waits, [2, 8, 20, 20, 20, 20])
        self.assertEqual(Backoff(first=50, longest=20).next(), 20)

    def test_the_limit_holds_for_the_spread_wait_as_well(self):
        backoff = Backoff(first=8, factor=2, longest=10, jitter=0.5, random=lambda: 1.0)
        self.assertEqual([backoff.next(), backoff.next()], [10, 10])

    def test_a_history_that_is_handed_in_is_used(self):
        history = [1.0]
        self.assertEqual(Backoff(first=1, history=history).next(), 2.0)
        self.assertEqual(history, [1.0, 2.0])

    def test_the_budget_ends_patience(self):
        result, calls, slept = self.attempt(Policy(attempts=9, first=1, budget=4), failures=99)
        self.assertEqual((result, calls, slept), (None, 3, [1, 2]))
