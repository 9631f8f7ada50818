"""`python -m labkit.engines.fake`: the fake as a process, for tests of processes and for load tests.

Each simple dial is an option: `--ttft-s 0.1 --num-spec-tokens 3 --acceptance 2,1`. As a process it can also refuse to
start (`--refuse TEXT`: the text to stderr, exit 1) and die (`--die-after-s N`: exit 137 without a word).
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import os
import signal
import sys

from labkit.engines.fake.dials import FakeDials, Fault
from labkit.engines.fake.server import FakeEngine

_OWN = ("acceptance", "replies", "fault", "prefix_caching", "serial_prefill", "forgets_reasoning", "transfer_s")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m labkit.engines.fake", description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    for dial in dataclasses.fields(FakeDials):
        if dial.name not in _OWN:
            parser.add_argument(f"--{dial.name.replace('_', '-')}", type=type(dial.default), default=dial.default)
    parser.add_argument("--acceptance", type=_numbers, default=(0,), metavar="N,N...")
    parser.add_argument("--no-prefix-caching", dest="prefix_caching", action="store_false")
    parser.add_argument("--serial-prefill", action="store_true")
    parser.add_argument("--forgets-reasoning", action="store_true")
    parser.add_argument("--transfer-s", type=float)
    parser.add_argument("--fault", choices=("http", "die_mid_stream", "hang", "error_in_stream", "no_finish"))
    parser.add_argument("--fault-every", type=int, default=1)
    parser.add_argument("--refuse", metavar="TEXT")
    parser.add_argument("--die-after-s", type=float)
    return parser


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in text.split(","))


def _dials(given: argparse.Namespace) -> FakeDials:
    fault = Fault(kind=given.fault, every=given.fault_every) if given.fault else None
    names = {dial.name for dial in dataclasses.fields(FakeDials)} - {"replies", "fault"}
    return FakeDials(**{name: getattr(given, name) for name in names}, fault=fault)


async def _serve(given: argparse.Namespace) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    if given.die_after_s is not None:
        loop.call_later(given.die_after_s, os._exit, 137)
    async with FakeEngine(_dials(given), given.port) as engine:
        print(f"fake engine at {engine.base_url}", flush=True)
        await stop.wait()


def main() -> None:
    """Parse, then serve until SIGTERM or SIGINT."""
    given = _parser().parse_args()
    if given.refuse:
        sys.exit(given.refuse)
    asyncio.run(_serve(given))


if __name__ == "__main__":
    main()
