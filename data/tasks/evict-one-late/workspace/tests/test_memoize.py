import unittest

from shelf import memoize


class MemoizeTest(unittest.TestCase):
    def test_the_second_call_is_remembered(self):
        calls = []

        @memoize(capacity=4)
        def double(number):
            calls.append(number)
            return 2 * number

        self.assertEqual([double(2), double(2), double(3)], [4, 4, 6])
        self.assertEqual(calls, [2, 3])

    def test_a_cache_of_one_remembers_one(self):
        calls = []

        @memoize(capacity=1)
        def square(number):
            calls.append(number)
            return number * number

        square(5)
        square(5)
        self.assertEqual(calls, [5])
