"""`profile_export.jsonl`: metadata, metrics and error of one request per line, warm-up flagged by its phase."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from labkit.store.exports.aiperf.metrics import UNITS, metrics_of
from labkit.store.exports.files import known
from labkit.store.exports.requests import Request, Session, by_session, stable_id
from labkit.store.exports.wall import Wall


def session_numbers(requests: Sequence[Request]) -> Mapping[Session, int]:
    """The sessions by the time they began, from 0."""
    return {session: number for number, session in enumerate(by_session(requests))}


def record_of(request: Request, run: str, numbers: Mapping[Session, int], wall: Wall) -> dict[str, Any]:
    """One line of the file."""
    metrics = {name: {"value": value, "unit": UNITS[name]} for name, value in metrics_of(request).items()}
    return {
        "metadata": _metadata(request, run, numbers[request.session], wall),
        "metrics": metrics,
        "error": error_of(request),
    }


def error_of(request: Request) -> dict[str, Any] | None:
    """AIPerf's ErrorDetails: the HTTP status as code, where there was one; None when the request went well."""
    if request.problem is None:
        return None
    kind = "HTTPError" if request.http_status else "RequestError"
    return known({"code": request.http_status, "type": kind, "message": request.problem})


def _metadata(request: Request, run: str, number: int, wall: Wall) -> dict[str, Any]:
    """`request_end_ns` may not be null: without an end it is the last thing known of the request."""
    step, session = request.step, stable_id(run, *request.session)
    intended = None if step.send_lag_s is None else wall.ns(step.t_send - step.send_lag_s)
    values = {
        "session_num": number,
        "x_request_id": stable_id(session, step.turn, step.t_send),
        "x_correlation_id": session,
        "root_correlation_id": session,
        "conversation_id": step.recording or step.task,
        "turn_index": step.turn - 1,
        "credit_issued_ns": intended,
        "request_start_ns": wall.ns(step.t_send),
        "request_end_ns": wall.ns(request.t_over),
        "worker_id": f"agent-{step.agent}",
        "record_processor_id": "labkit",
        "benchmark_phase": "warmup" if step.warmup else "profiling",
        "was_cancelled": False,
        "labkit_arm": step.arm,
        "labkit_task": step.task,
        "labkit_kind": step.kind,
    }
    return known(values)
