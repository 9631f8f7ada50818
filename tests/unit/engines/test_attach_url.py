"""Addresses as people write them, and what is never repeated of them."""

import pytest

from labkit.core.errors import BadInput
from labkit.engines.attach_url import endpoint_url, origin_of, page_url


@pytest.mark.parametrize(
    ("said", "used"),
    [
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("http://127.0.0.1:8000/", "http://127.0.0.1:8000"),
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000"),
        ("http://127.0.0.1:8000/v1/", "http://127.0.0.1:8000"),
        ("http://127.0.0.1:8000/v1/models", "http://127.0.0.1:8000"),
        ("https://host/llm/v1/chat/completions", "https://host/llm"),
        ("HTTPS://host/llm/", "https://host/llm"),
        ("http://[::1]:8000/v1", "http://[::1]:8000"),
        ("https://host/models-v1", "https://host/models-v1"),
    ],
)
def test_what_stands_before_v1_is_the_address(said: str, used: str) -> None:
    assert endpoint_url(said) == used


def test_a_missing_scheme_is_said_how_it_would_be_right() -> None:
    with pytest.raises(BadInput) as error:
        endpoint_url("127.0.0.1:8000")
    assert error.value.hint == "Say the scheme: http://127.0.0.1:8000"


@pytest.mark.parametrize("said", ["ftp://host", "http://", "http://host:99999", "http:///v1", "://x"])
def test_what_is_no_http_address_is_refused(said: str) -> None:
    with pytest.raises(BadInput, match="http://HOST:PORT"):
        endpoint_url(said)


@pytest.mark.parametrize(
    "said", ["http://me:hunter2@host/v1", "http://hunter2@host", "me:hunter2@host:1", "http://host/v1?key=hunter2",
             "http://host/#hunter2"],
)  # fmt: skip
def test_credentials_in_an_address_are_refused_and_not_repeated(said: str) -> None:
    for read in (endpoint_url, page_url):
        with pytest.raises(BadInput) as error:
            read(said)
        assert "hunter2" not in f"{error.value} {error.value.args} {error.value.value}"


def test_a_page_without_a_path_is_the_usual_one() -> None:
    assert page_url("http://h:1") == page_url("http://h:1/") == page_url("http://h:1/metrics/") == "http://h:1/metrics"
    assert page_url("http://h:1/pods/3/metrics") == "http://h:1/pods/3/metrics"
    assert origin_of("http://h:1/pods") == "http://h:1"
