import csv
import io
import unittest

from rowreader import ReadError, read_records, read_rows
from rowreader.dialect import Dialect


class HiddenTest(unittest.TestCase):
    def test_like_the_standard_library(self):
        texts = (
            "a,b,c\n1,2,3\n",
            'a,"b,c",d\n',
            '"x ""y"" z",1\n"",2\n',
            '1,"line one\nline two\n\nline four",end\nnext,row,\n',
            ",\n,,\n",
            '"only"\n',
            "no line break at the end,x",
        )
        for text in texts:
            self.assertEqual(read_rows(text), list(csv.reader(io.StringIO(text, newline=""))), msg=text)

    def test_line_ends_of_other_systems(self):
        self.assertEqual(read_rows("a,b\r\n1,2\r\n"), [["a", "b"], ["1", "2"]])

    def test_empty_lines_are_skipped_but_not_inside_quotes(self):
        self.assertEqual(read_rows('a\n\n"b\n\nc"\n'), [["a"], ["b\n\nc"]])

    def test_a_quote_that_never_ends(self):
        with self.assertRaises(ReadError):
            read_rows('a,"b\nc\n')

    def test_other_quotes(self):
        self.assertEqual(read_rows("'it''s',x\n", Dialect(quote="'")), [["it's", "x"]])

    def test_records_with_an_empty_last_column(self):
        self.assertEqual(read_records("k,v\nx,\n"), [{"k": "x", "v": None}])
