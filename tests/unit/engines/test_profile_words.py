"""What a wrong profile says: the field, never a whole table, and for a key that nothing has the nearest."""

from __future__ import annotations

from pathlib import Path

import pytest

from labkit.core.errors import BadInput
from labkit.engines.profiles import load_profile
from labkit.engines.profiles.reading import _SHIPPED

EIGHT = (_SHIPPED / "mi300x-8-qwen3-30b-a3b.toml").read_text(encoding="utf-8")


def refusal(folder: Path, before: str, after: str, asked: str = "") -> BadInput:
    assert before in EIGHT
    path = folder / "mine.toml"
    path.write_text(EIGHT.replace(before, after, 1), encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        load_profile(f"{path}{asked}")
    assert len(str(caught.value)) < 250
    return caught.value


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (  # what is left of the table, its connector, makes one without the rest
            "[layers.pd_split]\n",
            "[layers.pdsplit]\n",
            "mine.toml: layers.pdsplit: no such key; did you mean pd_split?",
        ),
        ("[engine]\n", "[engin]\n", "mine.toml: engin: no such key; did you mean engine?"),
        ("replicas = 2", "replica = 2", "mine.toml: engine.replica: no such key; did you mean replicas?"),
        (
            '[layers.speculation.methods.eagle3]\nabout = "',
            '[layers.speculation.methods.eagle3]\nabuot = "',
            "mine.toml: layers.speculation.methods.eagle3.abuot: no such key; did you mean about?",
        ),
        (
            "[machine]\n",
            "[machine]\nzzz = 1\n",
            "mine.toml: machine.zzz: no such key; there are: gpu, gpus, image, ",
        ),
        ("transfer = ", "# transfer = ", "mine.toml: layers.pd_split.transfer is missing"),
        ("memory_gib = 32.0", "", "mine.toml: engine.memory_gib is missing"),
        ('path = "Qwen', 'served_by = "Qwen', "mine.toml: model.served_by: no such key; did you mean served?"),
        (
            'path = "Qwen/Qwen3-30B-A3B-Instruct-2507-FP8"',
            "",
            "mine.toml: model: give either `weights` or `path`",
        ),
        (
            "max_startup_s = 1800.0",
            "max_startup_s = 0",
            "mine.toml: engine.max_startup_s: 0 is not allowed; allowed: greater than 0",
        ),
        (
            'transfer = "moriio"',
            'transfer = "morio"',
            "mine.toml: layers.pd_split.transfer: 'morio' is not allowed; allowed: 'nixl', 'moriio'",
        ),
        (
            'default = "eagle3"',
            'default = "eagle"',
            "mine.toml: layers.speculation: default 'eagle' is not among the methods",
        ),
    ],
)
def test_the_sentence_names_the_field_and_prints_no_table(tmp_path: Path, before: str, after: str, words: str) -> None:
    message = refusal(tmp_path, before, after).message
    assert message.startswith(words)


def test_a_variant_that_misspells_a_table_is_told_so_too(tmp_path: Path) -> None:
    before = "layers.pd_split.connector.kv_connector_extra_config.read_mode = true"
    error = refusal(tmp_path, before, before.replace("pd_split.connector", "pdsplit.connector"), "+read")
    assert "variants.read: layers.pdsplit: no such key; did you mean pd_split?" in error.message
