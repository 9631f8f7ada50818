"""What a plan with MoRI-IO must hold: said when it is made, with the field, the value and what is allowed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from labkit.core.arms import ARMS, arm_named
from labkit.core.errors import BadInput
from labkit.engines.moriio.checks import check_plan
from labkit.engines.moriio.halves import halves, rooms
from labkit.engines.plan import FIRST_PORT, Plan, make_plan
from labkit.engines.profiles import Profile, list_profiles, load_profile

MI300X = load_profile("mi300x-8-qwen3-235b")
EXTRA = "layers.pd_split.connector.kv_connector_extra_config"
GONE = object()
"""A setting that is not there."""


def with_settings(**settings: Any) -> Profile:
    """The profile with these in kv_connector_extra_config."""
    data = MI300X.model_dump()
    extra = data["layers"]["pd_split"]["connector"]["kv_connector_extra_config"]
    extra |= settings
    for name in [name for name, value in extra.items() if value is GONE]:
        del extra[name]
    return Profile.model_validate(data)


def split(profile: Profile = MI300X, **asked: Any) -> Plan:
    return make_plan(profile, arm_named("pd"), **asked)


@pytest.mark.parametrize("name", list_profiles())
def test_every_shipped_profile_and_variant_passes(name: str) -> None:
    profile = load_profile(name)
    for each in (profile, *(load_profile(f"{name}+{variant}") for variant in profile.variants)):
        for arm in ARMS:
            make_plan(each, arm)


@pytest.mark.parametrize(
    ("settings", "words", "hint"),
    [
        ({"transfer_timeout": 30000}, "transfer_timeout: 30000 is not allowed; allowed: seconds, more than 0", "8.3 h"),
        ({"defer_timeout": 0}, "defer_timeout: 0 is not allowed; allowed: seconds, more than 0", "not milliseconds"),
        ({"defer_timeout": -1}, "defer_timeout: -1 is not allowed", "These are seconds"),
        ({"recv_abort_timeout": "120"}, "recv_abort_timeout: '120' is not allowed", "default is 120"),
        ({"recv_abort_timeout": True}, "recv_abort_timeout: True is not allowed", "These are seconds"),
        ({"transfer_timeout": float("nan")}, "transfer_timeout: nan is not allowed", "These are seconds"),
        ({"transfer_timeout": float("inf")}, "transfer_timeout: inf is not allowed", "These are seconds"),
        ({"defer_timeout": 20}, "defer_timeout: 20 is not allowed; allowed: 30 seconds (transfer_timeout)", "frees"),
        ({"transfer_timeout": 90}, "defer_timeout: 60 is not allowed; allowed: 90 seconds (transfer_timeout)", "frees"),
        ({"recv_abort_timeout": 20}, "recv_abort_timeout: 20 is not allowed; allowed: 30 seconds", "Decode gives a"),
        ({"backend": "tcp"}, "backend: 'tcp' is not allowed; allowed: rdma or xgmi", "xgmi stays within a node"),
        ({"read_mode": "yes"}, "read_mode: 'yes' is not allowed; allowed: true or false", "for WRITE"),
        ({"read_mode": "true"}, "read_mode: 'true' is not allowed; allowed: true or false", "true is READ"),
        ({"proxy_ip": ""}, "proxy_ip: '' is not allowed", "finds the router"),
        ({"http_port": GONE}, "http_port: nothing is not allowed", "finds the router"),
        ({"rdma_timeout_ms": 500}, "rdma_timeout_ms: 500 is not allowed; allowed: proxy_ip, ", "would set nothing"),
    ],
)
def test_a_setting_that_vllm_would_refuse_misread_or_ignore(settings: dict[str, Any], words: str, hint: str) -> None:
    for arm in ("base", "pd"):  # an experiment is told before its first arm
        with pytest.raises(BadInput, match=re.escape(f"{EXTRA}.{words}")) as caught:
            make_plan(with_settings(**settings), arm_named(arm))
        assert hint in caught.value.hint


def test_the_router_that_engines_announce_themselves_to_is_started_first() -> None:
    data = MI300X.model_dump()
    data["layers"]["pd_split"]["router_first"] = False
    words = "layers.pd_split.router_first: False is not allowed; allowed: true, with transfer"
    for arm in ("base", "pd"):
        with pytest.raises(BadInput, match=re.escape(words)):
            make_plan(Profile.model_validate(data), arm_named(arm))


def test_vllms_own_defaults_stand_in_for_what_is_not_given() -> None:
    split(with_settings(transfer_timeout=GONE, defer_timeout=GONE, recv_abort_timeout=GONE, read_mode=GONE))
    with pytest.raises(BadInput, match="defer_timeout: 60 is not allowed"):
        split(with_settings(transfer_timeout=61, defer_timeout=GONE))


@pytest.mark.parametrize(
    ("ports", "words", "hint"),
    [
        ({"decode-notify": 6108}, "decode: notify_port: 6108 is not", "6105 to 6108"),
        ({"prefill-handshake": 6107}, "prefill: handshake_port: 6107 is not", "6105 to 6108"),
        ({"router": 6106}, "router: 6106 is not", "6105 to 6108"),
        ({"discovery": 7504}, "discovery: 7504 is not", "7501 to 7504"),
        ({"router-metrics": 7303}, "router-metrics: 7303 is not", "7301 to 7304"),
        ({"decode-notify": 6105}, "6105 is not", "6105 to 6108"),
        ({"decode-notify": 65533}, "decode: notify_port: 65533 is not allowed; allowed: at most 65532", ""),
    ],
)
def test_every_rank_needs_a_port_of_its_own(ports: dict[str, int], words: str, hint: str) -> None:
    with pytest.raises(BadInput, match=re.escape(words)) as caught:
        split(ports=ports)
    assert hint in caught.value.hint


def test_ranks_are_counted_by_the_parallel_sizes() -> None:
    split(ports={"decode-notify": 6109})
    sixteen = {"flags": {**MI300X.engine.flags, "tensor-parallel-size": 8}, "gpus": (range(8), range(8, 16))}
    engine = MI300X.engine.model_copy(update=sixteen)
    with pytest.raises(BadInput, match="prefill: notify_port"):
        split(MI300X.model_copy(update={"engine": engine}), ports={"decode-notify": 6109})
    assert rooms(split().layout) == dict.fromkeys(
        ["prefill-handshake", "prefill-notify", "decode-handshake", "decode-notify"], 4
    )


def test_ports_that_a_profile_does_not_fix_are_counted_up_with_room() -> None:
    plan = split(MI300X.model_copy(update={"ports": {}}))
    assert plan.ports["prefill"] == FIRST_PORT
    assert plan.ports["prefill-notify"] == plan.ports["prefill-handshake"] + 4


def changed(role: str, change: Callable[[dict[str, Any]], object]) -> Plan:
    """The plan with one half's --kv-transfer-config edited."""
    plan = split()
    layout = []
    for each in plan.layout:
        argv = list(each.argv)
        if each.role == role:
            place = argv.index("--kv-transfer-config") + 1
            config = json.loads(argv[place])
            change(config["kv_connector_extra_config"])
            argv[place] = json.dumps(config)
        layout.append(replace(each, argv=tuple(argv)))
    return replace(plan, layout=tuple(layout))


@pytest.mark.parametrize(
    ("setting", "value", "words"),
    [
        ("http_port", "8000", "decode: http_port: '8000' is not allowed; allowed: 40005, the engine's own --port"),
        ("proxy_ping_port", "36368", "decode: proxy_ip and proxy_ping_port: '127.0.0.1:36368' is not allowed"),
        ("read_mode", True, "read_mode of prefill and decode: False,True is not allowed; allowed: the same on both"),
        ("backend", "rdma", "backend of prefill and decode: xgmi,rdma is not allowed; allowed: the same on both"),
        ("notify_port", "", "decode: notify_port: '' is not allowed; allowed: a port number"),
    ],
)
def test_the_two_halves_and_the_router_must_agree(setting: str, value: object, words: str) -> None:
    with pytest.raises(BadInput, match=re.escape(words)):
        check_plan(changed("decode", lambda extra: extra.__setitem__(setting, value)))


def test_both_halves_are_split_alike() -> None:
    plan = split()
    decode = plan.layout[1]
    place = decode.argv.index("--tensor-parallel-size") + 1
    other = replace(decode, argv=(*decode.argv[:place], "2", *decode.argv[place + 1 :]))
    with pytest.raises(BadInput, match="tensor-parallel-size of prefill and decode: 4,2 is not allowed"):
        check_plan(replace(plan, layout=(plan.layout[0], other, plan.layout[2])))


def test_other_connectors_and_arms_are_left_alone() -> None:
    cpu = load_profile("cpu-smollm2")
    assert halves(make_plan(cpu, arm_named("all"), cores=[0]).layout) == ()
    assert halves(make_plan(MI300X, arm_named("prefix")).layout) == ()
    assert [half.process.role for half in halves(split().layout)] == ["prefill", "decode"]
