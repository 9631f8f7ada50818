"""Everything that labkit raises on purpose.

LabError                    a message for the user and a hint: the next thing to do
├── BadInput                a field, its value and what is allowed
│   └── UnknownName         a profile, arm, task, model or run that does not exist, with the nearest names
├── WeightsError            a model that could not be fetched, read or converted
├── EngineError             an engine that does not serve; carries the tail of its log
│   ├── PortInUse
│   ├── NotEnoughMemory
│   ├── EngineDied          a process ended while it was needed
│   ├── EngineNotReady      the deadline passed before it was healthy
│   └── EngineBusy          another run holds the engine's lock
├── RequestFailed           one request that the engine answered with an error, cut off or left hanging
├── ToolError               a tool call that cannot be done; its text is written for the model to read
└── RunUnreadable           a run folder that does not open
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from labkit.core.chat import Reply


class LabError(Exception):
    """An error that is shown to the user as it is: what happened, then what to do.

    `message`: one sentence. `hint`: the next step, often a command; empty when there is none.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message


class BadInput(LabError):
    """A value that is not allowed: names the field, the value and what would be."""

    def __init__(self, field: str, value: object, allowed: str, hint: str = "") -> None:
        super().__init__(f"{field}: {_in_words(value)} is not allowed; allowed: {allowed}", hint)
        self.field = field
        self.value = value


def _in_words(value: object) -> str:
    """A value as a user would type it: lists joined with commas."""
    if value is None:
        return "nothing"
    return ",".join(map(str, value)) if isinstance(value, list | tuple | set) and value else repr(value)


class UnknownName(BadInput):
    """A name that nothing has; built by `labkit.core.names.pick`. `instead`: the names that there are, in words."""

    def __init__(self, field: str, value: object, instead: str, hint: str = "") -> None:
        super().__init__(field, value, instead, hint)
        self.message = f"no {field} is called {value!r}; {instead}"


class WeightsError(LabError):
    """A model's weights could not be fetched, verified or converted."""


class EngineError(LabError):
    """An engine that does not serve. `log_tail`: the last lines it wrote, oldest first."""

    def __init__(self, message: str, hint: str = "", log_tail: tuple[str, ...] = ()) -> None:
        super().__init__(message, hint)
        self.log_tail = log_tail

    def __str__(self) -> str:
        tail = "".join(f"\n  | {line}" for line in self.log_tail)
        return f"{self.message}{tail}" + (f"\n{self.hint}" if self.hint else "")


class PortInUse(EngineError):
    """A fixed port is taken by another process."""


class NotEnoughMemory(EngineError):
    """The plan needs more memory than the machine has free."""


class EngineDied(EngineError):
    """A process of the engine ended while it was needed."""


class EngineNotReady(EngineError):
    """The engine was alive but not healthy when the deadline passed."""


class EngineBusy(EngineError):
    """Another run holds the engine's lock."""


class RequestFailed(LabError):
    """One request failed. `status`: the HTTP status, or None when there was no answer.

    `partial`: what had arrived when the stream broke; None when nothing had.
    """

    def __init__(self, message: str, hint: str = "", status: int | None = None, partial: Reply | None = None) -> None:
        super().__init__(message, hint)
        self.status = status
        self.partial = partial


class ToolError(LabError):
    """A tool call that cannot be done. The message is what the model reads as the tool's result."""


class RunUnreadable(LabError):
    """A run folder that cannot be opened: not a run, damaged, or written by a newer labkit."""
