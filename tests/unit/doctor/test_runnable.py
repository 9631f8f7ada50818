"""What can be run: from what each check says that it stops, in a line for a profile."""

from __future__ import annotations

import pytest

from labkit.doctor.records import Check, Report, Status
from labkit.doctor.runnable import ALL, cannot_tell, grouped, runnable, with_layer


def check(name: str, status: Status = "fail", *, stops: tuple[str, ...] | None = None, area="environment") -> Check:
    return Check(name=name, area=area, status=status, found=f"{name} is wrong", why="It is.", stops=stops)


def test_what_failed_stops_all_arms_unless_it_says_which() -> None:
    assert runnable("p", [check("a", "warn"), check("b", "unknown")]).arms == ALL
    assert runnable("p", [check("a")]).arms == ()
    assert runnable("p", [check("a", stops=())]).arms == ALL
    left = runnable("p", [check("a", "warn", stops=("pd", "all"))])
    assert left.extent == "some"
    assert left.arms == ("base", "prefix", "spec", "prefix+pd", "prefix+spec", "pd+spec")


def test_the_sentence_names_layers_where_arms_share_one_and_gpus_first() -> None:
    split = with_layer("pd_split")
    assert runnable("p", [check("mori", stops=split)]).sentence == (
        "the four arms without pd_split; not the four arms with pd_split: mori: mori is wrong"
    )
    found = [check("disk"), check("hub"), check("GPUs", area="GPU node"), check("mori", stops=split)]
    assert runnable("p", found).sentence == (
        "none: GPUs: GPUs is wrong; disk: disk is wrong; and 2 more. labkit plan and labkit matrix still work."
    )
    assert grouped(("base", "all")) == "base, all"


def test_a_long_reason_is_cut() -> None:
    long = Check(name="a", area="memory", status="fail", found="word " * 90, why="It is.")
    assert len(runnable("p", [long]).sentence) < 200


def test_a_profile_without_a_plan_says_why() -> None:
    told = cannot_tell("p", "layout: no such command")
    assert (told.extent, told.sentence) == ("none", "none: layout: no such command")
    assert told.stops[0].arms == ALL


@pytest.mark.parametrize("stops", [None, (), ("pd",)])
def test_a_report_with_it_survives_json(stops: tuple[str, ...] | None) -> None:
    checks = (check("a", stops=stops),)
    report = Report(profile="p", checked="2026", took_s=1.0, checks=checks, runnable=(runnable("p", checks),))
    assert Report.from_dict(report.to_dict()) == report
    older = report.to_dict()
    del older["runnable"]
    assert Report.from_dict(older).runnable == ()
