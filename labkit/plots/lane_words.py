"""What the parts of a step are called in swim lanes, and which colour each has, in the order of the legend."""

from __future__ import annotations

from labkit.plots.theme import Part

PARTS: dict[str, tuple[str, Part]] = {
    "client_lag": ("client lag", "client_lag"),
    "server": ("HTTP server", "server"),
    "queue": ("queue", "queue"),
    "prefill": ("prefill", "prefill"),
    "transfer": ("KV transfer", "transfer"),
    "decode": ("decode", "decode"),
    "first": ("to first token", "first"),
    "rest": ("after first token", "rest"),
    "tool": ("tool", "tool"),
    "other": ("other", "other"),
    "failed": ("failed", "unknown"),
}
"""Part, as labkit.analysis.spans names it, to its label and its colour."""
