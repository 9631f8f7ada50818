import unittest

from gridtext import cells, clip, pad


class WidthTest(unittest.TestCase):
    def test_plain_letters_take_one_cell(self):
        self.assertEqual(cells("tea"), 3)

    def test_wide_letters_take_two(self):
        self.assertEqual(cells("\u8336"), 2)
        self.assertEqual(cells("\ud55c\uae00 tea"), 8)

    def test_a_combining_accent_takes_none(self):
        self.assertEqual(cells("cafe\u0301"), 4)

    def test_padding_counts_cells(self):
        self.assertEqual(pad("\u8336", 4), "\u8336  ")
        self.assertEqual(pad("7", 3, "right"), "  7")

    def test_a_text_that_fits_is_not_clipped(self):
        self.assertEqual(clip("green tea", 9), "green tea")

    def test_a_clipped_text_is_never_too_wide(self):
        self.assertEqual(clip("green tea", 6), "green\u2026")
        self.assertEqual(clip("\u8336\u8336\u8336\u8336", 6), "\u8336\u8336\u2026")
