"""The settings of SGLang's command line that a layer owns, for the proof that arms differ by their layers alone."""

from __future__ import annotations

from labkit.core.arms import Layer

_DECODE_CACHE = "--disaggregation-decode-enable-radix-cache"
"""Of two layers: it says something only in the arms that have both."""

LAYER_SETTINGS: dict[Layer, frozenset[str]] = {
    "prefix_caching": frozenset({"--disable-radix-cache", _DECODE_CACHE}),
    "speculation": frozenset(
        f"--speculative-{name}"
        for name in (
            *("algorithm", "draft-model-path", "num-steps", "eagle-topk", "num-draft-tokens"),
            *("ngram-max-bfs-breadth", "ngram-max-trie-depth", "use-rejection-sampling"),
        )
    ),
    "pd_split": frozenset(
        f"--disaggregation-{name}" for name in ("mode", "transfer-backend", "bootstrap-port", "ib-device")
    )
    | {_DECODE_CACHE}
    | {"SGLANG_HOST_IP", "SGLANG_DISAGGREGATION_BOOTSTRAP_TIMEOUT", "SGLANG_DISAGGREGATION_WAITING_TIMEOUT"},
}
