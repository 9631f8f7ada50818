"""The ceiling of the hit rate: by hand, against a brute force, and on published traffic."""

import json
import os
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.analysis.ceiling import PrefixIndex, common, prefix_ceiling
from labkit.core.errors import BadInput


def brute_force(seen: list[list[int]], prompt: list[int], block: int) -> int:
    """Longest common prefix with anything seen, cut to whole blocks that were whole there, and below the length."""
    best = 0
    for tokens in seen:
        common = next((i for i, (a, b) in enumerate(zip(tokens, prompt, strict=False)) if a != b), None)
        best = max(best, min(len(tokens), len(prompt)) if common is None else common)
    return min(best, len(prompt) - 1) // block * block if prompt else 0


def test_by_hand():
    requests = [[1, 2, 3, 4, 5], [1, 2, 3, 4, 5], [1, 2, 3, 4], [1, 2, 9, 9, 9], [1, 2, 9, 9, 9, 9, 7]]
    assert prefix_ceiling(requests, block_size=2) == [0, 4, 2, 2, 4]
    assert prefix_ceiling([[1] * 128, [1] * 129, [1] * 128], block_size=128) == [0, 128, 0]


def test_generated_tokens_count_but_for_the_last_one():
    requests = [[1, 2, 3], [1, 2, 3, 4, 5, 6, 7]]
    assert prefix_ceiling(requests, 2) == [0, 2]
    assert prefix_ceiling(requests, 2, generated=[[4, 5], []]) == [0, 4]
    assert prefix_ceiling(requests, 2, generated=[[4, 5, 6, 0], []]) == [0, 6]
    assert prefix_ceiling(requests, 2, generated=[[4], []]) == [0, 2]


def test_a_block_hits_only_under_the_same_blocks_before_it():
    assert prefix_ceiling([[1, 1, 5, 5, 0], [2, 2, 5, 5, 0], [5, 5, 0]], 2) == [0, 0, 0]


bits = st.integers(0, 1)
requests = st.lists(st.lists(bits, max_size=14), max_size=8)


@given(requests, st.integers(1, 4))
def test_it_is_the_brute_force(prompts: list[list[int]], block: int):
    assert prefix_ceiling(prompts, block) == [brute_force(prompts[:i], p, block) for i, p in enumerate(prompts)]


@given(st.lists(st.tuples(st.lists(bits, max_size=9), st.lists(bits, max_size=5)), max_size=6))
def test_it_is_the_brute_force_with_generated_tokens(pairs: list[tuple[list[int], list[int]]]):
    prompts, outputs = [p for p, _ in pairs], [o for _, o in pairs]
    seen = [p + o[:-1] for p, o in pairs]
    assert prefix_ceiling(prompts, 2, outputs) == [brute_force(seen[:i], p, 2) for i, p in enumerate(prompts)]


@given(requests, st.integers(1, 4))
def test_shared_is_the_longest_common_prefix_and_never_rounded(prompts: list[list[int]], block: int):
    index = PrefixIndex(block)
    for at, prompt in enumerate(prompts):
        assert index.shared(prompt) == max((common(prompt, seen) for seen in prompts[:at]), default=0)
        assert index.ceiling(prompt) == max(0, min(index.shared(prompt), len(prompt) - 1)) // block * block
        index.add(prompt)


def test_what_was_seen_and_not_computed_is_shared_and_no_ceiling():
    index = PrefixIndex(2)
    index.add([1, 2, 3])
    index.see([1, 2, 3, 4])
    assert (index.shared([1, 2, 3, 4, 5]), index.ceiling([1, 2, 3, 4, 5])) == (4, 2)
    assert index.shared([1, 2, 3, 9]) == 3


def test_one_list_of_outputs_per_request():
    with pytest.raises(BadInput, match="generated"):
        prefix_ceiling([[1], [2]], 2, generated=[[3]])
    with pytest.raises(BadInput, match="block_size"):
        PrefixIndex(0)


def test_a_long_agent_run_takes_linear_time():
    """500 turns growing to 50,000 tokens: 12.5 million prompt tokens, which a quadratic search would not finish."""
    text = list(range(50_000))
    start = time.process_time()
    ceilings = prefix_ceiling([text[: 100 * turn] for turn in range(1, 501)], 32)
    assert ceilings[-1] == (49_900 // 32) * 32
    assert time.process_time() - start < 10


def test_on_mooncake_conversations():
    """Block ids are global there and name a whole prefix, so the set of ids seen gives the answer another way."""
    default = Path(__file__).parents[3].parent / "shared" / "traces"
    folder = Path(os.environ.get("LABKIT_TEST_TRACES") or default)
    file = folder / "mooncake" / "conversation_trace.head300.jsonl"
    if not file.exists():
        pytest.skip(f"{file} is not here; point LABKIT_TEST_TRACES at a folder with mooncake/{file.name}")
    prompts = [json.loads(line)["hash_ids"] for line in file.read_text().splitlines()]
    seen: set[int] = set()
    expected = []
    for ids in prompts:
        known = next((i for i, block in enumerate(ids) if block not in seen), len(ids))
        expected.append(min(known, len(ids) - 1))
        seen.update(ids)
    assert prefix_ceiling(prompts, 1) == expected
    assert 0 < sum(expected) < sum(map(len, prompts))
