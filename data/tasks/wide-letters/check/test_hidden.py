import unittest
import unicodedata

from gridtext import Table, cells, clip, pad


def room(text):
    """The width of a text, counted independently."""
    return sum(
        0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in text
    )


TEXTS = ("tea", "", "\u8336", "\uff21\uff22", "e\u0301\u0302", "\ud55c\uae00 a\u0308b", "\u8336e\u0301" * 5, "ha\uff9f")


class HiddenTest(unittest.TestCase):
    def test_cells(self):
        for text in TEXTS:
            self.assertEqual(cells(text), room(text), msg=ascii(text))

    def test_pad_in_every_direction(self):
        for text in TEXTS:
            for align in ("left", "right", "center"):
                self.assertEqual(room(pad(text, 20, align)), 20, msg=ascii(text))

    def test_clip_is_never_too_wide_and_wastes_at_most_one_cell(self):
        for text in TEXTS:
            for width in range(1, 12):
                short = clip(text, width)
                self.assertLessEqual(room(short), width, msg=ascii(text))
                if short != text:
                    self.assertTrue(short.endswith("\u2026"))
                    self.assertGreaterEqual(room(short), width - 1, msg=ascii(text))

    def test_an_accent_stays_with_its_letter(self):
        self.assertEqual(clip("cafe\u0301s noirs", 5), "cafe\u0301\u2026")

    def test_every_line_of_a_table_is_equally_wide(self):
        from gridtext.style import BOXED

        table = Table("\u54c1\u540d", "cafe\u0301", style=BOXED, limit=7)
        for text in TEXTS:
            table.add(text, len(text))
        self.assertEqual(len({room(line) for line in table.draw().splitlines()}), 1)
