"""`--endpoint` and what goes with it: engines that run already, for every command that measures one.

    @attachable
    def quick(profile: Profile = DEFAULT_PROFILE, ..., attach: Attach = None) -> None: ...

adds the options to the command and hands them on in its `attach`, a word each (`endpoint=URL`), where the hidden
`--attach ARM=URL` stands, too.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from labkit.experiments.attached.endpoints import Endpoints

_PANEL = "Engines that run already (see labkit attach)"
Endpoint = Annotated[
    list[str] | None,
    typer.Option(
        rich_help_panel=_PANEL, help="URL of an engine that runs already, or ARM=URL for another arm's own. Repeatable."
    ),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        rich_help_panel=_PANEL,
        help="ROLE=URL: prefill's and decode's /metrics behind a router; ARM:ROLE=URL of several endpoints.",
    ),
]
Model = Annotated[
    str | None,
    typer.Option("--model", "--served-model", rich_help_panel=_PANEL, help="Served name, where there are several."),
]
ServedModel = Annotated[
    str | None, typer.Option("--served-model", rich_help_panel=_PANEL, help="Served name, where there are several.")
]
ArmIs = Annotated[
    str | None, typer.Option(rich_help_panel=_PANEL, help="The arm that --endpoint URL is in, where it does not tell.")
]
KeyEnv = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        rich_help_panel=_PANEL,
        help="Environment variable that holds its API key; default: OPENAI_API_KEY.",
    ),
]
Probe = Annotated[
    bool,
    typer.Option(
        "--probe/--no-probe",
        rich_help_panel=_PANEL,
        help="Before a run, send an endpoint a request of one token to look.",
    ),
]

_OPTIONS: dict[str, tuple[Any, Any]] = {
    "endpoint": (Endpoint, None),
    "metrics": (Metrics, None),
    "served_model": (Model, None),
    "arm_is": (ArmIs, None),
    "api_key_env": (KeyEnv, None),
    "probe": (Probe, True),
}
OPTIONS = frozenset(_OPTIONS)
"""The parameters that `attachable` adds."""


def attachable(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with the options. Beside an endpoint, a profile and arms that nobody named are none, and its own."""
    signature = inspect.signature(command, eval_str=True)
    params = dict(signature.parameters)
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=_named(name, kind, params), default=default)
        for name, (kind, default) in _OPTIONS.items()
    ]
    kept = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in params.values()]
    context = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    everything = _required_first([*kept, *added, *([] if "context" in params else [context])])

    @functools.wraps(command)
    def with_endpoints(**given: Any) -> Any:
        asked = {name: given.pop(name) for name in _OPTIONS}
        open_ = [name for name in given if _is_default(given["context"], name)]
        if "context" not in params:
            del given["context"]
        given |= {name: value for name, value in _defaults(asked).items() if name in open_}
        return command(**{**given, "attach": [*(given["attach"] or []), *words_of(asked)]})

    with_endpoints.__signature__ = signature.replace(parameters=everything)  # type: ignore[attr-defined]
    with_endpoints.__annotations__ = {each.name: each.annotation for each in everything}
    return with_endpoints


def _is_default(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "DEFAULT"


def _defaults(asked: dict[str, Any]) -> dict[str, str]:
    """No profile; the arms that are named, and of an endpoint without a name its own with and without the cache."""
    if not asked["endpoint"]:
        return {}
    from dataclasses import replace

    from labkit.core.arms import ARMS, arm_named
    from labkit.experiments.attached.endpoints import endpoints_of

    arms = {each.arm for each in endpoints_of(asked["endpoint"]).endpoints}
    own = arm_named(asked["arm_is"] or "base")
    arms |= {replace(own, prefix_caching=on) for on in (False, True)} if None in arms else set()
    return {"profile": "", "arms": ",".join(arm.label for arm in ARMS if arm in arms)}


def _named(name: str, kind: Any, params: dict[str, Any]) -> Any:
    """`--model` is the agent's word for who decides, where there is an agent."""
    return ServedModel if name == "served_model" and "model" in params else kind


def _required_first(params: Sequence[inspect.Parameter]) -> list[inspect.Parameter]:
    return sorted(params, key=lambda each: each.default is not inspect.Parameter.empty)


def words_of(asked: dict[str, Any]) -> list[str]:
    """A word for everything that was said: `endpoint=URL`, `metrics=ROLE=URL`, `probe=no`. Raises BadInput for options
    without an endpoint."""
    from labkit.core.errors import BadInput

    words = [f"{name}={value}" for name in ("endpoint", "metrics") for value in asked[name] or ()]
    words += [f"{name}={asked[name]}" for name in ("served_model", "arm_is", "api_key_env") if asked[name]]
    words += [] if asked["probe"] else ["probe=no"]
    if words and not asked["endpoint"]:
        name, _, value = words[0].partition("=")
        raise BadInput(name.replace("_", "-"), value, "beside --endpoint URL")
    return words


def endpoints_in(words: Sequence[str]) -> Endpoints | None:
    """What the words ask for; None where no endpoint is among them. Raises BadInput and UnknownName."""
    from labkit.core.errors import BadInput
    from labkit.experiments.attached.endpoints import endpoints_of

    said = [word.partition("=")[::2] for word in words]
    if "endpoint" not in {name for name, _ in said}:
        return None
    if others := [word for word, (name, _) in zip(words, said, strict=True) if name not in OPTIONS]:
        raise BadInput(
            "attach", others[0], "either --attach or --endpoint", "--endpoint ARM=URL does what --attach does."
        )
    last = dict(said)
    return endpoints_of(
        [value for name, value in said if name == "endpoint"],
        [value for name, value in said if name == "metrics"],
        model=last.get("served_model"),
        arm_is=last.get("arm_is"),
        api_key_env=last.get("api_key_env"),
        probe=last.get("probe") != "no",
    )
