"""What was asked for: `--endpoint URL`, `--endpoint ARM=URL`, `--metrics ROLE=URL` and what goes with them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from labkit.core.arms import Arm, arm_named
from labkit.core.errors import BadInput, LabError
from labkit.engines.attach_url import endpoint_url, page_url

_ROLES = re.compile(r"prefill|decode|engine(?:-\d+)?")
_SHAPE = "ROLE=URL or ARM:ROLE=URL, ROLE one of prefill, decode, engine, engine-0, engine-1, ..."


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """One engine. `arm`: whose it is; None: whatever it is in. `drafter`: of an arm with speculation; None: any.

    `metrics`: role to the page of its counters, where somebody named pages.
    """

    url: str
    arm: Arm | None = None
    drafter: str | None = None
    metrics: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Endpoints:
    """All of it. `model`: the served name to ask for; `arm_is`: the arm that the one without a name is in.

    `api_key_env`: the variable that holds the key; None: OPENAI_API_KEY, if set. `probe`: whether a request is sent.
    """

    endpoints: tuple[Endpoint, ...]
    model: str | None = None
    arm_is: Arm | None = None
    api_key_env: str | None = None
    probe: bool = True


def endpoints_of(
    endpoints: Sequence[str],
    metrics: Sequence[str] = (),
    *,
    model: str | None = None,
    arm_is: str | None = None,
    api_key_env: str | None = None,
    probe: bool = True,
) -> Endpoints:
    """As the options say it. Raises BadInput and UnknownName; nothing is asked of anybody yet."""
    named = [_endpoint(text) for text in endpoints]
    if len({(each.arm, each.drafter) for each in named}) < len(named):
        raise BadInput("endpoint", list(endpoints), "one for each arm, and one without a name")
    if arm_is and all(each.arm for each in named):
        raise BadInput("arm-is", arm_is, "beside an --endpoint URL without an arm's name")
    return Endpoints(
        endpoints=tuple(_with_pages(named, metrics)),
        model=model or None,
        arm_is=arm_named(arm_is) if arm_is else None,
        api_key_env=api_key_env or None,
        probe=probe,
    )


def _endpoint(text: str) -> Endpoint:
    """`URL`, `ARM=URL` or `ARM DRAFTER=URL`."""
    name, sign, url = text.partition("=")
    if not sign or "/" in name or ":" in name:
        return Endpoint(url=endpoint_url(text))
    label, _, drafter = name.strip().partition(" ")
    return Endpoint(url=endpoint_url(url), arm=arm_named(label), drafter=drafter.strip() or None)


def _with_pages(endpoints: Sequence[Endpoint], metrics: Iterable[str]) -> list[Endpoint]:
    found = list(endpoints)
    for text in metrics:
        owner, role, url = _page(text)
        place = _owner(found, owner, text)
        if role in found[place].metrics:
            raise BadInput("metrics", text, "each role once", "Of several replicas say engine-0, engine-1, ...")
        found[place].metrics[role] = url
    for each in found:
        _require_pair(each)
    return found


def _page(text: str) -> tuple[Arm | None, str, str]:
    name, sign, url = text.partition("=")
    label, colon, role = name.rpartition(":")
    if not sign or not _ROLES.fullmatch(role):
        raise BadInput("metrics", name, _SHAPE, "Such as --metrics decode=http://127.0.0.1:8202/metrics")
    return (arm_named(label) if colon else None), role, page_url(url)


def _owner(endpoints: Sequence[Endpoint], arm: Arm | None, text: str) -> int:
    """Which endpoint's page it is: the arm's; without an arm the one without a name, or the only one."""
    found = [place for place, each in enumerate(endpoints) if each.arm == arm]
    if not found and arm is None and len(endpoints) == 1:
        return 0
    if len(found) != 1:
        raise BadInput("metrics", text, "ARM:ROLE=URL, ARM one of the --endpoint ARM=URL")
    return found[0]


_NO_DECODE = "of a split engine prefill's page of metrics was named, and decode's is missing: prefill alone counts half"


def _owner_words(endpoint: Endpoint) -> str:
    return f"{endpoint.arm.label}:" if endpoint.arm else ""


def _require_pair(endpoint: Endpoint) -> None:
    """Prefill's counters alone would read as those of the whole engine."""
    roles = set(endpoint.metrics)
    if "prefill" in roles and "decode" not in roles:
        raise LabError(_NO_DECODE, f"Add it: --metrics {_owner_words(endpoint)}decode=http://HOST:PORT/metrics")
    if "decode" in roles and roles - {"prefill", "decode"}:
        raise BadInput("metrics", ", ".join(sorted(roles)), "prefill and decode, or engine, engine-0, ...")
