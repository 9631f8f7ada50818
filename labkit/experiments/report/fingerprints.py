"""Fingerprint: versions, flags, model and machine, as the run noted them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from labkit.core.masking import masked
from labkit.experiments.attached.kept import attached_engines
from labkit.experiments.report.blocks import Block, Code, More, Pairs, Section, Words
from labkit.experiments.report.english import shown
from labkit.experiments.report.material import Material
from labkit.store.command_line import options
from labkit.store.fingerprint import ENGINE_PACKAGES

_SHORT = 12


def fingerprint(material: Material) -> Section:
    """The section; a run that noted nothing says so."""
    known = material.info.fingerprint
    if not known:
        return Section("fingerprint", "Fingerprint", (Words("This run noted nothing of what it ran on."),))
    rows = tuple((name, text) for name, text in _facts(known) if text)
    return Section("fingerprint", "Fingerprint", (Pairs(rows), *_engines(known)))


def _facts(known: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    cpu, git = (known.get(key) or {} for key in ("cpu", "git"))
    here = "client's " if attached_engines(known) else ""
    yield "profile", shown(known.get("profile"))
    yield "model", shown(known.get("model"))
    yield f"{here}processor", _processor(cpu, known)
    yield "GPU", shown(known.get("gpu"))
    yield f"{here}memory", f"{known['memory_bytes'] / 2**30:.1f} GiB" if known.get("memory_bytes") else ""
    yield f"{here}system", " ".join(str(known[key]) for key in ("os", "kernel", "machine") if known.get(key))
    yield f"{here}Python", shown(known.get("python"))
    yield f"{here}packages", ", ".join(f"{name} {version}" for name, version in packages_of(known).items() if version)
    yield "labkit", _labkit(known, git)


def packages_of(known: Mapping[str, Any]) -> Mapping[str, Any]:
    """Versions of what is installed; beside attached engines without what only an engine runs on: theirs is another."""
    mine, left_out = known.get("packages") or {}, ENGINE_PACKAGES if attached_engines(known) else ()
    return {name: version for name, version in mine.items() if name not in left_out}


def _processor(cpu: Mapping[str, Any], known: Mapping[str, Any]) -> str:
    facts = [
        cpu.get("model") or known.get("machine"),
        f"{cpu['cores']} cores" if cpu.get("cores") else None,
        f"{cpu['usable_threads']} usable threads" if cpu.get("usable_threads") else None,
        shown(cpu["flags"]) if cpu.get("flags") else None,
        f"governor {cpu['governor']}" if cpu.get("governor") else None,
    ]
    return ", ".join(fact for fact in facts if fact)


def _labkit(known: Mapping[str, Any], git: Mapping[str, Any]) -> str:
    commit = f", commit {git['commit']}" if git.get("commit") else ""
    changed = " with changed files" if git.get("dirty") else ""
    return f"{shown(known.get('labkit'))}{commit}{changed}"


def _engines(known: Mapping[str, Any]) -> Iterator[Block]:
    engines = known.get("engines")
    for key, engine in engines.items() if isinstance(engines, Mapping) else ():
        if not isinstance(engine, Mapping):
            yield Pairs(((f"engine of {key}", shown(engine)),))
            continue
        if engine.get("attached"):
            yield Pairs(((f"engine of {key}", _attached(engine)),))
            continue
        hashes = (("model", engine.get("model_hash")), ("chat template", engine.get("chat_template_sha256")))
        facts = Pairs(tuple((f"{name} sha256", str(value)[:_SHORT]) for name, value in hashes if value))
        lines = [_process(process) for process in engine.get("processes") or ()]
        yield More(f"Engine {key}: command lines", (facts, Code("\n\n".join(lines))))


def _attached(engine: Mapping[str, Any]) -> str:
    """Somebody else started it: what it told of itself."""
    told = " ".join(str(engine[name]) for name in ("kind", "version") if engine.get(name))
    return f"{engine.get('url')}: {told}, attached in {shown(engine.get('arm'))}; its command lines are not known"


def _process(process: Mapping[str, Any]) -> str:
    """`role`, its environment and its command, an option a line."""
    said = options(process.get("argv") or ())
    command = [said.pop("command", ""), *(f"  {name} {masked(name, value)}" for name, value in said.items())]
    environment = [f"{name}={masked(name, str(value))}" for name, value in (process.get("env") or {}).items()]
    return "\n".join([f"# {process.get('role')}", *environment, *command])
