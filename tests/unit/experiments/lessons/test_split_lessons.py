"""Transfers, the balance of the split and MoRI-IO's settings, from runs and plans with known answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from builders import a_step

from labkit.core.errors import BadInput
from labkit.engines.profiles import list_profiles, load_profile
from labkit.experiments.lessons import moriio
from labkit.experiments.lessons.model_configs import shape_of
from labkit.experiments.lessons.split_balance import (
    balance,
    balance_shown,
    first_tokens_by_turn,
    ledger,
    split_costs_more_than_it_frees,
)
from labkit.experiments.lessons.split_pays import by_hit_rate
from labkit.experiments.lessons.transfers import (
    block_tokens,
    dots,
    share_of_the_wait,
    transfers_shown,
    turn_bytes,
    whole_blocks_move,
)
from labkit.store.runs import Run, RunStore

CPU, TARGET = load_profile("cpu-smollm2"), load_profile("mi300x-8-qwen3-235b")
BLOCK = 32 * 46_080


def replayed(root: Path, n: int = 6, later: float = 3.0, bytes_moved: int = 2 * BLOCK, **growth: Any) -> Run:
    """`n` turns of 1000 tokens, 900 of them cached: 0.2 s of prefill in 0.25 s to the first token without the split;
    with it 0.4 s, a transfer of 10 ms, and a first token `later` seconds later."""
    argv = ["python", "--block-size", "32"]
    fingerprint = {"engines": {"e": {"processes": [{"role": "decode", "argv": argv, "env": {}}]}}}
    with RunStore(root).create(
        "replay", {"arms": ["prefix", "prefix+pd"], "profile": "cpu-smollm2"}, fingerprint
    ) as run:
        for arm, first, told in (
            ("prefix", 0.25, {"prefill_s": 0.2}),
            ("prefix+pd", 0.25 + later, {"prefill_s": 0.4, "transfer_s": 0.01, "transferred_tokens": 50}),
        ):
            for turn in range(1, n + 1):
                t = 10.0 * turn
                times = {"t_send": t, "t_first_token": t + first, "t_last": t + first + 1, "t_end": t + first + 1}
                run.step(a_step(run.id, arm=arm, turn=turn, prompt_tokens=1000, cached_tokens=900, **times, **told))
        decode = {"transfers": 4, "transfer_bytes": bytes_moved, "transfer_s": 0.04, "transfer_failures": 0,
                  "prompt_transferred": 50, **growth}  # fmt: skip
        about = {"arm": "prefix+pd", "repeat": 0, "condition": "", "cache": "cold"}
        run.event("counters", **about, processes={"decode": {"growth": decode}, "prefill": {"growth": {}}})
        run.finish("done", "")
    return RunStore(root).open(run.id)


class TestShapes:
    def test_bytes_of_both_models(self):
        assert str(shape_of(CPU)) == "2 x 30 layers x 3 KV heads x 64 numbers x 4 bytes = 46,080 bytes a token"
        assert shape_of(TARGET).bytes_per_token == 2 * 94 * 4 * 128 * 2 == 188 * 1024

    @pytest.mark.parametrize("name", list_profiles())
    def test_the_model_of_every_shipped_profile_has_one(self, name: str):
        assert shape_of(load_profile(name)) is not None

    def test_a_model_that_is_not_known_has_no_shape(self):
        model = CPU.model.model_copy(update={"weights": None, "path": "somebody/else"})
        assert shape_of(CPU.model_copy(update={"model": model})) is None


class TestTransfers:
    def test_the_connectors_counters_in_words(self, tmp_path):
        (row,) = transfers_shown(replayed(tmp_path), "prefix+pd").to_dict("records")
        assert row == {
            "transfers (n)": "4", "failed": "0", "prompt tokens moved, a transfer": "12.5",
            "moved, a transfer": "0.737 MB", "time, a transfer": "10.0 ms", "bytes a token": "58,982",
            "rate": "73.7 MB/s",
        }  # fmt: skip

    def test_whole_blocks_are_told_from_others(self, tmp_path):
        whole = replayed(tmp_path / "a")
        assert block_tokens(whole) == 32
        outcome = whole_blocks_move(whole, "prefix+pd", shape_of(CPU))
        assert outcome.holds is True
        assert outcome.saw.startswith(
            "4 transfers moved exactly 2 blocks of 32 tokens, 58,982 bytes for each of the 50"
        )
        assert outcome.saw.endswith("1.28 times the arithmetic")
        other = whole_blocks_move(replayed(tmp_path / "b", bytes_moved=2 * BLOCK + 1), "prefix+pd", shape_of(CPU))
        assert other.holds is False
        assert "2 blocks and 1 bytes" in other.saw

    def test_a_connector_without_counters_is_not_judged(self, tmp_path):
        run = replayed(tmp_path, transfer_bytes=None, prompt_transferred=None)
        assert whole_blocks_move(run, "prefix+pd", shape_of(CPU)).holds is None
        assert whole_blocks_move(run, "prefix+pd", None).holds is None

    def test_each_steps_transfer_is_a_dot(self, tmp_path):
        info = dots(replayed(tmp_path), "prefix+pd", shape_of(CPU))
        assert info.n == 6
        assert info.sizes[0] == pytest.approx(50 * 46_080 / 1e6)
        assert info.ms[0] == pytest.approx(10)
        assert dots(replayed(tmp_path), "prefix+pd", None).unit == "tokens"

    def test_its_share_of_the_wait(self, tmp_path):
        outcome = share_of_the_wait(replayed(tmp_path), "prefix+pd")
        assert outcome.holds is True
        assert "60.0 ms of the 19.5 s until first tokens, 0.3 % of them, n = 6 steps" in outcome.saw
        assert share_of_the_wait(replayed(tmp_path), "prefix").holds is None

    def test_what_the_turns_would_move_with_another_model(self, tmp_path):
        table = turn_bytes(replayed(tmp_path, n=2), "prefix+pd", shape_of(TARGET))
        assert list(table.loc[2]) == [1, "1,000", "100", "193 MB", "19.3 MB"]
        assert turn_bytes(replayed(tmp_path), "base", shape_of(TARGET)).empty


class TestBalance:
    def test_what_is_paid_and_what_for(self, tmp_path):
        found = balance(replayed(tmp_path), "prefix", "prefix+pd")
        assert (found.n, found.prompt, found.new) == (6, 1000, 100)
        assert (found.saved, found.paid, found.smaller, found.transfer) == pytest.approx((0.2, 3.0, 0.2, 0.01))
        assert found.detour == pytest.approx(2.79)
        table = balance_shown(found)
        assert list(table.loc["KV transfer"]) == ["–", "10.0 ms", "+10.0 ms"]
        assert list(table.loc["time to first token"]) == ["250 ms", "3.25 s", "+3.00 s"]
        assert list(table.loc["router, queues, servers"]) == ["50.0 ms", "2.84 s", "+2.79 s"]
        assert list(table.loc["after the first token"]) == ["1.00 s", "1.00 s", "+0.00 ms"]

    @pytest.mark.parametrize(
        ("later", "n", "holds"), [(3.0, 6, True), (0.21, 6, True), (0.1, 6, False), (3.0, 4, None)]
    )
    def test_more_lost_than_freed(self, tmp_path, later, n, holds):
        outcome = split_costs_more_than_it_frees(balance(replayed(tmp_path, n, later), "prefix", "prefix+pd"))
        assert outcome.holds is holds
        assert "1,000 prompt tokens, 90 % of them cached, which left 200 ms of prefill" in outcome.saw

    def test_at_other_hit_rates(self, tmp_path):
        table = by_hit_rate(balance(replayed(tmp_path), "prefix", "prefix+pd"), (0.0, 0.9, 1.0))
        # 2 ms a token without the split, 4 ms with it, and 2.8 s that do not depend on the tokens
        assert list(table["prefill to split off"]) == ["2.00 s", "200 ms", "0.00 ms"]
        own, equal = "with these rates", "with equal rates of prefill"
        assert list(table[f"own first token later, {own}"]) == ["+4.80 s", "+3.00 s", "+2.80 s"]
        assert list(table[f"streams that even it out, {own}"]) == ["2.40", "15.0", "–"]
        assert list(table[f"own first token later, {equal}"]) == ["+2.80 s"] * 3
        assert list(table[f"streams that even it out, {equal}"]) == ["1.40", "14.0", "–"]

    def test_a_split_that_is_not_later_pays_at_once(self, tmp_path):
        # the first token comes 0.1 s sooner though prefill takes 0.2 s more: the rest is 0.3 s less
        table = by_hit_rate(balance(replayed(tmp_path, later=-0.1), "prefix", "prefix+pd"), (0.9,))
        assert list(table.iloc[0])[3:] == ["0", "-300 ms", "0"]

    def test_without_a_pair_nothing_is_said(self, tmp_path):
        found = balance(replayed(tmp_path), "base", "prefix+pd")
        assert found is None
        assert balance_shown(found).empty
        assert by_hit_rate(found).empty
        assert split_costs_more_than_it_frees(found).holds is None

    def test_first_tokens_by_turn_are_of_pairs(self, tmp_path):
        info = first_tokens_by_turn(replayed(tmp_path, n=2), "prefix", "prefix+pd")
        assert (info.with_s, info.without_s, info.n) == (pytest.approx((3.25, 3.25)), pytest.approx((0.25, 0.25)), 2)
        assert first_tokens_by_turn(replayed(tmp_path), "base", "prefix+pd").caption.empty

    def test_the_ledger_is_of_the_two_arms(self, tmp_path):
        assert [one.arm for one in ledger(replayed(tmp_path), "prefix", "prefix+pd").arms] == ["prefix", "prefix+pd"]


class TestMoriio:
    def test_read_mode_is_all_that_differs(self):
        write = moriio.planned(TARGET, "pd")
        read = moriio.planned(moriio.with_connector(TARGET, read_mode=True), "pd")
        table = moriio.differences(write, read, ("WRITE", "READ"))
        setting = "--kv-transfer-config kv_connector_extra_config.read_mode"
        assert table.values.tolist() == [[half, setting, "false", "true"] for half in ("prefill", "decode")]

    @pytest.mark.parametrize(("profile", "most"), [(CPU, 12), (TARGET, 12)])
    def test_in_short_each_process_says_what_it_is_for_and_no_setting_is_lost(self, profile, most):
        whole = moriio.differences(moriio.planned(profile, "prefix"), moriio.planned(profile, "prefix+pd"), ("a", "b"))
        short = moriio.in_short(whole)
        assert list(short) == list(whole)
        assert len(short) <= most < len(whole)
        assert list(short[short["setting"] == "role"]["b"]) == ["kv_producer", "kv_consumer"]
        more = short[short["b"].str.endswith(" more")]
        assert list(more["process"]) == list(dict.fromkeys(whole["process"]))
        assert len(short) - len(more) + sum(int(said.split()[0]) for said in more["b"]) == len(whole)

    def test_a_setting_that_the_connector_does_not_name_is_refused(self):
        with pytest.raises(BadInput, match=r"MoRIIOConnector.*read_mod\b"):
            moriio.with_connector(TARGET, read_mod=True)

    def test_all_settings_of_both_halves(self):
        table = moriio.connector_shown(moriio.planned(TARGET, "pd"))
        assert list(table) == ["prefill", "decode"]
        assert list(table.loc["kv_role"]) == ["kv_producer", "kv_consumer"]
        assert list(table.loc["kv_connector_extra_config.http_port"]) == ["20005", "40005"]

    def test_no_plan_names_the_interpreter_of_this_machine(self):
        for profile in (CPU, TARGET):
            plan = moriio.planned(profile, "all")
            assert not [word for process in plan.processes for word in process.argv if "/bin/python" in word]

    def test_another_layer_is_shown_setting_by_setting(self):
        table = moriio.differences(moriio.planned(TARGET, "pd"), moriio.planned(TARGET, "all"), ("pd", "all"))
        method = table[table["setting"] == "--speculative-config method"]
        assert method.values.tolist() == [
            [half, "--speculative-config method", "–", "eagle3"] for half in ("prefill", "decode")
        ]
        off = table[table["setting"] == "--no-enable-prefix-caching"]
        assert off[["pd", "all"]].values.tolist() == [["set", "–"]] * 2

    def test_claims_are_those_of_the_source(self):
        found = moriio.published("slo_attainment", "MoRI-IO")
        assert len(found) == 4
        assert set(found["source"]) == {"vLLM blog, MoRI-IO"}
        assert list(moriio.published_shown(found)) == ["n", "hardware", "source", "date", "but"]
