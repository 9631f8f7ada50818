"""One player and what was scored."""

from dataclasses import dataclass, field


@dataclass
class Player:
    """A name, a team and the points of each round; None for a round that was missed."""

    name: str
    team: str = ""
    rounds: list = field(default_factory=list)

    @property
    def points(self):
        return sum(score for score in self.rounds if score is not None)

    @property
    def best(self):
        """The best round; None when no round was played."""
        played = [score for score in self.rounds if score is not None]
        return max(played) if played else None

    @property
    def missed(self):
        return sum(score is None for score in self.rounds)
