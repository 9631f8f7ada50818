import unittest

from rowreader import ReadError, read_records, summarise

TEXT = "item,price\npen,1.5\nink,\npad,4\n"


class RecordsTest(unittest.TestCase):
    def test_values_are_converted(self):
        records = read_records(TEXT, convert={"price": float})
        self.assertEqual(records[0], {"item": "pen", "price": 1.5})
        self.assertIsNone(records[1]["price"])

    def test_a_row_that_is_too_long(self):
        with self.assertRaises(ReadError):
            read_records("a,b\n1,2,3\n")

    def test_summary(self):
        facts = summarise(read_records(TEXT, convert={"price": float}))["price"]
        self.assertEqual(facts, {"count": 2, "missing": 1, "distinct": 2, "least": 1.5, "greatest": 4.0})
