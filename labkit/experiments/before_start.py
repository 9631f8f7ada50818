"""Before a run has a folder: whether it can be sent as asked, and what it runs on."""

from __future__ import annotations

from typing import Any

from labkit.core.records import Record
from labkit.experiments.attached.kept import ATTACHED, kept
from labkit.experiments.attached.provider import AttachedProvider
from labkit.experiments.design import Block, Design
from labkit.experiments.serving import EngineProvider
from labkit.store.fingerprint import ENGINE_PACKAGES, host_fingerprint
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
    return {**host_of(provider), **engines, "recordings": {name: sha256(each) for name, each in sent.items()}}


def host_of(provider: EngineProvider) -> dict[str, Any]:
    """This machine and installation. Beside attached engines it is the client's alone, so that what is installed here
    of an engine is left out: theirs is another."""
    host = host_fingerprint()
    if not isinstance(provider, AttachedProvider):
        return host
    return {**host, "packages": {name: v for name, v in host["packages"].items() if name not in ENGINE_PACKAGES}}


def asked_and_attached(asked: Record, provider: EngineProvider) -> dict[str, Any]:
    """What `run.json` keeps under `asked`: the parameters, and how engines that were attached were named."""
    said = {ATTACHED: kept(provider.engines)} if isinstance(provider, AttachedProvider) else {}
    return {**asked.to_dict(), **said}


def _recordings(design: Design, block: Block) -> list[Recording]:
    return [recording for each in design.passes(block) for recording, _ in each.sends]
