import unittest

from desk.fees import late_fee


class HiddenTest(unittest.TestCase):
    def test_every_day_after_the_first_costs(self):
        self.assertEqual([late_fee(days) for days in (0, 1, 2, 3, 10)], [0, 0, 20, 40, 180])

    def test_the_most_is_kept(self):
        self.assertEqual([late_fee(days) for days in (25, 26, 27, 300)], [480, 500, 500, 500])
