"""Secrets in texts as conversations have them: in code, in JSON, in JSON within JSON; and what is no secret stays."""

from __future__ import annotations

import json
import string
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.core.masking import MASK, masked_said, masked_text

KEY = "sk-12345abcdef"
BOTH = pytest.mark.parametrize("without", [masked_said, masked_text])


@BOTH
@pytest.mark.parametrize(
    "code",
    [
        f'api_key = "{KEY}"', f"api_key='{KEY}'", f'{{"api_key": "{KEY}"}}', f'x\nAuthorization:\t"Bearer {KEY}"\ny',
        f"x\nBearer {KEY}", f'print("{KEY}")', f"--api-key '{KEY}'", f'["serve", "--api-key", "{KEY}"]',
        f'password = "a{KEY} with more {KEY} words"', f"http://me:{KEY}@host/",
    ],
)  # fmt: skip
@pytest.mark.parametrize("depth", range(4))
def test_a_secret_however_deep_it_is_quoted(without: Callable[[str], str], code: str, depth: int):
    text = code
    for _ in range(depth):
        text = json.dumps({"code": text})
    found = without(text)
    assert KEY not in found
    assert MASK in found
    assert without(found) == found
    for _ in range(depth):
        found = json.loads(found)["code"]


@BOTH
@pytest.mark.parametrize(
    "secret",
    ["sk-proj-abc123DEF456ghi7", "hf_abcDEF123456xyz", "ghp_16C7e42F292c6912E7", "gho_16C7e42F292c6912E7",
     "AKIAIOSFODNN7EXAMPLE", "xoxb-1234567890-abc"],
)  # fmt: skip
def test_what_has_the_shape_of_a_secret_needs_no_name(without: Callable[[str], str], secret: str):
    assert without(f"use {secret}, then go") == f"use {MASK}, then go"
    assert without(json.dumps(json.dumps(f"\n{secret}"))) == json.dumps(json.dumps(f"\n{MASK}"))


@pytest.mark.parametrize(
    "code",
    [
        "sorted(x, key=lambda p: p.score)", "token = tokens[0]", "key = names[1:]", "def get(self, key: str)",
        "self.token = token", "cache_key = make(x)", "token: Token", "import sklearn; sk-learn", "hf_hub_download(x)",
        '{"key": 5, "first_token": 1.25, "token": null}', '{"key": "name", "n": {"key": {"a": 1}}}', "if key == 0:",
        'd = {"key": value}', 'say("the key is here", "token")', '("--token", "-t")', "https://a.b/c, me@host",
        '{"key": "a name of four words"}', "key, token = pair", 'f"{key}={token}"', "x://a/b@c",
    ],
)  # fmt: skip
@pytest.mark.parametrize("depth", range(3))
def test_everyday_code_stays(code: str, depth: int):
    for _ in range(depth):
        code = json.dumps({"code": code})
    assert masked_said(code) == code


@BOTH
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"password": 123456, "n": 1}', f'{{"password": "{MASK}", "n": 1}}'),
        ('{"password": null, "secret": true}', '{"password": null, "secret": true}'),
        (r"{\"api_key\": \"hunter2\"", rf"{{\"api_key\": \"{MASK}\""),
        (r'{"code": "api_key = \"hunter2', rf'{{"code": "api_key = \"{MASK}'),
        ('{"a": "password=", "b": "x"}', '{"a": "password=", "b": "x"}'),
        ('{"a": "--api-key", "b": "x"}', '{"a": "--api-key", "b": "x"}'),
        ('["http://a","b@c"]', '["http://a","b@c"]'),
        ("token: Bearer hunter", f"token: {MASK}"),
        (r"password=C:\private", f"password={MASK}"),
    ],
)
def test_a_text_without_its_secrets(without: Callable[[str], str], text: str, said: str):
    assert without(text) == said
    assert without(said) == said


SECRETS = st.text(string.ascii_letters + string.digits, min_size=6, max_size=20).map(lambda text: f"hunter2{text}")
NAMES = st.sampled_from(["api_key", "password", "HF_TOKEN", "client_secret", "Authorization", "access_token"])
TEXTS = st.text(alphabet="ab \\\"'\n:=,{}[]@/&", max_size=8)
DATA = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS | NAMES, inner, max_size=3),
    max_leaves=6,
)


def nested(data: Any, depth: int) -> str:
    """JSON, within JSON as often."""
    return json.dumps(data) if depth == 0 else json.dumps({"text": nested(data, depth - 1)})


@BOTH
@given(secret=SECRETS, name=NAMES, around=DATA, tail=TEXTS, depth=st.integers(0, 3), compact=st.booleans())
def test_masked_json_is_json_and_never_holds_the_secret(without, secret, name, around, tail, depth, compact):
    inner = [around, {name: f"{secret}{tail}"}, f'{name} = "{secret}"\n', f"{name}={secret}", around]
    data = nested(inner, depth)
    found = without(json.dumps(json.loads(data), separators=(",", ":")) if compact else data)
    json.loads(found)
    assert secret not in found
    for _ in range(depth):
        found = json.loads(found)["text"]
    assert json.loads(found)[1][name] == MASK


WORDS = st.sampled_from(
    ["key", "api_key", "token", "password", "Bearer ", "Authorization", "--api-key ", "://", "@", "=", ": ", "\\", '"',
     "'", "\n", "[", "{", "}", ",", " ", "hunter2", "5", "sk-12345abcdef", "\\\\", "\u00e9"]
)  # fmt: skip
PROSE = st.lists(WORDS, max_size=14).map("".join)


@BOTH
@given(
    data=st.recursive(
        PROSE | st.floats() | st.integers() | st.booleans() | st.none(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(PROSE, inner, max_size=4),
        max_leaves=8,
    ),
    depth=st.integers(0, 2),
)
def test_json_stays_json_whatever_is_in_it(without, data: Any, depth: int):
    found = without(nested(data, depth))
    for _ in range(depth):
        found = json.loads(found)["text"]
    json.loads(found)
