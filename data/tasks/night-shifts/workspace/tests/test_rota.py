import unittest
from datetime import date

from rota import Shift, Week, span

MON = date(2026, 3, 2)
SUN = date(2026, 3, 8)


class RotaTest(unittest.TestCase):
    def test_night(self):
        self.assertEqual(span("22:00", "06:00"), 480)

    def test_handover(self):
        early = Shift("ada", MON, "06:00", "10:00")
        self.assertFalse(early.clashes(Shift("ada", MON, "10:00", "12:00")))

    def test_six_hours(self):
        self.assertEqual(Shift("ada", MON, "08:00", "14:00").paid, 360)

    def test_sunday(self):
        week = Week(MON)
        week.add(Shift("ada", SUN, "08:00", "12:00"))
        self.assertEqual(week.hours(), {"ada": 4})

    def test_clash(self):
        week = Week(MON)
        week.add(Shift("ada", MON, "08:00", "12:00"))
        with self.assertRaises(ValueError):
            week.add(Shift("ada", MON, "11:00", "13:00"))
