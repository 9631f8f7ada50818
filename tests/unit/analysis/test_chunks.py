"""Chunks by size, and what the tokenizer counts beside the engine."""

from dataclasses import replace

import pytest
from builders import a_step, chunks_at, frame_of

from labkit.analysis.chunks import chunk_sizes, tokens_per_chunk
from labkit.analysis.retokenized import Retokenized, retokenized
from labkit.core.records import ChunkRecord


def chunks(*sizes: int | None, **changes: object) -> list[ChunkRecord]:
    made = chunks_at(a_step(**changes), *range(len(sizes)))
    return [replace(chunk, tokens=size) for chunk, size in zip(made, sizes, strict=True)]


def test_chunks_are_counted_by_their_tokens_and_unknown_ones_left_out():
    rows = [*chunks(1, 3, 3, None, arm="spec"), *chunks(1, 1, arm="base"), *chunks(9, arm="base", warmup=True)]
    table = chunk_sizes(frame_of(rows, ChunkRecord))
    assert table[["arm", "tokens", "n"]].values.tolist() == [["base", 1, 2], ["spec", 1, 1], ["spec", 3, 2]]
    assert list(table["share"]) == [1.0, pytest.approx(1 / 3), pytest.approx(2 / 3)]
    assert list(table["share_of_tokens"]) == [1.0, pytest.approx(1 / 7), pytest.approx(6 / 7)]
    assert tokens_per_chunk(frame_of(rows, ChunkRecord)) == pytest.approx(9 / 5)


def test_without_token_ids_there_is_no_histogram_and_no_mean():
    rows = frame_of(chunks(None, None), ChunkRecord)
    assert len(chunk_sizes(rows)) == 0
    assert tokens_per_chunk(rows) is None
    assert len(chunk_sizes(frame_of([], ChunkRecord))) == 0


def test_prompts_that_the_tokenizer_counts_otherwise_are_said():
    counts = [(100, 100), (100, 103), (100, None), (50, 49)]
    steps = [a_step(turn=n, prompt_tokens=a, retokenized_tokens=b) for n, (a, b) in enumerate(counts, 1)]
    got = retokenized(frame_of(steps))
    assert got == Retokenized(n=3, differing=2, most=3)
    assert got.in_words().startswith("the tokenizer counts 2 of 3 prompts otherwise than the engine did, by up to 3")
    assert retokenized(frame_of(steps[:1])).in_words() == ""
    assert retokenized(frame_of([])) == Retokenized(n=0, differing=0, most=0)
