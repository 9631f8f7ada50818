"""Run as a script by the Python that has SGLang: `python inside.py ASKED.json TOLD.jsonl`.

That Python may not have labkit, so nothing of labkit is imported here. Every command line is put to SGLang in a process
of its own, forked after the imports: resolving arguments sets environment variables and global state. One line of JSON
is written per answer, the first says which SGLang this is. Nothing is fetched, loaded or started.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

ARGS = "sglang.srt.server_args"


def main(asked: str, told: str) -> None:
    # A script's own folder comes first among the places of modules, and one of its names may be one that is imported.
    here = Path(__file__).resolve().parent
    sys.path[:] = [path for path in sys.path if Path(path).resolve() != here]
    todo = json.loads(Path(asked).read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        models = folders(todo["models"], Path(folder))
        head = engine()
        say(told, head)
        for question in todo["questions"] if head["sglang"] else ():
            in_a_child(told, question, {**head, "models": models})


def say(told: str, line: Mapping[str, Any]) -> None:
    with Path(told).open("a", encoding="utf-8") as out:
        out.write(json.dumps(line, default=str) + "\n")


def folders(configs: Mapping[str, Any], room: Path) -> dict[str, str]:
    """Folders that stand for models: a config.json each."""
    made = {name: str(room / name.replace("/", "--")) for name in configs}
    for name, config in configs.items():
        Path(made[name]).mkdir()
        (Path(made[name]) / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return made


def engine() -> dict[str, Any]:
    """Version and platform. `gpu`: whether one can be asked here; `broken`: why SGLang cannot be imported."""
    if importlib.util.find_spec("sglang") is None:
        return {"sglang": None}
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            importlib.import_module(ARGS)
            importlib.import_module("sglang.srt.arg_groups.pipeline")
            torch = importlib.import_module("torch")
            version = importlib.import_module("sglang.version").__version__
    except Exception as error:  # noqa: BLE001 - whatever an import raises is the answer
        return {"sglang": None, "broken": f"SGLang is installed and cannot be imported: {words(error)}"}
    platform = "rocm" if torch.version.hip else "cuda" if torch.version.cuda else "cpu"
    return {"sglang": str(version), "platform": platform, "gpu": bool(torch.cuda.is_available())}


def words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def in_a_child(told: str, question: Mapping[str, Any], head: Mapping[str, Any]) -> None:
    child = os.fork()
    if child == 0:
        try:
            say(told, {"id": question["id"], **answered(question, head)})
        finally:
            os._exit(0)
    os.waitpid(child, 0)


def answered(question: Mapping[str, Any], head: Mapping[str, Any]) -> dict[str, Any]:
    """Every way of refusing is an answer; `reached`: the checks that let it through."""
    heard, reached = io.StringIO(), list[str]()
    # Less what hides devices: here are other ones than where the plan is for.
    os.environ.update({name: value for name, value in question["env"].items() if not name.endswith("VISIBLE_DEVICES")})
    argv = [head["models"].get(word, word) for word in question["argv"]]
    try:
        with contextlib.redirect_stderr(heard), contextlib.redirect_stdout(io.StringIO()):
            read = ASKS[question["kind"]](argv, question["read"], head, reached)
        return {"status": "accepted", "read": read, "reached": reached}
    except SystemExit:  # a parser's way to refuse: its message stands last on stderr, after the usage
        said = heard.getvalue().rpartition("error: ")[2]
    except Exception as error:  # noqa: BLE001 - the refusal is the result
        said = words(error)
    for name, folder in head["models"].items():
        said = said.replace(folder, name)
    return {"status": "refused", "said": said.strip(), "reached": reached}


def ask_server(argv: list[str], read: list[str], head: Mapping[str, Any], reached: list[str]) -> dict[str, Any]:
    """Parse, resolve, check: what the server does before it starts a process. Without a GPU, as if for one."""
    device = [] if head["gpu"] or "--device" in argv else ["--device", "cuda"]
    arguments = importlib.import_module(ARGS).prepare_server_args([*argv, *device])
    reached.append("SGLang's parser")
    arguments.resolve_once()
    reached.append("its resolution of the arguments")
    arguments.check_server_args()
    reached.append("its checks of the resolved arguments")
    resolved = arguments.resolved_dict()
    return {name: resolved[name] for name in read}


def ask_router(argv: list[str], read: list[str], head: Mapping[str, Any], reached: list[str]) -> dict[str, Any]:
    parsed = importlib.import_module("smg.launch_router").parse_router_args(argv)
    reached.append("smg's parser")
    return {name: getattr(parsed, name) for name in read if hasattr(parsed, name)}


ASKS: dict[str, Callable[[list[str], list[str], Mapping[str, Any], list[str]], dict[str, Any]]] = {
    "server": ask_server,
    "router": ask_router,
}

if __name__ == "__main__":
    main(*sys.argv[1:])
