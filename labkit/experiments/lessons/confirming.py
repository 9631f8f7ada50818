"""Whether the faster arm solves as many tasks: what a confirmation says, and how many attempts one takes at least."""

from __future__ import annotations

import pandas as pd

from labkit.analysis.confirmation import confirmation, in_words
from labkit.analysis.format import percent, seconds
from labkit.analysis.outcomes import outcomes, solved
from labkit.analysis.success import non_inferior
from labkit.core.errors import BadInput
from labkit.experiments.confirm_asked import ConfirmAsked
from labkit.experiments.lessons.outcome import Outcome
from labkit.experiments.report.english import records
from labkit.store.runs import Run

_MOST = 20_000


def pairs_needed(margin: float) -> int:
    """The fewest pairs of attempts that can rule out a loss of `margin`, when the two arms never disagree.

    With any disagreement it takes more. Raises BadInput for a margin outside 0 to 1, or one too small to look for.
    """
    few, many = 0, 1
    while not _told(many, margin):
        few, many = many, many * 2
        if many > _MOST:
            raise BadInput("margin", margin, f"one that fewer than {_MOST:,} attempts can rule out")
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if _told(middle, margin) else (middle, many)
    return many


def _told(pairs: int, margin: float) -> bool:
    return non_inferior([True] * pairs, [True] * pairs, margin, paired=True).verdict.startswith("not worse")


def confirmed(run: Run) -> Outcome:
    """What a run of `confirm` says to "it solves as many": `holds` None where it is too few to tell."""
    asked = ConfirmAsked.from_dict(run.info.asked)
    attempts = outcomes(run.events())
    found = confirmation(attempts, asked.against, asked.arm, asked.margin)
    holds = None if found.verdict.startswith("too few") else found.verdict.startswith("not worse")
    return Outcome(holds, in_words(found, asked.against, asked.arm, attempts))


def attempts_in_words(run: Run) -> pd.DataFrame:
    """One row per arm of a run of `confirm`: what it solved, and what an attempt and a solved task took."""
    return pd.DataFrame(
        [
            {
                "arm": row["arm"],
                "solved": f"{row['n_solved']} of {row['n_attempts']}",
                "share": percent(row["success_rate"]),
                "time per attempt": seconds(row["attempt_s"]),
                "time per solved task": seconds(row["solved_s"]),
                "cut short": int(row["n_cut"]),
            }
            for row in records(solved(outcomes(run.events())))
        ]
    )
