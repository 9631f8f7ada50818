"""Documents as YAML that people read: keys in the order given, scripts as blocks, no anchors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import yaml


class _Dumper(yaml.SafeDumper):
    """PyYAML's safe dumper without anchors, which a reader would have to resolve in his head."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)


def yaml_text(documents: Iterable[Any]) -> str:
    """The documents, `---` between them; long strings stay on one line."""
    return "---\n".join(
        yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=10_000) for document in documents
    )
