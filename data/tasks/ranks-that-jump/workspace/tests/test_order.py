import unittest

from podium.order import ranks, sort_by, sort_down


class OrderTest(unittest.TestCase):
    def test_ranks_without_ties(self):
        self.assertEqual(ranks([9, 7, 5]), [1, 2, 3])

    def test_two_firsts_are_followed_by_a_third(self):
        self.assertEqual(ranks([9, 9, 5]), [1, 1, 3])

    def test_down_keeps_the_order_of_equals(self):
        self.assertEqual(sort_down(["bb", "a", "cc", "d"], key=len), ["bb", "cc", "a", "d"])

    def test_two_keys(self):
        words = ["pear", "fig", "kiwi", "apple"]
        self.assertEqual(sort_by(words, (len, "down"), (str, "up")), ["apple", "kiwi", "pear", "fig"])
