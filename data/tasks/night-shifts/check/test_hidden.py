import unittest
from datetime import date

from rota import Shift, Week, minutes, span
from rota.breaks import unpaid
from rota.week import monday

TUE = date(2026, 3, 3)


class HiddenTest(unittest.TestCase):
    def test_spans(self):
        self.assertEqual(span("23:59", "00:01"), 2)
        self.assertEqual(span("09:15", "17:45"), 510)
        self.assertEqual(minutes("23:59"), 1439)

    def test_an_end_at_the_start_is_a_whole_day(self):
        self.assertEqual(span("08:00", "08:00"), 1440)

    def test_a_time_of_day_is_checked(self):
        for text in ("24:00", "25:10"):
            with self.assertRaises(ValueError):
                minutes(text)

    def test_breaks(self):
        self.assertEqual([unpaid(n) for n in (0, 360, 361, 540, 541)], [0, 0, 30, 30, 60])

    def test_a_night_clashes_with_the_next_morning(self):
        night = Shift("ben", TUE, "22:00", "06:00")
        morning = Shift("ben", date(2026, 3, 4), "05:00", "07:00")
        self.assertTrue(night.clashes(morning))
        self.assertTrue(morning.clashes(night))
        self.assertFalse(night.clashes(Shift("ben", date(2026, 3, 4), "06:00", "07:00")))
        self.assertFalse(night.clashes(Shift("eve", TUE, "22:00", "06:00")))

    def test_every_day_of_a_week_has_its_monday(self):
        for day in range(2, 9):
            self.assertEqual(monday(date(2026, 3, day)), date(2026, 3, 2))
        self.assertEqual(monday(date(2026, 3, 9)), date(2026, 3, 9))

    def test_a_week_pays_its_nights(self):
        week = Week(TUE)
        week.add(Shift("ben", TUE, "22:00", "06:00"))
        week.add(Shift("ben", date(2026, 3, 8), "20:00", "00:00"))
        self.assertEqual(week.hours(), {"ben": 11.5})
        with self.assertRaises(ValueError):
            week.add(Shift("ben", date(2026, 3, 9), "08:00", "09:00"))
