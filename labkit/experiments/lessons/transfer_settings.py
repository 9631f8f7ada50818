"""Which settings bound a KV transfer in vLLM 0.32, what a profile makes of them, and what was claimed of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import pandas as pd

from labkit.core.arms import arm_named
from labkit.engines.plan import make_plan
from labkit.engines.profiles import Profile
from labkit.experiments.report.english import shown

CLAIMED = ("article-rdma-timeout", "article-retry-count", "article-max-transfers", "article-buffer-size")
"""Settings of the seed article that there are not."""


class Setting(NamedTuple):
    """`default`: of vLLM 0.32 and its router; `what`: what it bounds, and what follows."""

    name: str
    where: str
    default: str
    what: str


SETTINGS = (
    Setting("kv_load_failure_policy", "both engines", "fail", "blocks did not arrive: end the request, or recompute"),
    Setting("transfer_timeout", "MoRI-IO", "30 s", "wait for a transfer to complete, then it is an error"),
    Setting("defer_timeout", "MoRI-IO", "60 s", "prefill frees blocks that nobody has fetched"),
    Setting("recv_abort_timeout", "MoRI-IO", "120 s", "decode gives up blocks that never came"),
    Setting("kv_lease_duration", "NIXL", "30 s", "prefill keeps blocks for decode; a heartbeat renews it"),
    Setting("--retry-max-retries", "router", "5", "an HTTP request is sent again; no transfer is"),
)


def settings_table(profile: Profile) -> pd.DataFrame:
    """A row per setting: where it belongs, its default, this profile's value (a dash: left at the default)."""
    connector = profile.layers.pd_split.connector
    values: dict[str, Any] = {**connector, **connector.get("kv_connector_extra_config", {})}
    rows = [(*each[:3], shown(values.get(each.name)), each.what) for each in SETTINGS]
    table = pd.DataFrame(rows, columns=["setting", "of", "default", "this profile", "what it bounds"])
    if "--disable-retries" in _router_words(profile):
        table.loc[table["of"] == "router", "this profile"] = "off: a failed request is a failed step"
    return table


def _router_words(profile: Profile) -> list[str]:
    plan = make_plan(profile, arm_named("prefix+pd"))
    return [word for process in plan.processes if process.role == "router" for word in process.argv]


def claims_on_transfer(claims: pd.DataFrame) -> pd.DataFrame:
    """What was claimed of such settings, and what is true of vLLM 0.32; columns `claimed`, `source`, `today`."""
    found = claims[claims["id"].isin(CLAIMED)]
    return found[["statement", "source", "today"]].rename(columns={"statement": "claimed"}).reset_index(drop=True)
