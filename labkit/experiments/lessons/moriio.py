"""The lesson on MoRI-IO: what a setting of the connector changes in the plan of a split, and what others published."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from labkit.analysis.format import DASH
from labkit.core.arms import arm_named
from labkit.core.errors import BadInput
from labkit.engines.plan import Plan, make_plan
from labkit.engines.plan_diff import diff
from labkit.engines.profiles import Profile
from labkit.store.claims import load_claims

_CONNECTOR, _EXTRA = "--kv-transfer-config", "kv_connector_extra_config"
_SHORT = {
    "LABKIT_VLLM_CPU_BIND": "cores",
    "VLLM_CPU_OMP_THREADS_BIND": "cores",
    f"{_CONNECTOR} kv_connector": "connector",
    f"{_CONNECTOR} kv_role": "role",
    f"{_CONNECTOR} {_EXTRA}.read_mode": "READ (true) or WRITE (false)",
    f"{_CONNECTOR} {_EXTRA}.backend": "backend of the transfer",
    "command": "command",
    "--vllm-pd-disaggregation": "prefill first, then decode",
}
"""The settings of a split that say what it is, by the reader's name for them."""


def planned(profile: Profile, arm: str) -> Plan:
    """The plan of an arm, with `python` for whichever interpreter it will be."""
    return make_plan(profile, arm_named(arm), python="python")


def with_connector(profile: Profile, **settings: Any) -> Profile:
    """The profile with these settings in the connector's own table. Raises BadInput for one that it does not name."""
    split = profile.layers.pd_split
    extra = split.connector.get(_EXTRA, {})
    for name in settings:
        if name not in extra:
            raise BadInput(f"setting of {split.connector['kv_connector']}", name, ", ".join(extra))
    changed = split.model_copy(update={"connector": {**split.connector, _EXTRA: {**extra, **settings}}})
    return profile.model_copy(update={"layers": profile.layers.model_copy(update={"pd_split": changed})})


def differences(left: Plan, right: Plan, names: tuple[str, str]) -> pd.DataFrame:
    """All that differs between two plans, JSON setting by setting; `names`: of the columns. A dash: not there."""
    rows = []
    for one in diff(left, right):
        ours, theirs = (_settings(one.setting, value) for value in (one.left, one.right))
        keys = [key for key in dict.fromkeys([*ours, *theirs]) if ours.get(key) != theirs.get(key)]
        rows += [(one.role, key, ours.get(key, DASH), theirs.get(key, DASH)) for key in keys]
    return pd.DataFrame(rows, columns=["process", "setting", *names])


def in_short(table: pd.DataFrame) -> pd.DataFrame:
    """Of `differences`, the settings that say what each process is for; how many others a process has, in one row."""
    rows = []
    for process, of in table.groupby("process", sort=False):
        known = of[of["setting"].isin(_SHORT)]
        rows += known.assign(setting=known["setting"].map(_SHORT)).to_numpy().tolist()
        if rest := len(of) - len(known):
            rows.append([process, "addresses, ports and other settings", DASH, f"{rest} more"])
    return pd.DataFrame(rows, columns=table.columns)


def _settings(name: str, value: str | None) -> dict[str, str]:
    """The leaves of a JSON object, each under `name` and its own; one setting where it is none."""
    if value is None:
        return {}
    if not value.startswith("{"):
        return {name: value}
    return {f"{name} {key}": _said(leaf) for key, leaf in _flat(json.loads(value))}


def connector_shown(plan: Plan) -> pd.DataFrame:
    """Every setting of the connector in both halves of a split, a row each."""
    halves = {
        process.role: dict(_flat(json.loads(process.argv[process.argv.index(_CONNECTOR) + 1])))
        for process in plan.processes
        if _CONNECTOR in process.argv
    }
    return pd.DataFrame({role: {key: _said(value) for key, value in of.items()} for role, of in halves.items()})


def _said(value: Any) -> str:
    """As it stands in the JSON."""
    return value if isinstance(value, str) else json.dumps(value)


def _flat(settings: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """`a.b` and its value, for every leaf."""
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value


def published(metric: str, source: str = "") -> pd.DataFrame:
    """Claims on the split with this metric, of sources that have these words; columns as labkit.store.claims has it."""
    claims = load_claims()
    mine = (claims["layer"] == "pd_split") & (claims["metric"] == metric)
    return claims[mine & claims["source"].str.contains(source, regex=False)]


def published_shown(claims: pd.DataFrame) -> pd.DataFrame:
    """Claims for readers: what was said, of what, by whom and when, and what to keep in mind."""
    columns = {"statement": "claim", "n": "n", "hardware": "hardware", "source": "source", "date": "date"}
    return claims[[*columns, "caution"]].rename(columns=columns).rename(columns={"caution": "but"}).set_index("claim")
