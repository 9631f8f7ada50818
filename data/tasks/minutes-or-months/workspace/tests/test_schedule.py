import unittest

from spanparse import Schedule, format_span


class ScheduleTest(unittest.TestCase):
    def test_jobs_come_in_order(self):
        schedule = Schedule()
        schedule.add("fast", every="20s")
        schedule.add("slow", every="1m", first="10s")
        self.assertEqual(schedule.due(0, 61), [(0.0, "fast"), (10.0, "slow"), (20.0, "fast"), (40.0, "fast"), (60.0, "fast")])

    def test_writing(self):
        self.assertEqual(format_span(5400), "1h30m")
        self.assertEqual(format_span(-0.25), "-250ms")
        self.assertEqual(format_span(0), "0s")
