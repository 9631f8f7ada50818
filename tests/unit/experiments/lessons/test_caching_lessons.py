"""What the notebook on prefix caching says of a run: sentences whose numbers follow from made-up steps."""

from __future__ import annotations

import pytest
from builders import a_step, frame_of

from labkit.core.errors import UnknownName
from labkit.core.records import StepRecord
from labkit.engines.accepts import Answer, Answers
from labkit.experiments.lessons import block_sizes, by_default, caching, whose_words


def turns(arm: str, *cached: int, per_token_s: float = 0.001, **values: object) -> list[StepRecord]:
    """Prompts of 200, 300, ... tokens, of which so many are cached; the first token takes its time from the rest."""
    made = []
    for n, hit in enumerate(cached, 1):
        prompt, known = 100 + 100 * n, {"shared_tokens": hit, "ceiling_tokens": hit // 32 * 32, "reachable_tokens": hit}
        first = 1.0 + (prompt - hit) * per_token_s
        tokens = {"prompt_tokens": prompt, "cached_tokens": hit, "completion_tokens": 40, "append_tokens": hit}
        made.append(
            a_step(arm=arm, turn=n, t_send=1.0, t_first_token=first, t_end=9.0, **{**tokens, **known, **values})
        )
    return made


BASE = turns("base", 0, 0, 0, 0, 0, 0)
PREFIX = turns("prefix", 0, 192, 288, 384, 480, 576)


class TestFirstToken:
    def test_less_than_half(self):
        assert caching.first_token(frame_of([*BASE, *PREFIX])) == (
            True,
            "from turn 2 on the first token took 116 ms with the cache and 500 ms without (medians of n = 5 turns)",
        )

    def test_no_less(self):
        slow = turns("prefix", 0, 0, 0, 0, 0, 0)
        assert caching.first_token(frame_of([*BASE, *slow])).holds is False

    def test_too_few_and_none(self):
        assert caching.first_token(frame_of([*BASE[:3], *PREFIX])).holds is None
        assert "no later turn" in caching.first_token(frame_of([*BASE, PREFIX[0]])).saw

    def test_the_price_of_a_token(self):
        same = caching.price(frame_of([*BASE, *PREFIX]))
        assert same.holds
        assert "1.00 ms under base and 1.00 ms under prefix" in same.saw
        dear = turns("prefix", 0, 192, 288, 384, 480, 576, per_token_s=0.002)
        assert caching.price(frame_of([*BASE, *dear])).holds is False
        assert caching.price(frame_of(BASE)).holds is None

    def test_a_table_in_words(self):
        table = caching.turn_table(frame_of([*BASE, *PREFIX]))
        assert list(table.index) == [1, 2, 3, 4, 5, 6]
        assert dict(table.loc[2]) == {
            "prompt tokens": "300", "computed, base": "300", "computed, prefix": "108", "cached, prefix": "192",
            "TTFT, base": "300 ms", "TTFT, prefix": "108 ms",
        }  # fmt: skip
        alone = caching.turn_table(frame_of(BASE))
        assert alone.loc[2, "TTFT, prefix"] == "–"


class TestGap:
    def test_nothing_evicted(self):
        held = caching.nothing_evicted(frame_of([*BASE, *PREFIX]))
        assert held.holds
        assert held.saw.startswith("0 of 2,700 prompt tokens were in the ceiling and not in the cache")
        assert "n = 6 steps" in held.saw

    def test_something_evicted(self):
        lost = turns("prefix", 0, 192, cached_tokens=0)
        found = caching.nothing_evicted(frame_of(lost))
        assert found.holds is False
        assert found.saw.startswith("192 of 500 prompt tokens")
        assert "38 % evicted" in found.saw

    def test_not_measured(self):
        assert caching.nothing_evicted(frame_of(BASE)).holds is None
        table = caching.gap_table(frame_of([*BASE, *PREFIX]))
        assert table.loc["base", "caching is off"] == "0"
        assert table.loc["prefix", "cached"] == "1.9k"


class TestBlocks:
    def test_the_check_counts_the_steps_that_agree(self):
        assert block_sizes.checked(frame_of(PREFIX), 32) == (
            True, "at 32 tokens it is the ceiling that the run kept in 6 of 6 steps",
        )  # fmt: skip
        assert block_sizes.checked(frame_of(PREFIX), 64).holds is False
        assert block_sizes.checked(frame_of([]), 32).holds is None

    def test_tables(self):
        table = block_sizes.size_table(frame_of(PREFIX), [32, 256])
        assert table.loc[256, "ceiling"] == "1.3k"
        assert table.loc[32, "rounded off a step"] == "0"
        short = block_sizes.short_prompts([100, 129], [32, 128])
        assert short.to_dict("list") == {"blocks of 32": ["96 %", "99 %"], "blocks of 128": ["0 %", "99 %"]}

    def test_what_a_larger_block_takes(self):
        assert block_sizes.costs_a_tenth(frame_of(PREFIX), 32, 128) == (
            True,
            "blocks of 128 tokens instead of 32 take 13 % of the ceiling, which is 62 % of the prompt tokens then "
            "(n = 6 steps)",
        )
        assert block_sizes.costs_a_tenth(frame_of(PREFIX), 32, 64).holds is False
        assert block_sizes.costs_a_tenth(frame_of(BASE), 32, 128).holds is None

    def test_another_run_hit_what_was_worked_out(self):
        other = turns("prefix", 0, 128, 256, 384, 384, 512)
        seen = block_sizes.as_worked_out(frame_of([*BASE, *PREFIX]), frame_of(other), 128)
        assert seen.holds
        assert "62 % of the prompt tokens came from the cache, and 62 % was worked out (n = 6 steps)" in seen.saw
        assert block_sizes.as_worked_out(frame_of(PREFIX), frame_of(PREFIX), 128).holds is False
        longer = turns("prefix", 0, prompt_tokens=777)
        assert block_sizes.as_worked_out(frame_of(PREFIX), frame_of(longer), 128).holds is None


class TestWords:
    def test_what_decode_made_lies_beyond_the_prompt_before(self):
        own = whose_words.reused(frame_of(turns("prefix", 0, 224, 330, 400)))
        assert (own.n, own.replies, own.found) == (3, 120, 24 + 30)
        assert own.words == "54 of 120 reply tokens (45 %)"

    def test_the_own_words_help(self):
        theirs, own = frame_of(turns("prefix", 0, 200, 300, 400)), frame_of(turns("prefix", 0, 224, 330, 400))
        found = whose_words.own_words_help(theirs, own)
        assert found.holds
        assert "found 0 of 120 reply tokens (0 %) again (n = 3 turns)" in found.saw
        assert whose_words.own_words_help(own, theirs).holds is False
        assert whose_words.own_words_help(theirs, frame_of(turns("prefix", 0, 200))).holds is None
        table = whose_words.words_table({"recorded": theirs, "live": own})
        assert list(table["found again"]) == [0, 54]
        assert list(table["share"]) == ["0 %", "45 %"]


class TestDefault:
    def answers(self, **answer: object) -> Answers:
        known = {"id": "default", "status": "accepted", "read": {"enable_prefix_caching": True, "block_size": 128}}
        one = Answer.from_dict({**known, **answer})
        return Answers(vllm="0.32.0", python=None, asked_on="2026-11-30", seconds=1.0, answers=(one,))

    def test_on_by_default(self):
        holds, saw = by_default.off_until_asked(self.answers())
        assert holds is False
        assert saw == (
            "vLLM 0.32.0, asked on 2026-11-30 without any flag, has prefix caching on, and blocks of 128 tokens"
        )

    def test_off_by_default(self):
        off = self.answers(read={"enable_prefix_caching": False, "block_size": 16})
        assert by_default.off_until_asked(off).holds is True

    def test_nobody_there(self):
        holds, saw = by_default.off_until_asked(self.answers(status="not installed", said="vLLM is not here.", read={}))
        assert (holds, saw) == (None, "nobody could be asked: vLLM is not here")

    def test_a_claim_keeps_its_source_and_what_is_known_against_it(self):
        shown = by_default.claim("article-no-reuse")["article-no-reuse"]
        assert "does not reuse KV" in shown["claimed"]
        assert shown["by"] == "seed article"
        assert "today" not in shown  # it would answer what is predicted next
        with pytest.raises(UnknownName):
            by_default.claim("no-such-claim")
