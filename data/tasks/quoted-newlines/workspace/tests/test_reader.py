import unittest

from rowreader import read_rows
from rowreader.dialect import SEMICOLON


class ReaderTest(unittest.TestCase):
    def test_plain_rows(self):
        self.assertEqual(read_rows("a,b\n1,2\n"), [["a", "b"], ["1", "2"]])

    def test_the_delimiter_may_stand_in_quotes(self):
        self.assertEqual(read_rows('name,note\n"Ada, L.",first\n')[1], ["Ada, L.", "first"])

    def test_another_dialect(self):
        self.assertEqual(read_rows("a;b\n1,5;2", SEMICOLON), [["a", "b"], ["1,5", "2"]])

    def test_an_empty_field_at_the_end(self):
        self.assertEqual(read_rows("a,b,\n,,\n"), [["a", "b", ""], ["", "", ""]])

    def test_a_line_break_in_quotes(self):
        self.assertEqual(read_rows('id,text\n1,"two\nlines"\n'), [["id", "text"], ["1", "two\nlines"]])

    def test_two_quotes_mean_one(self):
        self.assertEqual(read_rows('1,"say ""hi"""\n'), [["1", 'say "hi"']])
