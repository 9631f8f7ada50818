"""A model's chat template, rendered here: the text of a prompt without an engine."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

from jinja2 import Template, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from labkit.core.chat import ChatRequest
from labkit.core.clock import SystemClock
from labkit.core.errors import LabError, WeightsError
from labkit.doctor.prompt_prefix import Render
from labkit.engines import weights
from labkit.engines.profiles import Profile


def renderer(profile: Profile) -> Render | None:
    """How the profile's model writes a request as a prompt; None where its template is not on this machine."""
    try:
        folder = weights.path(profile.model.weights or str(profile.model.path))
    except WeightsError:
        return None
    source = _source(folder)
    return None if source is None else of_template(source)


def of_template(source: str) -> Render:
    """The template as the engine's own tokenizer library renders it: same environment, same functions.

    What it returns raises LabError, with the template's words, for a request that the template cannot write.
    """
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = _tojson
    environment.globals["raise_exception"] = _refuse
    environment.globals["strftime_now"] = lambda form: SystemClock().wall().strftime(form)

    @functools.cache
    def template() -> Template:
        return environment.from_string(source)

    def render(request: ChatRequest) -> str:
        try:
            return template().render(messages=request.messages, tools=request.tools, add_generation_prompt=False)
        except (TemplateError, TypeError, ValueError) as error:
            raise LabError(f"The chat template refuses it: {error}") from error

    return render


def _tojson(value: Any, ensure_ascii: bool = False, indent: int | None = None, **more: Any) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, **more)


def _refuse(message: str) -> None:
    raise TemplateError(message)


def _source(folder: Path) -> str | None:
    """The template's own file, else the one within the tokenizer's configuration."""
    file = folder / "chat_template.jinja"
    if file.is_file():
        return file.read_text(encoding="utf-8")
    try:
        kept = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8")).get("chat_template")
    except (OSError, ValueError):
        return None
    return kept if isinstance(kept, str) else None
