"""Run as a script by the Python that has the engine: `python inside.py ASKED.json TOLD.jsonl`.

That Python may not have labkit (a ROCm image has its own), so nothing of labkit is imported here; the engine's modules
are imported by name as a question needs them. One line of JSON is written per answer, as soon as it is known; the first
line is about the engine. What may be asked is said in `records.Question`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib
import importlib.util
import io
import json
import logging
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

MORIIO = "vllm.distributed.kv_transfer.kv_connector.v1.moriio.moriio_common"
PLAIN = (bool, int, float, str, type(None))


def main(asked: str, told: str) -> None:
    """Put every question; questions that come after a crash stay unanswered."""
    # This folder holds labkit's own modules, and one of their names may be one that the engine imports.
    here = Path(__file__).resolve().parent
    sys.path[:] = [path for path in sys.path if Path(path).resolve() != here]
    todo = json.loads(Path(asked).read_text(encoding="utf-8"))
    with Path(told).open("w", encoding="utf-8", buffering=1) as out, tempfile.TemporaryDirectory() as folder:
        head = engine()
        out.write(json.dumps(head) + "\n")
        room = Room(todo["models"], Path(folder))
        for question in todo["questions"] if head["vllm"] else ():
            out.write(json.dumps({"id": question["id"], **answered(question, room)}, default=str) + "\n")


def engine() -> dict[str, Any]:
    """Its version, None where it is not installed; `broken`: why an installed one cannot be imported."""
    if importlib.util.find_spec("vllm") is None:
        return {"vllm": None}
    try:
        return {"vllm": str(importlib.import_module("vllm").__version__), "platform": platform()}
    except Exception as error:  # noqa: BLE001 - whatever an import raises is the answer
        return {"vllm": None, "broken": f"vLLM is installed and cannot be imported: {words(error)}"}


def platform() -> str | None:
    """What vLLM takes this machine for: only that platform's own checks run."""
    try:
        return str(importlib.import_module("vllm.platforms").current_platform.device_type)
    except Exception:  # noqa: BLE001 - a build that cannot say it is asked all the same
        return None


def words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


class CannotBeAsked(Exception):
    """The engine's own check cannot run here, whatever the line."""


class Room:
    """Folders that stand for models, files that a line names, and what is asked once for all questions."""

    def __init__(self, models: Mapping[str, Any], folder: Path) -> None:
        self.folder = folder
        self.reached: list[str] = []
        self._steady: dict[str, dict[str, Any]] = {}
        self.folders = {name: str(folder / name.replace("/", "--")) for name in models}
        for name, config in models.items():
            write_model(Path(self.folders[name]), dict(config))

    def local(self, value: Any) -> Any:
        """Any value with its models as folders."""
        if isinstance(value, dict):
            return {key: self.local(inner) for key, inner in value.items()}
        return self.folders.get(value, value) if isinstance(value, str) else value

    def said(self, text: str) -> str:
        """The engine's words with models by their names, and files without the folders of this machine."""
        for name, folder in self.folders.items():
            text = text.replace(folder, name)
        for folder in (str(self.folder), *sorted(sys.path, key=len, reverse=True)):
            text = text.replace(f"{folder}/", "") if folder else text
        return text.strip()

    def told(self, value: Any) -> Any:
        """A value that the engine read, as JSON has it."""
        if isinstance(value, (list, tuple)):
            return [self.told(each) for each in value]
        return self.said(value) if isinstance(value, str) else value if isinstance(value, PLAIN) else str(value)

    @functools.cached_property
    def whole(self) -> str:
        """Why even a plain engine fails its own check here; empty where none does. Else no refusal means anything."""
        try:
            engine_args({"model": next(iter(self.folders.values()))}).create_engine_config()
        except Exception as error:  # noqa: BLE001 - a GPU's build on a machine without one, for example
            return words(error)
        return ""

    def must_be_whole(self) -> None:
        """Raises CannotBeAsked where no refusal means anything."""
        if self.whole:
            raise CannotBeAsked(f"even an engine without any option fails its own check here: {self.whole}")

    @functools.cached_property
    def serve(self) -> Any:
        """The command line of `vllm serve`, as vllm.entrypoints.cli.serve makes it, without importing its server."""
        parser = importlib.import_module("vllm.utils.argparse_utils").FlexibleArgumentParser()
        command = parser.add_subparsers(required=False, dest="subparser").add_parser("serve")
        importlib.import_module("vllm.entrypoints.launchers.cli_args").make_arg_parser(command)
        return parser

    def settings(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """All that MoRI-IO's connector and the engine made of these, as rank 0: no process group exists here."""
        config = configured(self, arguments)
        common = importlib.import_module(MORIIO)
        common.get_tensor_model_parallel_rank = lambda: 0  # type: ignore[attr-defined]
        common.get_tensor_model_parallel_world_size = lambda: 1  # type: ignore[attr-defined]
        read = dataclasses.asdict(common.MoRIIOConfig.from_vllm_config(config))
        for part in (config.cache_config, config.scheduler_config, config.kv_transfer_config):
            read.update({name: value for name, value in vars(part).items() if isinstance(value, PLAIN)})
        return read

    def steady(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Settings that are the same whenever the same is asked for: no port that is picked anew, no free memory."""
        asked = json.dumps(arguments, sort_keys=True)
        if asked not in self._steady:
            first, second = self.settings(arguments), self.settings(arguments)
            self._steady[asked] = {name: value for name, value in first.items() if value == second.get(name)}
        return self._steady[asked]


def write_model(folder: Path, config: dict[str, Any]) -> None:
    """A config.json; and a tokenizer that knows the words that the engine's checks look up in it, where any are given.

    Without one the engine gets a tokenizer without any word, and refuses a reasoning parser for that.
    """
    folder.mkdir()
    words = config.pop("_added_tokens", None)
    files: dict[str, Any] = {"config.json": config}
    if words:
        model = {"type": "WordLevel", "unk_token": "<unk>", "vocab": {"<unk>": 0, **words}}
        files["tokenizer.json"] = {"version": "1.0", "added_tokens": [], "model": model}
        files["tokenizer_config.json"] = {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "<unk>"}
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content), encoding="utf-8")


def engine_args(arguments: Mapping[str, Any]) -> Any:
    """As `LLM(...)` makes them of its keywords."""
    transfer = arguments.get("kv_transfer_config")
    if transfer is not None:
        transfer = importlib.import_module("vllm.config").KVTransferConfig(**transfer)
        arguments = {**arguments, "kv_transfer_config": transfer}
    return importlib.import_module("vllm.engine.arg_utils").EngineArgs(**arguments)


def configured(room: Room, arguments: Mapping[str, Any]) -> Any:
    """The whole VllmConfig. Raises CannotBeAsked where even a plain engine's check fails."""
    made = engine_args(room.local(dict(arguments)))
    room.must_be_whole()
    return made.create_engine_config()


def answered(question: Mapping[str, Any], room: Room) -> dict[str, Any]:
    """`status` and what belongs to it; every way of refusing is an answer."""
    room.reached = []
    return {**judged(question, room), "reached": room.reached}


def judged(question: Mapping[str, Any], room: Room) -> dict[str, Any]:
    heard = io.StringIO()
    try:
        with contextlib.redirect_stderr(heard):
            return {"status": "accepted", **ASKS[question["kind"]](room, **question["given"])}
    except CannotBeAsked as error:
        return {"status": "no answer", "said": room.said(str(error))}
    except SystemExit:  # a parser's way to refuse: its message stands last on stderr, after the usage
        return {"status": "refused", "said": room.said(heard.getvalue().rpartition("error: ")[2])}
    except Exception as error:  # noqa: BLE001 - the refusal is the result
        return {"status": "refused", "said": room.said(words(error))}


def ask_python(room: Room, code: str, read: Sequence[str] = ()) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(code, names)
    return {"read": {name: room.told(eval(name, names)) for name in read}}


def ask_arguments(room: Room, arguments: Mapping[str, Any], read: Sequence[str] = ()) -> dict[str, Any]:
    config = configured(room, arguments)
    values = {name: functools.reduce(getattr, name.split("."), config) for name in read}
    return {"read": {name.rpartition(".")[2]: room.told(value) for name, value in values.items()}}


def ask_flags(
    room: Room, argv: Sequence[str], read: Sequence[str] = (), files: Mapping[str, str] | None = None
) -> dict[str, Any]:
    for name, text in (files or {}).items():
        (room.folder / name).write_text(text, encoding="utf-8")
    parsed = room.serve.parse_args([str(room.folder / word) if word in (files or {}) else word for word in argv])
    return {"read": {name: room.told(getattr(parsed, name)) for name in read}}


def ask_serve(room: Room, argv: Sequence[str], env: Mapping[str, str]) -> dict[str, Any]:
    serve_script().ask_serve(room, argv, env)
    return {}


@functools.cache
def serve_script() -> Any:
    """A whole engine of a plan is asked in the script beside this one, loaded by its path as this one was."""
    path = Path(__file__).with_name("inside_serve.py")
    spec = importlib.util.spec_from_file_location("labkit_inside_serve", path)
    if spec is None or spec.loader is None:
        raise CannotBeAsked(f"{path.name} is missing")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def ask_router(room: Room, argv: Sequence[str], read: Sequence[str] = ()) -> dict[str, Any]:
    try:
        launch = importlib.import_module("vllm_router.launch_router")
    except ImportError as error:
        raise CannotBeAsked(f"vllm-router is not installed here ({words(error)})") from error
    parsed = launch.parse_router_args(list(argv))
    room.reached.append("router's parser")
    return {"read": {name: room.told(getattr(parsed, name)) for name in read}}


def ask_keys(room: Room, arguments: Mapping[str, Any], keys: Mapping[str, Any]) -> dict[str, Any]:
    """With and without: a key that changes no setting is ignored, however well it reads."""
    transfer = arguments["kv_transfer_config"]
    extra = {**transfer["kv_connector_extra_config"], **keys}
    more = {**arguments, "kv_transfer_config": {**transfer, "kv_connector_extra_config": extra}}
    try:
        before = room.steady(arguments)
    except CannotBeAsked:
        raise
    except Exception as error:
        raise CannotBeAsked(f"without the key it fails, too: {words(error)}") from error
    with warnings_of_vllm() as warned:
        after = room.settings(more)
    changed = {name: [value, after.get(name)] for name, value in before.items() if value != after.get(name)}
    return {
        "status": "accepted" if changed else "ignored",
        "read": {name: room.told(pair) for name, pair in changed.items()},
        "compared": len(before),
        "warned": [room.said(line) for line in warned if any(key in line for key in keys)],
    }


@contextlib.contextmanager
def warnings_of_vllm() -> Iterator[list[str]]:
    """The warnings that vLLM logs meanwhile."""
    lines: list[str] = []
    logger, handler = logging.getLogger("vllm"), logging.Handler(logging.WARNING)
    handler.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
    logger.addHandler(handler)
    try:
        yield lines
    finally:
        logger.removeHandler(handler)


ASKS: dict[str, Callable[..., dict[str, Any]]] = {
    "python": ask_python,
    "arguments": ask_arguments,
    "flags": ask_flags,
    "serve": ask_serve,
    "router": ask_router,
    "keys": ask_keys,
}

if __name__ == "__main__":
    main(*sys.argv[1:])
