import unittest

from podium import Board
from podium.order import ranks, sort_by, sort_down, sort_up
from podium.render import medals


class HiddenTest(unittest.TestCase):
    def test_sorting_twice_changes_nothing(self):
        pairs = [(name, number % 3) for number, name in enumerate("abcdefghij")]
        once = sort_down(pairs, key=lambda pair: pair[1])
        self.assertEqual(sort_down(once, key=lambda pair: pair[1]), once)
        self.assertEqual([name for name, value in once if value == 2], ["c", "f", "i"])

    def test_the_input_is_left_alone(self):
        items = [3, 1, 2]
        sort_down(items, key=int)
        sort_up(items, key=int)
        self.assertEqual(items, [3, 1, 2])

    def test_ranks(self):
        self.assertEqual(ranks([]), [])
        self.assertEqual(ranks([4, 4, 4, 1]), [1, 1, 1, 4])
        self.assertEqual(ranks([9, 7, 7, 5, 5, 2]), [1, 2, 2, 4, 4, 6])

    def test_three_keys_in_both_directions(self):
        rows = [("x", 1, 2), ("y", 1, 2), ("z", 2, 1), ("w", 2, 1), ("v", 1, 3)]
        ordered = sort_by(rows, (lambda row: row[1], "down"), (lambda row: row[2], "up"))
        self.assertEqual([row[0] for row in ordered], ["z", "w", "x", "y", "v"])

    def test_teams_with_equal_points_keep_their_order(self):
        board = Board()
        for name, team in (("ada", "red"), ("ben", "blue"), ("cleo", "green")):
            board.enter(name, team)
        board.score(ada=5, ben=5, cleo=7)
        self.assertEqual(board.teams(), [("green", 7), ("red", 5), ("blue", 5)])

    def test_no_silver_after_two_golds(self):
        board = Board()
        for name in ("ada", "ben", "cleo"):
            board.enter(name)
        board.score(ada=5, ben=5, cleo=1)
        self.assertEqual(medals(board), {"gold": ["ada", "ben"], "silver": [], "bronze": ["cleo"]})
