"""`import amdsmi` without the driver's library as an ImportError, so that what tries it and goes on without can do so.

amdsmi raises KeyError there, after printing two lines. Ray catches ImportError alone and so cannot be imported beside
it, and vLLM imports Ray where that is installed. Set-up copies this file into the CPU environment and has each of its
interpreters import it at the start, Ray's workers too. It is a copy, since the sandbox of agents reads the environment
and not the project's folder. Where the library loads, nothing is different.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

_BREAKS = "amdsmi.amdsmi_wrapper"
"""The module of amdsmi that looks up the library's functions when it is imported."""


class _Loader:
    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._inner.create_module(spec)  # type: ignore[no-any-return]

    def exec_module(self, module: ModuleType) -> None:
        import contextlib  # here: this module is imported at every start of an interpreter
        import io

        try:
            with contextlib.redirect_stdout(io.StringIO()):
                self._inner.exec_module(module)
        except KeyError as error:
            raise ImportError(f"amdsmi cannot load the driver's library: KeyError: {error}", name="amdsmi") from error


class _Finder:
    """Finds one module, as Python would, and puts the loader above around its own."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path) if name == _BREAKS else None
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)  # type: ignore[assignment]
        return spec


_finder = _Finder()
if not any(isinstance(each, _Finder) for each in sys.meta_path):
    sys.meta_path.insert(0, _finder)  # type: ignore[arg-type]
