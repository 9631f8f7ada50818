"""Conversion: every number lands where Hugging Face expects it, rounded as the hardware rounds."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tiny_model
from safetensors import safe_open
from tokenizers import Tokenizer

from labkit.engines.weights.gguf_tensors import bfloat16_bits, hf_name, unpermute


def _bits(*values: float) -> list[int]:
    return [int(bit) for bit in bfloat16_bits(np.array(values, dtype=np.float32))]


def test_bfloat16_of_exact_numbers():
    assert _bits(0.0, 1.0, -2.0, 0.5) == [0x0000, 0x3F80, 0xC000, 0x3F00]


def test_bfloat16_rounds_to_nearest_and_ties_to_even():
    ulp = 2.0**-7
    tie_down, tie_up = 1 + ulp / 2, 1 + ulp + ulp / 2
    assert _bits(tie_down, tie_up) == [0x3F80, 0x3F82]
    assert _bits(float(np.nextafter(np.float32(tie_down), np.float32(2)))) == [0x3F81]
    assert _bits(-tie_up) == [0xBF82]


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_number_that_is_not_finite_is_refused(bad: float):
    with pytest.raises(ValueError, match="damaged"):
        bfloat16_bits(np.array([1.0, bad], dtype=np.float32))


@pytest.mark.parametrize("heads", [1, 2, 3])
def test_unpermute_undoes_llama_cpp(heads: int):
    rows = heads * 8
    original = np.arange(rows * 5, dtype=np.float32).reshape(rows, 5)
    permuted = original.reshape(heads, 2, rows // heads // 2, 5).swapaxes(1, 2).reshape(rows, 5)
    assert not np.array_equal(permuted, original)
    assert np.array_equal(unpermute(permuted, heads), original)


def test_names():
    assert hf_name("token_embd.weight") == "model.embed_tokens.weight"
    assert hf_name("blk.12.ffn_down.weight") == "model.layers.12.mlp.down_proj.weight"
    with pytest.raises(ValueError, match=r"blk\.0\.attn_qkv"):
        hf_name("blk.0.attn_qkv.weight")


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    work = tmp_path_factory.mktemp("convert")
    template = work / "template"
    template.write_text("{{ messages }}")
    source = tiny_model.write_gguf(work / "tiny.gguf")
    folder = work / "out"
    folder.mkdir()
    argv = [sys.executable, "-m", "labkit.engines.weights.convert", source, folder, template]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    total = len(tiny_model.tensors())
    assert lines == [{"done": n, "total": total} for n in range(1, total + 1)]
    return folder


def test_every_tensor_is_there_in_bfloat16(converted: Path):
    with safe_open(converted / "model.safetensors", framework="np") as file:
        assert set(file.keys()) == {hf_name(name) for name in tiny_model.tensors()}
        assert {file.get_slice(name).get_dtype() for name in list(file.keys())} == {"BF16"}
        assert file.metadata() == {"format": "pt"}


def test_the_rotary_rows_of_q_and_k_are_put_back_and_v_is_not_touched(converted: Path):
    stored = _read(converted / "model.safetensors")
    given = tiny_model.tensors()
    for part, heads in (("q", tiny_model.HEADS), ("k", tiny_model.KV_HEADS)):
        expected = bfloat16_bits(unpermute(given[f"blk.0.attn_{part}.weight"], heads))
        assert stored[f"model.layers.0.self_attn.{part}_proj.weight"] == expected.tobytes()
    assert stored["model.layers.0.self_attn.v_proj.weight"] == bfloat16_bits(given["blk.0.attn_v.weight"]).tobytes()


def _read(file: Path) -> dict[str, bytes]:
    content = file.read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    spans = {name: entry["data_offsets"] for name, entry in header.items() if name != "__metadata__"}
    return {name: content[start + begin : start + end] for name, (begin, end) in spans.items()}


def test_the_configuration_says_what_the_file_says(converted: Path):
    config = json.loads((converted / "config.json").read_text())
    assert config["architectures"] == ["LlamaForCausalLM"]
    assert (config["hidden_size"], config["num_key_value_heads"], config["head_dim"]) == (64, 2, 16)
    assert config["rms_norm_eps"] == 1e-05
    assert config["tie_word_embeddings"] is True
    assert json.loads((converted / "generation_config.json").read_text())["eos_token_id"] == 2
    assert (converted / "chat_template.jinja").read_text() == "{{ messages }}"


def test_the_tokenizer_merges_words_but_never_digits(converted: Path):
    tokenizer = Tokenizer.from_file(str(converted / "tokenizer.json"))
    assert tokenizer.encode("<|im_start|>ab12").tokens == ["<|im_start|>", "ab", "1", "2"]
    assert tokenizer.decode(tokenizer.encode("grüße, ab 12").ids) == "grüße, ab 12"
