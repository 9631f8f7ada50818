import unittest

from spanparse import Schedule, SpanError, format_span, parse_span


class HiddenTest(unittest.TestCase):
    def test_long_names(self):
        self.assertEqual(parse_span("3 minutes"), 180.0)
        self.assertEqual(parse_span("2 Hours 5 min"), 7500.0)
        self.assertEqual(parse_span("10 milliseconds"), 0.01)

    def test_a_long_name_that_begins_like_a_unit_is_refused(self):
        for text in ("3 months", "5 meters", "1 hx", "7sx"):
            with self.assertRaises(SpanError, msg=text):
                parse_span(text)

    def test_fractions(self):
        self.assertAlmostEqual(parse_span("0.5d"), 43200.0)
        self.assertAlmostEqual(parse_span("1.25s 500ms"), 1.75)
        with self.assertRaises(SpanError):
            parse_span("1.h")

    def test_signs(self):
        self.assertEqual(parse_span("-2d4h"), -187200.0)
        self.assertEqual(parse_span("+2h"), 7200.0)
        self.assertEqual(parse_span("-90"), -90.0)
        with self.assertRaises(SpanError):
            parse_span("1h-30m")

    def test_what_is_written_is_read_back(self):
        for seconds in (0.001, 0.25, 1, 59, 61, 3601, 90061, -5400, 1234567.891):
            self.assertAlmostEqual(parse_span(format_span(seconds, units=6)), seconds)

    def test_a_schedule_of_milliseconds(self):
        schedule = Schedule()
        schedule.add("tick", every="500ms")
        self.assertEqual([time for time, _ in schedule.due(0, 2)], [0.0, 0.5, 1.0, 1.5])
