import unittest

from again import Backoff


class BackoffTest(unittest.TestCase):
    def test_waits_grow(self):
        backoff = Backoff(first=1, factor=2, history=[])
        self.assertEqual([backoff.next() for _ in range(4)], [1, 2, 4, 8])

    def test_waits_never_exceed_the_limit(self):
        backoff = Backoff(first=1, factor=2, longest=5, history=[])
        self.assertEqual([backoff.next() for _ in range(5)], [1, 2, 4, 5, 5])

    def test_two_jobs_share_nothing(self):
        one, other = Backoff(first=1), Backoff(first=1)
        one.next()
        self.assertEqual(other.history, [])

    def test_jitter_spreads_in_both_directions(self):
        draws = iter([0.0, 1.0])
        backoff = Backoff(first=10, factor=1, jitter=0.5, history=[], random=lambda: next(draws))
        self.assertEqual([backoff.next(), backoff.next()], [5.0, 15.0])
