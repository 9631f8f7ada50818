"""What the Export page says of the runs that it hands on. The making of a file is nobody's cache: see `Packing`."""

from __future__ import annotations

from labkit.experiments.dashboard.files import downloads
from labkit.experiments.dashboard.files.downloads import Chosen

import loaders

chosen = loaders.per_run(downloads.chosen)


def all_chosen(names: list[str], labels: dict[str, str]) -> list[Chosen]:
    """What is said of each of them, in their order."""
    return [chosen(name, labels.get(name, name)) for name in names]


def examples() -> set[str]:
    """Names of the runs that came with the project."""
    return {seen.name for seen in loaders.listing().examples()}
