import unittest

from gridtext import Table
from gridtext.style import BOXED


class TableTest(unittest.TestCase):
    def test_columns_line_up(self):
        table = Table("item", "price").add("tea", 2.5).add("coffee", None)
        self.assertEqual(table.draw(), "item    price\n------  -----\ntea      2.50\ncoffee  -")

    def test_wide_cells_line_up_too(self):
        table = Table("item", "n", style=BOXED).add("\u8336", 1).add("tea", 12)
        self.assertEqual(table.draw(), "|item | n |\n|---- | --|\n|\u8336   |  1|\n|tea  | 12|")

    def test_a_row_must_fit(self):
        with self.assertRaises(ValueError):
            Table("a").add(1, 2)
