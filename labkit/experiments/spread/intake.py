"""What comes in from a node during one repeat: rows and events for the run folder, logs, progress, and how it ended."""

from __future__ import annotations

from typing import Any

from labkit.experiments.spread.relayed import Line
from labkit.experiments.spread.telling import Telling
from labkit.experiments.spread.units import Unit
from labkit.experiments.spread.worker import ENDED, LOG
from labkit.experiments.verdict import Tally
from labkit.store.runs import RunWriter


class Intake:
    """One repeat of one node. `tally` and `error`: how it ended; None until it has."""

    def __init__(self, writer: RunWriter, node: str, unit: Unit, telling: Telling) -> None:
        self._writer, self._node, self._unit, self._telling = writer, node, unit, telling
        self.tally: Tally | None = None
        self.error: dict[str, Any] | None = None

    def take(self, line: Line) -> None:
        """Put one line where it belongs."""
        if line["type"] == ENDED:
            self.tally, self.error = line["tally"], line["error"]
        elif line["type"] == LOG:
            self._keep(line["name"], line["text"])
        elif line["type"] == "progress":
            self._telling.heard(self._node, self._unit, line)
        else:
            data = {key: value for key, value in line.items() if key not in ("t", "type")}
            self._writer.relayed(line["t"], line["type"], data)

    def _keep(self, name: str, text: str) -> None:
        """A node's log beside those of the others: `<node>-<engine>-<role>.log`; a second start of it is appended."""
        path = self._writer.log_dir / name.replace("/", "-")
        try:
            with path.open("a", encoding="utf-8") as kept:
                kept.write(text)
        except OSError:  # a full disk loses only the copy
            return
