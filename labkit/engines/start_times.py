"""How long starts took here, so that a progress bar can say `of ~30 s` and mean it."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median

from filelock import FileLock

_KEPT = 5


class StartTimes:
    """Seconds of the last starts, by kind of plan, in one small file."""

    def __init__(self, state_dir: Path) -> None:
        self._path = state_dir / "starts.json"

    def expected(self, kind: str, default: float) -> float:
        """Median of the last starts of this kind, else `default`; seconds."""
        seconds = self._read().get(kind)
        return median(seconds) if seconds else default

    def learn(self, kind: str, seconds: float) -> None:
        """Remember one more start."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{self._path}.lock"):
            known = self._read()
            known[kind] = [*known.get(kind, []), round(seconds, 2)][-_KEPT:]
            self._path.write_text(json.dumps(known, indent=1), encoding="utf-8")

    def _read(self) -> dict[str, list[float]]:
        try:
            data: dict[str, list[float]] = json.loads(self._path.read_text(encoding="utf-8"))
        except (FileNotFoundError, json.JSONDecodeError):
            return {}
        return data
