"""`labkit cost` and `labkit claims`, as a user sees them."""

import json
from pathlib import Path

import pytest
import typer
from builders import a_sample, a_step
from rich.console import Console
from typer.testing import CliRunner

from labkit.cli import claims, cost
from labkit.cli.claims_view import claims_table
from labkit.core.errors import BadInput, LabError, UnknownName
from labkit.store.claims import load_claims
from labkit.store.prices import load_prices
from labkit.store.runs import RunStore


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunStore:
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("COLUMNS", "110")
    monkeypatch.chdir(tmp_path)
    return RunStore()


def labkit(*arguments: str) -> str:
    app = typer.Typer()
    cost.register(app)
    claims.register(app)
    return CliRunner().invoke(app, list(arguments), catch_exceptions=False).output


def words(text: str) -> str:
    return " ".join(text.split())


def a_run(store: RunStore, *, profile: str = "cpu-smollm2", reached: bool | None = None, joules: bool = False) -> str:
    """An hour and a half of one task: 1000 prompt tokens, 400 of them computed, 50 generated."""
    asked = {"profile": profile, "arm": "base", "task": "count"}
    with store.create("agent", asked, {}) as run:
        unread = {"rapl": "no intel-rapl", "nvml": "no NVIDIA driver"}
        run.event("energy", read={"rapl": ["package-0"]} if joules else {}, unread={} if joules else unread)
        tokens = {"prompt_tokens": 1000, "cached_tokens": 600, "completion_tokens": 50}
        run.step(a_step(run.id, agent="0", t_send=0.0, t_end=5400.0, **tokens), [])
        if joules:
            values = [(0.0, 0.0), (5400.0, 81_000.0)]
            names = {"source": "rapl", "name": "package-0/energy", "unit": "J"}
            run.samples([a_sample(run.id, t=t, value=value, **names) for t, value in values])
        if reached is not None:
            run.event("outcome", reached=reached, stop_reason="finished", steps=1, seconds=1.0)
    return run.id


def test_every_assumption_of_a_cost_is_printed(store: RunStore) -> None:
    shown = words(labkit("cost", a_run(store)))
    for figure in load_prices()["laptop-cpu"].figures:
        value = f"{figure.value:,g} {figure.unit}".rstrip()
        assert words(f"{figure.name} {value} {figure.date} assumption: {figure.source}"[:55]) in shown
    assert "At this load: one agent at a time." in shown
    assert "1 / –" in shown
    assert "Solved: not known of every attempt, since some were not judged." in shown  # an agent, and no replay
    assert "Energy: not measured. rapl: no intel-rapl; nvml: no NVIDIA driver." in shown


def test_the_numbers_are_those_of_the_price(store: RunStore) -> None:
    """1.5 h at 8 * 2 = 16 USD: 24 in all; 60,000 for a million of the 400 computed tokens."""
    run = a_run(store, reached=True)
    shown = words(labkit("cost", run, "--price", "mi300x-8-rent", "--set", "rent_per_gpu_hour=2"))
    assert "$16.0 an hour of work" in shown
    assert "1 / 1 $24.0 $24.0 $60,000 $24,000 $480,000 –" in shown
    assert "rent_per_gpu_hour 2 USD/h" in shown
    assert "assumption: set on the command line" in shown
    assert "mi300x-8-rent is not the machine of this run (cpu-smollm2): its times would be others." in shown
    assert "not checked" not in shown


def test_none_solved_is_a_dash_with_the_words(store: RunStore) -> None:
    shown = words(labkit("cost", a_run(store, reached=False), "--price", "mi300x-8-rent"))
    assert "1 / 0 $31.1 – " in shown
    assert "then there is no cost per solved task" in shown


def test_energy_that_was_read_is_shown(store: RunStore) -> None:
    shown = words(labkit("cost", a_run(store, joules=True)))
    assert "81.0 kJ" in shown
    assert "Energy of all that could be read (rapl: package-0), idle power included." in shown


def test_task_runs_of_different_length_are_said(store: RunStore) -> None:
    with store.create("replay", {"profile": "cpu-smollm2"}, {}) as run:
        for arm, turns in (("base", 3), ("prefix", 2)):
            for turn in range(turns):
                run.step(a_step(run.id, arm=arm, turn=turn), [])
    assert "Task runs differ in length (2.0 to 3.0 steps)" in words(labkit("cost", run.id))


def test_json_has_the_rows_and_the_figures(store: RunStore) -> None:
    told = json.loads(labkit("cost", a_run(store), "--json"))
    assert told["costs"][0]["usd_per_solved"] is None
    assert told["costs"][0]["seconds"] == 5400
    assert {figure["name"] for figure in told["figures"]["laptop-cpu"]} >= {"years", "power", "pue"}


def test_the_block_that_only_shows_drift_is_not_paid_for(store: RunStore) -> None:
    asked = {"profile": "cpu-smollm2", "recording": "count", "arms": ["base"], "repeats": 1, "drift_check": True}
    with store.create("replay", asked, {}) as run:
        for repeat, start in ((0, 0.0), (1, 5000.0)):
            run.step(a_step(run.id, repeat=repeat, t_send=start, t_end=start + 100.0), [])
    (row,) = json.loads(labkit("cost", run.id, "--json"))["costs"]
    assert (row["seconds"], row["n_tasks"]) == (100.0, 1)


def test_what_is_wrong_is_said(store: RunStore) -> None:
    run = a_run(store, profile="my-node")
    with pytest.raises(LabError, match="no price is known for profile 'my-node'") as error:
        labkit("cost", run)
    assert f"labkit cost {run} --price mi300x-8-rent" in error.value.hint
    with pytest.raises(UnknownName, match="did you mean h100-8-rent"):
        labkit("cost", run, "--price", "h100")
    with pytest.raises(BadInput, match="labkit cost latest"):
        labkit("cost")
    with pytest.raises(LabError):
        labkit("cost", "no-such-run")


def test_a_profile_without_a_price_is_told_those_of_its_gpu_the_same_machine_first(store: RunStore) -> None:
    run = a_run(store, profile="h200-1-qwen3-8b")
    with pytest.raises(LabError, match="no price is known for profile 'h200-1-qwen3-8b'") as error:
        labkit("cost", run)
    assert f"labkit cost {run} --price h200-8-rent" in error.value.hint
    assert "Of that machine: h200-8-rent." in error.value.hint
    known = load_prices()
    assert known.named_like("mi300x-8-other") == ["mi300x-8-rent", "mi300x-8-reserved", "mi300x-8-own"]
    assert known.named_like("my-node") == known.named_like("") == []


def test_a_variant_costs_what_its_profile_does(store: RunStore) -> None:
    assert "laptop-cpu" in labkit("cost", a_run(store, profile="cpu-smollm2+max-num-seqs=2"))


def test_an_attached_engine_is_not_priced_as_the_profile_that_was_named_beside_it(store: RunStore) -> None:
    engines = {"h:1": {"attached": True, "arm": "prefix", "url": "http://h:1", "model": "m"}}
    with store.create("replay", {"profile": "cpu-smollm2", "recording": "r"}, {"engines": engines}) as run:
        run.step(a_step(run.id, t_send=0.0, t_end=1.0), [])
    with pytest.raises(
        LabError, match="http://h:1 was attached, and the machine that it runs on is not known"
    ) as error:
        labkit("cost", run.id)
    assert "--price" in error.value.hint
    assert "is not the machine of this run" in words(labkit("cost", run.id, "--price", "laptop-cpu"))


def test_prices_of_ones_own(store: RunStore, tmp_path: Path) -> None:
    text = (Path(__file__).parents[3] / "data" / "prices.toml").read_text()
    (tmp_path / "mine.toml").write_text(text.replace('profiles = ["cpu-smollm2"]', 'profiles = ["my-node"]'))
    assert "laptop-cpu" in labkit("cost", a_run(store, profile="my-node"), "--prices", "mine.toml")


def test_the_list_shows_every_price_with_its_figures() -> None:
    shown = words(labkit("cost", "--list"))
    for price in load_prices().values():
        assert f"{price.name}: {price.about}" in shown
    assert "(hardware $11.9 + upkeep $4.76 + power $0.918)" in shown


def test_published_rates_are_costed_and_what_is_missing_is_said() -> None:
    """8 * 2.59 USD / (8 * 3600) requests: 0.000719; 73 % of them good: 0.000986."""
    shown = words(labkit("cost", "--published", "--price", "mi300x-8-rent"))
    assert "moriio-write 8.00 73 % $0.000719 $0.000986 $0.719 –" in shown
    assert "not available: requests_per_s, good_share, generated_tokens" in shown
    assert "Offered rate, taken for the rate served" in shown
    rows = json.loads(labkit("cost", "--published", "--json"))
    assert {row["price"] for row in rows if row["id"] == "moriio-read"} >= {"mi300x-8-rent", "mi300x-8-own"}
    assert "laptop-cpu" not in {row["price"] for row in rows if row["id"] == "moriio-read"}


def test_claims_can_be_narrowed_down() -> None:
    shown = words(labkit("claims", "--layer", "pd_split", "--hardware", "MI300X", "--metric", "goodput"))
    assert "2.5x" in shown
    assert "https://vllm.ai/blog/moriio-kv-connector" in shown
    assert "prefix caching was off in both PD modes" in shown
    assert "1 claim. None was measured by this lab" in shown
    assert "No claim matches hardware 'abacus'" in labkit("claims", "--hardware", "abacus")
    with pytest.raises(UnknownName, match="did you mean prefix_caching"):
        labkit("claims", "--layer", "prefix")


def test_claims_tell_what_is_true_today_and_all_there_is_when_asked() -> None:
    assert "today: There is no such name." in words(labkit("claims", "--metric", "api"))
    assert "engine: vLLM 0.16rc1, MoRI-IO" in words(labkit("claims", "--metric", "goodput", "--full"))
    rows = json.loads(labkit("claims", "--layer", "none", "--json"))
    assert {row["layer"] for row in rows} == {"none"}


@pytest.mark.parametrize("width", [80, 120])
def test_claims_fit_the_terminal(width: int) -> None:
    console = Console(width=width, record=True, file=None)
    with console.capture() as captured:
        console.print(claims_table(load_claims(), full=True))
    assert max(len(line.rstrip()) for line in captured.get().splitlines()) <= width
    assert "…" not in captured.get()


def test_a_replay_says_that_it_solves_nothing(store: RunStore) -> None:
    with store.create("replay", {"profile": "cpu-smollm2", "recording": "tiny", "arms": ["base"]}, {}) as run:
        run.step(a_step(run.id, t_send=0.0, t_end=5400.0), [])
    assert "Solved: not checked, since a replay sends recorded requests" in words(labkit("cost", run.id))
