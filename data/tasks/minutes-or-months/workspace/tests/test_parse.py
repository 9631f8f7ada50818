import unittest

from spanparse import SpanError, parse_span


class ParseTest(unittest.TestCase):
    def test_one_unit(self):
        self.assertEqual(parse_span("45s"), 45.0)
        self.assertEqual(parse_span("2h"), 7200.0)

    def test_several_units(self):
        self.assertEqual(parse_span("1h30m"), 5400.0)
        self.assertEqual(parse_span("2d 4h"), 187200.0)

    def test_a_number_alone_is_seconds(self):
        self.assertEqual(parse_span("90"), 90.0)

    def test_milliseconds_are_not_minutes(self):
        self.assertEqual(parse_span("250ms"), 0.25)

    def test_a_fraction(self):
        self.assertEqual(parse_span("1.5h"), 5400.0)

    def test_the_sign_is_for_the_whole(self):
        self.assertEqual(parse_span("-1h30m"), -5400.0)

    def test_what_is_no_duration(self):
        for text in ("", "soon", "5 parsecs", "1h!"):
            with self.assertRaises(SpanError):
                parse_span(text)
