"""An interpreter of its own whose site-packages hold packages as pip would have left them: real dist-info folders."""

from __future__ import annotations

import base64
import hashlib
import sys
import venv
from collections.abc import Mapping
from pathlib import Path


def interpreter(folder: Path) -> tuple[str, Path]:
    """A virtual environment without pip: its interpreter, and its site-packages."""
    venv.EnvBuilder(symlinks=True).create(folder)
    site = folder / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    return str(folder / "bin" / "python"), site


def distribution(site: Path, name: str, version: str, files: Mapping[str, str] | None = None) -> None:
    """METADATA, WHEEL, INSTALLER and RECORD of a wheel that was installed, and its files."""
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    contents = {
        **(files or {}),
        f"{info}/METADATA": f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: cp312-abi3-linux_x86_64\n",
        f"{info}/INSTALLER": "pip\n",
    }
    record = "".join(f"{path},sha256={_hash(text)},{len(text.encode())}\n" for path, text in contents.items())
    for path, text in {**contents, f"{info}/RECORD": f"{record}{info}/RECORD,,\n"}.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(text)


def program(folder: Path, name: str, python: str) -> None:
    """A console script as pip writes it."""
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / name
    script.write_text(f"#!{python}\nraise SystemExit('it was started')\n")
    script.chmod(0o755)


def _hash(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
