"""What a live run has to say of itself: it was steered, and engines stood by; so it is a look, not the measurement."""

from __future__ import annotations

from collections.abc import Iterator

from labkit.core.records import RunState
from labkit.experiments.live_asked import LiveAsked
from labkit.experiments.live_board import Board
from labkit.experiments.live_crew import Book
from labkit.experiments.verdict import verdict


def live_remarks(book: Book) -> list[str]:
    """A sentence each, without a full stop."""
    return [*_toggled(book), *_stood_by(book.board)]


def live_verdict(asked: LiveAsked, book: Book, said: list[str]) -> tuple[RunState, str]:
    """State and note. `said`: what else there is to say. An arm that nobody came to, since the run was steered away or
    told to stop, is not missing."""
    board, tally = book.board, book.tally
    passed = [a for a in asked.arms if not sum(tally.of(a)) and a not in board.lost]
    served = [arm for arm in (*tally.measured, *tally.failed) if arm not in asked.arms]
    labels = list(dict.fromkeys([*(a for a in asked.arms if a not in passed), *served]))
    tally.refused = {arm: why for arm, why in board.lost.items() if arm in labels}
    wished = [f"{arm} was wished for and refused: {why}" for arm, why in board.lost.items() if arm not in labels]
    away = [f"{', '.join(passed)} not measured: the run was steered to another arm"] if passed and labels else []
    tally.remarks += [*wished, *away, *said]
    return verdict(labels or list(asked.arms), tally)


def _toggled(book: Book) -> Iterator[str]:
    total = sum(book.tally.measured.values()) + sum(book.tally.failed.values())
    if book.toggled:
        were = "was" if book.toggled == 1 else "were"
        yield f"toggled while it ran, so {book.toggled} of {total} steps {were} left out of every comparison"


def _stood_by(board: Board) -> Iterator[str]:
    if arms := [arm for arm, engines in board.beside.items() if engines]:
        many = "an engine" if len({e for arm in arms for e in board.beside[arm]}) == 1 else "other engines"
        yield (
            f"{many} stood by idle while {', '.join(arms)} served: kept warm for toggles, which costs time on a small "
            "machine; compare arms with a replay of its own"
        )
