"""Metrics and terms in the words of a figure."""

from __future__ import annotations

METRIC_WORDS = {
    "e2e_s": "end-to-end time",
    "ttft_s": "time to first token",
    "itl_p99_s": "gap between chunks, 99th percentile",
    "tokens_per_s": "output tokens per second",
    "prompt_computed": "prompt tokens computed",
    "joules": "energy",
}
_LAYER_WORDS = {"prefix_caching": "prefix", "pd_split": "pd", "speculation": "spec"}


def term_label(term: str) -> str:
    """`prefix_caching:speculation` as `prefix x spec`."""
    return " × ".join(_LAYER_WORDS.get(part, part) for part in term.split(":"))
