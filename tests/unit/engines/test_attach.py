"""What a server is and tells, from its answers; and why there are none, with the next step, within seconds."""

import asyncio
import dataclasses
import ssl
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer, unused_port
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from other_servers import API, BARE, GATEWAY, RAY, ROUTER, SGLANG, Shape, serving

from labkit.core.errors import BadInput, EngineError, UnknownName
from labkit.engines.attach import look
from labkit.engines.attach_request import ask, tokenizes
from labkit.engines.bearer import bearer_from
from labkit.engines.client import EngineClient
from labkit.engines.fake import FakeDials, FakeEngine

VLLM = Shape(passes=(*API, "/metrics"), says={"/version": {"version": "0.32.0"}}, owned_by="vllm")
HTML = "<!DOCTYPE html><html><body>Welcome</body></html>"


@pytest.mark.parametrize(
    ("shape", "kind", "maker", "version", "own_metrics"),
    [
        (VLLM, "vllm", "vllm", "0.32.0", True),
        (SGLANG, "sglang", "sglang", "0.5.23", False),
        (ROUTER, "vllm-router", None, None, False),
        (GATEWAY, "gateway", "vllm", None, False),
        (RAY, "ray-serve", None, None, False),
        (BARE, "openai-compatible", None, None, False),
    ],
)
async def test_what_a_server_is(shape: Shape, kind: str, maker: str, version: str, own_metrics: bool):
    async with serving(shape) as (url, _):
        found = await look(url)
    assert (found.kind, found.maker, found.version, found.own_metrics) == (kind, maker, version, own_metrics)
    assert found.models == ("fake",)
    assert found.model() == "fake"


async def test_a_page_that_a_gateway_hands_on_is_of_one_of_many_and_not_taken_for_the_engines_own():
    async with serving(GATEWAY) as (url, _):
        assert not (await look(url)).own_metrics


async def test_a_router_names_its_workers():
    async with serving(ROUTER) as (url, _):
        assert (await look(url)).workers == {"prefill": ["http://p:1"], "decode": ["http://d:2"]}


async def test_an_engine_tells_its_longest_context():
    async with FakeEngine(FakeDials(max_model_len=777)) as engine:
        assert (await look(engine.base_url)).max_model_len == 777


async def test_of_several_models_one_is_named():
    async with serving(Shape(models=("one", "two"))) as (url, _):
        found = await look(url)
    assert found.model("two") == "two"
    with pytest.raises(BadInput, match="one, two") as error:
        found.model()
    assert error.value.hint == "Name one: --model NAME"
    with pytest.raises(UnknownName, match="did you mean two"):
        found.model("twoo")


async def test_a_gateway_without_a_list_of_models_goes_on_with_the_name_that_is_given():
    async with serving(Shape(passes=("/v1/chat/completions",))) as (url, _):
        assert (await look(url, model="fake")).model("fake") == "fake"
        with pytest.raises(EngineError, match="no OpenAI API is there"):
            await look(url)


async def refused(url: str, **how: object) -> EngineError:
    began = time.monotonic()
    with pytest.raises(EngineError) as error:
        await look(url, **how)
    assert time.monotonic() - began < 5
    assert error.value.hint
    return error.value


async def test_nothing_listens():
    error = await refused(f"http://127.0.0.1:{unused_port()}")
    assert "nothing takes connections there" in error.message
    assert "curl http://127.0.0.1" in error.hint


async def test_no_such_host():
    assert "no machine of that name" in (await refused("http://no-such-host.invalid:8000")).message


async def test_tls_where_none_is_spoken():
    async with FakeEngine() as engine:
        error = await refused(engine.base_url.replace("http", "https"))
    assert "no TLS is spoken there" in error.message
    assert engine.base_url in error.hint


async def test_a_certificate_that_nobody_trusts(tmp_path: Path):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate(tmp_path))
    app = web.Application()
    runner = web.AppRunner(app)
    await runner.setup()
    port = unused_port()
    await web.TCPSite(runner, "127.0.0.1", port, ssl_context=context).start()
    try:
        error = await refused(f"https://127.0.0.1:{port}")
        plain = await refused(f"http://127.0.0.1:{port}")
    finally:
        await runner.cleanup()
    assert "certificate is not trusted" in error.message
    assert "SSL_CERT_FILE" in error.hint
    assert "https" in plain.hint


async def test_silence():
    async def never(_: web.Request) -> web.Response:
        await asyncio.sleep(3)
        return web.Response()

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", never)
    async with TestServer(app) as server:
        assert "no answer within 0.3 s" in (await refused(f"http://127.0.0.1:{server.port}", timeout_s=0.3)).message


@pytest.mark.parametrize("status", [401, 403])
async def test_a_key_is_wanted(status: int):
    error = await answered(status, '{"error": "who are you?"}', "application/json")
    assert f"HTTP {status}" in error.message
    assert "--api-key-env NAME" in error.hint


async def test_a_web_page_is_no_api():
    assert "a web page, not with an API" in (await answered(200, HTML, "text/html")).message


async def test_json_that_names_no_model_is_no_api():
    assert "names no model" in (await answered(200, "{}", "application/json")).message


async def test_a_server_in_trouble_is_quoted():
    assert "HTTP 503: warming up" in (await answered(503, "warming up", "text/plain")).message


async def answered(status: int, text: str, content_type: str) -> EngineError:
    async def always(_: web.Request) -> web.Response:
        return web.Response(status=status, text=text, content_type=content_type)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", always)
    async with TestServer(app) as server:
        return await refused(f"http://127.0.0.1:{server.port}")


async def test_ray_serve_says_where_its_applications_are():
    async with serving(RAY) as (url, _):
        error = await refused(url.removesuffix("/chat"))
    assert "Ray Serve has applications at /chat" in error.hint


async def test_the_key_is_sent_and_not_to_the_page_of_metrics():
    shape = dataclasses.replace(VLLM, key="k1")
    async with serving(shape) as (url, front):
        found = await look(url, bearer_from({"K": "k1"}, "K"))
    assert found.own_metrics
    assert set(front.keys) == {"Bearer k1", None}


async def test_what_one_small_request_tells():
    async with FakeEngine() as engine, EngineClient(engine.base_url, "fake") as client:
        told = await ask(client)
        assert await tokenizes(client)
    assert vars(told) == {
        "cached_tokens": True, "token_ids": True, "request_metrics": True, "request_drafts": False, "salt": "checked",
    }  # fmt: skip
    assert [body["max_tokens"] for body in engine.received] == [1, 1]


async def test_what_a_bare_server_leaves_out():
    async with serving(BARE) as (url, _), EngineClient(url, "fake") as client:
        told = await ask(client)
        assert not await tokenizes(client)
    assert vars(told) == {
        "cached_tokens": False, "token_ids": False, "request_metrics": False, "request_drafts": False,
        "salt": "accepted",
    }  # fmt: skip


async def test_a_salt_that_is_refused_is_told_from_a_request_that_is():
    async with serving(Shape(refuses=frozenset({"cache_salt"}))) as (url, _), EngineClient(url, "fake") as client:
        assert (await ask(client)).salt == "refused"
    async with serving(Shape(refuses=frozenset({"messages"}))) as (url, _), EngineClient(url, "fake") as client:
        with pytest.raises(EngineError, match="unknown field messages"):
            await ask(client)


async def test_no_chat_api():
    async with serving(Shape(passes=("/v1/models",))) as (url, _), EngineClient(url, "fake") as client:
        with pytest.raises(EngineError, match="HTTP 404") as error:
            await ask(client)
    assert "no chat API" in error.value.hint


async def test_an_answer_of_another_tokenize_is_no_tokenizer():
    shape = Shape(passes=API[:2], says={"/tokenize": {"ids": [1, 2]}})
    async with serving(shape) as (url, _), EngineClient(url, "fake") as client:
        assert not await tokenizes(client)


def certificate(folder: Path) -> tuple[Path, Path]:
    """A self-signed one for 127.0.0.1, good for a day."""
    key = ec.generate_private_key(ec.SECP256R1())
    name, now = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")]), datetime.now(UTC)
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    made = made.serial_number(1).not_valid_before(now - timedelta(hours=1)).not_valid_after(now + timedelta(days=1))
    of_cert, of_key = folder / "cert.pem", folder / "key.pem"
    of_cert.write_bytes(made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    of_key.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain))
    return of_cert, of_key
