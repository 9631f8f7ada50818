"""The article's lines and today's, each as a question to the engine.

The article's own text is not at hand. The names are the article's; where its value is not known here (how many
milliseconds, how many megabytes), the value is one of ours. What an engine refuses or ignores is the name.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from labkit.engines.accepts import Question
from labkit.experiments.lessons.article_models import DRAFT
from labkit.experiments.lessons.article_questions import CONNECTOR, config_file, key, llm, python, router, serve


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line of the article, by the claim that it is of, and what says the same today.

    `today` None: there is nothing to set, or nothing that need be, which `limit` says. With both, nothing says the same
    today: `today` is the nearest, and `limit`, a clause, is what it does not do. `control`: a line that is surely
    wrong; an engine that takes this one, too, does not look, and its yes to the article's line says nothing.
    """

    claim: str
    written: Question
    today: Question | None
    control: Question | None = None
    limit: str = ""


SEQS = "article-max-num-seqs"
"""The one line that engines take and runs speak about."""
_DRAFTER = {"method": "draft_model", "model": DRAFT, "num_speculative_tokens": 4}
_SPEC = "--spec-method draft_model --spec-tokens 4 --spec-model"
_ROUTER = "--vllm-pd-disaggregation --kv-connector moriio --vllm-discovery-address 127.0.0.1:36367"
_YAML = """\
mori_io: {kv_cache_dtype: fp8, retry_count: 3}
proxy: {port: 8300}
"""
_YAML_TODAY = f"""\
kv-cache-dtype: fp8
kv-transfer-config: {json.dumps(CONNECTOR)}
"""

LINES: tuple[Line, ...] = (
    Line(
        claim="article-force-connection",
        written=python("connection", "from vllm.connections import global_force_connection"),
        today=python(
            "connection-today",
            "from vllm.config import KVTransferConfig\n"
            'kv = KVTransferConfig(kv_connector="MoRIIOConnector", kv_role="kv_producer")',
            "kv.kv_connector",
            "kv.kv_role",
        ),
    ),
    Line(
        claim="article-speculative-model",
        written=llm("spec-keyword", speculative_model=DRAFT),
        today=llm("spec-keyword-today", "speculative_config.method", speculative_config=_DRAFTER),
    ),
    Line(
        claim="article-speculative-model",
        written=serve("spec-flag", f"--speculative-model {DRAFT}"),
        today=serve("spec-flag-today", f"{_SPEC} {DRAFT}", "spec_method", "spec_model"),
    ),
    Line(
        claim="article-spec-max-len",
        written=llm("spec-length", speculative_max_model_len=8192),
        today=llm(
            "spec-length-today",
            "speculative_config.draft_model_config.max_model_len",
            speculative_config={**_DRAFTER, "max_model_len": 8192},
        ),
    ),
    Line(
        claim="article-qwen3-15b",
        written=serve("draft-name", f"{_SPEC} Qwen/Qwen3-1.5B", "spec_model"),
        today=serve("draft-name-today", f"{_SPEC} Qwen/Qwen3-1.7B", "spec_model"),
        control=serve("draft-name-control", f"{_SPEC} no-such-maker/No-Such-Model", "spec_model"),
        limit="a draft of another size; the engine takes a made-up name as well, so that its yes proves no name",
    ),
    Line(
        claim="article-moriio-yaml",
        written=config_file("yaml", _YAML),
        today=config_file("yaml-today", _YAML_TODAY, "kv_cache_dtype"),
    ),
    Line(
        claim=SEQS,
        written=llm("seqs", "scheduler_config.max_num_seqs", max_num_seqs=1),
        today=None,
        limit="the engine's default then holds; no other value was measured",
    ),
    Line(
        claim="article-fp8-under-moriio",
        written=key("fp8", kv_cache_dtype="fp8"),
        today=serve("fp8-today", "--kv-cache-dtype fp8", "kv_cache_dtype"),
    ),
    Line(
        claim="article-rdma-timeout",
        written=key("timeout", rdma_timeout_ms=5000),
        today=key("timeout-today", transfer_timeout=5),
    ),
    Line(
        claim="article-retry-count",
        written=key("retry", retry_count=3),
        today=router("retry-today", f"{_ROUTER} --retry-max-retries 3", "retry_max_retries"),
        limit="the router sends a whole HTTP request again; no transfer is repeated",
    ),
    Line(
        claim="article-max-transfers",
        written=key("transfers", max_concurrent_transfers=8),
        today=key("transfers-today", num_workers=8),
        limit='threads of the RDMA backend, not transfers; with `"backend": "xgmi"`, as in the plan here, unused',
    ),
    Line(claim="article-buffer-size", written=key("buffer", buffer_size_mb=512), today=None),
)

DEFAULT = llm("default", "cache_config.enable_prefix_caching", "cache_config.block_size")
"""Nothing but the model: what the engine does when nobody says."""
CONNECTIONS = python(
    "connections",
    "import vllm.connections",
    "sorted(name for name in vars(vllm.connections) if 'connection' in name.lower())",
    "vllm.connections.HTTPConnection.__doc__",
)
"""What the module of the article's import has in its place."""
MISSPELT = key("misspelt", transfer_timout=5)
"""Today's own key with a letter missing."""
ONE_LEVEL_UP = Question(
    id="one-level-up",
    kind="python",
    text="KVTransferConfig(..., buffer_size_mb=512)",
    given={"code": f"from vllm.config import KVTransferConfig\nKVTransferConfig(**{CONNECTOR!r}, buffer_size_mb=512)"},
)
"""The article's key beside `kv_connector` and not below it: there vLLM checks names."""
EXTRA: tuple[Question, ...] = (DEFAULT, CONNECTIONS, MISSPELT, ONE_LEVEL_UP)


def all_questions() -> tuple[Question, ...]:
    """Every line and what belongs to it, each once."""
    of_lines = [each for line in LINES for each in (line.written, line.today, line.control) if each is not None]
    return (*of_lines, *EXTRA)


def lines_of(claim: str) -> tuple[Line, ...]:
    """The lines of a claim; none where it is about a number."""
    return tuple(line for line in LINES if line.claim == claim)
