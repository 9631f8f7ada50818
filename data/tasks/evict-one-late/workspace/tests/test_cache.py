import unittest

from shelf import Cache


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


class SizeTest(unittest.TestCase):
    def test_what_was_put_can_be_read(self):
        cache = Cache(3)
        cache.put("a", 1)
        self.assertEqual(cache.get("a"), 1)

    def test_holds_as_many_as_it_was_made_for(self):
        cache = Cache(3)
        for key in "abc":
            cache.put(key, key.upper())
        self.assertEqual(cache.keys(), ["a", "b", "c"])
        self.assertEqual(cache.stats.evictions, 0)

    def test_the_first_leaves_when_one_too_many_comes(self):
        cache = Cache(3)
        for key in "abcd":
            cache.put(key, key.upper())
        self.assertEqual(cache.keys(), ["b", "c", "d"])

    def test_capacity_must_be_positive(self):
        with self.assertRaises(ValueError):
            Cache(0)


class AgeTest(unittest.TestCase):
    def test_an_old_entry_is_gone(self):
        clock = Clock()
        cache = Cache(5, ttl=10, clock=clock)
        cache.put("a", 1)
        clock.now += 9.5
        self.assertEqual(cache.get("a"), 1)
        clock.now += 1
        self.assertIsNone(cache.get("a"))
        self.assertEqual(cache.stats.expirations, 1)


if __name__ == "__main__":
    unittest.main()
