"""The fake's /metrics: the names and kinds of vLLM 0.32, made with the same library."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import pairwise

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from labkit.engines.fake.dials import FakeDials
from labkit.engines.fake.generation import Step

_SOURCES = ("local_compute", "local_cache_hit", "external_kv_transfer")
_FINISHED = ("stop", "length", "abort", "error")


class FakeMetrics:
    """One engine's series. Counters and histograms come to life with value 0, as vLLM's do."""

    def __init__(self, dials: FakeDials) -> None:
        self.registry = CollectorRegistry()
        self._dials = dials
        self._labels = {"model_name": dials.model, "engine": "0"}
        self._start_time = Gauge("process_start_time_seconds", "Start time", registry=self.registry)
        self._start_time.set(time.time())
        self.running = self._gauge("num_requests_running")
        self.waiting = self._gauge("num_requests_waiting")
        self.kv_usage = self._gauge("kv_cache_usage_perc")
        self._config()
        self._counters()
        self._histograms()

    def text(self, named: Sequence[str] = ()) -> bytes:
        """The exposition in Prometheus text format, of these series alone where any is named."""
        return generate_latest(self.registry.restricted_registry(named) if named else self.registry)

    def value(self, name: str, **labels: str) -> float:
        """One sample, 0 when there is none."""
        return self.registry.get_sample_value(f"vllm:{name}", {**self._labels, **labels}) or 0.0

    def scheduled(self, prompt: int, local: int, external: int, queue_s: float) -> None:
        """A prompt left the queue: of its tokens, `local` are cached here and `external` come from elsewhere."""
        if self._dials.prefix_caching:
            self._queries.inc(prompt)
            self._hits.inc(local)
        if self._dials.transfer_s is not None:
            self._transferred(prompt - local, external, self._dials.transfer_s)
        self._queue.observe(queue_s)
        self._prompt.inc(prompt)
        self._cached.inc(local + external)
        for source, count in zip(_SOURCES, (prompt - local - external, local, external), strict=True):
            self._by_source[source].inc(count)

    def step(self, step: Step) -> None:
        """One forward pass of one request."""
        self._generated.inc(len(step.tokens))
        if step.drafted:
            self._drafts.inc()
            self._draft_tokens.inc(step.drafted)
            self._accepted.inc(step.accepted)
            for position in range(step.accepted):
                self._per_position[position].inc()

    def finished(self, reason: str, arrived: float, scheduled: float, events: list[float]) -> None:
        """A request ended; times on one clock, `events` when tokens were made."""
        self._success["stop" if reason == "tool_calls" else reason].inc()
        if not events:
            return
        self._ttft.observe(events[0] - arrived)
        self._e2e.observe(events[-1] - arrived)
        self._prefill.observe(events[0] - scheduled)
        self._decode.observe(events[-1] - events[0])
        for before, after in pairwise(events):
            self._itl.observe(after - before)

    def _transferred(self, queries: int, tokens: int, seconds: float) -> None:
        self._external_queries.inc(queries)
        self._external_hits.inc(tokens)
        self._xfer_time.observe(seconds)
        self._xfer_bytes.observe(tokens * self._dials.kv_bytes_per_token)

    def _config(self) -> None:
        config = {
            "block_size": self._dials.block_size,
            "num_gpu_blocks": self._dials.num_blocks,
            "enable_prefix_caching": self._dials.prefix_caching,
            "engine": 0,
        }
        info = Gauge("vllm:cache_config_info", "Cache config", tuple(config), registry=self.registry)
        info.labels(**{key: str(value) for key, value in config.items()}).set(1)

    def _counters(self) -> None:
        self._queries, self._hits = self._counter("prefix_cache_queries"), self._counter("prefix_cache_hits")
        self._external_queries = self._counter("external_prefix_cache_queries")
        self._external_hits = self._counter("external_prefix_cache_hits")
        self._prompt, self._cached = self._counter("prompt_tokens"), self._counter("prompt_tokens_cached")
        self._by_source = self._family("prompt_tokens_by_source", "source", _SOURCES)
        self._generated = self._counter("generation_tokens")
        self._success = self._family("request_success", "finished_reason", _FINISHED)
        self._counter("num_preemptions")
        if self._dials.num_spec_tokens:
            positions = [str(position) for position in range(self._dials.num_spec_tokens)]
            self._drafts = self._counter("spec_decode_num_drafts")
            self._draft_tokens = self._counter("spec_decode_num_draft_tokens")
            self._accepted = self._counter("spec_decode_num_accepted_tokens")
            family = self._family("spec_decode_num_accepted_tokens_per_pos", "position", positions)
            self._per_position = [family[position] for position in positions]

    def _histograms(self) -> None:
        self._ttft, self._itl = self._histogram("time_to_first_token"), self._histogram("inter_token_latency")
        self._e2e, self._queue = self._histogram("e2e_request_latency"), self._histogram("request_queue_time")
        self._prefill, self._decode = self._histogram("request_prefill_time"), self._histogram("request_decode_time")
        if self._dials.transfer_s is not None:
            self._xfer_time = self._histogram("nixl_xfer_time")
            self._xfer_bytes = self._histogram("nixl_bytes_transferred", suffix="")
            self._counter("nixl_num_failed_transfers")
            self._counter("nixl_num_kv_expired_reqs")

    def _gauge(self, name: str) -> Gauge:
        return Gauge(f"vllm:{name}", name, tuple(self._labels), registry=self.registry).labels(**self._labels)

    def _counter(self, name: str) -> Counter:
        return Counter(f"vllm:{name}", name, tuple(self._labels), registry=self.registry).labels(**self._labels)

    def _family(self, name: str, label: str, values: tuple[str, ...] | list[str]) -> dict[str, Counter]:
        family = Counter(f"vllm:{name}", name, (*self._labels, label), registry=self.registry)
        return {value: family.labels(**self._labels, **{label: value}) for value in values}

    def _histogram(self, name: str, suffix: str = "_seconds") -> Histogram:
        family = Histogram(f"vllm:{name}{suffix}", name, tuple(self._labels), registry=self.registry)
        return family.labels(**self._labels)
