import unittest

from podium import Board, render


def board_of(**points):
    board = Board()
    for name in points:
        board.enter(name)
    board.score(**points)
    return board


class BoardTest(unittest.TestCase):
    def test_most_points_first(self):
        names = [player.name for _, player in board_of(ada=3, ben=9, cleo=5).standings()]
        self.assertEqual(names, ["ben", "cleo", "ada"])

    def test_among_equals_who_entered_first_stays_first(self):
        names = [player.name for _, player in board_of(ada=5, ben=7, cleo=7, dan=5).standings()]
        self.assertEqual(names, ["ben", "cleo", "ada", "dan"])

    def test_a_missed_round_counts_nothing(self):
        board = board_of(ada=4, ben=2)
        board.score(ben=1)
        self.assertEqual(render(board), "  1. ada  4  4 .\n  2. ben  3  2 1")

    def test_a_name_is_used_once(self):
        with self.assertRaises(ValueError):
            board_of(ada=1).enter("ada")
