"""`--endpoint` and `--metrics`, parsed."""

import pytest

from labkit.core.arms import arm_named
from labkit.core.errors import BadInput, LabError, UnknownName
from labkit.experiments.attached.endpoints import Endpoint, endpoints_of

URL, OTHER, P, D = "http://a:1", "http://b:2", "http://p:3/metrics", "http://d:4/metrics"


def test_a_url_alone_and_an_arms_own():
    asked = endpoints_of([f"{URL}/v1", f"spec={OTHER}", f"prefix+spec ngram={OTHER}"])
    assert asked.endpoints == (
        Endpoint(url=URL),
        Endpoint(url=OTHER, arm=arm_named("spec")),
        Endpoint(url=OTHER, arm=arm_named("prefix+spec"), drafter="ngram"),
    )


def test_pages_go_to_the_one_endpoint_or_to_the_arm_that_is_named():
    alone = endpoints_of([f"pd={URL}"], [f"prefill={P}", "decode=http://d:4"])
    assert alone.endpoints[0].metrics == {"prefill": P, "decode": D}
    two = endpoints_of([URL, f"pd={OTHER}"], [f"pd:decode={D}", f"engine={P}"])
    assert [each.metrics for each in two.endpoints] == [{"engine": P}, {"decode": D}]


@pytest.mark.parametrize(
    ("endpoints", "metrics"),
    [
        ([URL], [f"decode={D}", f"engine={P}"]),
        ([URL], [f"decode={D}", f"decode={P}"]),
        ([URL], [f"router={P}"]),
        ([URL], [P]),
        ([URL], [f"pd:decode={D}"]),
        ([f"pd={URL}", f"spec={OTHER}"], [f"decode={D}"]),
        ([URL, OTHER], []),
        ([f"pd={URL}", f"pd={OTHER}"], []),
    ],
)
def test_what_could_mean_two_things_or_nothing_is_refused(endpoints: list[str], metrics: list[str]):
    with pytest.raises(BadInput):
        endpoints_of(endpoints, metrics)


@pytest.mark.parametrize(
    ("endpoint", "page", "missing"), [(URL, "prefill", "decode"), (f"pd={URL}", "pd:prefill", "pd:decode")]
)
def test_prefills_page_alone_is_refused_with_what_to_add(endpoint: str, page: str, missing: str):
    """Its counters would read as those of the whole engine."""
    with pytest.raises(LabError, match="decode's is missing") as error:
        endpoints_of([endpoint], [f"{page}={P}"])
    assert f"Add it: --metrics {missing}=http://" in error.value.hint


def test_an_arm_that_does_not_exist():
    with pytest.raises(UnknownName, match="did you mean spec"):
        endpoints_of([f"spek={URL}"])
    with pytest.raises(UnknownName):
        endpoints_of([URL], arm_is="spek")


def test_arm_is_speaks_of_an_endpoint_without_a_name():
    assert endpoints_of([URL], arm_is="pd").arm_is == arm_named("pd")
    with pytest.raises(BadInput, match="arm-is"):
        endpoints_of([f"pd={URL}"], arm_is="pd")
