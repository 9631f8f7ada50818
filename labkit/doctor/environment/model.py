"""Is the profile's model here, or can the engine fetch it: the hub's cache, the hub, and room on the disk."""

from __future__ import annotations

from labkit.doctor.facts import Facts
from labkit.doctor.hub import HubModel
from labkit.doctor.records import Check, Status

_GB = 1_000_000_000


def weights(facts: Facts) -> Check:
    """The profile's model: there, whole, undamaged."""
    model, whole = facts.weights, not facts.weights.problem
    how = "every byte compared" if model.checksums else "file sizes compared"
    if model.hub:
        how = f"in the hub's cache, {model.size.size / _GB:.0f} GB" if model.size else "in the hub's cache"
    missing: Status = "fail" if model.hub is None or unfetchable(model.hub) else "warn"
    return Check(
        name="Weights",
        area="environment",
        status="ok" if whole else missing,
        found=f"{model.name}: ready ({how})" if whole else model.problem,
        why="An engine that finds no weights, or half of them, ends before it is healthy."
        + (" This one would fetch them itself, within the time of its first start." if model.hub else ""),
        todo="" if whole else "Fetch them; what is damaged is made again.",
        command="" if whole else f"labkit models fetch {model.name}",
    )


def unfetchable(hub: HubModel) -> bool:
    """Whether it is known that the hub will not bring it."""
    return bool(hub.offline) or hub.reachable is False


def hub(facts: Facts) -> list[Check]:
    """Whether the hub answers, for a model that comes from it."""
    asked = facts.weights.hub
    if asked is None:
        return []
    status: Status = "ok" if asked.reachable else "fail" if unfetchable(asked) and not asked.snapshot else "unknown"
    fail = status == "fail"
    return [
        Check(
            name="Model hub",
            area="environment",
            status=status,
            found=_hub_words(asked),
            why="The engine asks it for the model by name; a model that is wholly in the cache is found without it.",
            todo="Fetch the model on a machine that reaches the hub and bring its cache folder here, or name a mirror."
            * fail,
            command=f"export HF_ENDPOINT=... # or copy {asked.cache}" if fail else "",
        )
    ]


def _hub_words(asked: HubModel) -> str:
    cached = "; the model is in the cache" if asked.snapshot else "; the model is not in the cache"
    if asked.offline:
        return f"{asked.offline} forbids to ask it{cached}"
    if asked.reachable is None:
        return f"{asked.endpoint} was not asked{cached}"
    return f"{asked.endpoint} {'answers' if asked.reachable else f'does not answer: {asked.problem}'}{cached}"


def disk(facts: Facts) -> list[Check]:
    """Room for the weights where the hub's library keeps them."""
    asked, size = facts.weights.hub, facts.weights.size
    if asked is None or asked.snapshot:
        return []
    status: Status = "unknown" if size is None or asked.free is None else "ok" if asked.free > size.size else "fail"
    need = (
        f"{size.size / _GB:.0f} GB of weights are to come ({size.how})" if size else "nobody can tell how large it is"
    )
    free = "free space cannot be read" if asked.free is None else f"{asked.free / _GB:.0f} GB free"
    return [
        Check(
            name="Disk of the hub's cache",
            area="environment",
            status=status,
            found=f"{free} in {asked.cache}; {need}",
            why="The engine, or `labkit models fetch`, downloads the model there; a full disk ends it after an hour.",
            todo="Keep the cache on a larger disk." if status == "fail" else "",
            command="export HF_HOME=/another/disk" if status == "fail" else "",
        )
    ]
