"""The leaderboard as text."""


def render(board, rounds=True):
    """One line for each player: rank, name, points and, if asked for, the rounds (a dot for one that was missed)."""
    standings = board.standings()
    if not standings:
        return "nobody has entered"
    name_width = max(len(player.name) for _, player in standings)
    points_width = max(len(str(player.points)) for _, player in standings)
    lines = []
    for rank, player in standings:
        line = f"{rank:>3}. {player.name:<{name_width}}  {player.points:>{points_width}}"
        if rounds:
            line += "  " + " ".join("." if score is None else str(score) for score in player.rounds)
        lines.append(line.rstrip())
    return "\n".join(lines)


def medals(board):
    """Names by medal. Everybody who shares a rank gets the same one."""
    names = {1: "gold", 2: "silver", 3: "bronze"}
    result = {"gold": [], "silver": [], "bronze": []}
    for rank, player in board.standings():
        if rank in names:
            result[names[rank]].append(player.name)
    return result
