"""`vllm serve` as the fake engine: real processes, real HTTP, known answers, ready in a second.

`install` puts a program called `vllm` in front of PATH and writes a profile that asks for it, so that everything above
the engine (plan, fleet, job, run, page, notebook) is the real thing.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import stat
import sys
from pathlib import Path

from aiohttp import web

from labkit.engines.fake import FakeDials, FakeEngine

PROFILE = Path(__file__).parents[1] / "labkit" / "engines" / "profiles" / "cpu-smollm2.toml"
CHANGES = {
    'name = "cpu-smollm2"': 'name = "fake"',
    'weights = "smollm2-135m-instruct"': 'path = "any"',
    'command = "python"': 'command = "vllm"',
    "fast_start = true": "fast_start = false",
    "memory_gib = 3.7": "memory_gib = 0.1",
}
PROGRAM = """#!{python}
import sys
sys.path.insert(0, {folder!r})
import fake_vllm
fake_vllm.main()
"""


class FakeVllm(FakeEngine):
    """The fake, with the plain completion that the fleet proves an engine by."""

    def _app(self) -> web.Application:
        app = super()._app()
        app.router.add_post("/v1/completions", self._completion)
        return app

    async def _completion(self, _: web.Request) -> web.Response:
        return web.json_response({"choices": [{"index": 0, "text": "Yes", "finish_reason": "length"}]})


def install(folder: Path, path: str) -> tuple[Path, str]:
    """The profile's file, and the PATH on which its `vllm` is found."""
    program = folder / "bin" / "vllm"
    program.parent.mkdir(parents=True)
    program.write_text(PROGRAM.format(python=sys.executable, folder=str(Path(__file__).parent)))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    text = PROFILE.read_text()
    for old, new in CHANGES.items():
        assert old in text
        text = text.replace(old, new)
    profile = folder / "fake.toml"
    profile.write_text(text)
    beside_python = str(Path(sys.executable).parent)  # where the router is, whether or not the environment is activated
    return profile, os.pathsep.join([str(program.parent), beside_python, path])


def main() -> None:
    """`vllm serve MODEL --served-model-name NAME --port PORT ...`; flags that the fake has no dial for are ignored."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--served-model-name")
    parser.add_argument("--port", type=int)
    parser.add_argument("--block-size", type=int, default=16)
    parser.add_argument("--speculative-config")
    parser.add_argument("--no-enable-prefix-caching", dest="prefix_caching", action="store_false")
    given, _ = parser.parse_known_args()
    drafts = 4 if given.speculative_config else 0
    dials = FakeDials(
        model=given.served_model_name,
        block_size=given.block_size,
        prefix_caching=given.prefix_caching,
        ttft_s=0.002,
        prefill_s_per_token=0.0001,
        itl_s=0.004,
        num_spec_tokens=drafts,
        acceptance=(2, 3) if drafts else (0,),
    )
    asyncio.run(_serve(FakeVllm(dials, given.port)))


async def _serve(engine: FakeVllm) -> None:
    async with engine:
        await asyncio.Event().wait()
