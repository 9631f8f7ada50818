"""Before a run has a folder: whether it can be sent as asked, and what it runs on."""

from __future__ import annotations

from typing import Any

from labkit.experiments.design import Block, Design
from labkit.experiments.serving import EngineProvider
from labkit.store.fingerprint import host_fingerprint
from labkit.traffic.recording import Recording, sha256
from labkit.traffic.shaping import check_pinnable


def check(design: Design) -> None:
    """Raises BadInput for a pass that cannot be sent as asked."""
    for block in design.blocks:
        for each in design.passes(block):
            if each.options.mode == "pinned":
                check_pinnable(each.recording, each.options.count(each.recording))


def fingerprint_of(design: Design, provider: EngineProvider) -> dict[str, Any]:
    """The machine, the engines, and the recordings by hash. Raises WeightsError when there is nothing to serve."""
    sent = {recording.header.name: recording for block in design.blocks for recording in _recordings(design, block)}
    engines = provider.fingerprint([block.arm for block in design.blocks])
    return {**host_fingerprint(), **engines, "recordings": {name: sha256(each) for name, each in sent.items()}}


def _recordings(design: Design, block: Block) -> list[Recording]:
    return [recording for each in design.passes(block) for recording, _ in each.sends]
