"""`labkit attach`: what an engine that runs already tells, what can be measured on it, and how to go on."""

from __future__ import annotations

from typing import Annotated

import typer

from labkit.cli.endpoint_options import ArmIs, KeyEnv, Metrics, Model, Probe

Url = Annotated[str, typer.Argument(help="Its address, with or without /v1; or ARM=URL.")]
AsJson = Annotated[bool, typer.Option("--json", help="What was found as JSON.")]


def register(app: typer.Typer) -> None:
    """Add `attach` to the command line."""
    app.command(epilog="Example: labkit attach http://127.0.0.1:8000")(attach)


def attach(
    url: Url,
    metrics: Metrics = None,
    served_model: Model = None,
    arm_is: ArmIs = None,
    api_key_env: KeyEnv = None,
    probe: Probe = True,
    as_json: AsJson = False,
) -> None:
    """Look at a running vLLM, SGLang, llm-d, Ray Serve or vllm-router: what can be measured there, and what cannot.

    Nothing is started, ended or changed. A request of one token is sent, unless --no-probe. Example: labkit attach
    http://127.0.0.1:8000
    """
    import asyncio
    import json

    from rich.console import Console

    from labkit.cli.attach_view import print_findings
    from labkit.experiments.attached.endpoints import endpoints_of
    from labkit.experiments.attached.findings import findings
    from labkit.experiments.attached.provider import attach as look

    asked = endpoints_of([url], metrics or (), model=served_model, arm_is=arm_is, api_key_env=api_key_env, probe=probe)
    found = findings(asyncio.run(look(asked)), asked)
    if as_json:
        return typer.echo(json.dumps(found.to_dict(), indent=1))
    return print_findings(found, Console())
