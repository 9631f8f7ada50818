"""No secret of a command line, an environment, a header or an address is written, and nothing else is masked."""

import json
from pathlib import Path
from typing import Any

import pytest

from labkit.core.masking import MASK, is_secret, masked, masked_text, masked_words
from labkit.store.exports.engine_facts import flags
from labkit.store.fingerprint import engine_fingerprint
from labkit.store.masking import without_secrets
from labkit.store.runs import RunStore

SECRET = "hunter2"


SECRETS = (
    "--api-key --hf_token --hf-token HF_TOKEN hfToken OPENAI_API_KEY AWS_SECRET_ACCESS_KEY CLIENT_SECRET PGPASSWORD "
    "passwd Authorization token"
)


@pytest.mark.parametrize("name", SECRETS.split())
def test_names_of_secrets(name: str):
    assert is_secret(name)
    assert masked(name, SECRET) == MASK


@pytest.mark.parametrize(
    "name", ["--max-num-batched-tokens", "max_tokens", "--tokenizer", "num_speculative_tokens", "--block-size", "keys"]
)
def test_names_that_only_look_like_it(name: str):
    assert not is_secret(name)
    assert masked(name, "32") == "32"


def test_a_command_line_keeps_the_names_alone():
    argv = ["vllm", "serve", "m", "--hf_token=hunter2", "--api-key", "hunter2", "hunter2b", "--eager", "--port", "1"]
    assert masked_words(argv) == [
        "vllm", "serve", "m", f"--hf_token={MASK}", "--api-key", MASK, MASK, "--eager", "--port", "1",
    ]  # fmt: skip
    assert masked_words(masked_words(argv)) == masked_words(argv)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Authorization: Bearer hunter2", f"Authorization: {MASK}"),
        ("Authorization: Basic hunter2=", f"Authorization: {MASK}"),
        ("sent Bearer hunter2 twice", f"sent Bearer {MASK} twice"),
        ('{"api_key": "hunter2", "n": 3}', f'{{"api_key": "{MASK}", "n": 3}}'),
        ("{'api_key': ['hunter2'], 'port': 1}", f"{{'api_key': ['{MASK}'], 'port': 1}}"),
        ("http://me:hunter2@127.0.0.1:1/v1?token=hunter2&x=1", f"http://{MASK}@127.0.0.1:1/v1?token={MASK}&x=1"),
        ('{"method": "ngram", "num_speculative_tokens": 4}', '{"method": "ngram", "num_speculative_tokens": 4}'),
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"),
        ("vllm serve m --api-key hunter2 --port 1", f"vllm serve m --api-key {MASK} --port 1"),
        (
            "serve --hf-token --max-num-batched-tokens 8 --port 1",
            "serve --hf-token --max-num-batched-tokens 8 --port 1",
        ),
    ],
)
def test_a_text_without_the_secrets_that_it_names(text: str, said: str):
    assert masked_text(text) == said
    assert masked_text(said) == said


def test_nested_data_keeps_all_but_secrets():
    data = {
        "env": {"HF_TOKEN": SECRET, "OMP_NUM_THREADS": "2"},
        "headers": [{"name": "x", "Authorization": f"Bearer {SECRET}"}],
        "argv": ("serve", "--header", f"Authorization: Bearer {SECRET}"),
        "api_key": [SECRET],
        "first_token": 1.5,
        "token": None,
        "plain": ["a", 1, True, None],
    }
    found = without_secrets(data)
    assert SECRET not in json.dumps(found)
    assert found["env"] == {"HF_TOKEN": MASK, "OMP_NUM_THREADS": "2"}
    assert found["argv"] == ["serve", "--header", f"Authorization: {MASK}"]
    assert (found["first_token"], found["token"], found["plain"]) == (1.5, None, ["a", 1, True, None])


def process() -> dict[str, Any]:
    argv = ["serve", "--hf_token=hunter2", "--api-key", "hunter2", "--block-size", "32", "--lora", "a", "b", "--eager"]
    return {"role": "engine", "argv": (*argv, "--header", "Authorization: Bearer hunter2"), "env": {"HF_TOKEN": SECRET}}


def test_the_fingerprint_and_what_was_asked_are_written_without_secrets(tmp_path: Path):
    known = {"engines": {"k": engine_fingerprint([process()])}}
    assert SECRET not in json.dumps(known)
    assert "--block-size" in known["engines"]["k"]["processes"][0]["argv"]
    with RunStore(tmp_path).create(
        "quick", {"api_key": SECRET, "arms": ["base"]}, {"engines": {"k": process()}}
    ) as run:
        pass
    written = "".join(path.read_text() for path in run.folder.iterdir() if path.suffix in (".json", ".jsonl"))
    assert SECRET not in written
    assert RunStore(tmp_path).open(run.id).info.asked["arms"] == ["base"]


def test_flags_of_an_export_come_from_the_same_parser_and_mask():
    assert flags(process()) == {
        "--hf_token": MASK, "--api-key": MASK, "--block-size": "32", "--lora": "a b", "--eager": True,
        "--header": f"Authorization: {MASK}",
    }  # fmt: skip
