"""Ship a run with the project: `data/runs/<id>.zip`, without logs and report, and with no folder of this machine.

    python notebooks/tools/ship.py RUN [RUN ...]        (ids, folders or .zip files)

Paths below the home folder, the project and the environment are cut down to what is below them; nothing that was
measured is touched, and the report can be made again. The result opens like any other run: `labkit show ID`.
"""

from __future__ import annotations

import sys
import tempfile
import zipfile
from pathlib import Path

from labkit.core.progress import silent
from labkit.store.exports.folder import write_folder
from labkit.store.layout import EVENTS, LOGS, RUN
from labkit.store.runs import RunStore

ROOT = Path(__file__).parents[2]
TARGET = ROOT / "data" / "runs"
FOLDERS = sorted({str(ROOT), sys.prefix, sys.base_prefix, str(Path.home())}, key=len, reverse=True)


def main(names: list[str]) -> None:
    if not names:
        raise SystemExit(__doc__)
    for name in names:
        print(ship(name))


def ship(name: str) -> Path:
    """The file that the run became. Raises what `RunStore.open` raises."""
    with tempfile.TemporaryDirectory() as folder:
        (whole,) = write_folder(RunStore().open(name), Path(folder), silent)
        target = TARGET / whole.name
        with zipfile.ZipFile(whole) as packed, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as kept:
            for entry in packed.infolist():
                if f"/{LOGS}/" not in entry.filename and not entry.filename.endswith(".html"):
                    kept.writestr(entry.filename, without_folders(entry.filename, packed.read(entry)))
    return target


def without_folders(name: str, content: bytes) -> bytes:
    """The texts that say where things lie, without the machine's own folders; any other file as it is."""
    if Path(name).name not in (EVENTS, RUN):
        return content
    text = content.decode()
    for folder in FOLDERS:
        text = text.replace(f"{folder}/", "")
    return text.encode()


if __name__ == "__main__":
    main(sys.argv[1:])
