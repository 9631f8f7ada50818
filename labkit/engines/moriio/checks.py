"""Is this a plan that MoRI-IO can run? Asked when it is made, because vLLM would say it minutes later, or never.

check(profile, plan)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from labkit.core.errors import BadInput
from labkit.engines.moriio.halves import PORT_BASES, Half, discovery_address, halves, rooms
from labkit.engines.moriio.old_variables import check_variables
from labkit.engines.moriio.settings import check_settings
from labkit.engines.plan_records import Plan
from labkit.engines.profiles import Profile
from labkit.engines.profiles.schema import PdSplit

_LAST_PORT = 65535


def check(profile: Profile, plan: Plan) -> Plan:
    """`plan`, when the profile's settings (in every arm) and the plan's ports and halves (with the split) are sound.

    Raises BadInput, naming field, value and what is allowed.
    """
    pd = profile.layers.pd_split
    for table, env in (("engine.env", profile.engine.env), ("layers.pd_split.env", pd.env)):
        check_variables(table, env)
    if pd.transfer == "moriio":
        _check_order(pd)
        check_settings(pd.connector.get("kv_connector_extra_config") or {})
        check_plan(plan)
    return plan


def _check_order(pd: PdSplit) -> None:
    if not pd.router_first:
        hint = "Engines announce themselves to the router, and the order and health checks of a start go by that."
        raise BadInput("layers.pd_split.router_first", False, 'true, with transfer = "moriio"', hint)


def check_plan(plan: Plan) -> None:
    """What the two engines and the router must agree on. A plan without the connector passes. Raises BadInput."""
    both = halves(plan.processes)
    for half in both:
        _check_http_port(half)
        _check_proxy(half, discovery_address(plan.processes))
    _check_same(both)
    _check_ranges(_ranges(plan, both))


def _check_http_port(half: Half) -> None:
    """The router sends requests to the http_port that the engine announces, whatever it listens on."""
    said, listens = str(half.extra.get("http_port")), half.process.port
    if said != str(listens):
        field = f"{half.process.role}: http_port"
        raise BadInput(field, said, f"{listens}, the engine's own --port", 'Write http_port = "{port:self}".')


def _check_proxy(half: Half, address: str | None) -> None:
    said = f"{half.extra.get('proxy_ip')}:{half.extra.get('proxy_ping_port')}"
    if said != address:
        hint = "An engine that pings elsewhere never registers, and every request is answered with 503."
        field = f"{half.process.role}: proxy_ip and proxy_ping_port"
        raise BadInput(field, said, f"{address}, where the router listens", hint)


def _check_same(both: Sequence[Half]) -> None:
    """The router keeps the mode of the first that registers and turns the other away; KV is laid out by TP."""
    values = {
        "read_mode": [half.extra.get("read_mode", False) for half in both],
        "backend": [half.extra.get("backend", "rdma") for half in both],
        "tensor-parallel-size": [half.tp for half in both],
    }
    for name, said in values.items():
        if len(set(said)) > 1:
            roles = " and ".join(half.process.role for half in both)
            raise BadInput(f"{name} of {roles}", said, "the same on both", "")


def _ranges(plan: Plan, both: Sequence[Half]) -> list[tuple[str, int, int]]:
    """Name, first port and number of ports of everything that the plan listens on, lowest first."""
    bases = [(f"{half.process.role}: {name}", half, half.extra.get(name)) for half in both for name in PORT_BASES]
    wide = [(name, _port(name, value), half.ranks) for name, half, value in bases]
    named = rooms(plan.layout)
    single = [(name, number, 1) for name, number in plan.ports.items() if name not in named]
    return sorted([*wide, *single], key=lambda each: each[1])


def _port(name: str, value: object) -> int:
    if str(value).isdecimal():
        return int(str(value))
    raise BadInput(name, value, "a port number", "vLLM's own default would be the same for both engines.")


def _check_ranges(ranges: Sequence[tuple[str, int, int]]) -> None:
    for (name, first, count), (other, above, _) in pairwise(ranges):
        if first + count > above:
            hint = f"Rank r listens on it plus r: {first} to {first + count - 1}." if count > 1 else ""
            raise BadInput(other, above, f"a port that {name} ({first}, {count} in a row) leaves free", hint)
    for name, first, count in ranges[-1:]:
        if first + count - 1 > _LAST_PORT:
            raise BadInput(name, first, f"at most {_LAST_PORT - count + 1}: {count} ports in a row", "")
