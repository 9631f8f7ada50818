"""Repeat what may fail, patiently."""

from again.backoff import Backoff
from again.policy import Policy
from again.retry import GaveUp, retry

__all__ = ["Backoff", "GaveUp", "Policy", "retry"]
