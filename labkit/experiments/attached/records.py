"""What is known of an engine that was attached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from labkit.core.records import Record
from labkit.engines.attach_kind import Kind, Maker
from labkit.engines.attach_request import Salt


@dataclass(frozen=True, kw_only=True)
class AttachedEngine(Record):
    """None everywhere: it does not tell. No field holds a secret.

    `maker`: whose engine makes the replies; `version`: that engine's. `prefix_caching`, `speculation`, `split`: its
    layers. `workers`: addresses by what they do, where a router names them. `metrics`: role to page; `counts`: role to
    the quantities that the page has (fields of Counts). `tokenizer`: whether /tokenize renders chats. `probed`: whether
    a request was sent, which the fields after it need. `salt`: how it took a cache salt. `key_from`: the environment
    variable of the key that was sent. `running`: requests in flight when it was looked at.
    """

    url: str
    kind: Kind
    maker: Maker | None
    version: str | None
    model: str
    models: tuple[str, ...]
    max_model_len: int | None = None
    block_size: int | None = None
    prefix_caching: bool | None = None
    speculation: bool | None = None
    split: bool | None = None
    kv_connector: str | None = None
    workers: Mapping[str, Sequence[str]] = field(default_factory=dict)
    metrics: Mapping[str, str] = field(default_factory=dict)
    counts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    running: int | None = None
    tokenizer: bool = False
    key_from: str | None = None
    probed: bool = False
    cached_tokens: bool | None = None
    token_ids: bool | None = None
    request_metrics: bool | None = None
    request_drafts: bool | None = None
    salt: Salt | None = None

    @property
    def id(self) -> str:
        """What its rows call it: host, port and path."""
        return self.url.partition("://")[2]

    def counted(self, role: str, *names: str) -> bool:
        """Whether the page of this role has all of these quantities."""
        return set(names) <= set(self.counts.get(role, ()))
