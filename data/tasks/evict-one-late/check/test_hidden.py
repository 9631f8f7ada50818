import unittest

from shelf import Cache, memoize


class HiddenTest(unittest.TestCase):
    def test_every_capacity_is_used_fully(self):
        for capacity in (1, 2, 7):
            cache = Cache(capacity)
            for number in range(20):
                cache.put(number, number)
            self.assertEqual(cache.keys(), list(range(20 - capacity, 20)))
            self.assertEqual(cache.stats.evictions, 20 - capacity)

    def test_reading_is_using(self):
        cache = Cache(3)
        for key in "abc":
            cache.put(key, key)
        cache.get("a")
        cache.put("d", "d")
        self.assertEqual(cache.keys(), ["c", "a", "d"])

    def test_asking_whether_it_is_there_is_not_using(self):
        cache = Cache(2)
        cache.put("a", 1)
        cache.put("b", 2)
        self.assertIn("a", cache)
        cache.put("c", 3)
        self.assertNotIn("a", cache)

    def test_a_miss_changes_nothing(self):
        cache = Cache(2)
        cache.put("a", 1)
        self.assertIsNone(cache.get("x"))
        self.assertEqual(cache.keys(), ["a"])

    def test_expire_leaves_the_order_alone(self):
        now = [0.0]
        cache = Cache(4, ttl=5, clock=lambda: now[0])
        cache.put("a", 1)
        now[0] = 3.0
        cache.put("b", 2)
        cache.put("c", 3)
        now[0] = 6.0
        self.assertEqual(cache.expire(), 1)
        self.assertEqual(cache.keys(), ["b", "c"])

    def test_a_function_with_a_cache_of_one(self):
        calls = []

        @memoize(capacity=1)
        def negate(number):
            calls.append(number)
            return -number

        self.assertEqual([negate(1), negate(1), negate(2), negate(1)], [-1, -1, -2, -1])
        self.assertEqual(calls, [1, 2, 1])
