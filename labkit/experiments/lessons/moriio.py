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


def connector_differences(left: Plan, right: Plan, names: tuple[str, str]) -> pd.DataFrame:
    """Everything that differs between two plans, the connector's JSON setting by setting; `names`: of the columns."""
    rows = []
    for one in diff(left, right):
        if one.setting == _CONNECTOR and one.left and one.right:
            ours, theirs = dict(_flat(json.loads(one.left))), dict(_flat(json.loads(one.right)))
            keys = [key for key in dict.fromkeys([*ours, *theirs]) if ours.get(key) != theirs.get(key)]
            rows += [(one.role, f"{_CONNECTOR} {key}", _said(ours.get(key)), _said(theirs.get(key))) for key in keys]
        else:
            rows.append((one.role, one.setting, one.left or DASH, one.right or DASH))
    return pd.DataFrame(rows, columns=["process", "setting", *names])


def connector_shown(plan: Plan) -> pd.DataFrame:
    """Every setting of the connector in both halves of a split, a row each."""
    halves = {
        process.role: dict(_flat(json.loads(process.argv[process.argv.index(_CONNECTOR) + 1])))
        for process in plan.processes
        if _CONNECTOR in process.argv
    }
    return pd.DataFrame({role: {key: _said(value) for key, value in of.items()} for role, of in halves.items()})


def _said(value: Any) -> str:
    """As it stands in the JSON; a dash where it does not."""
    return DASH if value is None else value if isinstance(value, str) else json.dumps(value)


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
