import unittest

from desk.fees import late_fee


class FeesTest(unittest.TestCase):
    def test_the_first_day_is_free(self):
        self.assertEqual(late_fee(1), 0)

    def test_two_days_cost_one(self):
        self.assertEqual(late_fee(2), 20)
