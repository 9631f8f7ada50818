"""Results of a contest and the table of who leads."""

from podium.board import Board
from podium.player import Player
from podium.render import render

__all__ = ["Board", "Player", "render"]
