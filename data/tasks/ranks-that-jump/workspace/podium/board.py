"""The leaderboard: who takes part, what they score, and in which order they stand."""

from podium.order import ranks, sort_by, sort_down
from podium.player import Player


class Board:
    """Players in the order in which they entered."""

    def __init__(self):
        self._players = []

    def enter(self, name, team=""):
        """Let a player in. A name can be used once."""
        if any(player.name == name for player in self._players):
            raise ValueError(f"{name} has entered already")
        player = Player(name, team)
        self._players.append(player)
        return player

    def score(self, **points):
        """Record a round: points by name. Who is not named missed it."""
        unknown = set(points) - {player.name for player in self._players}
        if unknown:
            raise KeyError(f"nobody is called {', '.join(sorted(unknown))}")
        for player in self._players:
            player.rounds.append(points.get(player.name))

    def standings(self):
        """(rank, player) pairs, most points first."""
        ordered = sort_down(self._players, key=lambda player: player.points)
        return list(zip(ranks([player.points for player in ordered]), ordered))

    def by_team(self):
        """The players team by team, the best of each team first."""
        return sort_by(
            self._players,
            (lambda player: player.team, "up"),
            (lambda player: player.points, "down"),
        )

    def teams(self):
        """(team, points) pairs, most points first; teams with equal points in the order of their first player."""
        totals = {}
        for player in self._players:
            totals[player.team] = totals.get(player.team, 0) + player.points
        return sort_down(totals.items(), key=lambda pair: pair[1])
