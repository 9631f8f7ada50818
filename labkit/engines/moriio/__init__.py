"""MoRI-IO, vLLM's connector over AMD's MoRI: what a plan must hold, what the shell cannot say, who has registered.

The engines find each other through the router: each pings it every 3 s, and the router sends a request only to a pair
that it has heard of within the last 5 s. No process of labkit talks MoRI-IO itself.
"""

from labkit.engines.moriio.old_variables import ignored_variables

__all__ = ["ignored_variables"]
