"""What a small model may choose from, after what it has done."""

from labkit.agents.offers import EVERYTHING, Call, offers

FILES = ["pkg/a.py", "pkg/b.py", "tests/test_a.py"]


def names(*calls: Call) -> list[str]:
    return [offer.spec.name for offer in offers(calls, FILES)]


def paths(tool: str, *calls: Call) -> tuple[str, ...]:
    return next((offer.paths or () for offer in offers(calls, FILES) if offer.spec.name == tool), ())


def call(name: str, path: str | None = None, ok: bool = True) -> Call:
    return Call(name, path, ok)


def test_at_first_nothing_can_be_edited_or_finished():
    assert names() == ["list_files", "search_code", "read_file", "run_tests"]


def test_the_list_is_offered_once():
    assert "list_files" not in names(call("list_files"), call("run_tests"))


def test_tests_are_offered_again_after_a_change():
    assert "run_tests" not in names(call("run_tests"))
    assert "run_tests" not in names(call("run_tests"), call("edit_file", "pkg/a.py", ok=False))
    assert "run_tests" in names(call("run_tests"), call("edit_file", "pkg/a.py"))


def test_only_what_was_read_can_be_edited_and_never_a_test():
    done = call("read_file", "pkg/a.py"), call("read_file", "tests/test_a.py")
    assert paths("edit_file", *done) == ("pkg/a.py",)


def test_a_file_is_read_again_only_after_it_changed():
    read = call("read_file", "pkg/a.py")
    assert paths("read_file", read) == ("pkg/b.py", "tests/test_a.py")
    assert "pkg/a.py" in paths("read_file", read, call("edit_file", "pkg/a.py"))


def test_what_has_just_failed_is_not_offered():
    assert "search_code" not in names(call("search_code", ok=False))
    assert "search_code" in names(call("search_code", ok=False), call("list_files"))


def test_what_failed_twice_is_given_up():
    lost, found, other = call("search_code", ok=False), call("search_code"), call("read_file", "pkg/b.py")
    assert "search_code" not in names(lost, other, lost, other)
    assert "search_code" in names(lost, other, found, lost, other)


def test_finish_needs_a_change_that_was_tried_and_tested():
    read, edit, test = call("read_file", "pkg/a.py"), call("edit_file", "pkg/a.py"), call("run_tests")
    assert "finish" not in names(test)
    assert "finish" not in names(read, test, edit)
    assert "finish" in names(read, edit, test)
    assert "finish" in names(read, test, call("edit_file", "pkg/a.py", ok=False))


def test_there_is_always_something_to_do():
    everything_failed = [call("read_file", path) for path in FILES] + [call("run_tests"), call("list_files")]
    assert offers([*everything_failed, call("search_code", ok=False)], FILES)
    assert offers([call("search_code", ok=False), call("run_tests")], []) != ()
    assert len(EVERYTHING) == 6
