"""What the tools do. A call that cannot be done is answered with a text that the model can act on."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from labkit.agents.offers import TESTS, Call, Offer, offers
from labkit.agents.sandbox import SandboxLimits, run_unittest
from labkit.agents.specs import TOOLS, ToolSpec
from labkit.agents.workspace import Workspace
from labkit.core.errors import ToolError

MAX_RESULT_CHARS = 6000
MAX_HITS = 30


@dataclass
class Toolbox:
    """The tools over one workspace. `isolation`: what the last test run was cut off from, None before the first."""

    workspace: Workspace
    limits: SandboxLimits = field(default_factory=SandboxLimits)
    isolation: tuple[str, ...] | None = None
    _last: tuple[str, dict[str, str]] | None = None
    _calls: list[Call] = field(default_factory=list)

    def offers(self) -> tuple[Offer, ...]:
        """The calls that make sense now."""
        return offers(self._calls, self.workspace.files())

    def use(self, name: str, arguments: Mapping[str, object]) -> str:
        """Run a tool and return its result. Raises ToolError, whose message is the result that the model reads."""
        path = str(arguments.get("path", "")).removeprefix("./") or None
        try:
            result = self._use(name, _checked(name, arguments))
        except ToolError:
            self._calls.append(Call(name, path, ok=False))
            raise
        self._calls.append(Call(name, path, ok=True))
        return result

    def _use(self, name: str, given: dict[str, str]) -> str:
        if self._last == (name, given):
            raise ToolError(
                f"You have just called {name} with these arguments. Nothing has changed; do something else."
            )
        self._last = (name, given)
        return _clip(self._tools()[name](**given), MAX_RESULT_CHARS)

    def _tools(self) -> dict[str, Callable[..., str]]:
        return {
            "list_files": self._list_files,
            "search_code": self._search_code,
            "read_file": lambda path: self.workspace.read(path) or "[empty file]",
            "edit_file": self._edit_file,
            "run_tests": self._run_tests,
            "finish": lambda summary: "The work is handed in.",
        }

    def _list_files(self) -> str:
        return "\n".join(f"{path} ({len(text.splitlines())} lines)" for path, text in self.workspace.texts().items())

    def _search_code(self, query: str) -> str:
        hits = [
            f"{path}:{number}: {line.strip()}"
            for path, text in self.workspace.texts().items()
            for number, line in enumerate(text.splitlines(), 1)
            if query in line
        ]
        if not hits:
            raise ToolError(f"No line contains {query!r}.")
        more = f"\n[{len(hits) - MAX_HITS} more lines]" if len(hits) > MAX_HITS else ""
        return "\n".join(hits[:MAX_HITS]) + more

    def _edit_file(self, path: str, old: str, new: str) -> str:
        if path.removeprefix("./").startswith(f"{TESTS}/"):
            raise ToolError(f"{path} is read-only: the tests are right, the code is wrong.")
        text = self.workspace.read(path)
        if text.count(old) != 1:
            raise ToolError(_not_once(path, text, old))
        self.workspace.write(path, text.replace(old, new))
        first = text[: text.index(old)].count("\n") + 1
        return f"Edited {path} at line {first}: {len(old.splitlines())} lines became {len(new.splitlines())}."

    def _run_tests(self) -> str:
        done = run_unittest(self.workspace.root, TESTS, self.limits)
        self.isolation = done.isolation
        if done.code is None:
            return f"{done.output}\nThe tests did not end within {self.limits.wall_s:g} seconds and were stopped."
        return done.output.strip() or f"The tests ended with code {done.code} and wrote nothing."


def _checked(name: str, arguments: Mapping[str, object]) -> dict[str, str]:
    spec = next((spec for spec in TOOLS if spec.name == name), None)
    if spec is None:
        raise ToolError(f"There is no tool {name!r}. The tools are: {', '.join(s.name for s in TOOLS)}.")
    wanted = [param.name for param in spec.params]
    if sorted(arguments) != sorted(wanted) or not all(isinstance(value, str) for value in arguments.values()):
        raise ToolError(f"{_usage(spec)}; you gave: {', '.join(sorted(arguments)) or 'nothing'}.")
    empty = [p.name for p in spec.params if not p.may_be_empty and not arguments[p.name]]
    if empty:
        raise ToolError(f"{name}: {empty[0]} must not be empty.")
    return {key: str(value) for key, value in arguments.items()}


def _usage(spec: ToolSpec) -> str:
    return f"{spec.name} takes {', '.join(p.name for p in spec.params) or 'no arguments'} (strings)"


def _not_once(path: str, text: str, old: str) -> str:
    count = text.count(old)
    if count:
        return f"The old text occurs {count} times in {path}. Give more of the lines around it."
    near = difflib.get_close_matches(old.strip().split("\n")[0], text.splitlines(), n=1, cutoff=0.5)
    hint = f" The nearest line is: {near[0].strip()}" if near else " Read the file again and copy the text exactly."
    return f"The old text does not occur in {path}.{hint}"


def _clip(text: str, limit: int) -> str:
    """Keep the beginning and the end: a file starts with its purpose, a test run ends with its verdict."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[{len(text) - 2 * half} characters left out]\n{text[-half:]}"
