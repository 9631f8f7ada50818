"""The sentences around a matrix: how far acceptance goes, how many cells say what, and the notes below a table."""

from __future__ import annotations

from collections.abc import Sequence

from labkit.experiments.matrix.records import Known, KnownCell, KnownTable

NO_DRAFTER = "no drafter"
_OF_VENDOR = {"amd": "rocm", "nvidia": "cuda", "cpu": "cpu"}


def short(cell: KnownCell, *, narrow: bool = False) -> str:
    """What fits into a table; the rest is a note. `narrow`: `accepted`, without by whom."""
    return cell.status if narrow or cell.status in ("refused", "measured elsewhere") else cell.words


def note(cell: KnownCell) -> str:
    """What a short cell leaves out; empty where it leaves out nothing."""
    if cell.status == "refused":
        where = f" (run {cell.run} on {cell.machine})" if cell.run else ""
        return f"{cell.words}{where}"
    return f"{cell.words}: {cell.run}" if cell.status == "measured elsewhere" else cell.said


def notes(cells: Sequence[KnownCell]) -> dict[str, int]:
    """Each note once, to its number from 1, in the order of the cells."""
    found = dict.fromkeys(text for cell in cells if (text := note(cell)))
    return {text: number for number, text in enumerate(found, 1)}


def columns(table: KnownTable) -> list[str]:
    """`no drafter`, then the drafters, as far as the table has cells of them."""
    return list(dict.fromkeys(cell.method or NO_DRAFTER for cell in table.cells))


def rows(table: KnownTable) -> dict[str, dict[str, KnownCell]]:
    """By arm, then by column."""
    found: dict[str, dict[str, KnownCell]] = {}
    for cell in table.cells:
        found.setdefault(cell.arm, {})[cell.method or NO_DRAFTER] = cell
    return found


def title(table: KnownTable) -> str:
    """`cpu-smollm2, split over nixl`."""
    what = f": {table.about}" if table.variant else ""
    return f"{table.profile}, split over {table.transfer}{what}"


def counted(known: Known) -> str:
    """`24 cells: 3 measured here, 20 accepted by vLLM's parser, 1 refused`, zeros left out."""
    names = {"accepted": f"accepted by {known.engine}'s parser"}
    parts = [f"{n} {names.get(status, status)}" for status, n in known.counts.items() if n]
    return f"{len(known.cells)} cells: {', '.join(parts)}"


def how_far(known: Known) -> str:
    """What `accepted` means, and what it does not."""
    if known.asked_on is None:
        return f"No {known.engine} was asked about these plans."
    checks = list(dict.fromkeys(check for cell in known.cells for check in cell.reached))
    asked = f"{known.engine} {known.version} was asked on {known.asked_on}, on the platform {known.platform}"
    through = f"Accepted means that these let every process of the plan through: {', '.join(checks)}" if checks else ""
    return ". ".join(filter(None, [asked, through, _not_run(known)])) + "."


def _not_run(known: Known) -> str:
    if known.platform == _OF_VENDOR[known.vendor]:
        return "No process was started and no weights were loaded"
    gpu = f"the checks of a GPU's platform ({_OF_VENDOR[known.vendor]}) did not run"
    return f"No process was started, no weights were loaded, and {gpu}"
